"""What an agent is asked: one decision of one game."""

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple

from google.protobuf import message_factory, symbol_database
from google.protobuf.message import DecodeError

from .options import Option, Value, bot_options, ruleset_options
from .proto import agent_pb2 as pb
from .rng import Rng


class UnknownRuleset(LookupError):
    """The installed `arena_agent` has no position message for a ruleset, and its positions are
    not JSON."""


def position_type(ruleset: str) -> Any:
    """The message class of a ruleset's positions: `oware-abapa` gives
    `arena.games.v1.OwareAbapaPosition`."""
    name = "".join(part.capitalize() for part in ruleset.split("-")) + "Position"
    try:
        found = symbol_database.Default().pool.FindMessageTypeByName(f"arena.games.v1.{name}")
    except KeyError:
        raise UnknownRuleset(
            f"this arena_agent knows no position of the ruleset {ruleset!r}; "
            "install a newer one, or decide by decision.legal, decision.notations and "
            "decision.position_bytes"
        ) from None
    return message_factory.GetMessageClass(found)


class Context:
    """What the decisions of one game have in common, decoded when used."""

    __slots__ = ("_declared", "_message", "_options", "_bot_options", "_position", "_rules")

    def __init__(self, message: pb.GameContext, declared: Sequence[Option]) -> None:
        self._message = message
        self._declared = declared
        self._options: Optional[Dict[str, Value]] = None
        self._bot_options: Optional[Dict[str, Value]] = None
        self._position: Any = None
        self._rules: Any = None

    @property
    def message(self) -> pb.GameContext:
        return self._message

    @property
    def options(self) -> Dict[str, Value]:
        if self._options is None:
            self._options = ruleset_options(self._message.options)
        return self._options

    @property
    def bot_options(self) -> Dict[str, Value]:
        if self._bot_options is None:
            self._bot_options = bot_options(self._declared, self._message.bot_options)
        return self._bot_options

    @property
    def position(self) -> Any:
        if self._position is None:
            self._position = position_type(self._message.ruleset)
        return self._position

    @property
    def rules(self) -> Any:
        if self._rules is None:
            try:
                from arena_rules import Game
            except ModuleNotFoundError as error:
                if error.name != "arena_rules":
                    raise
                raise ModuleNotFoundError(
                    "decision.state() needs arena_rules, which is not installed (for Python 3.10 or newer): run "
                    "`pip install arena_rules-*.whl` with the wheel of a release of Arena, or with that of "
                    "`agents/rules/run build python` in target/rules/wheels",
                    name=error.name,
                ) from None

            options = {option.name: option.value for option in self._message.options}
            self._rules = Game(self._message.ruleset, options, self._message.seats)
        return self._rules


class Decision:
    """One choice to be made. Everything is decoded when it is first used, so
    that a simple policy costs next to nothing."""

    __slots__ = ("_context", "_message", "_budget_us", "_legal", "_position", "_rng")

    def __init__(self, context: Context, message: pb.Decision, budget_us: int = 0) -> None:
        self._context = context
        self._message = message
        self._budget_us = budget_us
        self._legal: Optional[List[int]] = None
        self._position: Any = None
        self._rng: Optional[Rng] = None

    @property
    def legal(self) -> List[int]:
        """Ids of the legal moves, ascending, never empty; answer one of them."""
        if self._legal is None:
            self._legal = list(self._message.legal_moves)
        return self._legal

    @property
    def notations(self) -> List[str]:
        """What each legal move is called, in the order of `legal`. Empty for
        an agent with `move_details = False`."""
        return list(self._message.notations)

    @property
    def position(self) -> Any:
        """The position as the ruleset's own message: `CowryPosition`,
        `KalahPosition` (see `arena_agent.proto`). That of a ruleset of one's own is the JSON that
        it writes: a `dict`, for example.

        Raises `UnknownRuleset` for a game newer than this package, and
        `ValueError` where the bytes are no such message.
        """
        if self._position is None:
            try:
                kind = self._context.position
            except UnknownRuleset:
                try:
                    self._position = json.loads(self.position_bytes)
                except ValueError:
                    pass
                else:
                    return self._position
                raise
            try:
                self._position = kind.FromString(self._message.position)
            except DecodeError as error:
                raise ValueError(f"the position is no {kind.DESCRIPTOR.full_name}: {error}") from error
        return self._position

    @property
    def position_bytes(self) -> bytes:
        """The position as its ruleset writes it."""
        return self._message.position

    def state(self) -> Any:
        """The position as a state of the package `arena-rules`, to search ahead with the rules
        that Arena plays (agents/rules).

        Raises `ModuleNotFoundError` if the package is not installed.
        """
        return self._context.rules.decode(self._message.position)

    @property
    def moves(self) -> Sequence[Any]:
        """The legal moves with what each of them does, in the order of `legal`:
        `CowryMove`, `KalahMove`. Empty for an agent with
        `move_details = False`. A ruleset of one's own has them in its position, if at all."""
        return self.position.moves

    @property
    def rng(self) -> Rng:
        """The agent's dice, started at `seed`. An agent that draws from nothing
        else plays the same game again."""
        if self._rng is None:
            self._rng = Rng(self._message.seed)
        return self._rng

    @property
    def seed(self) -> int:
        """64 bits, fresh for every decision, the same when a game is played
        again."""
        return self._message.seed

    @property
    def slot(self) -> int:
        """The decision's number in its batch, which its answer repeats."""
        return self._message.slot

    @property
    def seat(self) -> int:
        """The seat to choose for; seat 0 moves first."""
        return self._message.seat

    @property
    def seats(self) -> int:
        """How many players the game has."""
        return self._context.message.seats

    @property
    def number(self) -> int:
        """How many decisions this seat had in the game before this one."""
        return self._message.number

    @property
    def ruleset(self) -> str:
        """`cowry`, `kalah`, …"""
        return self._context.message.ruleset

    @property
    def rules_version(self) -> int:
        """The version of the ruleset."""
        return self._context.message.rules_version

    @property
    def options(self) -> Dict[str, Value]:
        """The ruleset's options, resolved. Shared by decisions: do not change."""
        return self._context.options

    @property
    def bot_options(self) -> Dict[str, Value]:
        """This bot's own options, resolved. Shared by decisions: do not change."""
        return self._context.bot_options

    @property
    def time_budget(self) -> Optional[float]:
        """Seconds for this answer; `None` where no limit was reported. In a batch,
        the batch's time shared out evenly."""
        return self._budget_us / 1e6 if self._budget_us else None

    @property
    def time_left(self) -> Optional[float]:
        """Seconds on this seat's clock; `None` in a tournament without clocks."""
        return self._message.clock.left_us / 1e6 if self._has_clock() else None

    @property
    def increment(self) -> Optional[float]:
        """Seconds added to the clock after this move; `None` without clocks."""
        return self._message.clock.increment_us / 1e6 if self._has_clock() else None

    @property
    def moves_to_go(self) -> Optional[int]:
        """Moves, with this one, until the clock gets more time; `None` if it never does."""
        return self._message.clock.moves_to_go or None

    @property
    def times_left(self) -> List[float]:
        """Seconds on the clock of each seat; empty without clocks."""
        return [left / 1e6 for left in self._message.clock.seats_left_us]

    @property
    def game(self) -> bytes:
        """A value that all decisions of a game share; empty unless the agent has
        `sticky = True`."""
        return self._message.game

    @property
    def past_moves(self) -> List[Tuple[int, int]]:
        """Seat and id of each move of the game so far, in order; empty unless the
        agent has `sticky = True`."""
        return [(move.seat, move.move_id) for move in self._message.moves]

    @property
    def nodes(self) -> Optional[int]:
        """Positions that the bot may search for this move; `None` without a limit."""
        return self._context.message.nodes or None

    def _has_clock(self) -> bool:
        return self._message.HasField("clock")

    def __repr__(self) -> str:
        return (
            f"<Decision {self.number} of seat {self.seat} in {self.ruleset}, "
            f"seed {self.seed:#018x}, legal {self.legal}>"
        )
