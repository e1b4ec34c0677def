"""Arena's line protocol for agents, version 1, with Python's standard library alone.

`serve` answers until the end of standard input. What the policy prints goes to standard error.
"""

import json
import os
import sys
from operator import index

_WORD = (1 << 64) - 1


class Rng:
    """SplitMix64: random numbers that follow from a seed, the same in every kit."""

    __slots__ = ("_state",)

    def __init__(self, seed):
        self._state = seed

    def word(self):
        """A whole number from 0 to 2**64 - 1."""
        self._state = z = (self._state + 0x9E3779B97F4A7C15) & _WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return z ^ (z >> 31)

    def below(self, bound):
        """A whole number from 0 to `bound` - 1; `bound` is 1 to 2**32."""
        return self.word() * bound >> 64

    def random(self):
        """A real number in [0, 1)."""
        return (self.word() >> 11) * 2.0**-53

    def choice(self, items):
        """One of `items`."""
        return items[self.word() * len(items) >> 64]

    def shuffle(self, items):
        """Puts a list into a random order."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


class Decision:
    """A request for a move. All values of options are texts."""

    __slots__ = ("_game", "_decision", "_rng", "time_budget_us")

    def __init__(self, game, decision, time_budget_us):
        self._game = game
        self._decision = decision
        self._rng = None
        self.time_budget_us = time_budget_us  # for the whole batch; 0: no limit

    ruleset = property(lambda self: self._game["ruleset"])
    rules_version = property(lambda self: self._game["rules_version"])
    options = property(lambda self: self._game["options"])
    seats = property(lambda self: self._game["seats"])
    bot = property(lambda self: self._game["bot"])
    bot_options = property(lambda self: self._game["bot_options"])
    nodes = property(lambda self: int(self._game["nodes"]))
    seat = property(lambda self: self._decision["seat"])
    number = property(lambda self: self._decision["number"])
    legal_moves = property(lambda self: self._decision["legal_moves"])
    notations = property(lambda self: self._decision.get("notations", []))
    position = property(lambda self: self._decision["position"])
    clock = property(lambda self: self._decision.get("clock"))  # None: there is no clock
    game = property(lambda self: self._decision.get("game"))  # for sticky agents
    moves = property(lambda self: self._decision.get("moves", []))  # for sticky agents

    @property
    def seed(self):
        """A number of 64 bits, new for each decision."""
        return int(self._decision["seed"])

    @property
    def rng(self):
        """Random numbers that follow from the seed."""
        if self._rng is None:
            self._rng = Rng(int(self._decision["seed"]))
        return self._rng

    def state(self):
        """The position as a state of the package arena-rules, to search ahead."""
        rules = self._game.get("rules")
        if rules is None:
            rules = self._game["rules"] = _game_type()(self.ruleset, self.options, self.seats)
        return rules.state(self.position)


def _game_type():
    """The class `Game` of the package arena_rules, which only agents that search ahead need."""
    try:
        from arena_rules import Game
    except ModuleNotFoundError as error:
        if error.name != "arena_rules":
            raise
        raise ModuleNotFoundError(
            "decision.state() needs arena_rules, which is not installed (for Python 3.10 or newer): run "
            "`pip install --target . arena_rules-*.whl` in the agent's folder, with the wheel of a release of "
            "Arena, or with that of `agents/rules/run build python` in target/rules/wheels",
            name=error.name,
        ) from None
    return Game


def option(name, default, summary="", **more):
    """An option of the agent: its type is that of `default`. `more` has `min` and `max` of a number,
    `choices` of a text, or other fields of the protocol."""
    kinds = {bool: "bool", int: "integer", float: "real", str: "text", list: "numbers"}
    kind = "choice" if "choices" in more else kinds[type(default)]
    value = default if isinstance(default, str) else json.dumps(default)
    for bound in ("min", "max"):
        if bound in more:
            more[bound] = str(more[bound])
    if kind == "numbers":
        more.setdefault("length", len(default))
    return {"name": name, "summary": summary, "type": kind, "default_value": value, **more}


def serve(
    choose,
    *,
    name,
    version="",
    author="",
    summary="",
    rulesets=(),
    options=(),
    deterministic=False,
    uses_seed=None,
    **fields,
):
    """Answers decisions with `choose(decision)`. `fields` are further fields of the message `hello`,
    such as `omit_move_details=True`."""
    # Whatever prints to standard output, also a child process, must not disturb the protocol.
    lines = os.fdopen(os.dup(0), "rb", 1 << 16)
    answers = os.fdopen(os.dup(1), "wb", 1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)

    bot = {
        "name": name,
        "summary": summary,
        "rulesets": list(rulesets),
        "deterministic": deterministic,
        "options": list(options),
    }
    if uses_seed is not None:
        bot["uses_seed"] = "yes" if uses_seed else "no"
    hello = {"type": "hello", "protocol": 1, "name": name, "version": version, "author": author}
    hello.update(bots=[bot], **fields)

    games = {}
    for line in lines:
        message = json.loads(line)
        kind = message.get("type")
        if kind == "ask":
            answer = _answer(choose, games, message)
        elif kind == "hello":
            answer = json.dumps(hello)
        else:
            if kind == "game":
                games[message["context"]] = message
            continue
        answers.write(answer.encode() + b"\n")
        answers.flush()


def _move(answer):
    """The id that the policy chose; numbers of other libraries are ids, too."""
    try:
        return index(answer)
    except TypeError:
        raise TypeError(f"choose gave {answer!r}; return one of decision.legal_moves") from None


def _answer(choose, games, message):
    batch = message["batch"]
    budget = message.get("time_budget_us", 0)
    try:
        moves = [
            _move(choose(Decision(games[decision["context"]], decision, budget)))
            for decision in message["decisions"]
        ]
    except Exception as error:
        import traceback

        traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        return json.dumps({"type": "error", "batch": batch, "message": text})
    return f'{{"type":"answer","batch":{batch},"moves":{moves}}}'
