#!/usr/bin/env python3
"""Bets on high cards. It fails if it gets to know more than its seat may see."""

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
        return int(decision.position["card"] >= 2)


if __name__ == "__main__":
    serve(CardPlayer())
