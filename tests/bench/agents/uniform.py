#!/usr/bin/env python3
"""Plays any legal move and thinks of nothing: what is left is the SDK's cost."""

from arena_agent import Agent, serve


class Uniform(Agent):
    name = "uniform"
    version = "1.0.0"
    deterministic = True
    move_details = False

    def choose(self, decision):
        legal = decision.legal
        return legal[decision.seed % len(legal)]


serve(Uniform())
