"""Tournaments on this machine, without a coordinator that runs already."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence

from google.protobuf import json_format

from . import _command, _frames, errors, specs
from ._access import PathLike
from ._display import Line
from .client import Client
from .results import Report, Standings


@dataclass(frozen=True)
class Result:
    """A finished tournament of a data folder."""

    id: str
    data: Path
    standings: Standings
    #: False if an expectation fails, or if a record is refuted.
    passed: bool
    #: The expectations of `run` in addition to those of the spec.
    expect: Sequence[str] = ()

    def client(self) -> Client:
        """A client for the data folder; close it after use."""
        return Client(data=self.data)

    def games(self, *, frame: Optional[str] = None, timing: bool = False) -> Any:
        """The games as a data frame; see `Client.games`."""
        with self.client() as client:
            return client.games(self.id, frame=frame, timing=timing)

    def decisions(self, *, frame: Optional[str] = None, timing: bool = False) -> Any:
        """The moves as a data frame; see `Client.decisions`."""
        with self.client() as client:
            return client.decisions(self.id, frame=frame, timing=timing)

    def ratings(
        self,
        *,
        model: Optional[str] = None,
        anchor: Optional[str] = None,
        frame: Optional[str] = None,
    ) -> Any:
        """The ratings as a data frame; see `Client.ratings`."""
        with self.client() as client:
            return client.ratings(self.id, model=model, anchor=anchor, frame=frame)

    def report(self) -> Report:
        """The report as a page, with the expectations of `run`; see `Client.report`."""
        with self.client() as client:
            return client.report(self.id, expect=self.expect)

    def __repr__(self) -> str:
        return str(self.standings)

    def _repr_html_(self) -> str:
        return self.standings._repr_html_()


def run(
    spec: specs.Spec,
    *,
    set: Optional[Mapping[str, Any]] = None,
    data: PathLike = "arena-data",
    workers: int = 1,
    seed: Optional[str] = None,
    again: bool = False,
    expect: Sequence[str] = (),
    show: Optional[bool] = None,
) -> Result:
    """Runs a tournament here and waits for its end: coordinator, workers and agents.

    `spec` is a file, TOML text, or a mapping; `set` replaces keys, such as
    `{"play.opening_plies": 4}`. The data folder must not be in use. `workers` is the number of
    worker processes, and `seed` replaces the spec's. `expect` has expectations in addition to
    those of the spec, such as `["mine beats base by 5 elo at 95 %"]`.

    If the tournament is finished already, its results are returned, unless `again` is True:
    then it is played again under a new id. If it paused itself or was cancelled, the error is
    `TournamentStopped`. A notebook or a terminal shows one line of progress, unless `show` is
    False.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 256:
        raise errors.InvalidArgument(f"workers is a number from 1 to 256, not {workers!r}")
    seed = specs.seed_of(seed)
    expect = tuple(specs.sentences(expect))
    words = ["--data", os.fspath(data), "--workers", str(workers), "--output", "json"]
    if seed is not None:
        words += ["--seed", seed]
    if again:
        words.append("--again")
    for sentence in expect:
        words += ["--expect", sentence]
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        file = Path(folder) / "spec.toml"
        file.write_text(specs.toml(spec, set), encoding="utf-8")
        code, stdout, stderr = _play(["run", str(file), *words], Path(folder), Line(show))
    standings = _standings(stdout, workers == 1)
    if code in (0, 3) and standings is not None:
        return Result(standings.id, Path(data).absolute(), standings, code == 0, expect)
    # The file of the spec is a copy that no longer exists.
    error = errors.of_exit(code, stderr.replace(f"{file}: ", ""))
    if standings is None:
        raise error
    if standings.state in ("paused", "cancelled"):
        raise errors.TournamentStopped(error.message)
    # The text refers to standings that are not printed here.
    raise type(error)("\n".join([error.message, *standings.faults()]))


def _standings(text: str, alone: bool) -> Optional[Standings]:
    """The standings that the command printed; None if it ended without any."""
    try:
        return Standings.of_json(json.loads(text), alone)
    except (ValueError, json_format.ParseError):
        return None


def _play(words: Sequence[str], folder: Path, line: Line) -> tuple[int, str, str]:
    """Runs the command, and shows its progress."""
    seen = []
    program = _command.program()
    with (folder / "stdout").open("w+b") as stdout:
        with _command.starting(program):
            process = subprocess.Popen(
                [program, *words],
                env=_command.environment(),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # An interrupt of a terminal reaches this process alone, which passes it on once.
                start_new_session=True,
            )
        assert process.stderr is not None
        try:
            for text in process.stderr:
                seen.append(text)
                line.update(errors.in_python(text.rstrip()))
            code = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.stderr.close()
            process.wait()
            raise
        finally:
            line.close()
        process.stderr.close()
        stdout.seek(0)
        return code, stdout.read().decode(), "".join(seen)


def sweep(
    spec: specs.Spec,
    grid: Mapping[str, Sequence[Any]],
    *,
    client: Optional[Client] = None,
    data: PathLike = "arena-data",
    workers: int = 1,
    frame: Optional[str] = None,
    show: Optional[bool] = None,
) -> Any:
    """Runs a spec with every combination of values of its keys.

    It returns one data frame: a row for each variant and agent, with a column for each key, the
    tournament's id, and the standings. If a key is also a column of the standings, that column
    ends with `_played`, such as `blocks_played`. With a client, its coordinator plays all variants at
    once; without one, they are run here, one after the other.
    """
    kind = _frames.choose(frame)
    lists = {name: _values(name, values) for name, values in grid.items()}
    variants = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
    if client is None:
        found = [
            run(spec, set=variant, data=data, workers=workers, show=show).standings
            for variant in variants
        ]
    else:
        started = [client.start(spec, set=variant, show=show) for variant in variants]
        found = [client.wait(one, show=show) for one in started]
    rows = [
        {**_cells(variant), "tournament_id": standings.id, **_beside(variant, row)}
        for variant, standings in zip(variants, found)
        for row in standings.rows()
    ]
    return _frames.of_rows(rows, kind)


def _values(name: str, values: Any) -> list[Any]:
    """The values of a key; not a text, whose letters would be values."""
    found = [] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if not found:
        raise errors.InvalidArgument(
            f'the grid needs a list of values for "{name}", such as [1, 2], not {values!r}'
        )
    return found


def _beside(variant: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of standings with the keys of a variant: both have a column `blocks`."""
    return {f"{name}_played" if name in variant else name: value for name, value in row.items()}


def _cells(variant: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a variant; lists and tables as JSON."""
    plain = (bool, int, float, str)
    return {
        key: value if isinstance(value, plain) else json.dumps(value)
        for key, value in variant.items()
    }
