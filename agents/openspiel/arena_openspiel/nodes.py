"""The nodes of a game of OpenSpiel, as Arena's protocol for rules has them (services/games/PROTOCOL.md).

A part of the package of a ruleset, see ruleset.py. So it imports only `pyspiel` and the standard library.
"""

import json
import re
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from math import gcd
from resource import RUSAGE_SELF, getrusage

try:
    import pyspiel
except ImportError as error:  # answered by `main` of ruleset.py, where Arena shows it
    pyspiel, missing = None, error

#: Ids of Arena are smaller. In a game with more actions, the id of an action is its place among the legal ones.
IDS = 1 << 15
#: Actions whose digits are kept.
_CODES_MAX = 1 << 16

_WEIGHTS_MAX = (1 << 32) - 1
#: Of a probability: it covers the rounding of floats.
_RELATIVE_ERROR = Fraction(1, 10**12)
_NOTATION_MAX = 32
_OBSERVATION_BYTES_MAX = 32 << 10
_DRAWING_BYTES_MAX = 64 << 10
#: Numbers of a tensor, most of which are 0 or 1.
_TENSOR_MAX = 16 << 10

#: States of a game that a process keeps at first, and at most. It keeps up to twice as many.
_KEPT, _KEPT_MAX = 512, 8192
#: It keeps no more of them than before if the process has used more memory than this (KiB; on macOS bytes).
_MEMORY_MAX = 256 << 10
#: Events for which a state is looked up among the kept ones before it is played from the start.
_STEPS_BACK = 16

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
_PLACES = {digit: place for place, digit in enumerate(_DIGITS)}
#: Between the texts of actions.
_BETWEEN = "\0"
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
NOT_IN_NOTATIONS = re.compile(r"[^!-~]")

dump = json.JSONEncoder(separators=(",", ":")).encode


class Refused(ValueError):
    """Arena cannot play this game. The text names the game and the reason."""


def is_hidden(game):
    return game.get_type().information != pyspiel.GameType.Information.PERFECT_INFORMATION


def has_chance(game):
    # Not the declared mode: it is that of the game with other parameters, as for chess960 and goofspiel.
    return game.max_chance_outcomes() > 0


def has_places(game):
    """Whether the id of an action is its place among the legal ones."""
    return game.num_distinct_actions() > IDS


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


def _cached(function, actions):
    """The function with a cache of its results, which are about as long as a list of so many actions."""
    return lru_cache(maxsize=max(16, min(1 << 12, (1 << 17) // max(1, actions))))(function)


def _texts(state, player, actions):
    """OpenSpiel's texts of actions, in one text: a key that is found quickly."""
    return _BETWEEN.join(map(state.action_to_string, repeat(player), actions))


def _names(actions, texts):
    texts = texts.split(_BETWEEN)
    if len(texts) != len(actions):
        raise Refused("the text of an action has a NUL")
    return '","'.join(notations(texts, actions))


def _moves(actions, texts):
    """Fields of a decision as JSON. Notations need no escapes."""
    return f'"legal":[{",".join(map(str, actions))}],"moves":["{_names(actions, texts)}"]'


def _outcomes(actions, probabilities, texts):
    """Fields of a chance node as JSON."""
    weights = ",".join(map(str, weights_of(probabilities)))
    return f'"weights":[{weights}],"outcomes":["{_names(actions, texts)}"]'


def _possible(state):
    """Actions of a chance node, and their probabilities."""
    actions, probabilities = zip(*(outcome for outcome in state.chance_outcomes() if outcome[1] > 0))
    return actions, probabilities


class _Codes(dict):
    """The digits of each action, made when they are first needed."""

    def __init__(self, most, text):
        super().__init__()
        self.width = next(width for width in range(1, 12) if most <= 64**width)
        self.text = text

    def __missing__(self, action):
        digits, rest = "", action
        for _ in range(self.width):
            digits = _DIGITS[rest & 63] + digits
            rest >>= 6
        if rest:
            raise Refused(f"{self.text}: an action is larger than OpenSpiel declares")
        if len(self) >= _CODES_MAX:
            self.clear()
        self[action] = digits
        return digits


@lru_cache(maxsize=1 << 16)
def _decode(digits):
    action = 0
    for digit in digits:
        action = action << 6 | _PLACES[digit]
    return action


class Game:
    """The nodes of a game of OpenSpiel, as JSON. The text of a state is the actions so far, each with the
    same number of digits to the base 64. States are kept by this text, up to a bound, with the action of each
    event, and whether they are chance nodes."""

    def __init__(self, game, positions=True, parts=0):
        self.game = game
        self.positions = positions
        self.parts = parts
        self.text = str(game)
        most = game.num_distinct_actions()
        self.has_places = has_places(game)
        if has_chance(game):
            most = max(most, game.max_chance_outcomes())
        self.codes = _Codes(most, self.text)
        self.moves, self.outcomes = _cached(_moves, most), _cached(_outcomes, most)
        self.sees = _Sees(game)
        # When the newer ones are as many as are kept, the older ones are dropped.
        self.newer, self.older, self.kept = {}, {}, _KEPT

    def _keep(self, text, place):
        if len(self.newer) >= self.kept:
            self.newer, self.older = {}, self.newer
            if self.kept < _KEPT_MAX and getrusage(RUSAGE_SELF).ru_maxrss < _MEMORY_MAX:
                self.kept *= 2
        self.newer[text] = place
        return place

    def _kept(self, text):
        place = self.newer.get(text)
        if place is None:
            place = self.older.get(text)
            if place is not None:
                self._keep(text, place)
        return place

    def _state(self, text):
        """A state of OpenSpiel, which must not be changed."""
        kept = self._kept(text)
        if kept:
            return kept[0]
        width, state, start = self.codes.width, None, 0
        for end in range(len(text) - width, max(0, len(text) - _STEPS_BACK * width), -width):
            kept = self._kept(text[:end])
            if kept:
                state, start = kept[0].clone(), end
                break
        if state is None:
            state = self.game.new_initial_state()
        for place in range(start, len(text), width):
            state.apply_action(_decode(text[place : place + width]))
        return state

    def _place(self, text):
        """A state, the action of each of its events, and whether it is a chance node."""
        state = self._state(text)
        if state.is_chance_node():
            return self._keep(text, (state, _possible(state)[0], True))
        return self._keep(text, (state, tuple(state.legal_actions()), False))

    def look(self, text):
        return self._node(text, self._state(text))

    def apply(self, text, event):
        state, actions, is_chance = self._kept(text) or self._place(text)
        if is_chance or (self.has_places and 0 <= event < len(actions)):
            action = actions[event]
        elif event in actions and not self.has_places:
            action = event
        else:
            raise ValueError(f"{self.text}: action {event} is illegal after {state.history()}")
        return self._node(text + self.codes[action], state.child(action))

    def draw(self, text):
        drawing = plain(str(self._state(text)))
        return drawing.encode("ascii", "replace").decode()[:_DRAWING_BYTES_MAX]

    def _score(self, value):
        score = round(value * self.parts)
        if abs(score / self.parts - value) > 1e-6:
            raise Refused(f"{self.text}: the return {value} is no whole number of {self.parts} parts of 1")
        return score

    def _over(self, text, state):
        returns = [round(it, 9) for it in state.returns()]
        ranks = [1 + sum(other > own for other in returns) for own in returns]
        over = {"state": text, "next": "over", "ranks": ranks}
        if self.parts:
            over["scores"] = [self._score(it) for it in returns]
        return dump(over)

    def _chance(self, text, state):
        actions, probabilities = _possible(state)
        self._keep(text, (state, actions, True))
        fields = self.outcomes(actions, probabilities, _texts(state, state.current_player(), actions))
        return f'{{"state":"{text}","next":"chance",{fields}}}'

    def _node(self, text, state):
        if state.is_terminal():
            return self._over(text, state)
        seat = state.current_player()
        if seat < 0:
            return self._chance(text, state)
        actions = tuple(state.legal_actions())
        ids = tuple(range(len(actions))) if self.has_places else actions
        if not ids or ids[-1] >= IDS:
            raise Refused(f"{self.text}: a player has no action, or more legal actions than {IDS}")
        self._keep(text, (state, actions, False))
        fields = self.moves(ids, _texts(state, seat, actions))
        if not self.positions:
            return f'{{"state":"{text}","next":"decision","seat":{seat},{fields}}}'
        legal = {"legal": actions} if self.has_places else {}
        position = dump({"game": self.text, **self.sees.position(state, seat), **legal})
        return f'{{"state":"{text}","next":"decision","seat":{seat},{fields},"position":{position}}}'


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
