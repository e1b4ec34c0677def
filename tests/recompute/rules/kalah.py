"""services/games/docs/kalah.md"""

from .common import DECISION, OVER, by_score


class Kalah:
    PASS = None

    def __init__(self, options, seats):
        self.o = options
        self.p = options["pits"]
        row = [options["stones"]] * self.p + [0]
        self.cells = row + row
        self.mover, self.plies, self.ending = 0, 0, None

    def node(self):
        return (OVER, self.ending) if self.ending else (DECISION, self.mover)

    def store(self, seat):
        return seat * (self.p + 1) + self.p

    def row(self, seat):
        return range(seat * (self.p + 1), seat * (self.p + 1) + self.p)

    def legal(self):
        return [at for at, cell in enumerate(self.row(self.mover)) if self.cells[cell]]

    def name(self, action):
        return str(action)

    def apply(self, action):
        cells, size, mover = self.cells, 2 * self.p + 2, self.mover
        at = mover * (self.p + 1) + action
        hand, cells[at] = cells[at], 0
        while hand:
            at = (at + 1) % size
            if at != self.store(1 - mover):
                cells[at] += 1
                hand -= 1
        opposite = 2 * self.p - at
        if at in self.row(mover) and cells[at] == 1:
            rule = self.o["empty_capture"]
            if rule == "always" or rule == "opposite-nonempty" and cells[opposite]:
                cells[self.store(mover)] += cells[opposite] + 1
                cells[opposite] = cells[at] = 0
        self.plies += 1
        if at != self.store(mover):
            self.mover = 1 - mover
        self.end()

    def end(self):
        sums = [sum(self.cells[cell] for cell in self.row(seat)) for seat in (0, 1)]
        half = self.p * self.o["stones"]
        if 0 in sums:
            for seat in (0, 1):
                rule = self.o["remaining"]
                heir = seat if rule == "owner" else sums.index(0)
                if rule != "none":
                    self.cells[self.store(heir)] += sums[seat]
            self.ending = "normal"
        elif self.o["early_stop"] and max(self.scores()) > half:
            self.ending = "normal"
        elif self.plies >= self.o["max_plies"]:
            self.ending = "cap"

    def scores(self):
        return [self.cells[self.store(seat)] for seat in (0, 1)]

    def placement(self):
        return by_score(self.scores())
