"""Agents from functions of an observation and a mask, as learned policies have them."""

from operator import index
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .agent import Agent
from .decision import Decision, UnknownRuleset
from .options import Value

#: Chooses an action, given an observation and, for each action, whether it is legal.
Policy = Callable[[Any, List[bool]], int]

#: The fields of a position that its observation has, in order.
OBSERVED: Dict[str, Tuple[str, ...]] = {
    "chess": ("fen", "plies"),
    "chinese-ludo": ("to_move", "die", "planes", "rolls", "sixes"),
    "cowry": (
        "board",
        "seats",
        "to_move",
        "pieces",
        "hit_mask",
        "may_pass",
        "pool",
        "pending_throws",
        "throws",
        "blocked_now",
    ),
    "kalah": ("board", "to_move", "plies"),
    "oware-abapa": ("pits", "score", "to_move", "since_capture", "plies"),
    "oware-anan-anan": ("pits", "score", "to_move", "since_capture", "plies", "passed"),
}

_ACTIONS: Dict[str, Callable[[Mapping[str, Value]], int]] = {
    "chess": lambda options: 5 * 64 * 64,
    "chinese-ludo": lambda options: 5,
    "cowry": lambda options: 10 * index(options["pieces"]) + 1,
    "kalah": lambda options: index(options["pits"]),
    "oware-abapa": lambda options: 6,
    "oware-anan-anan": lambda options: 7,
}


def action_count(ruleset: str, options: Mapping[str, Value]) -> int:
    """The number of action ids of a ruleset with these options: the length of a mask.

    Raises `UnknownRuleset` for a ruleset newer than this package.
    """
    try:
        count = _ACTIONS[ruleset]
    except KeyError:
        raise UnknownRuleset(
            f"this arena_agent does not know the actions of the ruleset {ruleset!r}; install a newer one"
        ) from None
    return count(options)


def observation(decision: Decision) -> List[int]:
    """The position as a flat list of numbers; the page of the ruleset lists the fields.

    Its length depends only on the options and the number of seats.
    """
    return flat(decision.ruleset, lambda field: getattr(decision.position, field), decision.seats)


def flat(ruleset: str, field: Callable[[str], Any], seats: int) -> List[int]:
    """The numbers of a position, given the value of each of its fields."""
    try:
        fields = OBSERVED[ruleset]
    except KeyError:
        raise UnknownRuleset(
            f"this arena_agent does not know the observation of the ruleset {ruleset!r}; "
            "give from_policy a function `observe`"
        ) from None
    numbers: List[int] = []
    for name in fields:
        value = field(name)
        values = [value] if isinstance(value, (bool, int)) else value
        if name == "fen":
            values = _fen_numbers(value)
        if name == "may_pass" and not values:
            # Cowry without doubles.
            values = [0] * seats
        numbers.extend(map(int, values))
    return numbers


def _fen_numbers(fen: str) -> List[int]:
    """A position of chess as 72 numbers.

    They are the squares from a1, b1 to h8 (0 if empty, 1 to 6 for White's pawn, knight, bishop, rook,
    queen and king, 7 to 12 for Black's), 1 if Black moves, 1 for each castling right of KQkq, the
    square of en passant from 0 (-1 if there is none), and both clocks.
    """
    ranks, mover, rights, target, quiet, number = fen.split(" ")
    squares: List[int] = []
    kings: Dict[bool, int] = {}
    for rank in reversed(ranks.split("/")):
        for sign in rank:
            if sign.isdigit():
                squares.extend([0] * int(sign))
                continue
            if sign in "Kk":
                kings[sign == "K"] = len(squares) % 8
            squares.append("PNBRQKpnbrqk".index(sign) + 1)
    castling = [0] * 4
    for right in rights.strip("-"):
        # K and Q, or the file of the rook.
        file = {"K": 7, "Q": 0}.get(right.upper(), ord(right.upper()) - ord("A"))
        white = right.isupper()
        castling[2 * (not white) + (file < kings[white])] = 1
    there = -1 if target == "-" else "abcdefgh".index(target[0]) + 8 * (int(target[1]) - 1)
    return [*squares, int(mover == "b"), *castling, there, int(quiet), int(number)]


class _PolicyAgent(Agent):
    def __init__(self, function: Policy, observe: Callable[[Decision], Any]) -> None:
        self._function = function
        self._observe = observe

    def choose(self, decision: Decision) -> int:
        mask = [False] * action_count(decision.ruleset, decision.options)
        for move in decision.legal:
            mask[move] = True
        return index(self._function(self._observe(decision), mask))


def from_policy(
    function: Policy,
    observe: Optional[Callable[[Decision], Any]] = None,
    **attributes: Any,
) -> Agent:
    """An agent that plays `function(observation, mask)`, which returns a legal action id.

    `observe` makes the observation of a decision; without it, an observation is the flat list of
    numbers of `observation`. `mask` has a value for each action id of the ruleset, true if the
    action is legal. `attributes` are those of an `Agent`, such as `name`, `rulesets` or
    `deterministic`. Raises `TypeError` for an unknown attribute.
    """
    agent = _PolicyAgent(function, observe or observation)
    agent.name = getattr(function, "__name__", "policy").strip("_<>").replace("_", "-").lower()
    # An `observe` of the author may read the details of moves.
    agent.move_details = observe is not None
    for name, value in attributes.items():
        if name.startswith("_") or name not in Agent.__dict__ or callable(getattr(Agent, name)):
            raise TypeError(f"from_policy: an agent has no attribute {name!r}")
        setattr(agent, name, value)
    return agent
