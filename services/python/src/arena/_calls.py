"""The calls of clients, without input and output.

A call is a generator: it yields what has to be done, and gets the result. `Client` does it at
once, `AsyncClient` with asyncio.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Generator, Mapping, Optional, Sequence, TypeVar, Union

from google.protobuf.message import Message

from . import _frames, errors, specs
from ._display import printable
from .results import Report, Standings, Tournament
from .v1 import coordinator_pb2 as v1

T = TypeVar("T")

#: The id of a tournament, or the tournament.
Id = Union[str, Tournament]

_PAGE = 200
#: The alias of the tournament that was created last.
_LAST = "@last"
#: The reason of calls that name a removed tournament.
_REMOVED = "TOURNAMENT_REMOVED"
#: Maximum number of candidates named for an ambiguous id.
_NAMED_MAX = 5


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
    #: False if the command gets no coordinator.
    place: bool = True
    #: Whether its notes are shown, by the rule of `Line`.
    show: Optional[bool] = False


@dataclass(frozen=True)
class Work:
    """Work that takes a while, such as reading a large file."""

    function: Callable[[], Any]


Step = Union[Rpc, Command, Work]
Steps = Generator[Step, Any, T]


def id_of(tournament: Id) -> str:
    """The id of a tournament."""
    if isinstance(tournament, Tournament):
        return tournament.id
    # As a prefix, an empty text would be the only tournament.
    if not isinstance(tournament, str) or not tournament:
        raise errors.InvalidArgument(
            f'an id is a text such as "cowry" or "{_LAST}", or a Tournament, not {tournament!r}'
        )
    return tournament


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


def tournament(of: Id) -> Steps[Tournament]:
    """One tournament with its spec."""
    text = id_of(of)
    unknown: Optional[errors.NotFound] = None
    if isinstance(of, Tournament) or text != _LAST:
        try:
            return (yield from _tournament(text))
        except errors.NotFound as error:
            # The id of another attempt begins with that of a removed tournament.
            if isinstance(of, Tournament) or error.reason == _REMOVED:
                raise
            unknown = error
    found = chosen((yield from tournaments()), text)
    if found is not None:
        return (yield from _tournament(found))
    raise unknown or errors.NotFound("no tournament yet: start one with `client.start(spec)`")


def _tournament(id: str) -> Steps[Tournament]:
    """The tournament with a complete id."""
    answer = yield Rpc("GetTournament", v1.GetTournamentRequest(tournament_id=id))
    return Tournament.of(answer.tournament)


def resolve(of: Id) -> Steps[str]:
    """The complete id of a tournament. Raises an error if there is none, or more than one."""
    return (yield from tournament(of)).id


def chosen(all: Sequence[Tournament], text: str) -> Optional[str]:
    """The id that a prefix or `@last` refers to, by the rule of the command; None without one."""
    if text == _LAST:
        # Of several that were created at once, the last in the list.
        newest = max(reversed(all), key=lambda one: one.message.created_unix_us, default=None)
        return newest.id if newest is not None else None
    found = [one.id for one in all if one.id.startswith(text)]
    # A whole name comes before a longer one that begins with it.
    whole = re.compile(re.escape(text) + "-[0-9a-fA-F]{10}")
    found = [id for id in found if whole.match(id)] or found
    if len(found) > 1:
        named = ", ".join(found[:_NAMED_MAX])
        more = f" and {len(found) - _NAMED_MAX} more" if len(found) > _NAMED_MAX else ""
        raise errors.InvalidArgument(
            f'"{text}" is ambiguous: it matches {named}{more}; use a longer prefix, or @last for '
            "the newest"
        )
    return found[0] if found else None


def start(
    spec: specs.Spec, set: Optional[Mapping[str, Any]], seed: Optional[str], again: bool
) -> Steps[tuple[Tournament, list[str]]]:
    """Starts a tournament. Also returns the notes for the user."""
    request = v1.StartTournamentRequest(
        request_id=secrets.token_hex(16),
        spec_toml=specs.toml(spec, set),
        seed=specs.seed_of(seed) or "",
        again=again,
    )
    answer = yield Rpc("StartTournament", request)
    return Tournament.of(answer.tournament), [printable(note) for note in answer.notes]


def change(verb: str, tournament: Id) -> Steps[Tournament]:
    """Pauses, resumes, cancels or removes a tournament."""
    id = yield from resolve(tournament)
    method = f"{verb}Tournament"
    request = getattr(v1, f"{method}Request")(
        request_id=secrets.token_hex(16), tournament_id=id
    )
    answer = yield Rpc(method, request)
    return Tournament.of(answer.tournament)


def standings(
    tournament: Id, anchor: Optional[str], generation: int
) -> Steps[Standings]:
    """The standings with all pairs."""
    id = yield from resolve(tournament)
    request = v1.GetStandingsRequest(
        tournament_id=id, pairs=True, anchor=anchor or "", generation=generation
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
        id = yield from resolve(of)
        words = ["standings", id, "--ratings", model, "--output", "json"]
        _, printed = yield Command(words)
        rows = json.loads(printed)
    return _frames.of_rows(rows, kind)


def table(
    name: str, of: Id, frame: Optional[str], timing: bool, generation: int
) -> Steps[Any]:
    """A table of an export."""
    kind = _frames.choose(frame)
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
    id = yield from resolve(of)
    words = ["export", id, "--table", name, "--format", "parquet", "--out", str(path)]
    if timing:
        words.append("--with-timing")
    if generation:
        words += ["--generation", str(generation)]
    yield Command(words)


def command(arguments: Sequence[str], show: Optional[bool]) -> Steps[str]:
    """The output of a command."""
    for one in arguments:
        if not isinstance(one, (str, os.PathLike)):
            raise errors.InvalidArgument(f"arguments of a command are texts, not {one!r}")
    if not arguments or (len(arguments) == 1 and " " in os.fspath(arguments[0])):
        raise errors.InvalidArgument(
            'a command has one argument for each word: client.command("agent", "list")'
        )
    try:
        _, printed = yield Command(arguments, flags=True, show=show)
    except errors.ArenaError as error:
        failure = error
    else:
        return str(printed)
    refused = _PLACE_REFUSED.match(failure.message)
    if refused is not None and refused.group(1) not in arguments:
        return (yield from _without_coordinator(arguments, refused.group(1), show))
    if type(failure) is errors.ArenaError:
        # The exit code has no class. A token that is refused is refused by every call.
        try:
            yield Rpc("ListTournaments", v1.ListTournamentsRequest(page_size=1))
        except errors.Unauthenticated as error:
            failure = error
        except errors.ArenaError:
            pass
    raise failure


_PLACE_REFUSED = re.compile("unexpected argument '(--data|--coordinator)' found")


def _without_coordinator(
    arguments: Sequence[str], refused: str, show: Optional[bool]
) -> Steps[str]:
    """The output of a command that does not have the refused flag.

    If it has the other flag, it would use another coordinator or data folder, so it is not run.
    """
    texts = [os.fspath(one) for one in arguments]
    words = list(itertools.takewhile(lambda text: not text.startswith("-"), texts))
    _, page = yield Command([*words, "--help"], place=False)
    other = re.search(r"^ +(--data|--coordinator) <", page, re.MULTILINE)
    if words and other is not None:
        parameter = "data=" if other.group(1) == "--data" else "a URL"
        raise errors.InvalidArgument(
            f"`arena {' '.join(words)}` has no {refused}, but {other.group(1)}: use a client with "
            f"{parameter}"
        )
    _, printed = yield Command(arguments, flags=True, place=False, show=show)
    return str(printed)


def report(of: Id, expect: Sequence[str]) -> Steps[Report]:
    """The report as a page."""
    expect = specs.sentences(expect)
    id = yield from resolve(of)
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        # With JUnit, the exit code is also 3 if the tournament is not finished.
        junit = os.path.join(folder, "report.xml")
        words = ["report", id, "--html", "-", "--junit", junit]
        for sentence in expect:
            words += ["--expect", sentence]
        code, printed = yield Command(words, allowed=(0, 3))
    return Report(printed, code == 0)
