"""Which environments Arena plays, and what random games show of them before a registration."""

import random
import re
from importlib.metadata import version
from pathlib import Path

from gymnasium import Env, spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import parallel_to_aec

from .call import Call, Refused, name_of
from .episode import Episode, dump

#: Grows when the meaning of a state, an id or an option changes.
VERSION = 1
#: Bits of a chance event, whose outcomes are the hexadecimal digits. Its message lists all outcomes, so there
#: are several events for a seed.
EVENT_BITS = 4
#: Bits of the seed. Some environments accept no seed above 2^32.
_SEED_BITS = (64, 32)

_SEATS_MAX = 10
_IDS = 1 << 15
_EVENTS_MAX = 20_000
_STATE_BYTES_MAX = 1 << 16
_POSITION_BYTES_MAX = 256 << 10
#: Of bounds of returns, and of the parts between them.
_BOUND_MAX, _PARTS_MAX = 1_000_000, 100_000

#: Random games that are played before a registration, and the most moves of all of them.
_GAMES, _MOVES = 20, 600


class Rules:
    """An environment with the parameters of a registration. `seed_bits` is 0 if nothing of it depends on the
    seed. Raises `Refused`."""

    def __init__(self, text, seed_bits=None):
        self.call = Call(text)
        self.shown = self.call.shown
        self.function = self.call.load()
        self.seed_bits = seed_bits
        environment = self.make()
        self.agents = self._agents(environment)
        self.spaces = [self._space(environment, agent) for agent in self.agents]
        largest = max(size for size, _ in self.spaces)
        self.width = 1 if largest <= 64 else 2 if largest <= 64**2 else 3
        self._read_settings()
        if seed_bits is None:
            self._probe()
        self.moves_max = self.moves_max or _EVENTS_MAX - self.seed_bits // EVENT_BITS

    def refuse(self, reason):
        raise Refused(f"{self.shown}: {reason}")

    def make(self):
        """A new environment that has turns."""
        try:
            made = self.function(**self.call.parameters)
            if isinstance(made, ParallelEnv):
                # The agents choose one after another, and see nothing new before all have chosen.
                made = parallel_to_aec(made)
        except Exception as error:
            self.refuse(f"the environment cannot be made: {name_of(error)}")
        if not isinstance(made, AECEnv):
            advice = "; two_players of arena_pettingzoo makes one of it" if isinstance(made, Env) else ""
            self.refuse(f"the function returns {type(made).__name__}, which is no AECEnv or ParallelEnv{advice}")
        return made

    def _agents(self, environment):
        agents = getattr(environment, "possible_agents", None)
        if not agents:
            self.refuse("it has no possible_agents, which are the seats")
        if not 2 <= len(agents) <= _SEATS_MAX:
            self.refuse(f"it has {len(agents)} agent{'s' * (len(agents) != 1)}; Arena supports 2 to {_SEATS_MAX}")
        return list(agents)

    def _space(self, environment, agent):
        try:
            space = environment.action_space(agent)
        except Exception as error:
            self.refuse(f"the action space of {agent} is unknown: {name_of(error)}")
        if not isinstance(space, spaces.Discrete):
            self.refuse(f"the action space of {agent} is {space}, and Arena supports Discrete alone")
        if space.n > _IDS:
            self.refuse(f"{agent} has {space.n} actions; Arena supports {_IDS}")
        return int(space.n), int(space.start)

    def _read_settings(self):
        given = self.call.settings
        self.hidden = given["arena_information"] == "hidden"
        if not self.hidden and given["arena_information"] != "perfect":
            self.refuse("arena_information has to be 'hidden' or 'perfect'")
        if given["arena_chance"] not in (None, True, False):
            self.refuse("arena_chance has to be True or False")
        bounds = given["arena_returns"]
        if bounds is not None:
            is_whole = isinstance(bounds, (tuple, list)) and all(type(it) is int for it in bounds)
            least, most, parts = (*bounds, 1)[:3] if is_whole and len(bounds) in (2, 3) else (0, 0, 0)
            if not -_BOUND_MAX <= least < most <= _BOUND_MAX or not 0 < (most - least) * parts <= _PARTS_MAX:
                self.refuse(
                    "arena_returns has to be (min, max) or (min, max, parts), in whole numbers within "
                    f"{_BOUND_MAX:,}, with up to {_PARTS_MAX:,} parts between them"
                )
            bounds = least, most, parts
        self.bounds = bounds
        self.moves_max = given["arena_moves_max"]
        if self.moves_max is not None:
            most = _EVENTS_MAX - _SEED_BITS[0] // EVENT_BITS
            if type(self.moves_max) is not int or not 1 <= self.moves_max <= most:
                self.refuse(f"arena_moves_max has to be a whole number from 1 to {most}")

    # Random games, before a registration.

    def _probe(self):
        for self.seed_bits in _SEED_BITS:
            try:
                self.make().reset(seed=2**self.seed_bits - 1)
                break
            except Exception as error:
                failed = error
        else:
            self.refuse(f"reset(seed={2**self.seed_bits - 1}) fails: {name_of(failed)}")
        draw, totals, differs, moves = random.Random(1), [], False, 0
        for _ in range(_GAMES):
            seed, other = draw.getrandbits(self.seed_bits), draw.getrandbits(self.seed_bits)
            try:
                played = ProbedGame(self, seed, other)
                moves += played.play(draw, _MOVES - moves)
            except Refused:
                raise
            except Exception as error:
                self.refuse(f"a random game fails: {name_of(error)}")
            differs = differs or played.differs
            if played.totals is not None:
                totals.append(played.totals)
            if moves >= _MOVES:
                break
        if totals and all(len(set(it)) == 1 for it in totals) and any(it[0] for it in totals):
            self.refuse("all agents get the same reward in random games, and Arena ranks them")
        chance = self.call.settings["arena_chance"]
        if chance is False and differs:
            self.refuse("arena_chance=False is wrong: random games with the same actions differ with the seed")
        if not (differs if chance is None else chance):
            self.seed_bits = 0

    def describe(self):
        place = Path(self.call.place).stem if self.call.is_file else self.call.place.rpartition(".")[2]
        chance = f"a seed of {self.seed_bits} bits" if self.seed_bits else "no chance"
        summary = f"{self.shown[:300]} by PettingZoo {version('pettingzoo')}, {chance}"
        described = {
            "type": "description",
            "protocol": 1,
            "name": re.sub("[^a-z0-9_-]", "-", place.lower())[:40],
            "version": VERSION,
            "summary": summary,
            "seats": [len(self.agents)] * 2,
            "options": [],
            "presets": [],
            "chance": self.seed_bits > 0,
            "values": False,
            "draws": False,
            "information": "hidden" if self.hidden else "perfect",
            "events_max": self.seed_bits // EVENT_BITS + self.moves_max,
            "state_bytes_max": _STATE_BYTES_MAX,
        }
        if self.bounds:
            described["returns"] = [dict(zip(("min", "max", "parts"), self.bounds))]
        return described


class ProbedGame:
    """A random game that is played twice, move by move, because generators that both use differ then, and a
    third time with another seed."""

    def __init__(self, rules, seed, other):
        self.rules = rules
        self.first, self.again, self.other = Episode(rules, seed), Episode(rules, seed), Episode(rules, other)
        #: Whether the other seed has changed anything.
        self.differs = False
        #: The rewards, if the game has ended.
        self.totals = None

    def play(self, draw, moves):
        """Returns the number of moves, at most this one."""
        first = self.first
        for move in range(moves):
            self._compare(move)
            if first.seat is None:
                self.totals = first.totals
                return move
            size = len(dump(first.position()))
            if size > _POSITION_BYTES_MAX:
                self.rules.refuse(
                    f"an observation of {self.rules.agents[first.seat]} has {size} bytes as JSON; Arena supports "
                    f"{_POSITION_BYTES_MAX}"
                )
            action = draw.choice(first.legal())
            for episode in (first, self.again, *([] if self.differs else [self.other])):
                episode.step(action)
        return moves

    def _compare(self, move):
        seen, again = self.first.everything(), self.again.everything()
        if again != seen:
            where = next((name for name in seen if again.get(name) != seen[name]), "the agents")
            self.rules.refuse(
                f"it is not determined by its seed: two games with seed {self.first.seed} and the same actions "
                f"differ after {move} moves, at {where}. It has to draw only from a generator that "
                "reset(seed=…) makes, such as gymnasium.utils.seeding.np_random(seed)"
            )
        self.differs = self.differs or self.other.everything() != seen
