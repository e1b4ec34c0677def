"""The dice game Pig. In each turn, a player throws a die as often as it likes. A one ends the turn
without points; a player that holds adds the points of the turn to its total. The first total that
reaches the target wins."""

from arena_game import chance, decision, option, over, ranks_of, serve

HOLD, THROW = 0, 1


class Game:
    name = "my-game"
    version = 1
    summary = "Pig: throw a die and hold in time"
    seats = (2, 4)
    chance = True
    events_max = 5000
    options = [option("target", 100, "points that win", min=10, max=200)]

    def __init__(self, options, seats):
        self.target = options["target"]
        self.seats = seats

    def initial(self):
        return {"totals": [0] * self.seats, "seat": 0, "points": 0, "throws": True, "turns": 0}

    def next(self, state):
        if max(state["totals"]) >= self.target:
            return over(ranks_of(state["totals"]))
        if state["turns"] >= 1000:
            return over(ranks_of(state["totals"]), "cap")
        if state["throws"]:
            return chance([(str(pips), 1) for pips in range(1, 7)], state["seat"])
        return decision(state["seat"], {HOLD: "hold", THROW: "throw"})

    def apply(self, state, event):
        if state["throws"]:
            state["throws"] = False
            if event == 0:
                self.end_turn(state)
            else:
                state["points"] += event + 1
        elif event == THROW:
            state["throws"] = True
        else:
            state["totals"][state["seat"]] += state["points"]
            self.end_turn(state)
        return state

    def end_turn(self, state):
        state.update(points=0, throws=True, turns=state["turns"] + 1)
        state["seat"] = (state["seat"] + 1) % self.seats

    def scores(self, state):
        return state["totals"]

    def draw(self, state):
        lines = [f"seat {seat}: {total}" for seat, total in enumerate(state["totals"])]
        return "\n".join([*lines, f"turn of seat {state['seat']}: {state['points']}", ""])


if __name__ == "__main__":
    serve(Game)
