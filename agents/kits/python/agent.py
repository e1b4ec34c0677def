"""my-agent: takes as much as it can, and chooses at random between equal moves."""

from arena import option, serve

GAINS = ("captured", "banked", "hits")  # as the rulesets name what a move takes


def choose(decision):
    """Returns the id of one of the legal moves."""
    again = int(decision.bot_options["again"])
    # A game of one's own may not say what its moves do.
    moves = decision.position.get("moves") or [{}] * len(decision.legal_moves)
    gains = [
        sum(move.get(key, 0) for key in GAINS) + again * move.get("moves_again", False)
        for move in moves
    ]
    best = max(gains)
    equal = [move for move, gain in zip(decision.legal_moves, gains) if gain == best]
    return decision.rng.choice(equal)


serve(
    choose,
    name="my-agent",
    version="1.0.0",
    deterministic=True,
    uses_seed=True,
    options=[option("again", 1, "what another turn is worth", min=0, max=9)],
)
