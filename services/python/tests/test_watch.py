"""A watch survives a restart of the coordinator."""

import asyncio
import signal
import socket
import subprocess
import threading
import time

import pytest
from conftest import LOOPBACK, PROGRAM, SPEC, Coordinator

import arena


class Restarted:
    """A coordinator that is killed, and started again with the same port and data folder."""

    def __init__(self, data):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.listen = "127.0.0.1:%d" % free.getsockname()[1]
        self.data = data
        self.workers = []
        self.starting = None
        self.start()
        self.url = self.coordinator.url

    def start(self):
        self.coordinator = Coordinator(self.data, listen=self.listen)

    def work(self):
        words = ["worker", "--coordinator", self.url, "--metrics", LOOPBACK]
        silent = subprocess.DEVNULL
        worker = subprocess.Popen([PROGRAM, *words], stdin=silent, stdout=silent, stderr=silent)
        self.workers.append(worker)

    def kill(self):
        self.coordinator.process.send_signal(signal.SIGKILL)
        self.coordinator.process.wait(60)
        self.coordinator.process.stdout.close()

    def restart(self, after=1.0):
        """Kills the coordinator; it starts again later."""
        self.kill()
        self.starting = threading.Timer(after, self.start)
        self.starting.start()

    def stop(self):
        for worker in self.workers:
            worker.terminate()
            worker.wait(60)
        if self.starting is not None:
            self.starting.join()
        if self.coordinator.process.returncode is None:
            self.coordinator.stop()


@pytest.fixture
def restarted(tmp_path):
    coordinator = Restarted(tmp_path / "data")
    yield coordinator
    coordinator.stop()


def test_watch_survives_restart(restarted):
    with arena.Client(restarted.url) as client:
        started = client.start(SPEC, set={"name": "restart"})
        progress = client.watch(started)
        assert next(progress).state == "running"
        restarted.restart()
        assert next(progress).state == "running"
        restarted.starting.join()
        client.cancel(started)
        with pytest.raises(arena.TournamentStopped, match="cancelled"):
            list(progress)


def test_asyncio_watch_survives_restart(restarted):
    async def calls():
        async with arena.AsyncClient(restarted.url) as client:
            started = await client.start(SPEC, set={"name": "restart"})
            progress = client.watch(started)
            assert (await progress.__anext__()).state == "running"
            restarted.restart()
            assert (await progress.__anext__()).state == "running"
            await client.cancel(started)
            with pytest.raises(arena.TournamentStopped, match="cancelled"):
                async for _ in progress:
                    pass

    asyncio.run(calls())


def test_wait_returns_standings_after_restart(restarted, monkeypatch):
    restarted.work()
    with arena.Client(restarted.url) as client:
        started = client.start(SPEC, set={"name": "restart", "blocks": 2000})
        watch = client.watch

        def killed(id, **parameters):
            for progress in watch(id, **parameters):
                if restarted.starting is None and progress.games_done:
                    assert progress.state == "running", "it is killed before the end"
                    restarted.restart()
                yield progress

        monkeypatch.setattr(client, "watch", killed)
        standings = client.wait(started)
        assert (standings.state, standings.games) == ("finished", 12_000)
        assert restarted.starting is not None


@pytest.mark.parametrize("graceful", [True, False])
def test_watch_ends_if_coordinator_stays_away(restarted, graceful):
    with arena.Client(restarted.url) as client:
        started = client.start(SPEC, set={"name": "gone"})
        progress = client.watch(started, connect_timeout=1.5)
        next(progress)
        if graceful:
            restarted.coordinator.stop()
        else:
            restarted.kill()
        since = time.monotonic()
        text = f"no answer from the coordinator at {restarted.url} for 1.5 s"
        with pytest.raises(arena.Unavailable, match=text) as caught:
            list(progress)
        assert 1.0 < time.monotonic() - since < 20
        assert "start it again with `arena coordinator`" in str(caught.value)


def test_asyncio_wait_ends_if_coordinator_stays_away(restarted):
    async def calls():
        async with arena.AsyncClient(restarted.url) as client:
            started = await client.start(SPEC, set={"name": "gone"})
            waiting = asyncio.create_task(client.wait(started, connect_timeout=1.5))
            async for _ in client.watch(started):
                break
            await asyncio.sleep(0.5)
            restarted.kill()
            with pytest.raises(arena.Unavailable, match="no answer from the coordinator"):
                await waiting

    asyncio.run(asyncio.wait_for(calls(), 60))


def test_watch_of_unreachable_coordinator_ends_at_once(tmp_path):
    with arena.Client(f"unix:{tmp_path}/nothing.sock") as client:
        since = time.monotonic()
        with pytest.raises(arena.Unavailable, match="no coordinator answers"):
            next(client.watch("cup"))
        assert time.monotonic() - since < 10


def test_watch_of_closed_client_ends(idle):
    client = arena.Client(idle.url)
    started = client.start(SPEC, set={"name": "closed"})
    progress = client.watch(started)
    next(progress)
    client.close()
    with pytest.raises(arena.FailedPrecondition, match="is closed: make a new client"):
        list(progress)
    with arena.Client(idle.url) as other:
        other.cancel(started)


@pytest.mark.parametrize(
    ("error", "before", "delays"),
    [
        (arena.ResourceExhausted("busy", "OVERLOADED", {}, 20.0), False, [20.0, 10.0]),
        (arena.ResourceExhausted("full", "LIMIT"), True, []),
        # A token of the coordinator's last run is refused while it starts.
        (arena.Unauthenticated("old", "TOKEN_UNKNOWN"), True, [0.5, 1.0, 2.0]),
        (arena.Unauthenticated("old", "TOKEN_UNKNOWN"), False, []),
        (arena.NotFound("gone", "UNKNOWN_TOURNAMENT"), True, []),
    ],
)
def test_refused_watch_is_repeated_if_it_may_be_accepted(monkeypatch, error, before, delays):
    """`before`: the connection was lost before."""
    from arena import _access

    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr("arena.errors.of_rpc", lambda failure, url: error)
    monkeypatch.setattr("arena.errors.is_lost", lambda failure: False)
    outage = _access.Outage("http://127.0.0.1:7600", 30.0)
    if before:
        assert outage.delay(None) == 0.25
    seen = []
    with pytest.raises(type(error)) as caught:
        while True:
            seen.append(outage.delay(error))
            now += seen[-1]
    assert caught.value is error
    assert seen == delays
