#!/usr/bin/env python3
"""Says that it is deterministic, and draws its moves from the system."""

import random

from arena_agent import Agent, serve


class Unsteady(Agent):
    name = "unsteady"
    version = "1.0.0"
    summary = "the same question, another answer"
    rulesets = ("cowry",)
    deterministic = True

    def choose(self, decision):
        return random.SystemRandom().choice([move.id for move in decision.moves])


if __name__ == "__main__":
    serve(Unsteady())
