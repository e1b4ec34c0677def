"""The rules of Arena, for programs that search ahead.

>>> game = Game("kalah")
>>> state = game.initial()
>>> state.legal()
[0, 1, 2, 3, 4, 5]
>>> state.apply(2)
>>> state.to_move
0
"""

from typing import Any, Final

POINT: Final[int]
"""A whole score: the value of a seat that beats every other seat. 1,000,000."""

class RulesError(ValueError):
    """A call was refused. The state is as before."""

class InvalidGame(RulesError):
    """An unknown ruleset or version, or invalid options or seats."""

class InvalidPosition(RulesError):
    """Bytes or JSON that are not a position of the game."""

class IllegalMove(RulesError):
    """A move that is not legal, or a chance outcome that is not possible."""

class WrongNode(RulesError):
    """A decision, a chance event or the end of the game was expected, and this is none."""

def rulesets() -> list[str]:
    """The names of all rulesets, in ascending order."""

class Game:
    """A ruleset with its options and seats. It never changes."""

    def __new__(
        cls,
        ruleset: str,
        options: dict[str, str | int | bool] | None = None,
        seats: int | None = None,
        *,
        version: int | None = None,
    ) -> Game:
        """Returns the game of a ruleset.

        Options that are not given have the values of the option ``preset`` if it is given, else
        their defaults. Values may be text, as in the ``game`` message of the line protocol and in
        ``GameContext``. Without ``seats``, the game has those of the preset, else the minimum of
        the ruleset; without ``version``, it has the newest version of the rules.

        Raises InvalidGame.
        """

    @property
    def ruleset(self) -> str:
        """Name of the ruleset."""
    @property
    def version(self) -> int:
        """Version of the rules."""
    @property
    def options(self) -> dict[str, str]:
        """All options, with their values as text."""
    @property
    def seats(self) -> int:
        """Number of players, 2 to 4."""
    @property
    def has_chance(self) -> bool:
        """True if some position of the game is a chance node."""
    @property
    def pass_move(self) -> int | None:
        """The move that is a pass, if the ruleset has one."""
    def initial(self) -> State:
        """The initial state. It may be a chance node."""
    def decode(self, position: bytes) -> State:
        """The state of a position as protobuf message, such as ``Decision.position``.

        Raises InvalidPosition.
        """
    def state(self, position: dict[str, Any] | str) -> State:
        """The state of a position of the line protocol, as a dict or as JSON.

        Raises InvalidPosition.
        """

class State:
    """A position in a game. A call that raises leaves it unchanged.

    States of equal games with equal positions are equal. A state can change, so it is not
    hashable; use ``hash()`` as a key.
    """

    @property
    def seats(self) -> int:
        """Number of players."""
    @property
    def to_move(self) -> int | None:
        """The seat that moves next; None at a chance node and at the end."""
    def is_over(self) -> bool:
        """True if the game is over."""
    def is_chance(self) -> bool:
        """True if a chance outcome is drawn next."""
    def legal(self) -> list[int]:
        """The legal moves, in ascending order: at least one.

        Raises WrongNode at a chance node and at the end.
        """
    def apply(self, move: int, /) -> None:
        """Plays a move.

        Raises IllegalMove, and WrongNode at a chance node and at the end.
        """
    def chance(self) -> list[tuple[int, float]]:
        """The possible outcomes of the chance event that is next, with their probabilities.

        Raises WrongNode at a decision and at the end.
        """
    def weights(self) -> list[int]:
        """The exact weight of each outcome, by its id; 0 for an impossible one.

        Raises WrongNode at a decision and at the end.
        """
    def apply_outcome(self, outcome: int, /) -> None:
        """Applies a chance outcome.

        Raises IllegalMove, and WrongNode at a decision and at the end.
        """
    def values(self) -> list[int]:
        """The expected score of each seat, in millionths of a game's score (``POINT``).

        The score is the share of other seats that a seat beats, ties counting half. The values are
        exact at the end of the game; before, they are a cheap estimate.
        """
    def scores(self) -> list[int]:
        """The ruleset's own score of each seat, such as stones or pieces."""
    def placement(self) -> list[int]:
        """The rank of each seat at the end, from 1; tied seats share it.

        Raises WrongNode before the end.
        """
    def hash(self) -> int:
        """A hash of 64 bits: equal for equal states of a game, in every process and language.

        It may change with the version of Arena.
        """
    def notation(self, move: int, /) -> str:
        """The notation of a legal move.

        Raises IllegalMove, and WrongNode at a chance node and at the end.
        """
    def outcome_notation(self, outcome: int, /) -> str:
        """The notation of a possible chance outcome.

        Raises IllegalMove, and WrongNode at a decision and at the end.
        """
    def playout(self, seed: int, /) -> list[int]:
        """Plays random moves and outcomes to the end, and returns the values there.

        The state does not change. The same seed, of 64 bits, gives the same game. Other threads
        run meanwhile.
        """
    def encode(self, *, moves: bool = False) -> bytes:
        """The position as protobuf message, with details of the legal moves if ``moves``."""
    def to_json(self, *, moves: bool = False) -> str:
        """The position as in the line protocol, with details of the legal moves if ``moves``."""
    def clone(self) -> State:
        """A copy. ``copy.copy`` and ``copy.deepcopy`` do the same."""
    def copy_from(self, other: State) -> None:
        """Makes this state a copy of another one. Faster than ``clone``."""
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any, /) -> State: ...
