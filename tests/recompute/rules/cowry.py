"""services/games/docs/cowry.md"""

from functools import lru_cache

from .common import CHANCE, DECISION, OVER, POINT, logistic, pairwise, tables, towards_zero

VALUES = (1, 2, 3, 4, 8)
TABLES = tables("docs/cowry.md")
SIDES = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}


def south(n, inner):
    """South's path as squares."""
    path, (row, column) = [], (n - 1, (n - 1) // 2)
    for ring in range((n - 1) // 2):
        low, high = ring, n - 1 - ring
        clockwise = ring > 0 if inner == "spiral" else ring % 2 == 1
        length = 4 * (high - low)
        for step in range(length):
            path.append((row, column))
            if step == length - 1:
                row -= 1
            elif clockwise:
                if row == high and column > low:
                    column -= 1
                elif column == low and row > low:
                    row -= 1
                elif row == low and column < high:
                    column += 1
                else:
                    row += 1
            elif row == high and column < high:
                column += 1
            elif column == high and row > low:
                row -= 1
            elif row == low and column > low:
                column -= 1
            else:
                row += 1
    path.append(((n - 1) // 2, (n - 1) // 2))
    return path


@lru_cache
def board(n, inner, corners, seats):
    """Safe indices, and for each two seats the index of each index on the other's path."""
    paths = []
    for turns in SIDES[seats]:
        path = south(n, inner)
        for _ in range(turns):
            path = [(n - 1 - column, row) for row, column in path]
        paths.append(path)
    cross = [[[other.index(square) for square in path] for other in paths] for path in paths]
    safe = {k * (n - 1) for k in range(4)} | {n * n - 1}
    if corners:
        safe |= {k * (n - 1) + (n - 1) // 2 for k in range(4)}
    return safe, cross


class Cowry:
    def __init__(self, options, seats):
        self.o, self.n = options, seats
        size = options["board"]
        self.goal, self.outer = size * size - 1, 4 * (size - 1)
        self.safe, self.cross = board(size, options["inner"], options["safe"] == "corners", seats)
        self.k = options["pieces"]
        self.PASS = 10 * self.k
        self.weights = TABLES[options["dice"]]
        self.doubles = options["variant"] == "doubles"
        self.pieces = [[0] * self.k for _ in range(seats)]
        self.hits = [False] * seats
        self.may_pass = [set() for _ in range(seats)]
        self.noted, self.pool, self.extra = set(), [0] * 5, 0
        self.mover, self.throws, self.finished = 0, 0, [0] * seats
        self.starting = options["starter"] == "random"
        self.throwing, self.ending = True, None

    # What is due.

    def node(self):
        if self.ending:
            return OVER, self.ending
        if self.starting:
            return CHANCE, None
        return (CHANCE if self.throwing else DECISION), self.mover

    def outcomes(self):
        if self.starting:
            return [(f"seat{seat}", 1) for seat in range(self.n)]
        return [(str(value), weight) for value, weight in zip(VALUES, self.weights)]

    def draw(self, outcome):
        if self.starting:
            self.mover, self.starting = outcome, False
            return
        self.throws += 1
        self.pool[outcome] += 1
        if VALUES[outcome] >= 4 and self.o["extra_on_4_8"]:
            if self.o["throw_mode"] == "accumulate":
                self.await_throw()
                return
            self.extra += 1
        self.await_move()

    def await_throw(self):
        self.throwing = True
        if self.throws >= self.o["max_throws"]:
            self.ending = "cap"

    def await_move(self):
        self.throwing = False
        if self.doubles and self.o["block"] == "illegal-once":
            values = [i for i in range(5) if self.pool[i]]
            for _, crew, blocked in self.steps(self.mover, values):
                if blocked:
                    self.noted |= crew

    # Steps.

    def others(self, seat):
        return [other for other in range(self.n) if other != seat]

    def opposing_doubles(self, seat):
        """Indices, on a seat's path, of doubles of others: all, and those in the open."""
        found = set()
        for other in self.others(seat):
            own = self.pieces[other]
            found |= {self.cross[other][seat][p] for p in own if p < self.outer and own.count(p) > 1}
        return found, found - self.safe

    def partner(self, seat, piece):
        own = self.pieces[seat]
        here = own[piece]
        if here >= self.outer or here in own[:piece]:
            return None
        return next((at for at in range(piece + 1, self.k) if own[at] == here), None)

    def is_open(self, seat):
        return self.hits[seat] or not self.o["gate"]

    def steps(self, seat, values):
        """Action, pieces and whether it is blocked, of each step not illegal otherwise."""
        o, own = self.o, self.pieces[seat]
        every, unsafe = self.opposing_doubles(seat) if self.doubles else (set(), set())
        blocking = every if o["block_on_safe"] else unsafe

        def step(action, a, b, crew):
            if b > self.goal or a < self.outer <= b and not self.is_open(seat):
                return
            if not self.doubles and b not in self.safe and b in own:
                return
            if b in unsafe and not (len(crew) == 2 and o["double_hits_double"]):
                return
            free = crew <= self.may_pass[seat]
            yield action, crew, not free and any(a < at < b for at in blocking)

        for i in values:
            v = VALUES[i]
            for piece, a in enumerate(own):
                action = (i * self.k + piece) * 2
                yield from step(action, a, a + v, {piece})
                mode = o["double_move"]
                if not self.doubles or mode == "none" or mode == "half" and v % 2:
                    continue
                mate = self.partner(seat, piece)
                b = a + (v // 2 if mode == "half" else v)
                if mate is not None and b < self.outer:
                    yield from step(action + 1, a, b, {piece, mate})

    def legal(self):
        void = self.o["block"] == "void-turn"
        values = [i for i in range(5) if self.pool[i]]
        found = [action for action, _, blocked in self.steps(self.mover, values) if void or not blocked]
        return found or [self.PASS]

    def name(self, action):
        if action == self.PASS:
            return "pass"
        i, piece = divmod(action // 2, self.k)
        return f"{VALUES[i]}:p{piece}" + "+" * (action % 2)

    def apply(self, action):
        if action == self.PASS:
            self.pool = [0] * 5
            self.after_pool()
            return
        i, piece = divmod(action // 2, self.k)
        seat = self.mover
        crew, blocked = next(s[1:] for s in self.steps(seat, [i]) if s[0] == action)
        if blocked:
            self.may_pass[seat] |= crew
            self.end_turn()
            return
        v = VALUES[i]
        reach = v // 2 if len(crew) == 2 and self.o["double_move"] == "half" else v
        b = self.pieces[seat][piece] + reach
        for at in crew:
            self.pieces[seat][at] = b
        forever = self.o["block_memory"] == "forever"
        if not forever:
            self.may_pass[seat] -= crew
            self.noted -= crew
        self.pool[i] -= 1
        if b not in self.safe and (self.o["inner_hits"] or b < self.outer):
            self.send_back(seat, b, forever)
        if b == self.goal and self.pieces[seat] == [self.goal] * self.k:
            self.finish(seat)
        elif any(self.pool):
            self.await_move()
        else:
            self.after_pool()

    def send_back(self, seat, b, forever):
        any_hit = False
        for other in self.others(seat):
            there = self.cross[seat][other][b]
            for at, p in enumerate(self.pieces[other]):
                if p == there:
                    self.pieces[other][at] = 0
                    any_hit = True
                    if not forever:
                        self.may_pass[other].discard(at)
        if any_hit:
            self.hits[seat] = True
            self.extra += self.o["extra_on_hit"]

    # Turns and the end.

    def after_pool(self):
        if self.extra:
            self.extra -= 1
            self.await_throw()
        else:
            self.end_turn()

    def finish(self, seat):
        self.finished[seat] = 1 + sum(rank > 0 for rank in self.finished)
        needed = {"first": 1, "ranking": self.n - 1, "all": self.n}[self.o["end"]]
        if self.finished[seat] >= needed:
            self.ending = "normal"
        else:
            self.end_turn()

    def end_turn(self):
        self.may_pass[self.mover] |= self.noted
        self.noted, self.extra, self.pool = set(), 0, [0] * 5
        self.mover = (self.mover + 1) % self.n
        while self.finished[self.mover]:
            self.mover = (self.mover + 1) % self.n
        if self.is_deadlocked() and not self.opens_gates():
            self.ending = "deadlock"
        else:
            self.await_throw()

    def is_deadlocked(self):
        playing = [seat for seat in range(self.n) if not self.finished[seat]]
        return not any(True for seat in playing for _ in self.steps(seat, range(5)))

    def opens_gates(self):
        if self.o["deadlock"] != "open-gate":
            return False
        self.hits = [True] * self.n
        return not self.is_deadlocked()

    def scores(self):
        return [sum(own) for own in self.pieces]

    def placement(self):
        scores, done = self.scores(), sum(rank > 0 for rank in self.finished)
        together = (
            self.ending == "normal" and self.o["rank_rest"] == "tie"
            or self.ending == "deadlock" and self.o["deadlock"] == "draw"
        )
        ranks = []
        for seat, rank in enumerate(self.finished):
            ahead = sum(
                not self.finished[other] and scores[other] > scores[seat] for other in range(self.n)
            )
            ranks.append(rank or done + 1 + (0 if together else ahead))
        return ranks

    # Values behind luck.

    def table(self):
        if self.doubles:
            return "DOUBLES_4" if self.n > 2 else "DOUBLES_2" if self.o["gate"] else "CB2012"
        if self.n == 2:
            return "BASIC_2"
        return "SINGLE_4" if self.o["throw_mode"] == "single" else f"BASIC_{self.n}"

    def worth(self, index, is_open):
        """Value of an index; none if a closed seat has none."""
        if index > self.goal or index >= self.outer and not is_open:
            return None
        return place(self.table(), index, is_open, self.outer, self.goal)

    def is_exposed(self, index):
        limit = self.goal if self.o["inner_hits"] else self.outer
        return index < limit and index not in self.safe

    def stake(self, index, is_open):
        if not self.is_exposed(index):
            return 0
        return towards_zero(self.worth(index, is_open) - self.worth(0, is_open), self.n - 1)

    def strength(self, seat):
        is_open = self.is_open(seat)
        gate = TABLES[self.table() + ".rights"][0] if self.o["gate"] and is_open else 0
        return gate + sum(self.worth(p, is_open) for p in self.pieces[seat])

    def shares(self, strength):
        def share(i, j):
            one, other = self.finished[i], self.finished[j]
            if not one and not other:
                return logistic(strength[i] - strength[j])
            return POINT if one and (not other or one < other) else 0

        return pairwise(self.n, share)

    def values(self):
        gate, turn, extra = TABLES[self.table() + ".rights"]
        strength = [self.strength(seat) for seat in range(self.n)]
        if self.starting:
            return [
                self.shares([s + turn * (seat == first) for seat, s in enumerate(strength)])
                for first in range(self.n)
            ]
        m = self.mover
        there = self.finds(m, gate if self.o["gate"] else 0, extra)
        gains, targets = zip(*(self.uses(m, i, there) for i in range(5)))
        strength[m] += sum(count * gain for count, gain in zip(self.pool, gains))
        found = []
        for i, v in enumerate(VALUES):
            after = list(strength)
            after[m] += gains[i] + (extra if v >= 4 and self.o["extra_on_4_8"] else 0)
            if targets[i] is not None and self.is_exposed(targets[i]):
                self.charge(m, targets[i], after)
            found.append(self.shares(after))
        return found

    def finds(self, m, gate, extra):
        """The pieces that the mover meets at each index; none if it is out of reach."""
        is_open, own = self.is_open(m), self.pieces[m]
        bonus = extra if self.o["extra_on_hit"] else 0
        if not is_open:
            bonus += gate + sum(self.worth(p, True) - self.worth(p, False) for p in own)
        there = [self.worth(index, is_open) for index in range(self.goal + 1)]
        prey = set()
        for other in self.others(m):
            for p in self.pieces[other]:
                at = self.cross[other][m][p]
                if self.is_exposed(at) and there[at] is not None:
                    there[at] += self.stake(p, self.is_open(other)) + (0 if at in prey else bonus)
                    prey.add(at)
        if not self.doubles:
            for p in own:
                if p < self.goal and p not in self.safe:
                    there[p] = None
        if own.count(self.goal) == self.k - 1 and there[self.goal] is not None:
            there[self.goal] += 16384
        return there

    def uses(self, m, i, there):
        """The gain of a value, and the end of its best step."""
        v, own, is_open = VALUES[i], self.pieces[m], self.is_open(m)
        every, unsafe = self.opposing_doubles(m) if self.doubles else (set(), set())
        blocking = every if self.o["block_on_safe"] else unsafe
        best, to, gains = None, None, []
        for piece, a in enumerate(own):
            b = a + v
            if b > self.goal or there[b] is None:
                continue
            blocked = piece not in self.may_pass[m] and any(a < at < b for at in blocking)
            gain = there[b] - self.worth(a, is_open)
            if not blocked and b not in unsafe:
                gains.append(gain)
                if best is None or gain > best:
                    best, to = gain, b
            pairs = self.doubles and self.o["double_move"] == "full"
            if pairs and b < self.outer and not blocked and self.partner(m, piece) is not None:
                gain += self.worth(b, is_open) - self.worth(a, is_open)
                if best is None or gain > best:
                    best, to = gain, b
        if best is None:
            return 0, None
        if not gains:
            return best, to
        mean = towards_zero(sum(gains), len(gains))
        return towards_zero(best + mean, 2), to

    def charge(self, m, b, strength):
        for other in self.others(m):
            at, is_open = self.cross[m][other][b], self.is_open(other)
            count = self.pieces[other].count(at)
            if count:
                strength[other] -= count * (self.worth(at, is_open) - self.worth(0, is_open))
                strength[m] -= count * self.stake(at, is_open)


@lru_cache(maxsize=None)
def place(name, index, is_open, outer, goal):
    if index < outer:
        table, s, span = TABLES[f"{name}.{'open' if is_open else 'closed'}"], 16 * index, outer
    else:
        table, s, span = TABLES[f"{name}.inner"], 8 * (index - outer), goal - outer
    last = len(table) - 1
    low = min(s // span, last)
    high = min(low + 1, last)
    return table[low] + towards_zero((table[high] - table[low]) * (s % span), span)
