"""The rules of an environment of PettingZoo, by Arena's protocol for rules (services/games/PROTOCOL.md).

`arena rulesets register NAME --pettingzoo ENVIRONMENT` copies this module into a package, with what has to be
the same on each machine. So it imports only PettingZoo, NumPy and the standard library.
"""

import json
import os
import sys
from collections import OrderedDict
from math import isfinite
from pathlib import Path

from .call import Refused, name_of, one_line
from .machine import difference

# Environments that draw with pygame need no screen.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

try:
    from .episode import Episode, dump
    from .rules import EVENT_BITS, Rules
except ImportError as error:  # answered in `main`, where Arena shows it
    missing = error
else:
    missing = None

#: In the package: what has to be the same on each machine, and what random games have shown.
PINNED = "pettingzoo.json"
#: Environments in the middle of a game that a process keeps.
_KEPT = 512

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
_PLACES = {digit: place for place, digit in enumerate(_DIGITS)}
#: Of a chance event, which has as many as its bits allow.
_OUTCOMES = list("0123456789abcdef")
_WEIGHTS = [1] * len(_OUTCOMES)


class Game:
    """The nodes of a game. The text of a state is the seed, a hexadecimal digit for each event, and the actions
    so far, each with the same number of digits to the base 64.

    An environment moves on with its game, as PettingZoo uses it, and is kept by the text of its state, up to a
    bound. A state that it has left is played again from the seed. It is never copied: a deep copy of an
    environment with EzPickle, such as all of PettingZoo's, is a new one.
    """

    def __init__(self, rules, positions=True):
        self.rules, self.positions = rules, positions
        self.seed_digits = rules.seed_bits // EVENT_BITS
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


def _chance(text):
    return {"state": text, "next": "chance", "weights": _WEIGHTS, "outcomes": _OUTCOMES}


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
            if unknown := sorted(message["options"]):
                raise Refused(f"unknown option {unknown[0]!r}: environments have none")
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
            answer = {"type": "error", "message": name_of(error)}
            answer.update((key, message[key]) for key in ("batch", "game") if key in message)
        if answer is not None:
            output.write(dump(answer).encode() + b"\n")
            output.flush()


def main(arguments):
    """Answers for the environment of the first argument until the end of standard input."""
    machine = os.uname().nodename
    if missing is not None:
        sys.exit(
            f"the machine {machine} has no pettingzoo for its python3, {sys.executable} ({one_line(missing)}). Run "
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
