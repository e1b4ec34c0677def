"""A card game with hidden information: each seat gets one of six cards, and bets or passes in each of two
rounds. The highest product of card and bets wins. An argument breaks a promise."""

import sys

from arena_game import chance, decision, over, ranks_of, serve

MODE = sys.argv[1] if len(sys.argv) > 1 else "none"
CARDS = 6


class HighCard:
    name = "high-card"
    version = 1
    summary = "bet that your card is the highest"
    seats = (2, 3)
    chance = True
    information = "hidden"
    returns = [{"min": 0, "max": 4 if MODE == "bounds" else 2 * CARDS}]

    def __init__(self, options, seats):
        self.seats = seats

    def initial(self):
        return {"cards": [], "bets": []}

    def next(self, state):
        if len(state["cards"]) < self.seats:
            left = [card for card in range(CARDS) if card not in state["cards"]]
            return chance([(f"card-{card}", 1) for card in left])
        bets = state["bets"]
        if len(bets) < 2 * self.seats:
            return decision(len(bets) % self.seats, {0: "pass", 1: "bet"})
        worth = self.scores(state)
        if MODE == "ranks":
            worth = [-it for it in worth]
        return over(ranks_of(worth))

    def scores(self, state):
        cards, bets = [*state["cards"], *[0] * self.seats][: self.seats], state["bets"]
        return [(card + 1) * sum(bets[seat :: self.seats]) for seat, card in enumerate(cards)]

    def apply(self, state, event):
        if len(state["cards"]) < self.seats:
            left = [card for card in range(CARDS) if card not in state["cards"]]
            return {**state, "cards": [*state["cards"], left[event]]}
        return {**state, "bets": [*state["bets"], event]}

    def position(self, state):
        if MODE == "nothing":
            return None
        return {"card": state["cards"][len(state["bets"]) % self.seats], "bets": state["bets"]}

    def draw(self, state):
        return f"cards {state['cards']}\nbets {state['bets']}\n"


if __name__ == "__main__":
    serve(HighCard)
