"""The rules of an environment of PettingZoo, by Arena's protocol for rules (services/games/PROTOCOL.md).

`arena rulesets register NAME --pettingzoo ENVIRONMENT` copies this module into a package, with what has to be
the same on each machine. So it imports only PettingZoo, NumPy and the standard library.
"""

import ast
import difflib
import hashlib
import importlib
import importlib.util
import json
import os
import pkgutil
import random
import re
import sys
from collections import OrderedDict
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from pathlib import Path

# Environments that draw with pygame need no screen.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

try:
    import numpy as np
    from gymnasium import Env, spaces
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils import parallel_to_aec
except ImportError as error:  # answered in `main`, where Arena shows it
    missing = error
else:
    missing = None

#: Grows when the meaning of a state, an id or an option changes.
VERSION = 1
#: In the package: what has to be the same on each machine, and what random games have shown.
PINNED = "pettingzoo.json"
#: The folder for a file of the user, which no module of this name can hide.
FILES = "environment"

_SEATS_MAX = 4
_IDS = 1 << 15
_EVENTS_MAX = 20_000
_STATE_BYTES_MAX = 1 << 16
_POSITION_BYTES_MAX = 256 << 10
_TEXT_MAX = 300
#: Of bounds of returns, and of the parts between them.
_BOUND_MAX, _PARTS_MAX = 1_000_000, 100_000
#: Environments in the middle of a game that a process keeps.
_KEPT = 512

#: Bits of a chance event, whose outcomes are the hexadecimal digits. Its message lists all outcomes, so there
#: are several events for a seed.
_EVENT_BITS = 4
#: Bits of the seed. Some environments accept no seed above 2^32.
_SEED_BITS = (64, 32)

#: Random games that are played before a registration, and the most moves of all of them.
_GAMES, _MOVES = 20, 600

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
_PLACES = {digit: place for place, digit in enumerate(_DIGITS)}
_PLACE = re.compile(r"[^:()]+")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_CALL = re.compile(r"(?P<place>[^:()]+)(:(?P<function>[A-Za-z_]\w*))?(\((?P<arguments>.*)\))?", re.ASCII)
_FUNCTIONS = ("env", "parallel_env", "raw_env")
#: Parameters that are Arena's own, with their default values.
_SETTINGS = {"arena_information": "hidden", "arena_chance": None, "arena_returns": None, "arena_moves_max": None}


class Refused(ValueError):
    """Arena cannot play this environment. The text names it and the reason."""


def _line(error):
    return " ".join(str(error).split()) or type(error).__name__


def _name(error):
    return f"{type(error).__name__}: {_line(error)}"


# The environment.


class Call:
    """What a registration names: `module`, `module:function` or `file.py:function`, with parameters in the
    syntax of Python. Raises `Refused`."""

    def __init__(self, text):
        self.text = text
        found = _CALL.fullmatch(text) if re.fullmatch(f"[ -~]{{1,{_TEXT_MAX}}}", text) else None
        if found is None:
            raise Refused(
                f"{text[:40]!r} is no environment: write module, module:function or ./file.py:function, with "
                f"parameters such as (board_size=9) if any, in up to {_TEXT_MAX} characters of ASCII"
            )
        self.place, self.function = found["place"], found["function"]
        self.is_file = self.place.endswith(".py")
        if not self.is_file and not _MODULE.fullmatch(self.place):
            raise Refused(f"{self.place!r} is no name of a module; a file ends in .py")
        self.parameters = self._parse(found["arguments"] or "")
        self.settings = {name: self.parameters.pop(name, value) for name, value in _SETTINGS.items()}
        for name in self.parameters:
            if name.startswith("arena_"):
                raise Refused(f"{text}: unknown parameter {name}; those of Arena are {', '.join(_SETTINGS)}")

    def _parse(self, arguments):
        try:
            call = ast.parse(f"_({arguments})", mode="eval").body
            if not isinstance(call, ast.Call) or call.args or any(it.arg is None for it in call.keywords):
                raise ValueError("each parameter is written name=value")
            return {it.arg: ast.literal_eval(it.value) for it in call.keywords}
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise Refused(
                f"{self.text}: the parameters have to be literals of Python, such as (size=9, mode='fast'): "
                f"{_line(error)}"
            ) from None

    def in_folder(self):
        """The text of the package, for which the file has been copied there."""
        return f"{FILES}/{Path(self.place).name}{self.text[len(self.place) :]}" if self.is_file else self.text

    @property
    def shown(self):
        return self.text.removeprefix(f"{FILES}/")

    @property
    def module(self):
        """The name of the loaded module."""
        return "arena_environment" if self.is_file else self.place

    def load(self):
        """The function that makes the environment."""
        try:
            module = self._import()
        except Exception as error:
            self._explain(error)
        names = [self.function] if self.function else _FUNCTIONS
        for name in names:
            if callable(getattr(module, name, None)):
                return getattr(module, name)
        raise Refused(
            f"{self.shown}: the module has no function {', '.join(names)}"
            + ("" if self.function else "; name one: module:function")
        )

    def _import(self):
        if not self.is_file:
            return importlib.import_module(self.place)
        spec = importlib.util.spec_from_file_location(self.module, self.place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[self.module] = module
        spec.loader.exec_module(module)
        return module

    def _explain(self, error):
        name = getattr(error, "name", None)
        if not isinstance(error, ModuleNotFoundError) or name is None:
            raise Refused(f"{self.shown}: it cannot be imported: {_name(error)}") from None
        if not self.is_file and f"{self.place}.".startswith(f"{name}."):
            raise Refused(
                f"{sys.executable} finds no module {name}{self._near(name)}; a file of your own is written "
                f"./{name.partition('.')[0]}.py"
            ) from None
        beside = "; of your own files, only this one is in the package" if self.is_file else ""
        raise Refused(
            f"{self.shown}: it needs the module {name}, which {sys.executable} does not have: install it here, "
            f"and on each worker{beside}"
        ) from None

    def _near(self, name):
        parent, _, last = name.rpartition(".")
        known = [it.name for it in pkgutil.iter_modules(getattr(sys.modules.get(parent), "__path__", []))]
        near = difflib.get_close_matches(last, known, 1) if parent else []
        return f", did you mean {parent}.{near[0]}" if near else ""


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
        self.moves_max = self.moves_max or _EVENTS_MAX - self.seed_bits // _EVENT_BITS

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
            self.refuse(f"the environment cannot be made: {_name(error)}")
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
            self.refuse(f"the action space of {agent} is unknown: {_name(error)}")
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
            most = _EVENTS_MAX - _SEED_BITS[0] // _EVENT_BITS
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
            self.refuse(f"reset(seed={2**self.seed_bits - 1}) fails: {_name(failed)}")
        draw, totals, differs, moves = random.Random(1), [], False, 0
        for _ in range(_GAMES):
            seed, other = draw.getrandbits(self.seed_bits), draw.getrandbits(self.seed_bits)
            try:
                played = ProbedGame(self, seed, other)
                moves += played.play(draw, _MOVES - moves)
            except Refused:
                raise
            except Exception as error:
                self.refuse(f"a random game fails: {_name(error)}")
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

    # The protocol.

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
            "events_max": self.seed_bits // _EVENT_BITS + self.moves_max,
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
            size = len(_dump(first.position()))
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


class Episode:
    """An environment in the middle of a game. It stops at decisions, and adds up the rewards."""

    def __init__(self, rules, seed):
        self.rules, self.seed = rules, seed
        self.environment = rules.make()
        self.totals = [0.0] * len(rules.agents)
        self.was_truncated = False
        self.seat = None
        self.environment.reset(seed=seed)
        self._advance()

    def _advance(self):
        """Goes on to the next decision, as the loop `for agent in env.agent_iter()` does."""
        environment, agents = self.environment, self.rules.agents
        # Each agent is removed once.
        for _ in range(len(agents) + 1):
            if not environment.agents:
                self.seat = None
                return
            agent = environment.agent_selection
            if agent not in agents:
                self.rules.refuse(f"agent {agent} is none of possible_agents")
            _, reward, terminated, truncated, _ = environment.last(observe=False)
            self.seat = agents.index(agent)
            self.totals[self.seat] += float(reward)
            if not terminated and not truncated:
                return
            self.was_truncated = self.was_truncated or bool(truncated)
            environment.step(None)
        self.rules.refuse(f"agent {agent} is not removed after its end")

    def step(self, action):
        """Plays the action with this id: an id counts from 0."""
        self.environment.step(self.rules.spaces[self.seat][1] + action)
        self._advance()

    def _observe(self):
        return self.environment.observe(self.rules.agents[self.seat])

    def legal(self):
        agent, (size, _) = self.rules.agents[self.seat], self.rules.spaces[self.seat]
        seen = self._observe()
        info = self.environment.infos.get(agent) or {}
        mask = seen.get("action_mask") if isinstance(seen, dict) else None
        mask = info.get("action_mask") if mask is None else mask
        if mask is None:
            return list(range(size))
        mask = np.asarray(mask)
        if mask.shape != (size,):
            self.rules.refuse(f"the action mask of {agent} has shape {mask.shape}, and there are {size} actions")
        legal = np.flatnonzero(mask).tolist()
        if not legal:
            self.rules.refuse(f"{agent} has no legal action: its action mask is 0")
        return legal

    def position(self):
        """What the agent that moves sees."""
        seen = self._observe()
        if isinstance(seen, dict) and "action_mask" in seen:
            seen = {name: value for name, value in seen.items() if name != "action_mask"}
            if list(seen) == ["observation"]:
                seen = seen["observation"]
        position = {"agent": str(self.rules.agents[self.seat]), "observation": self._json(seen)}
        if isinstance(seen, np.ndarray):
            position.update(shape=list(seen.shape), dtype=str(seen.dtype))
        return position

    def everything(self):
        """All that agents see and get, to compare games. The keys name it."""
        found = {"the rewards": list(self.totals), "the end": self.seat is None}
        for agent in self.environment.agents:
            try:
                seen = _comparable(self.environment.observe(agent))
            except Exception as error:  # some environments show an agent nothing before its turn
                seen = type(error).__name__
            found[f"the observation of {agent}"] = seen
        if self.seat is not None:
            found["the agent that moves"] = self.seat
            found["the legal actions"] = self.legal()
        return found

    def _json(self, value):
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
            return _numbers(value)
        if isinstance(value, float):
            return value if isfinite(value) else None
        if isinstance(value, dict):
            return {str(name): self._json(it) for name, it in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._json(it) for it in value]
        if value is None or isinstance(value, (bool, int, str)):
            return value
        self.rules.refuse(f"an observation has a {type(value).__name__}, which has no JSON")


def _numbers(array):
    """Lists of numbers: true and false are 1 and 0, whole numbers have no point, which is shorter, and infinity
    and NaN are null."""
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    elif array.dtype.kind == "f":
        if not np.all(np.isfinite(array)):
            array = np.where(np.isfinite(array), array, None)
        elif np.all(array == np.floor(array)) and np.all(np.abs(array) < 2**53):
            array = array.astype(np.int64)
    return array.tolist()


def _comparable(value):
    """A value that is equal for equal observations."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind != "O":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return [(str(name), _comparable(it)) for name, it in value.items()]
    if isinstance(value, (list, tuple)):
        return [_comparable(it) for it in value]
    return repr(value) if isinstance(value, (bool, int, float, str)) else type(value).__name__


# Nodes.


class Game:
    """The nodes of a game. The text of a state is the seed, a hexadecimal digit for each event, and the actions
    so far, each with the same number of digits to the base 64.

    An environment moves on with its game, as PettingZoo uses it, and is kept by the text of its state, up to a
    bound. A state that it has left is played again from the seed. It is never copied: a deep copy of an
    environment with EzPickle, such as all of PettingZoo's, is a new one.
    """

    def __init__(self, rules, positions=True):
        self.rules, self.positions = rules, positions
        self.seed_digits = rules.seed_bits // _EVENT_BITS
        self.kept = OrderedDict()

    def _keep(self, text, episode):
        node = self._node(text, episode)
        self.kept[text] = episode, node
        if len(self.kept) > _KEPT:
            self.kept.popitem(last=False)
        return node

    def _take(self, text):
        """The environment at a state, and its node. It is no longer kept."""
        if text in self.kept:
            return self.kept.pop(text)
        digits, width = self.seed_digits, self.rules.width
        episode = Episode(self.rules, int(text[:digits] or "0", 16))
        for start in range(digits, len(text), width):
            action = 0
            for digit in text[start : start + width]:
                action = action << 6 | _PLACES[digit]
            episode.step(action)
        return episode, self._node(text, episode)

    def look(self, text):
        if len(text) < self.seed_digits:
            return _chance(text)
        if text in self.kept:
            return self.kept[text][1]
        return self._keep(text, self._take(text)[0])

    def apply(self, text, event):
        if len(text) < self.seed_digits:
            return self.look(text + _OUTCOMES[event])
        digits, rest = "", event
        for _ in range(self.rules.width):
            digits, rest = _DIGITS[rest & 63] + digits, rest >> 6
        if rest == 0 and text + digits in self.kept:
            return self.kept[text + digits][1]
        episode, node = self._take(text)
        if event not in node.get("legal", ()):
            raise ValueError(f"{self.rules.shown}: action {event} is illegal at {text}")
        episode.step(event)
        return self._keep(text + digits, episode)

    def _node(self, text, episode):
        moves = (len(text) - self.seed_digits) // self.rules.width
        if episode.seat is None or moves == self.rules.moves_max:
            return self._over(text, episode)
        legal = episode.legal()
        node = {
            "state": text,
            "next": "decision",
            "seat": episode.seat,
            "legal": legal,
            "moves": list(map(str, legal)),
        }
        if self.positions:
            node["position"] = episode.position()
        return node

    def _over(self, text, episode):
        totals = [round(it, 9) for it in episode.totals]
        if not all(map(isfinite, totals)):
            self.rules.refuse(f"the rewards add up to {totals}")
        is_cut = episode.was_truncated or episode.seat is not None
        over = {
            "state": text,
            "next": "over",
            "ranks": [1 + sum(other > own for other in totals) for own in totals],
            "ending": "cap" if is_cut else "normal",
        }
        if self.rules.bounds:
            over["scores"] = [self._score(it) for it in totals]
        return over

    def _score(self, total):
        least, most, parts = self.rules.bounds
        score = round(total * parts)
        if abs(score / parts - total) > 1e-6:
            self.rules.refuse(f"the return {total} is no whole number of {parts} parts of 1: see arena_returns")
        if not least <= total <= most:
            self.rules.refuse(f"the return {total} is not within {least} to {most}, as arena_returns has it")
        return score


_OUTCOMES = [f"{it:x}" for it in range(1 << _EVENT_BITS)]
_WEIGHTS = [1] * len(_OUTCOMES)


def _chance(text):
    return {"state": text, "next": "chance", "weights": _WEIGHTS, "outcomes": _OUTCOMES}


# What has to be the same on each machine.


def sources(modules):
    """The SHA-256 over the files of these modules."""
    digest = hashlib.sha256()
    for name in modules:
        spec = importlib.util.find_spec(name)
        content = Path(spec.origin).read_bytes() if spec else b""
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def difference(pinned, machine):
    """How this machine differs from what was registered, and what to do, or None."""
    here = "{}.{}".format(*sys.version_info)
    again = "; or register again with --replace on a machine like it"
    if here != pinned["python"]:
        return (
            f"the machine {machine} has Python {here}, but {pinned['python']} was registered. Start the worker "
            f"with a PATH whose python3 is Python {pinned['python']}{again}"
        )
    for name, there in pinned["packages"].items():
        if installed(name) != there:
            return (
                f"the machine {machine} has {name} {installed(name) or 'not installed'}, but {there} was "
                f"registered. Run `pip install {name}=={there}` on it{again}"
            )
    try:
        found = sources(pinned["modules"])
    except (ImportError, OSError, ValueError) as error:
        found = _name(error)
    if found != pinned["sources_sha256"]:
        return (
            f"the machine {machine} has modules {pinned['modules'][0]}… with the SHA-256 {found}, but "
            f"{pinned['sources_sha256']} was registered. Install the same files on it{again}"
        )
    return None


# The process.

_dump = json.JSONEncoder(separators=(",", ":")).encode


class Answers:
    """The answers of a process to Arena's questions."""

    def __init__(self, rules):
        self.rules = rules
        self.description = rules.describe()
        self.games = {}

    def answer(self, message):
        """The answer to a message, or None for one of a later version."""
        kind = message.get("type")
        if kind == "describe":
            return self.description
        if kind == "game":
            game = Game(self.rules, message.get("positions", True))
            self.games[message["game"]] = game
            return {"type": "initial", "game": message["game"], "node": game.look("")}
        if kind not in ("apply", "look"):
            return None
        game, states, batch = self.games[message["game"]], message["states"], message["batch"]
        nodes = map(game.apply, states, message["events"]) if kind == "apply" else map(game.look, states)
        return {"type": "nodes", "batch": batch, "nodes": list(nodes)}


def serve(answers, lines, output):
    for line in lines:
        message = json.loads(line)
        try:
            answer = answers.answer(message)
        except Exception as error:
            if not isinstance(error, Refused):
                import traceback

                traceback.print_exc()
            answer = {"type": "error", "message": _name(error)}
            answer.update((key, message[key]) for key in ("batch", "game") if key in message)
        if answer is not None:
            output.write(_dump(answer).encode() + b"\n")
            output.flush()


def main(arguments):
    """Answers for the environment of the first argument until the end of standard input."""
    machine = os.uname().nodename
    if missing is not None:
        sys.exit(
            f"the machine {machine} has no pettingzoo for its python3, {sys.executable} ({_line(missing)}). Run "
            "`pip install pettingzoo` on it; the sandbox reads packages in the folder of a python3 of PATH, and "
            "in folders of ARENA_AGENT_PATH"
        )
    # What environments print must not disturb the protocol.
    lines, output = os.fdopen(os.dup(0), "rb", 1 << 16), os.fdopen(os.dup(1), "wb", 1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    pinned = json.loads(Path(PINNED).read_text(encoding="utf-8"))
    if differs := difference(pinned, machine):
        sys.exit(differs)
    try:
        answers = Answers(Rules(arguments[0], pinned["seed_bits"]))
    except Refused as refused:
        sys.exit(str(refused))
    serve(answers, lines, output)


if __name__ == "__main__":
    main(sys.argv[1:])
