#!/usr/bin/env python3
"""Bets on high cards. It fails if it gets to know more than its seat may see, and with the argument
`fails` at its second decision."""

import sys

from arena_agent import Agent, serve


class CardPlayer(Agent):
    name = "card-player"
    version = "1.0.0"
    summary = "bets on high cards"
    rulesets = ("cards",)
    deterministic = True
    sticky = True

    def choose(self, decision):
        if set(decision.position) != {"card", "bets"}:
            raise ValueError(f"position {decision.position}")
        own = decision.position["bets"][decision.seat :: decision.seats]
        if decision.past_moves != [(decision.seat, bet) for bet in own]:
            raise ValueError(f"moves {decision.past_moves}")
        if "fails" in sys.argv and decision.number == 1:
            raise ValueError("no answer")
        return int(decision.position["card"] >= 2)


if __name__ == "__main__":
    serve(CardPlayer())
