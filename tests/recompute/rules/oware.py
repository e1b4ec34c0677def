"""services/games/docs/oware-abapa.md and oware-anan-anan.md"""

from .common import CHANCE, DECISION, OVER, POINT, by_score, logistic


class Oware:
    def __init__(self, options, seats):
        self.o = options
        self.pits, self.banked = [4] * 12, [0, 0]
        self.mover, self.plies, self.quiet, self.ending = 0, 0, 0, None
        self.starting = options["starter"] == "random"

    def node(self):
        if self.ending:
            return OVER, self.ending
        return (CHANCE, None) if self.starting else (DECISION, self.mover)

    def outcomes(self):
        return [("seat0", 1), ("seat1", 1)]

    def draw(self, outcome):
        self.mover, self.starting = outcome, False

    def values(self):
        own = self.STARTS
        return [[own, POINT - own], [POINT - own, own]]

    def name(self, action):
        return "pass" if action == 6 else str(action)

    def row(self, seat):
        return self.pits[6 * seat : 6 * seat + 6]

    def sweep(self):
        for seat in (0, 1):
            self.banked[seat] += sum(self.row(seat))
        self.pits = [0] * 12

    def left(self):
        return 48 - sum(self.banked)

    def is_long(self):
        limit = self.o["no_capture_limit"]
        return limit and self.quiet >= limit or self.plies >= self.o["max_plies"]

    def end_ply(self, banks):
        self.plies += 1
        self.quiet = 0 if banks else self.quiet + 1
        self.mover = 1 - self.mover

    def scores(self):
        return list(self.banked)

    def placement(self):
        return by_score(self.banked)


class Abapa(Oware):
    PASS = None
    STARTS = POINT // 2

    def __init__(self, options, seats):
        super().__init__(options, seats)
        # Boards since the last move that captured, oldest first.
        self.seen, self.past = set(), []

    def sow(self, offset):
        """The pits after a sowing, and the last one."""
        pits, origin = list(self.pits), 6 * self.mover + offset
        hand, pits[origin], at = pits[origin], 0, origin
        while hand:
            at = (at + 1) % 12
            if self.o["skip_origin"] and at == origin:
                continue
            pits[at] += 1
            hand -= 1
        return pits, at

    def captures(self, pits, last):
        """The captured pits, in their order of capture."""
        found, first = [], 6 * (1 - self.mover)
        while first <= last < first + 6 and pits[last] in (2, 3):
            found.append(last)
            last -= 1
        return found

    def is_slam(self, pits, found):
        first = 6 * (1 - self.mover)
        return found and sum(pits[at] for at in found) == sum(pits[first : first + 6])

    def legal(self):
        starved = self.o["must_feed"] and not any(self.row(1 - self.mover))
        found = []
        for offset, seeds in enumerate(self.row(self.mover)):
            if seeds == 0 or starved and seeds < 6 - offset:
                continue
            if self.o["grand_slam"] == "illegal":
                pits, last = self.sow(offset)
                if self.is_slam(pits, self.captures(pits, last)):
                    continue
            found.append(offset)
        return found

    def apply(self, offset):
        before, mover = (tuple(self.pits), self.mover), self.mover
        pits, last = self.sow(offset)
        found = self.captures(pits, last)
        rule = self.o["grand_slam"]
        kept = 0
        if self.is_slam(pits, found):
            if rule == "no-capture":
                found = []
            elif rule == "keep-last":
                found = found[:-1]
            elif rule == "opponent-keeps":
                own = range(6 * mover, 6 * mover + 6)
                kept = sum(pits[at] for at in own)
                for at in own:
                    pits[at] = 0
        taken = sum(pits[at] for at in found)
        for at in found:
            pits[at] = 0
        self.pits = pits
        self.banked[mover] += taken
        self.banked[1 - mover] += kept
        self.end_ply(taken + kept)
        if taken + kept:
            self.seen, self.past = set(), []
        elif self.o["repetition"] == "first":
            self.seen.add(before)
            self.past.append(before[0])
        if max(self.banked) > 24:
            self.ending = "normal"
        elif not self.legal():
            if self.o["remaining"] == "own-side":
                self.sweep()
            self.ending = "normal"
        elif self.o["repetition"] == "first" and (tuple(self.pits), self.mover) in self.seen:
            self.sweep()
            self.ending = "repetition"
        elif self.is_long():
            self.sweep()
            self.ending = "cap"


class AnanAnan(Oware):
    PASS = 6
    STARTS = logistic(90)

    def __init__(self, options, seats):
        super().__init__(options, seats)
        self.passed = False

    def sow(self, offset):
        """Plays a sowing; false if it would never end."""
        mover, at = self.mover, 6 * self.mover + offset
        self.banks = False
        seen = set()
        while True:
            if (tuple(self.pits), at) in seen:
                return False
            seen.add((tuple(self.pits), at))
            origin, hand = at, self.pits[at]
            self.pits[at] = 0
            while hand:
                at = (at + 1) % 12
                if self.o["skip_origin"] and at == origin:
                    continue
                self.pits[at] += 1
                hand -= 1
                held = self.pits[at]
                if held == 4:
                    last = hand == 0 and self.o["last_four_to"] == "mover"
                    self.pits[at] = 0
                    seen = set()
                    self.bank(mover if last else at // 6, hand)
                    if self.ending:
                        return True
            if held in (1, 4):
                return True

    def bank(self, seat, hand):
        self.banked[seat] += 4
        self.banks = True
        rule = self.o["remaining"]
        if rule == "last-eight" and self.left() <= 8:
            self.banked[seat] += sum(self.pits) + hand
            self.pits = [0] * 12
            self.ending = "normal"
        elif rule == "stop-at-four" and self.left() <= 4:
            self.ending = "normal"
        elif self.o["check"] == "immediate" and max(self.banked) > 24:
            self.ending = "normal"

    def pits_to_sow(self):
        found = [at for at, seeds in enumerate(self.row(self.mover)) if seeds]
        if self.o["infinite"] == "illegal":
            found = [at for at in found if self.ends(at)]
        return found

    def ends(self, offset):
        trial = AnanAnan.__new__(AnanAnan)
        trial.__dict__.update(self.__dict__, pits=list(self.pits), banked=list(self.banked))
        return trial.sow(offset)

    def legal(self):
        return self.pits_to_sow() or [self.PASS]

    def apply(self, action):
        if action == self.PASS:
            self.end_ply(False)
            if self.passed:
                self.ending = "normal"
                return
            self.passed = True
        else:
            if not self.sow(action) and self.o["infinite"] == "end-game":
                self.ending = "normal"
            self.end_ply(self.banks)
            self.passed = False
        if self.ending:
            return
        empty = self.o["empty_row"] == "end" and not self.pits_to_sow()
        if max(self.banked) > 24 or empty:
            self.ending = "normal"
        elif self.is_long():
            self.ending = "cap"
