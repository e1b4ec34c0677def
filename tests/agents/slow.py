#!/usr/bin/env python3
"""Draws its moves and takes as many milliseconds for each decision as its argument
says, one after the other."""

import sys
import time

from arena_agent import Agent, serve


class Slow(Agent):
    name = "slow"
    version = "1.0.0"
    summary = "a random move, slowly"
    deterministic = True
    uses_seed = True

    def choose(self, decision):
        time.sleep(int(sys.argv[1]) / 1000)
        return decision.rng.choice(decision.legal)


if __name__ == "__main__":
    serve(Slow())
