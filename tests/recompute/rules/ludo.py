"""services/games/docs/chinese-ludo.md"""

from math import isqrt

from .common import CHANCE, DECISION, OVER, POINT, by_score, logistic, tables

TABLES = tables("docs/chinese-ludo.md")
PLACES = TABLES["PLACES"]
[TURN], [EXTRA] = TABLES["TURN"], TABLES["EXTRA"]
ALL = 4 * PLACES[-1]


def across(progress):
    """Progress of a ring square on the other seat's way, if it has one."""
    there = (progress + 25) % 52 + 1
    return there if 1 <= progress <= 50 and there <= 50 else None


class ChineseLudo:
    PASS = 4

    def __init__(self, options, seats):
        self.o = options
        self.planes = [[-1] * 4, [-1] * 4]
        self.mover, self.die, self.rolls, self.sixes = 0, 0, 0, 0
        self.starting, self.ending = options["starter"] == "random", None
        self.take_off = 14 if options["dotfly"] == "seed" else 18
        self.counts = options["three_sixes"] != "none"

    def node(self):
        if self.ending:
            return OVER, self.ending
        if self.starting:
            return CHANCE, None
        return (DECISION if self.die else CHANCE), self.mover

    def outcomes(self):
        if self.starting:
            return [("seat0", 1), ("seat1", 1)]
        return [(str(face), 1) for face in range(1, 7)]

    def draw(self, outcome):
        if self.starting:
            self.mover, self.starting = outcome, False
            return
        self.die = outcome + 1
        self.rolls += 1
        self.sixes += self.die == 6 and self.counts

    def landing(self, p, roll):
        """The square that a plane reaches with a roll, and the squares that it hits."""
        o, take_off = self.o, self.take_off
        if p == -1:
            rolls = {"six": [6], "even": [2, 4, 6], "five-six": [5, 6]}[o["launch"]]
            if roll not in rolls:
                return None
            return (1, {1}) if o["start"] == "ring1" else (0, set())
        if p == 56:
            return None
        t = p + roll
        if t > 56:
            return {"exact": None, "bounce": (112 - t, set()), "over": (56, set())}[o["finish"]]
        if t > 50:
            return t, set()
        under, between = set(range(take_off + 1, 30)), set()
        if t == take_off:
            to, between = 34, {30}
        elif t == take_off - 4:
            to, between = 30, {take_off}
        else:
            to = t + 4 if t % 4 == 2 and t < 50 else t
        hits = {t, to}
        if o["hit_squares"] != "ends":
            hits |= between
        if between and o["fly_hits_path"]:
            hits |= under
        return to, hits

    def hit(self, seat, squares):
        """Planes of the other seat on squares of a seat's way."""
        other = self.planes[1 - seat]
        return [at for at, p in enumerate(other) if across(p) in squares and across(p)]

    def legal(self):
        found = []
        if self.sixes < 3:
            own = self.planes[self.mover]
            for plane, p in enumerate(own):
                if p not in own[:plane] and self.landing(p, self.die):
                    found.append(plane)
        return found or [self.PASS]

    def name(self, action):
        if action == self.PASS:
            return "pass"
        p = self.planes[self.mover][action]
        to, squares = self.landing(p, self.die)
        hit = "x" if self.hit(self.mover, squares) else ""
        return f"p{action}:launch{hit}" if p == -1 else f"p{action}:{p}-{to}{hit}"

    def apply(self, action):
        own, third = self.planes[self.mover], self.sixes == 3
        if action != self.PASS:
            to, squares = self.landing(own[action], self.die)
            for at in self.hit(self.mover, squares):
                self.planes[1 - self.mover][at] = -1
            own[action] = to
            if own == [56] * 4:
                self.ending = "normal"
                return
        elif third and self.o["three_sixes"] == "hangar":
            own[:] = [56 if p == 56 else -1 for p in own]
        if self.die != 6 or third:
            self.mover, self.sixes = 1 - self.mover, 0
        self.die = 0
        if self.rolls >= self.o["max_rolls"]:
            self.ending = "cap"

    def scores(self):
        return [own.count(56) for own in self.planes]

    def placement(self):
        return by_score([sum(own) for own in self.planes])

    def values(self):
        worth = [sum(PLACES[p + 1] for p in own) for own in self.planes]
        left = 2 * ALL - sum(worth)
        scale = 132644864 // isqrt((256 * (left // 256) + 128) * 4096)

        def lead(seat, size):
            own = logistic(size * scale // 65536)
            return [own, POINT - own] if seat == 0 else [POINT - own, own]

        if self.starting:
            return [lead(0, TURN), lead(1, TURN)]
        seat = self.mover
        return [
            lead(seat, worth[seat] - worth[1 - seat] + self.gain(seat, roll))
            for roll in range(1, 7)
        ]

    def gain(self, seat, roll):
        own = self.planes[seat]
        gains = []
        for p in own:
            landing = self.landing(p, roll)
            if landing:
                to, squares = landing
                gain = PLACES[to + 1] - PLACES[p + 1]
                gain += sum(PLACES[self.planes[1 - seat][at] + 1] for at in self.hit(seat, squares))
                gain += 65536 if to == 56 and own.count(56) == 3 else 0
                gains.append(gain)
        best = max(gains, default=0)
        if roll < 6:
            return best
        if self.sixes == 2 and self.o["three_sixes"] == "end-turn":
            return 0
        if self.sixes == 2 and self.o["three_sixes"] == "hangar":
            return sum(PLACES[-1] if p == 56 else 0 for p in own) - sum(PLACES[p + 1] for p in own)
        return best + EXTRA
