#!/usr/bin/env python3
"""Draws its moves and takes as many milliseconds for each decision as its argument
says, one after the other. With the argument `cpu`, it computes for this time of the processor."""

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
        seconds = int(sys.argv[1]) / 1000
        if "cpu" in sys.argv[2:]:
            end = time.thread_time() + seconds
            while time.thread_time() < end:
                pass
        else:
            time.sleep(seconds)
        return decision.rng.choice(decision.legal)


if __name__ == "__main__":
    serve(Slow())
