"""The rulesets that OpenSpiel has as well. tests/stress/openspiel.rs compares the rules."""

from typing import Any, Callable, List, Mapping, NamedTuple, Tuple

import pyspiel
from arena_agent.options import Value


class Shared(NamedTuple):
    """A ruleset, and the same rules in OpenSpiel."""

    #: The name in OpenSpiel.
    game: str
    #: The options of the ruleset with which the rules are the same.
    options: Mapping[str, Value]
    #: For each player, the action of move 0. The other actions follow in the order of moves.
    first: Tuple[int, int]
    #: The places of both stores in the lists of the next two fields.
    stores: Tuple[int, int]
    #: The seeds or stones of each place of a state.
    board: Callable[[pyspiel.State], List[int]]
    #: The same for a position of Arena.
    position: Callable[[Any], List[int]]


def _oware(state: pyspiel.State) -> List[int]:
    # The tensor has shares of all seeds.
    return [round(share * 48) for share in state.observation_tensor(0)]


def _kalah(state: pyspiel.State) -> List[int]:
    # The tensor starts with the store of player 1, which is Arena's last place.
    cells = [round(cell) for cell in state.observation_tensor(0)[:14]]
    return cells[1:] + cells[:1]


RULESETS = {
    "kalah": Shared(
        game="mancala",
        options={
            "pits": 6,
            "stones": 4,
            "empty_capture": "opposite-nonempty",
            "remaining": "owner",
            "early_stop": False,
            "max_plies": 1000,
        },
        first=(1, 8),
        stores=(6, 13),
        board=_kalah,
        position=lambda position: list(position.board),
    ),
    "oware-abapa": Shared(
        game="oware",
        options={
            "skip_origin": True,
            "grand_slam": "no-capture",
            "must_feed": True,
            "remaining": "own-side",
            "repetition": "first",
            "no_capture_limit": 0,
            "starter": "seat0",
            "max_plies": 1000,
        },
        first=(0, 0),
        stores=(12, 13),
        board=_oware,
        position=lambda position: [*position.pits, *position.score],
    ),
}
