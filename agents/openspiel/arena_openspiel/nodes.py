"""The nodes of a game of OpenSpiel, as Arena's protocol for rules has them (services/games/PROTOCOL.md).

A part of the package of a ruleset, see ruleset.py. So it imports only `pyspiel` and the standard library.
"""

import re
from collections import OrderedDict
from fractions import Fraction
from functools import lru_cache
from math import gcd

try:
    import pyspiel
except ImportError as error:  # answered by `main` of ruleset.py, where Arena shows it
    pyspiel, missing = None, error

#: Actions have smaller ids.
IDS = 1 << 15

_WEIGHTS_MAX = (1 << 32) - 1
#: Of a probability: it covers the rounding of floats.
_RELATIVE_ERROR = Fraction(1, 10**12)
_NOTATION_MAX = 32
_OBSERVATION_BYTES_MAX = 32 << 10
_DRAWING_BYTES_MAX = 64 << 10
#: Numbers of a tensor, most of which are 0 or 1.
_TENSOR_MAX = 16 << 10

#: States of a game that a process keeps.
_KEPT = 1024
#: Events for which a state is looked up among the kept ones before it is played from the start.
_STEPS_BACK = 16

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
_PLACES = {digit: place for place, digit in enumerate(_DIGITS)}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
NOT_IN_NOTATIONS = re.compile(r"[^!-~]")


class Refused(ValueError):
    """Arena cannot play this game. The text names the game and the reason."""


def is_hidden(game):
    return game.get_type().information != pyspiel.GameType.Information.PERFECT_INFORMATION


def has_chance(game):
    # Not the declared mode: it is that of the game with other parameters, as for chess960 and goofspiel.
    return game.max_chance_outcomes() > 0


def plain(text):
    return _ESCAPES.sub("", text)


@lru_cache(maxsize=1 << 16)
def _notation(text):
    text = "_".join(text.split()).replace("\\", "|").replace('"', "`").replace("'", "`")
    return NOT_IN_NOTATIONS.sub("?", text)[:_NOTATION_MAX]


def notations(texts, actions):
    """Different notations in ASCII: the texts, as far as possible, or with the ids of their actions."""
    names = [_notation(text) for text in texts]
    if len(set(names)) == len(names) and all(names):
        return names
    count = {}
    for name in names:
        count[name] = count.get(name, 0) + 1
    marked = []
    for name, action in zip(names, actions):
        mark = f"#{action}"
        marked.append(name if name and count[name] == 1 else name[: _NOTATION_MAX - len(mark)] + mark)
    return marked if len(set(marked)) == len(marked) else [f"#{action}" for action in actions]


def _denominator(probability):
    """That of the simplest fraction within the tolerance, a convergent of the continued fraction."""
    exact = rest = Fraction(probability)
    before, last = (0, 1), (1, 0)
    while True:
        whole = rest.numerator // rest.denominator
        before, last = last, (whole * last[0] + before[0], whole * last[1] + before[1])
        if abs(Fraction(*last) - exact) <= exact * _RELATIVE_ERROR:
            return last[1]
        rest = 1 / (rest - whole)


@lru_cache(maxsize=256)
def weights_of(probabilities):
    """Whole weights in the ratio of these probabilities, which are not 0. Arena draws by the weights."""
    exact = {it: Fraction(it) for it in sorted(set(probabilities))}
    total = 1
    for it in exact.values():
        if abs(round(it * total) - it * total) > it * total * _RELATIVE_ERROR:
            denominator = _denominator(it)
            total = total // gcd(total, denominator) * denominator
        if total > _WEIGHTS_MAX:
            break
    weights = {it: round(fraction * total) for it, fraction in exact.items()}
    are_near = all(abs(weights[it] - of * total) <= of * total * _RELATIVE_ERROR for it, of in exact.items())
    if total > _WEIGHTS_MAX or not are_near:
        raise Refused(
            "the probabilities of a chance node are no fractions with a common denominator below 2^32, which "
            "Arena needs"
        )
    if sum(weights[it] for it in probabilities) != total:
        raise Refused("the probabilities of a chance node do not add up to 1")
    return [weights[it] for it in probabilities]


class _Place:
    """A state of OpenSpiel, with the action of each event."""

    __slots__ = ("state", "actions", "probabilities")

    def __init__(self, state):
        self.state = state
        self.actions = self.probabilities = None

    def events(self):
        if self.actions is None:
            if self.state.is_chance_node():
                outcomes = [it for it in self.state.chance_outcomes() if it[1] > 0]
                self.actions, self.probabilities = zip(*outcomes)
            else:
                self.actions = self.state.legal_actions()
        return self.actions


class Game:
    """The nodes of a game of OpenSpiel. The text of a state is the actions so far, each with the same
    number of digits to the base 64. States are kept by this text, up to a bound."""

    def __init__(self, game, positions=True, parts=0):
        self.game = game
        self.positions = positions
        self.parts = parts
        self.text = str(game)
        most = game.num_distinct_actions()
        if has_chance(game):
            most = max(most, game.max_chance_outcomes())
        self.width = 1 if most <= 64 else 2 if most <= 64**2 else 3
        self.sees = _Sees(game)
        self.kept = OrderedDict()

    def _encode(self, action):
        digits = ""
        for _ in range(self.width):
            digits = _DIGITS[action & 63] + digits
            action >>= 6
        if action:
            raise Refused(f"{self.text}: an action is larger than OpenSpiel declares")
        return digits

    def _decode(self, digits):
        action = 0
        for digit in digits:
            action = action << 6 | _PLACES[digit]
        return action

    def _keep(self, text, place):
        self.kept[text] = place
        if len(self.kept) > _KEPT:
            self.kept.popitem(last=False)
        return place

    def _place(self, text):
        place = self.kept.get(text)
        if place is not None:
            self.kept.move_to_end(text)
            return place
        width, state, start = self.width, None, 0
        for end in range(len(text) - width, max(0, len(text) - _STEPS_BACK * width), -width):
            if text[:end] in self.kept:
                state, start = self.kept[text[:end]].state.clone(), end
                break
        if state is None:
            state = self.game.new_initial_state()
        for place in range(start, len(text), width):
            state.apply_action(self._decode(text[place : place + width]))
        return self._keep(text, _Place(state))

    def look(self, text):
        return self._node(text, self._place(text))

    def apply(self, text, event):
        before = self._place(text)
        events = before.events()
        if before.state.is_chance_node():
            action = events[event]
        elif event in events:
            action = event
        else:
            raise ValueError(f"{self.text}: action {event} is illegal after {before.state.history()}")
        state = before.state.clone()
        state.apply_action(action)
        text += self._encode(action)
        return self._node(text, self._keep(text, _Place(state)))

    def draw(self, text):
        drawing = plain(str(self._place(text).state))
        return drawing.encode("ascii", "replace").decode()[:_DRAWING_BYTES_MAX]

    def _score(self, value):
        score = round(value * self.parts)
        if abs(score / self.parts - value) > 1e-6:
            raise Refused(f"{self.text}: the return {value} is no whole number of {self.parts} parts of 1")
        return score

    def _node(self, text, place):
        state = place.state
        if state.is_terminal():
            returns = [round(it, 9) for it in state.returns()]
            ranks = [1 + sum(other > own for other in returns) for own in returns]
            over = {"state": text, "next": "over", "ranks": ranks}
            if self.parts:
                over["scores"] = [self._score(it) for it in returns]
            return over
        actions, seat = place.events(), state.current_player()
        if state.is_chance_node():
            return {
                "state": text,
                "next": "chance",
                "weights": weights_of(place.probabilities),
                "outcomes": notations([state.action_to_string(seat, it) for it in actions], actions),
            }
        if not actions or actions[-1] >= IDS:
            raise Refused(f"{self.text}: a player has no action, or one that Arena does not support")
        node = {
            "state": text,
            "next": "decision",
            "seat": seat,
            "legal": actions,
            "moves": notations([state.action_to_string(seat, it) for it in actions], actions),
        }
        if self.positions:
            node["position"] = {"game": self.text, **self.sees.position(state, seat)}
        return node


class _Sees:
    """What an agent sees of a state: everything, or the part that its player knows."""

    def __init__(self, game):
        kind = game.get_type()
        self.hidden = is_hidden(game)
        self.has_text = kind.provides_observation_string
        self.has_tensor = kind.provides_observation_tensor
        self.has_memory = kind.provides_information_state_string
        self.has_memory_tensor = kind.provides_information_state_tensor

    def position(self, state, player):
        if not self.hidden:
            text = state.observation_string(player) if self.has_text else str(state)
            return {"history": state.history(), "observation": _bounded(text)}
        memory = _bounded(state.information_state_string(player)) if self.has_memory else None
        if memory is not None:
            seen = {"information_state": memory}
        else:
            # An observation may be what the player sees at this moment only.
            seen = {"actions": [it.action for it in state.full_history() if it.player == player]}
            if self.has_text:
                seen["observation"] = _bounded(state.observation_string(player))
        if self.has_memory_tensor:
            seen["tensor"] = _numbers(state.information_state_tensor(player))
        elif self.has_tensor:
            seen["tensor"] = _numbers(state.observation_tensor(player))
        return seen


def _bounded(text):
    text = plain(text)
    return text if len(text.encode("utf-8", "replace")) <= _OBSERVATION_BYTES_MAX else None


def _numbers(tensor):
    """The numbers of a tensor, whole ones without a point, which is shorter."""
    if len(tensor) > _TENSOR_MAX:
        return None
    return [int(it) if it.is_integer() else round(it, 9) for it in tensor]
