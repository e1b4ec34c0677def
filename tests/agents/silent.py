#!/usr/bin/env python3
"""Plays the first legal move, whatever the seed. Does not say whether it uses its
seed; with the argument `yes` it says falsely that it does."""

import sys

from arena_agent import Agent, serve


class Silent(Agent):
    name = "silent"
    version = "1.0.0"
    summary = "the first legal move"
    rulesets = ("kalah",)
    deterministic = True
    uses_seed = True if "yes" in sys.argv[1:] else None

    def choose(self, decision):
        return decision.legal[0]


if __name__ == "__main__":
    serve(Silent())
