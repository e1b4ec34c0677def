"""A client that waits for each answer."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Iterator, Mapping, Optional, Sequence, TypeVar

import grpc

from . import _access, _calls, _command, errors, specs
from ._access import PathLike
from ._calls import Id
from ._display import Line
from .results import Progress, Report, Standings, Tournament
from .v1 import coordinator_pb2 as v1
from .v1.coordinator_pb2_grpc import CoordinatorServiceStub

T = TypeVar("T")


class Client:
    """A coordinator.

    Without a URL and a data folder, it is the one that the command `arena` finds:
    `ARENA_COORDINATOR`, `ARENA_DATA`, or the folder `arena-data`. If no coordinator uses a
    folder, the client starts one, which plays no games, and `close` stops it.

    A coordinator of the same user on this machine needs no token. Others need `token` or
    `token_file`, and for https `tls_ca`.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        data: Optional[PathLike] = None,
        token: Optional[str] = None,
        token_file: Optional[PathLike] = None,
        tls_ca: Optional[PathLike] = None,
        tls_cert: Optional[PathLike] = None,
        tls_key: Optional[PathLike] = None,
        timeout: float = 60.0,
    ) -> None:
        shown = _access.credentials(token, token_file, tls_ca, tls_cert, tls_key)
        self._access = _access.Access(url, data, shown)
        self._timeout = timeout
        self._channel: Any = self._access.channel(grpc)
        #: The generated stub, for calls that this class does not have; pass `metadata()`.
        self.stub: Any = CoordinatorServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @property
    def url(self) -> str:
        """The URL of the coordinator."""
        return self._access.url

    def metadata(self) -> list[tuple[str, str]]:
        """The metadata of a call: the token."""
        return self._access.metadata()

    def tournaments(self) -> list[Tournament]:
        """All tournaments, oldest first."""
        return self._do(_calls.tournaments())

    def tournament(self, id: Id) -> Tournament:
        """One tournament with its spec."""
        return self._do(_calls.tournament(id))

    def start(
        self,
        spec: specs.Spec,
        *,
        set: Optional[Mapping[str, Any]] = None,
        seed: Optional[str] = None,
        again: bool = False,
        show: Optional[bool] = None,
    ) -> Tournament:
        """Starts a tournament, or resumes it. `spec` is a file, TOML text, or a mapping.

        The coordinator's notes are shown, for example that an endpoint does not answer, unless
        `show` is False.
        """
        started, notes = self._do(_calls.start(spec, set, seed, again))
        line = Line(show)
        for note in notes:
            line.note(note)
        return started

    def pause(self, id: Id) -> Tournament:
        """Pauses a tournament. Games that are being played are finished."""
        return self._do(_calls.change("Pause", id))

    def resume(self, id: Id) -> Tournament:
        """Continues a paused tournament."""
        return self._do(_calls.change("Resume", id))

    def cancel(self, id: Id) -> Tournament:
        """Ends a tournament for good. Its results are kept."""
        return self._do(_calls.change("Cancel", id))

    def remove(self, id: Id) -> Tournament:
        """Removes a finished or cancelled tournament with its games, without asking.

        This cannot be undone. It returns what is left of the tournament. To keep an archive, use
        `client.command("tournament", "archive", id, "--into", folder, "--remove")` instead.
        """
        return self._do(_calls.change("Remove", id))

    def watch(self, id: Id, *, connect_timeout: float = 30.0) -> Iterator[Progress]:
        """The progress at once and after each change, until the tournament is finished.

        If the tournament paused itself or was cancelled, the last progress says so, and then
        the iterator raises `TournamentStopped`. If a user paused it, the iterator waits until
        it is resumed.

        If the connection breaks, the iterator reconnects. If the coordinator does not answer for
        `connect_timeout` seconds, the error is `Unavailable`.
        """
        request = v1.WatchTournamentRequest(tournament_id=self._do(_calls.resolve(id)))
        outage = _access.Outage(self.url, connect_timeout)
        while True:
            self._access.check_open()
            stream = self.stub.WatchTournament(request, metadata=self.metadata())
            failure = None
            try:
                for message in stream:
                    outage.end()
                    progress = Progress.of(message)
                    yield progress
                    if progress.has_ended:
                        check_finished(progress)
                        return
            except grpc.RpcError as error:
                failure = error
            finally:
                stream.cancel()
            self._access.check_open()
            time.sleep(outage.delay(failure))

    def wait(
        self, id: Id, *, show: Optional[bool] = None, connect_timeout: float = 30.0
    ) -> Standings:
        """Waits until a tournament is finished, and returns its standings.

        It raises `TournamentStopped` if the tournament paused itself or was cancelled. A
        notebook or a terminal shows one line of progress, unless `show` is False. If no worker
        is connected, a note says so.
        """
        # Another tournament may become `@last` meanwhile.
        id = self._do(_calls.resolve(id))
        line = Line(show)
        noted = False
        try:
            for progress in self.watch(id, connect_timeout=connect_timeout):
                if progress.lacks_workers and not noted:
                    noted = True
                    line.note(self._access.no_workers())
                line.update(str(progress))
        finally:
            line.close()
        return self.standings(id)

    def standings(
        self, id: Id, *, anchor: Optional[str] = None, generation: int = 0
    ) -> Standings:
        """Scores and ratings with their intervals, and all pairs."""
        return self._do(_calls.standings(id, anchor, generation))

    def ratings(
        self,
        id: Id,
        *,
        model: Optional[str] = None,
        anchor: Optional[str] = None,
        frame: Optional[str] = None,
    ) -> Any:
        """The ratings as a data frame, one row for each agent.

        `model` is `elo`, `glicko2`, `trueskill` or `weng-lin` for ratings that are updated game
        by game. `anchor` is the agent whose rating is 0.
        """
        return self._do(_calls.ratings(id, model, anchor, frame))

    def games(
        self,
        id: Id,
        *,
        frame: Optional[str] = None,
        timing: bool = False,
        generation: int = 0,
    ) -> Any:
        """The finished games as a data frame, in index order.

        `frame` is `polars`, `pandas` or `arrow`; by default, the first that is installed.
        """
        return self._do(_calls.table("games", id, frame, timing, generation))

    def decisions(
        self,
        id: Id,
        *,
        frame: Optional[str] = None,
        timing: bool = False,
        generation: int = 0,
    ) -> Any:
        """The moves of all finished games as a data frame, one row for each ply."""
        return self._do(_calls.table("decisions", id, frame, timing, generation))

    def export(
        self,
        id: Id,
        path: PathLike,
        *,
        table: str = "games",
        timing: bool = False,
        generation: int = 0,
    ) -> None:
        """Writes the table `games`, `decisions` or `standings` to a file of Parquet."""
        self._do(_calls.export(table, id, Path(path), timing, generation))

    def report(self, id: Id, *, expect: Sequence[str] = ()) -> Report:
        """The report as a page, which a notebook shows inline."""
        return self._do(_calls.report(id, expect))

    def command(self, *arguments: str, show: Optional[bool] = None) -> str:
        """Runs a command of `arena` with this coordinator, and returns its output.

        Commands that use no coordinator, such as `agent new`, run as well. Notes and warnings are
        shown, unless `show` is False.

        `client.command("agent", "register", "mine", "--binary", "mine.py")`
        """
        return self._do(_calls.command(arguments, show))

    def close(self) -> None:
        """Closes the connection, and stops the coordinator if the client started it."""
        self._access.mark_closed()
        self._channel.close()
        self._access.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {self.url}>"

    def _do(self, steps: _calls.Steps[T]) -> T:
        """Does the steps of a call."""
        try:
            step = next(steps)
            while True:
                try:
                    result = self._perform(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    def _perform(self, step: _calls.Step) -> Any:
        self._access.check_open()
        if isinstance(step, _calls.Rpc):
            return self._call(step)
        if isinstance(step, _calls.Command):
            return self._run(step)
        return step.function()

    def _call(self, rpc: _calls.Rpc) -> Any:
        waited = 0.0
        while True:
            call = getattr(self.stub, rpc.method)
            try:
                return call(rpc.request, metadata=self.metadata(), timeout=self._timeout)
            except grpc.RpcError as failure:
                error = errors.of_rpc(failure, self.url)
            delay = _access.delay(error.retry_after, waited)
            if delay is None:
                raise error
            time.sleep(delay)
            waited += delay

    def _run(self, command: _calls.Command) -> tuple[int, str]:
        place, variables = self._access.command() if command.place else ([], {})
        program = _command.program()
        with _command.starting(program):
            done = subprocess.run(
                [program, *_command.words(command.arguments, place)],
                env=_command.environment(variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        _command.check(done.returncode, done.stderr, command.allowed, command.flags)
        _command.show_notes(done.stderr, command.show)
        return done.returncode, done.stdout.decode()


def check_finished(last: Progress) -> None:
    """Raises an error unless the last progress of a tournament is that of a finished one."""
    if last.pause:
        raise errors.TournamentStopped(f"tournament {last.id} is paused: {last.pause}")
    if last.state == "cancelled":
        raise errors.TournamentStopped(f"tournament {last.id} was cancelled; its games are kept")
