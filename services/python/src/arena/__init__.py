"""Tournaments of game-playing agents: run them, follow them, and read their results.

    import arena

    result = arena.run({"name": "first", "ruleset": "cowry", "blocks": 50,
                        "agents": ["random", "aggressive"]})
    result.standings
    result.games()
"""

from .aio import AsyncClient
from .client import Client
from .errors import (
    ArenaError,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    Interrupted,
    InvalidArgument,
    MissingPackage,
    MissingProgram,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    TournamentStopped,
    Unauthenticated,
    Unavailable,
)
from .local import Result, run, sweep
from .results import Progress, Report, Standings, Tournament

__all__ = [
    "ArenaError",
    "AsyncClient",
    "Client",
    "DeadlineExceeded",
    "FailedPrecondition",
    "Internal",
    "Interrupted",
    "InvalidArgument",
    "MissingPackage",
    "MissingProgram",
    "NotFound",
    "PermissionDenied",
    "Progress",
    "Report",
    "ResourceExhausted",
    "Result",
    "Standings",
    "Tournament",
    "TournamentStopped",
    "Unauthenticated",
    "Unavailable",
    "run",
    "sweep",
]
