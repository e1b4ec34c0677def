"""Exported records as games, blocks and groups."""

import itertools
from collections import defaultdict
from math import comb


def against(placement, s, t):
    """Units of seat s against seat t."""
    return 2 if placement[s] < placement[t] else 1 if placement[s] == placement[t] else 0


class Game:
    def __init__(self, record, agents):
        self.index, self.block = record["index"], record["block"]
        self.seats = [agents.index(name) for name in record["seats"]]
        self.placement = record["placement"]
        self.luck = record.get("luck")
        self.scores = record["scores"]
        self.forfeited = record["termination"] == "forfeit"
        self.plies = record["plies"]
        self.faults = [(self.seats[f["seat"]], f["kind"]) for f in record["fault"] or []]
        self.course = tuple(e.get("action", e.get("chance")) for e in record["events"])
        # Plies before the first fault; games without chance have no other events.
        self.clean = min([f["ply"] for f in record["fault"] or []], default=len(self.course))

    @property
    def is_void(self):
        return self.placement is None

    def held(self, agent):
        return [seat for seat, one in enumerate(self.seats) if one == agent]

    def units(self, agent, opponent=None):
        """Units against the seats of all other agents, or of one."""
        return sum(
            against(self.placement, s, t)
            for s in self.held(agent)
            for t, other in enumerate(self.seats)
            if other != agent and opponent in (None, other)
        )

    def seat_units(self, seat):
        return sum(against(self.placement, seat, t) for t in range(len(self.seats)) if t != seat)

    def score(self, agent):
        own = len(self.held(agent))
        return self.units(agent) / (2 * own * (len(self.seats) - own))

    def wins(self, agent):
        """Seats of the agent that are the only first."""
        first = [s for s, place in enumerate(self.placement) if place == min(self.placement)]
        return sum(first == [s] for s in self.held(agent))

    def returned(self, seat, least, most):
        """Points above the least return. Who forfeits has the least; the other one of two has the most."""
        if self.forfeited and self.seats[seat] in [agent for agent, _ in self.faults]:
            return 0
        if self.forfeited and len(self.seats) == 2:
            return most - least
        return self.scores[seat] - least

    def before(self, seat):
        return sum(place < self.placement[seat] for place in self.placement)


# The number of openings for which blocks are compared.
COMPARED_MAX = 64
# Plies after which a game with a fault is compared.
COMPARED_PLIES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]


def differ(one, other):
    if not one.faults and not other.faults and one.course != other.course:
        return True
    both = [ply for ply in COMPARED_PLIES if ply <= min(one.clean, other.clean)]
    return bool(both) and one.course[: both[-1]] != other.course[: both[-1]]


class Group:
    """Complete blocks of the same agents that count."""

    def __init__(self, members, number):
        self.members, self.number = members, number
        self.blocks = []
        # Blocks that repeat games which their opening determines.
        self.held = []
        self.courses = set()
        # The index of each block in its group, from 0.
        self.turns = []

    def hold_back(self, openings):
        """Removes blocks whose opening the group has had, unless two blocks with
        one opening differed."""
        seen = {}
        for turn, block in zip(self.turns, self.blocks):
            for game in block if turn % openings < COMPARED_MAX else []:
                seen.setdefault((turn % openings, tuple(game.seats)), []).append(game)
        pairs = (pair for games in seen.values() for pair in itertools.combinations(games, 2))
        if any(differ(one, other) for one, other in pairs):
            return
        both = list(zip(self.turns, self.blocks))
        self.held = [block for turn, block in both if turn >= openings]
        self.blocks = [block for turn, block in both if turn < openings]
        self.turns = [turn for turn, _ in both if turn < openings]

    def own(self, agent):
        return self.members.count(agent)

    def agents(self):
        return sorted(set(self.members))


class Tournament:
    def __init__(self, spec, records, openings=None):
        self.spec = spec
        self.format = spec.get("format", "round-robin")
        # The limit up to which different games of a group are counted.
        self.courses_max = 1024 if openings else 64
        self.agents = list(spec["agents"])
        self.games = [Game(record, self.agents) for record in records]
        self.n = len(self.games[0].seats)
        self.rotations = self.n if spec.get("play", {}).get("rotate", True) else 1
        self.counted = [game for game in self.games if not game.is_void]
        repeats = self.format == "sprt" and self.n > 2
        ways = itertools.combinations_with_replacement if repeats else itertools.combinations
        numbers = {g: at for at, g in enumerate(ways(range(len(self.agents)), self.n))}
        blocks = defaultdict(list)
        for game in self.games:
            blocks[game.block].append(game)
        groups, turns = {}, defaultdict(int)
        for block, games in sorted(blocks.items()):
            members = tuple(sorted(games[0].seats))
            group = groups.setdefault(members, Group(members, numbers[members]))
            turn, turns[members] = turns[members], turns[members] + 1
            if self.format == "fixed":
                turn = self.turn_in_list(block, members)
            if len(games) == self.rotations and not any(game.is_void for game in games):
                group.blocks.append(games)
                group.turns.append(turn)
            group.courses |= {game.course for game in games if not game.is_void}
        if openings:
            for group in groups.values():
                group.hold_back(openings)
        held = {game.index for group in groups.values() for block in group.held for game in block}
        # Games that count: no void games and no repeats.
        self.evidence = [game for game in self.counted if game.index not in held]
        self.groups = [groups[key] for key in sorted(groups, key=lambda key: groups[key].number)]

    def turn_in_list(self, block, members):
        """If a list names a group twice, the blocks of the second line follow all of
        the first line's."""
        lines = self.spec["fixed"]["games"]
        lines = [tuple(sorted(self.agents.index(name) for name in line)) for line in lines]
        turn, line = divmod(block, len(lines))
        return lines[:line].count(members) * self.spec["blocks"] + turn

    def of(self, agent):
        """Groups with complete blocks of an agent."""
        return [g for g in self.groups if agent in g.members and g.blocks]

    def horizon(self, agent):
        """H of an agent."""
        spec, n, agents = self.spec, self.n, len(self.agents)
        blocks = spec["blocks"]
        if self.format == "round-robin":
            return blocks * comb(agents - 1, n - 1)
        if self.format == "gauntlet":
            challengers = self.challengers()
            field = agents - len(challengers)
            if agent in challengers:
                return blocks * comb(field, n - 1)
            return blocks * comb(field - 1, n - 2) * len(challengers)
        if self.format == "swiss":
            return self.rounds() * blocks
        if self.format == "ladder":
            return n * blocks
        return blocks

    def horizon_pair(self):
        n, agents, blocks = self.n, len(self.agents), self.spec["blocks"]
        if self.format == "round-robin":
            return blocks * comb(agents - 2, n - 2)
        if self.format == "gauntlet":
            return blocks * comb(agents - len(self.challengers()) - 1, n - 2)
        return blocks

    def challengers(self):
        named = self.spec.get("gauntlet", {}).get("challengers")
        return [self.agents.index(name) for name in named] if named else [0]

    def rounds(self):
        """Rounds of a Swiss tournament: meetings of each agent, as played or rested."""
        tables = len(self.agents) // self.n
        blocks = len({game.block for game in self.games})
        return blocks // (tables * self.spec["blocks"])
