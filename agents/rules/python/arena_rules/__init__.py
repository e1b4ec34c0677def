"""The rules of Arena, for programs that search ahead."""

from arena_rules._native import (
    POINT,
    Game,
    IllegalMove,
    InvalidGame,
    InvalidPosition,
    RulesError,
    State,
    WrongNode,
    rulesets,
)

__all__ = [
    "POINT",
    "Game",
    "IllegalMove",
    "InvalidGame",
    "InvalidPosition",
    "RulesError",
    "State",
    "WrongNode",
    "rulesets",
]
