#!/usr/bin/env python3
"""Takes at once what can be taken: in cowry the move that hits most, then the
one that gets furthest; in Kalah a second move, then the most stones banked."""

from arena_agent import Agent, serve


class Greedy(Agent):
    name = "greedy"
    version = "1.0.0"
    summary = "the most this one move can take; ties by lot"
    rulesets = ("cowry", "kalah")
    deterministic = True
    uses_seed = True

    def choose(self, decision):
        worth = WORTH[decision.ruleset]
        best = max(map(worth, decision.moves))
        return decision.rng.choice([move.id for move in decision.moves if worth(move) == best])


WORTH = {
    "cowry": lambda move: (move.hits, move.to),
    "kalah": lambda move: (move.moves_again, move.banked),
}

if __name__ == "__main__":
    serve(Greedy())
