#!/usr/bin/env python3
"""Kalah players that beat each other in a circle; the argument is 0, 1 or 2.

Each opens with a pit of its own, by which the others know it. Against the next in
the circle it plays an illegal move in two of three games; else it plays at random.
"""

import sys

from arena_agent import Agent, serve

KIND = int(sys.argv[1])
PITS = (1, 0, 3)


class Circle(Agent):
    name = f"circle-{KIND}"
    version = "1.0.0"
    summary = "loses to the next in a circle"
    rulesets = ("kalah",)
    deterministic = True

    def choose(self, decision):
        position = decision.position
        mine, seat = PITS[KIND], position.to_move
        if decision.number == 0 and mine in decision.legal:
            return mine
        half = len(position.board) // 2
        row = position.board[(1 - seat) * half :][: half - 1]
        feared = PITS[(KIND + 1) % 3]
        if (
            decision.number == 1
            and feared < len(row)
            and row[feared] == 0
            and decision.rng.below(3)
        ):
            return half
        return decision.rng.choice(decision.legal)


if __name__ == "__main__":
    serve(Circle())
