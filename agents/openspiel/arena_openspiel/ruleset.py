"""The rules of a game of OpenSpiel, by Arena's protocol for rules (services/games/PROTOCOL.md).

`arena rulesets register NAME --openspiel GAME` copies this file and nodes.py into a package, with the game
and with what has to be the same on each machine. So both import only `pyspiel` and the standard library.
"""

import difflib
import hashlib
import json
import mmap
import os
import random
import re
import sys
from fractions import Fraction
from math import isfinite, lcm

if __package__:
    from . import nodes
    from .nodes import Game, Refused, dump, pyspiel
else:
    import nodes
    from nodes import Game, Refused, dump, pyspiel

#: Grows when the meaning of a state, an id or an option changes.
VERSION = 2
#: In the package: what has to be the same on each machine.
PINNED = "openspiel.json"

_TEXT_MAX = 300
_EVENTS_MAX = 20_000
_STATE_BYTES_MAX = 1 << 16

#: Of bounds of returns, and of the parts between them.
_BOUND_MAX, _PARTS_MAX = 1_000_000, 100_000
#: Minimum and maximum number of players.
_PLAYERS = 2, 10

#: Games that change another game, and depend on nothing but its moves.
_WRAPPERS = ("misere", "start_at", "zerosum")
#: Parameters that change what is shown, not the rules.
_DISPLAY = re.compile("ansi|ascii|color|egocentric|obs|string_rep")


# What has to be the same on each machine.


def spiel_version():
    """The version that the library has in itself. Reading the metadata of packages takes as long as all other
    modules together, and many processes start during a tournament."""
    if own := getattr(pyspiel, "__version__", ""):
        return own
    from importlib.metadata import version

    return version("open_spiel")


def present():
    """What makes the rules besides this file: OpenSpiel, its native library, and Python."""
    with open(pyspiel.__file__, "rb") as library:
        content = mmap.mmap(library.fileno(), 0, access=mmap.ACCESS_READ)
        digest = hashlib.sha256(content)
    return {
        "open_spiel": spiel_version(),
        "python": "{}.{}".format(*sys.version_info),
        "library_sha256": digest.hexdigest(),
    }


def difference(pinned, here, machine):
    """How a machine differs from what was registered, and what to do, or None."""
    fields = {
        "python": ("Python", "Start the worker with a PATH whose python3 is Python {}"),
        "open_spiel": ("open_spiel", "Run `pip install open_spiel=={}` on it"),
        "library_sha256": (
            "a pyspiel with the SHA-256",
            "Install the same wheel of open_spiel on it, for the same kind of machine",
        ),
    }
    for field, (name, remedy) in fields.items():
        there = pinned[field]
        if there != here[field]:
            return (
                f"the machine {machine} has {name} {here[field]}, but {there} was registered. "
                f"{remedy.format(there)}; or register again with --replace on a machine like it"
            )
    return None


def check_machine():
    """Ends the process if the folder of the package names another OpenSpiel or Python than this."""
    if os.path.exists(PINNED):
        with open(PINNED, encoding="utf-8") as pinned:
            differs = difference(json.load(pinned), present(), os.uname().nodename)
        if differs:
            sys.exit(differs)


# Which games Arena plays.


def _parameters(text):
    """The name of a game and its parameters, as OpenSpiel reads them. No game is loaded."""
    if not re.fullmatch(f"[ -~]{{1,{_TEXT_MAX}}}", text):
        raise Refused(
            f"{text[:40]!r} is no game of OpenSpiel: a name has 1 to {_TEXT_MAX} characters of ASCII"
        )
    try:
        parameters = pyspiel.game_parameters_from_string(text)
    except Exception as error:
        raise Refused(f"{text!r} is no game of OpenSpiel: {_line(error)}") from None
    name = parameters.pop("name", None)
    _check_names(text, name, parameters)
    return name, parameters


def _check_names(text, name, parameters):
    known = pyspiel.registered_names()
    if name not in known:
        near = difflib.get_close_matches(str(name), known, 1)
        advice = f"; did you mean {near[0]!r}?" if near else "; see `pyspiel.registered_names()`"
        raise Refused(f"OpenSpiel {spiel_version()} has no game {str(name)!r}{advice}")
    for key, value in parameters.items():
        if "file" in key and value:
            raise Refused(
                f"{text}: {key} names a file, which is not part of the package; Arena does not support this yet"
            )
        if isinstance(value, dict):
            inner = dict(value)
            _check_names(text, inner.pop("name", None), inner)


def _line(error):
    return " ".join(str(error).split()) or type(error).__name__


def _check_wrapper(text, name):
    for known in pyspiel.registered_games():
        if known.short_name == name and not known.default_loadable and name not in _WRAPPERS:
            raise Refused(
                f"{text}: {name} makes its game from another one or from a file, and may remember what was "
                f"played; of these, Arena supports {', '.join(_WRAPPERS)}"
            )


def _check(text, game):
    """Raises `Refused` unless Arena plays this game. Returns the maximum number of events."""
    kind, players = game.get_type(), game.num_players()

    def refuse(reason):
        raise Refused(f"{text}: {reason}")

    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        refuse("it is a mean-field game, which Arena does not support yet")
    least, most = _PLAYERS
    if not least <= players <= most:
        refuse(f"it has {players} player{'s' * (players != 1)}; Arena supports {least} to {most}")
    if "quoridor(" in str(game) and players > 2:
        refuse(f"for {players} players, OpenSpiel offers some moves twice, and some that it cannot play")
    if "coin_game(" in str(game):
        refuse("a game has more chance outcomes than OpenSpiel declares")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        refuse("it draws its chance outcomes itself (sampled stochastic), and Arena has to draw them")
    is_seen = kind.provides_information_state_string or kind.provides_observation_string
    if nodes.is_hidden(game) and not is_seen:
        refuse("it has hidden information, and does not say what a player sees")
    if kind.utility == pyspiel.GameType.Utility.IDENTICAL:
        refuse("all players get the same return, and Arena ranks them")
    # chess960 declares no chance node.
    chance = max(1, game.max_chance_nodes_in_history()) if nodes.has_chance(game) else 0
    events = game.max_game_length() + chance
    if events < 1:
        refuse("a game has no moves")
    if events > _EVENTS_MAX:
        refuse(
            f"a game may have {events} moves and chance outcomes; Arena supports {_EVENTS_MAX}. Choose "
            "parameters with shorter games, if it has them"
        )
    # laser_tag draws more often than it declares.
    return min(events + chance, _EVENTS_MAX)


def _load(text, name, parameters):
    try:
        game = pyspiel.load_game(name, parameters)
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            # The players choose one after another, and do not see what the others chose.
            game = pyspiel.convert_to_turn_based(game)
        return game
    except Exception as error:
        raise Refused(f"{text}: OpenSpiel cannot load it: {_line(error)}") from None


class Rules:
    """A game of OpenSpiel with the parameters that the registration sets. With two players, returns are whole
    numbers of `parts` of 1. Raises `Refused`."""

    def __init__(self, text, parts=1):
        self.text = text
        self.name, self.parameters = _parameters(text)
        _check_wrapper(text, self.name)
        self.default = _load(text, self.name, self.parameters)
        self.events_max = _check(text, self.default)
        self.chance, self.hidden = nodes.has_chance(self.default), nodes.is_hidden(self.default)
        #: The bounds of returns by the number of players.
        self.bounds = {}
        self._extend_bounds(self.default)
        self.specification = self.default.get_type().parameter_specification
        try:
            board = nodes.plain(str(self.default.new_initial_state()))
        except Exception as error:
            raise Refused(f"{text}: OpenSpiel cannot start it: {_line(error)}") from None
        # kuhn_poker shows nothing before the first card.
        self.draws = board.isascii() and board.strip() != ""
        self.seats = self._seats()
        self.options = [
            {"name": name, "type": "bool", "default": value, "summary": f"parameter {name} of OpenSpiel"}
            for name, value in sorted(self.specification.items())
            if self._is_option(name, value)
        ]
        self.parts = {players: self._parts_of(players, parts) for players in self.bounds}

    def _extend_bounds(self, game):
        least, most = self.bounds.get(game.num_players(), (game.min_utility(), game.max_utility()))
        self.bounds[game.num_players()] = (min(least, game.min_utility()), max(most, game.max_utility()))

    def _parts_of(self, players, parts):
        """The parts of 1 of a return for a number of players, or 0 if Arena gets none."""
        least, most = self.bounds[players]
        if not all(isfinite(it) and it == int(it) and abs(it) <= _BOUND_MAX for it in (least, most)):
            return 0
        # More than two may share what they win, as many as the limit of parts allows.
        winners = range(players, 0, -1) if players > 2 else [1]
        wanted = (lcm(parts, *range(1, count + 1)) for count in winners)
        return next((it for it in wanted if 0 < (most - least) * it <= _PARTS_MAX), 0)

    def _variant(self, **changed):
        """A game with other parameters, or None if Arena does not play it as it plays the default."""
        try:
            game = _load(self.text, self.name, {**self.parameters, **changed})
            events = _check(self.text, game)
        except Refused:
            return None
        if (self.chance, self.hidden) != (nodes.has_chance(game), nodes.is_hidden(game)):
            return None
        self.events_max = max(self.events_max, events)
        self._extend_bounds(game)
        return game

    def _seats(self):
        least = most = self.default.num_players()
        if isinstance(self.specification.get("players"), int) and "players" not in self.parameters:

            def plays(seats):
                game = self._variant(players=seats) if _PLAYERS[0] <= seats <= _PLAYERS[1] else None
                return game is not None and game.num_players() == seats

            while plays(least - 1):
                least -= 1
            while plays(most + 1):
                most += 1
        return [least, most]

    def _is_option(self, name, value):
        return (
            isinstance(value, bool)
            and name not in self.parameters
            and re.fullmatch("[a-z0-9_-]{1,40}", name) is not None
            and _DISPLAY.search(name) is None
            and all(self._variant(**{name: not value}, **players) is not None for players in self._players())
        )

    def _players(self):
        """The parameters of each number of players."""
        least, most = self.seats
        return [{}] if least == most else [{"players": seats} for seats in range(least, most + 1)]

    def describe(self):
        long_name = self.default.get_type().long_name
        summary = f"{long_name}: {self.text} of OpenSpiel {spiel_version()}"
        return {
            "type": "description",
            "protocol": 1,
            "name": re.sub("[^a-z0-9_-]", "-", self.name.lower())[:40],
            "version": VERSION,
            "summary": nodes.NOT_IN_NOTATIONS.sub(" ", summary),
            "seats": self.seats,
            "options": self.options,
            "presets": [],
            "chance": self.chance,
            "values": False,
            "draws": self.draws,
            "information": "hidden" if self.hidden else "perfect",
            **({"returns": returns} if (returns := self._returns()) else {}),
            "events_max": self.events_max,
            "state_bytes_max": _STATE_BYTES_MAX,
        }

    def _returns(self):
        return [
            {"seats": seats, "min": int(least), "max": int(most), "parts": self.parts[seats]}
            for seats, (least, most) in sorted(self.bounds.items())
            if self.parts[seats]
        ]

    def game(self, options, seats, positions=True):
        changed = {name: value for name, value in options.items() if value != self.specification.get(name)}
        if self.seats[0] != self.seats[1]:
            changed["players"] = seats
        game = self.default if not changed else _load(self.text, self.name, {**self.parameters, **changed})
        if game.num_players() != seats or _check(self.text, game) > self.events_max:
            raise Refused(f"{self.text}: OpenSpiel has no such game for {seats} seats with {options}")
        return Game(game, positions, self.parts[seats])

    def find_parts(self, games=5, events=2_000):
        """The least number of parts of 1 of which the returns of some random games are whole numbers."""
        draw, parts = random.Random(1), 1
        for _ in range(games):
            state = self.default.new_initial_state()
            while not state.is_terminal():
                if events <= 0:
                    return parts
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    action = draw.choices([it for it, _ in outcomes], [it for _, it in outcomes])[0]
                else:
                    action = draw.choice(state.legal_actions())
                state.apply_action(action)
                events -= 1
            shares = (Fraction(it).limit_denominator(1000).denominator for it in state.returns())
            parts = lcm(parts, *shares)
        return parts

    def probe(self, games=2, events=2000):
        """Plays random games, as far as these events reach. Raises `Refused` if OpenSpiel cannot."""
        draw = random.Random(1)
        try:
            for _ in range(games):
                game = Game(self.default)
                node = json.loads(game.look(""))
                for _ in range(events):
                    if node["next"] == "over":
                        break
                    event = draw.choice(node.get("legal") or range(len(node["weights"])))
                    node = json.loads(game.apply(node["state"], event))
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"{self.text}: OpenSpiel cannot play it: {_line(error)}") from None


# The protocol.


class Answers:
    """The answers of a process to Arena's questions, as JSON."""

    def __init__(self, rules):
        self.rules = rules
        self.description = dump(rules.describe())
        self.games = {}

    def answer(self, message):
        """The answer to a message, or None for one of a later version."""
        kind = message.get("type")
        if kind == "describe":
            return self.description
        if kind == "game":
            game = self.rules.game(message["options"], message["seats"], message.get("positions", True))
            self.games[message["game"]] = game
            return f'{{"type":"initial","game":{dump(message["game"])},"node":{game.look("")}}}'
        if kind not in ("apply", "look", "draw"):
            return None
        game, states, batch = self.games[message["game"]], message["states"], message["batch"]
        if kind == "draw":
            return dump({"type": "drawings", "batch": batch, "drawings": list(map(game.draw, states))})
        nodes = map(game.apply, states, message["events"]) if kind == "apply" else map(game.look, states)
        return f'{{"type":"nodes","batch":{dump(batch)},"nodes":[{",".join(nodes)}]}}'


def serve(answers, lines, output):
    for line in lines:
        message = json.loads(line)
        try:
            answer = answers.answer(message)
        except Exception as error:
            if not isinstance(error, Refused):
                import traceback

                traceback.print_exc()
            failed = {"type": "error", "message": f"{type(error).__name__}: {_line(error)}"}
            failed.update((key, message[key]) for key in ("batch", "game") if key in message)
            answer = dump(failed)
        if answer is not None:
            output.write(answer.encode() + b"\n")
            output.flush()


def main(arguments):
    """Answers for the game of the first argument, with the second argument's parts of returns, until the end
    of standard input."""
    if pyspiel is None:
        sys.exit(
            f"the machine {os.uname().nodename} has no open_spiel for its python3, {sys.executable} "
            f"({_line(nodes.missing)}). Run "
            "`pip install open_spiel` on it; the sandbox reads packages in the folder of a python3 of PATH, and "
            "in folders of ARENA_AGENT_PATH"
        )
    # What OpenSpiel prints must not disturb the protocol.
    lines, output = os.fdopen(os.dup(0), "rb", 1 << 16), os.fdopen(os.dup(1), "wb", 1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    check_machine()
    try:
        answers = Answers(Rules(arguments[0], int(arguments[1])))
    except Refused as refused:
        sys.exit(str(refused))
    serve(answers, lines, output)


if __name__ == "__main__":
    main(sys.argv[1:])
