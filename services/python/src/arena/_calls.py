"""The calls of clients, without input and output.

A call is a generator: it yields what has to be done, and gets the result. `Client` does it at
once, `AsyncClient` with asyncio.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Generator, Mapping, Optional, Sequence, TypeVar, Union

from google.protobuf.message import Message

from . import _frames, errors, specs
from .results import Report, Standings, Tournament
from .v1 import coordinator_pb2 as v1

T = TypeVar("T")

#: The id of a tournament, or the tournament.
Id = Union[str, Tournament]

_PAGE = 200


@dataclass(frozen=True)
class Rpc:
    """A call of the coordinator's service."""

    method: str
    request: Message


@dataclass(frozen=True)
class Command:
    """A run of the command against the same coordinator; the result is its exit code and output."""

    arguments: Sequence[str]
    allowed: Sequence[int] = (0,)
    #: True if the caller wrote the arguments, so that errors may name flags.
    flags: bool = False


@dataclass(frozen=True)
class Work:
    """Work that takes a while, such as reading a large file."""

    function: Callable[[], Any]


Step = Union[Rpc, Command, Work]
Steps = Generator[Step, Any, T]


def id_of(tournament: Id) -> str:
    """The id of a tournament."""
    return tournament.id if isinstance(tournament, Tournament) else tournament


def tournaments() -> Steps[list[Tournament]]:
    """All tournaments, oldest first."""
    found: list[Tournament] = []
    token = ""
    while True:
        request = v1.ListTournamentsRequest(page_size=_PAGE, page_token=token)
        page = yield Rpc("ListTournaments", request)
        found.extend(map(Tournament.of, page.tournaments))
        token = page.next_page_token
        if not token:
            return found


def tournament(tournament: Id) -> Steps[Tournament]:
    """One tournament with its spec."""
    request = v1.GetTournamentRequest(tournament_id=id_of(tournament))
    answer = yield Rpc("GetTournament", request)
    return Tournament.of(answer.tournament)


def start(
    spec: specs.Spec, set: Optional[Mapping[str, Any]], seed: Optional[str], again: bool
) -> Steps[Tournament]:
    """Starts a tournament."""
    request = v1.StartTournamentRequest(
        request_id=secrets.token_hex(16),
        spec_toml=specs.toml(spec, set),
        seed=specs.seed_of(seed) or "",
        again=again,
    )
    answer = yield Rpc("StartTournament", request)
    return Tournament.of(answer.tournament)


def change(verb: str, tournament: Id) -> Steps[Tournament]:
    """Pauses, resumes or cancels a tournament."""
    method = f"{verb}Tournament"
    request = getattr(v1, f"{method}Request")(
        request_id=secrets.token_hex(16), tournament_id=id_of(tournament)
    )
    answer = yield Rpc(method, request)
    return Tournament.of(answer.tournament)


def standings(
    tournament: Id, anchor: Optional[str], generation: int
) -> Steps[Standings]:
    """The standings with all pairs."""
    request = v1.GetStandingsRequest(
        tournament_id=id_of(tournament), pairs=True, anchor=anchor or "", generation=generation
    )
    answer = yield Rpc("GetStandings", request)
    return Standings(answer.standings)


_RATINGS = (
    "place",
    "agent",
    "rating",
    "rating_low",
    "rating_high",
    "rating_anytime_low",
    "rating_anytime_high",
    "score",
    "games",
)


def ratings(
    of: Id, model: Optional[str], anchor: Optional[str], frame: Optional[str]
) -> Steps[Any]:
    """The ratings, one row for each agent."""
    kind = _frames.choose(frame)
    if model is None:
        found = yield from standings(of, anchor, 0)
        rows = [{name: row[name] for name in _RATINGS} for row in found.rows()]
    else:
        # The coordinator reports an unknown tournament with its reason.
        yield from tournament(of)
        words = ["standings", id_of(of), "--ratings", model, "--output", "json"]
        _, printed = yield Command(words)
        rows = json.loads(printed)
    return _frames.of_rows(rows, kind)


def table(
    name: str, of: Id, frame: Optional[str], timing: bool, generation: int
) -> Steps[Any]:
    """A table of an export."""
    kind = _frames.choose(frame)
    yield from tournament(of)
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        path = Path(folder) / "table.parquet"
        yield from export(name, of, path, timing, generation)
        result = yield Work(lambda: _frames.read(path, kind))
    return result


def export(
    name: str, of: Id, path: Path, timing: bool, generation: int
) -> Steps[None]:
    """Writes a table of an export as Parquet."""
    if path.suffix.lower() in (".csv", ".json", ".jsonl"):
        raise errors.InvalidArgument(
            f"the file is Parquet, so {path.name} cannot end with {path.suffix}: use .parquet, or "
            f"client.command('export', ..., '--format', '{path.suffix[1:].lower()}')"
        )
    words = ["export", id_of(of), "--table", name, "--format", "parquet", "--out", str(path)]
    if timing:
        words.append("--with-timing")
    if generation:
        words += ["--generation", str(generation)]
    yield Command(words)


def command(arguments: Sequence[str]) -> Steps[str]:
    """The output of a command."""
    try:
        _, printed = yield Command(arguments, flags=True)
    except errors.ArenaError as error:
        failure = error
    else:
        return str(printed)
    if type(failure) is errors.ArenaError:
        # The exit code has no class. A token that is refused is refused by every call.
        try:
            yield Rpc("ListTournaments", v1.ListTournamentsRequest(page_size=1))
        except errors.Unauthenticated as error:
            failure = error
        except errors.ArenaError:
            pass
    raise failure


def report(of: Id, expect: Sequence[str]) -> Steps[Report]:
    """The report as a page."""
    yield from tournament(of)
    words = ["report", id_of(of), "--html", "-"]
    for sentence in expect:
        words += ["--expect", sentence]
    code, printed = yield Command(words, allowed=(0, 3))
    return Report(printed, code == 0)
