"""A client for asyncio."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Any, AsyncIterator, Mapping, Optional, Sequence, TypeVar

import grpc
import grpc.aio

from . import _access, _calls, _command, errors, specs
from ._access import PathLike
from ._calls import Id
from ._display import Line
from .client import check_finished
from .results import Progress, Report, Standings, Tournament
from .v1 import coordinator_pb2 as v1
from .v1.coordinator_pb2_grpc import CoordinatorServiceStub

T = TypeVar("T")


class AsyncClient:
    """A coordinator, for asyncio. It has the arguments and methods of `Client`."""

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
        self._channel: Any = self._access.channel(grpc.aio)
        #: The generated stub, for calls that this class does not have; pass `metadata()`.
        self.stub: Any = CoordinatorServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @property
    def url(self) -> str:
        """The URL of the coordinator."""
        return self._access.url

    def metadata(self) -> list[tuple[str, str]]:
        """The metadata of a call: the token."""
        return self._access.metadata()

    async def tournaments(self) -> list[Tournament]:
        """All tournaments, oldest first."""
        return await self._do(_calls.tournaments())

    async def tournament(self, id: Id) -> Tournament:
        """One tournament with its spec."""
        return await self._do(_calls.tournament(id))

    async def start(
        self,
        spec: specs.Spec,
        *,
        set: Optional[Mapping[str, Any]] = None,
        seed: Optional[str] = None,
        again: bool = False,
        show: Optional[bool] = None,
    ) -> Tournament:
        """Starts a tournament, or resumes it."""
        started, notes = await self._do(_calls.start(spec, set, seed, again))
        line = Line(show)
        for note in notes:
            line.note(note)
        return started

    async def pause(self, id: Id) -> Tournament:
        """Pauses a tournament."""
        return await self._do(_calls.change("Pause", id))

    async def resume(self, id: Id) -> Tournament:
        """Continues a paused tournament."""
        return await self._do(_calls.change("Resume", id))

    async def cancel(self, id: Id) -> Tournament:
        """Ends a tournament for good."""
        return await self._do(_calls.change("Cancel", id))

    async def remove(self, id: Id) -> Tournament:
        """Removes a finished or cancelled tournament for good; see `Client.remove`."""
        return await self._do(_calls.change("Remove", id))

    async def watch(self, id: Id, *, connect_timeout: float = 30.0) -> AsyncIterator[Progress]:
        """The progress, as `Client.watch`: it ends or raises `TournamentStopped`."""
        found = await self._do(_calls.resolve(id))
        request = v1.WatchTournamentRequest(tournament_id=found)
        outage = _access.Outage(self.url, connect_timeout)
        while True:
            self._access.check_open()
            stream = self.stub.WatchTournament(request, metadata=self.metadata())
            failure = None
            try:
                async for message in stream:
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
            await asyncio.sleep(outage.delay(failure))

    async def wait(
        self, id: Id, *, show: Optional[bool] = None, connect_timeout: float = 30.0
    ) -> Standings:
        """Waits until a tournament is finished, and returns its standings; see `Client.wait`."""
        id = await self._do(_calls.resolve(id))
        line = Line(show)
        noted = False
        try:
            async for progress in self.watch(id, connect_timeout=connect_timeout):
                if progress.lacks_workers and not noted:
                    noted = True
                    line.note(self._access.no_workers())
                line.update(str(progress))
        finally:
            line.close()
        return await self.standings(id)

    async def standings(
        self, id: Id, *, anchor: Optional[str] = None, generation: int = 0
    ) -> Standings:
        """Scores and ratings with their intervals, and all pairs."""
        return await self._do(_calls.standings(id, anchor, generation))

    async def ratings(
        self,
        id: Id,
        *,
        model: Optional[str] = None,
        anchor: Optional[str] = None,
        frame: Optional[str] = None,
    ) -> Any:
        """The ratings as a data frame."""
        return await self._do(_calls.ratings(id, model, anchor, frame))

    async def games(
        self,
        id: Id,
        *,
        frame: Optional[str] = None,
        timing: bool = False,
        generation: int = 0,
    ) -> Any:
        """The finished games as a data frame."""
        return await self._do(_calls.table("games", id, frame, timing, generation))

    async def decisions(
        self,
        id: Id,
        *,
        frame: Optional[str] = None,
        timing: bool = False,
        generation: int = 0,
    ) -> Any:
        """The moves of all finished games as a data frame."""
        return await self._do(_calls.table("decisions", id, frame, timing, generation))

    async def export(
        self,
        id: Id,
        path: PathLike,
        *,
        table: str = "games",
        timing: bool = False,
        generation: int = 0,
    ) -> None:
        """Writes a table to a file of Parquet."""
        await self._do(_calls.export(table, id, Path(path), timing, generation))

    async def report(self, id: Id, *, expect: Sequence[str] = ()) -> Report:
        """The report as a page."""
        return await self._do(_calls.report(id, expect))

    async def command(self, *arguments: str, show: Optional[bool] = None) -> str:
        """Runs a command of `arena` with this coordinator, and returns its output."""
        return await self._do(_calls.command(arguments, show))

    async def close(self) -> None:
        """Closes the connection, and stops the coordinator if the client started it."""
        self._access.mark_closed()
        await self._channel.close()
        await asyncio.to_thread(self._access.close)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncClient {self.url}>"

    async def _do(self, steps: _calls.Steps[T]) -> T:
        """Does the steps of a call."""
        try:
            step = next(steps)
            while True:
                try:
                    result = await self._perform(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    async def _perform(self, step: _calls.Step) -> Any:
        self._access.check_open()
        if isinstance(step, _calls.Rpc):
            return await self._call(step)
        if isinstance(step, _calls.Command):
            return await self._run(step)
        return await asyncio.to_thread(step.function)

    async def _call(self, rpc: _calls.Rpc) -> Any:
        waited = 0.0
        while True:
            call = getattr(self.stub, rpc.method)
            try:
                return await call(rpc.request, metadata=self.metadata(), timeout=self._timeout)
            except grpc.RpcError as failure:
                error = errors.of_rpc(failure, self.url)
            delay = _access.delay(error.retry_after, waited)
            if delay is None:
                raise error
            await asyncio.sleep(delay)
            waited += delay

    async def _run(self, command: _calls.Command) -> tuple[int, str]:
        place, variables = self._access.command() if command.place else ([], {})
        program = _command.program()
        with _command.starting(program):
            process = await asyncio.create_subprocess_exec(
                program,
                *_command.words(command.arguments, place),
                env=_command.environment(variables),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        try:
            stdout, stderr = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        code = process.returncode
        assert code is not None
        _command.check(code, stderr, command.allowed, command.flags)
        _command.show_notes(stderr, command.show)
        return code, stdout.decode()
