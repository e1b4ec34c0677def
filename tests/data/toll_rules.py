"""A game with probabilities and wide ids: in each turn, a toll is drawn, and a seat pays, doubles or takes it.
The highest total wins. The first argument names a promise that is broken from the third turn on."""

import sys

from arena_game import chance, decision, over, ranks_of, serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"
TURNS = 8
TOLLS = [1 / 3, 1 / 6, 0.5]
WRONG = {
    "nan": {"probabilities": [0.5, float("nan"), 0.5]},
    "negative": {"probabilities": [0.5, -0.5, 1.0]},
    "sum": {"probabilities": [0.5, 0.25, 0.125]},
    "fraction": {"probabilities": [2**-0.5, 2**-0.5 / 7, 1 - 2**-0.5 * 8 / 7]},
    "both": {"weights": [1, 1, 1]},
}


class Toll:
    name = "toll"
    version = 1
    summary = "pay, double or take a toll"
    seats = (2, 2)
    chance = True
    wide_ids = MODE != "narrow"
    events_max = 2 * TURNS

    def __init__(self, options, seats):
        pass

    def initial(self):
        return {"tolls": [], "moves": []}

    def next(self, state):
        tolls, moves = state["tolls"], state["moves"]
        if len(tolls) == len(moves) == TURNS:
            return over(ranks_of(self.scores(state)))
        if len(tolls) == len(moves):
            node = chance([(str(toll), it) for toll, it in enumerate(TOLLS)])
            return {**node, **WRONG.get(MODE, {})} if len(moves) == 2 else node
        turn, toll = len(moves), tolls[-1]
        last = 2**31 if MODE == "large" and turn == 2 else 2_000_000_000 + toll
        return decision(turn % 2, {7: "pay", 1_000_000 * (turn + 1): "double", last: f"take-{toll}"})

    def apply(self, state, event):
        node = self.next(state)
        if node["next"] == "chance":
            return {**state, "tolls": [*state["tolls"], event]}
        if event not in node["legal"]:
            raise ValueError(f"the action {event} is not legal")
        return {**state, "moves": [*state["moves"], event]}

    def scores(self, state):
        totals = [0, 0]
        for turn, (toll, move) in enumerate(zip(state["tolls"], state["moves"])):
            totals[turn % 2] += toll * (3 if move >= 2_000_000_000 else 2 if move > 7 else -1)
        return totals

    def position(self, state):
        return {"tolls": state["tolls"]}


if __name__ == "__main__":
    serve(Toll)
