"""Tournaments that are not finished: paused, cancelled, or without workers."""

import asyncio
import itertools
import threading

import pytest
from conftest import SPEC

import arena


def test_only_finished_tournaments_pass(client, idle, played, stopped):
    assert client.report(played).passed
    assert not client.report(stopped).passed
    with arena.Client(idle.url) as other:
        started = other.start(SPEC, set={"name": "passes"})
        assert not other.report(started).passed, "it runs"
        other.pause(started)
        assert not other.report(started).passed, "a user paused it"
        other.cancel(started)
        assert not other.report(started).passed, "it was cancelled"


def test_report_of_a_run_has_its_expectations(tmp_path):
    spec = {**SPEC, "blocks": 1}
    failed = arena.run(spec, data=tmp_path / "data", expect=["random beats defensive by 500 elo"])
    assert not failed.passed
    report = failed.report()
    assert not report.passed
    assert "random beats defensive by 500 elo" in report.html


def last_of_watch(url, id):
    """The last progress of a watch, and the error that ends it. A watch without end fails."""
    seen = []
    with arena.Client(url) as client:
        limit = threading.Timer(20, client._channel.close)
        limit.start()
        try:
            with pytest.raises(arena.TournamentStopped) as caught:
                for one in client.watch(id):
                    seen.append(one)
        finally:
            limit.cancel()
    return seen[-1], caught.value


def test_watch_of_paused_tournament_ends(client, stopped):
    last, error = last_of_watch(client.url, stopped)
    assert last.state == "paused" and last.pause
    with pytest.raises(arena.TournamentStopped) as waited:
        client.wait(stopped)
    assert str(waited.value) == str(error)


def test_pause_has_the_error_of_the_agent(client, stopped):
    last, error = last_of_watch(client.url, stopped)
    for text in (last.pause, str(error), str(client.standings(stopped))):
        assert "agent crashing starts on no worker" in text
        assert "exit code 7\n    no model at weights.bin\n" in text
        assert "unplayed_limit = 1" in text


def test_watch_of_cancelled_tournament_ends(idle):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "given-up"})
        client.cancel(started)
        last, error = last_of_watch(client.url, started)
        assert last.state == "cancelled" and "cancelled" in str(error)


def test_watch_waits_while_a_user_paused(idle):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "break"})
        client.pause(started)
        progress = client.watch(started)
        assert next(progress).state == "paused"
        client.resume(started)
        assert next(one for one in progress if one.state != "paused").state == "running"
        progress.close()


def test_asyncio_watch_ends_as_well(coordinator, stopped):
    async def calls():
        async with arena.AsyncClient(coordinator.url) as client:
            seen = []
            with pytest.raises(arena.TournamentStopped, match="weights.bin"):
                async for one in client.watch(stopped):
                    seen.append(one)
            assert seen[-1].pause
            with pytest.raises(arena.TournamentStopped, match="weights.bin"):
                await client.wait(stopped)
            assert not (await client.report(stopped)).passed

    asyncio.run(asyncio.wait_for(calls(), 60))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, crashing):
    """A data folder with the agent that never starts."""
    data = tmp_path_factory.mktemp("folder") / "data"
    arena.run(SPEC, set={"blocks": 1}, data=data)
    with arena.Client(data=data) as client:
        client.command("agent", "register", "crashing", "--binary", str(crashing))
    return data


def test_run_that_pauses_itself_is_stopped(folder):
    spec = {**SPEC, "name": "pauses", "agents": ["random", "crashing"]}
    for _ in range(2):
        with pytest.raises(arena.TournamentStopped, match="is paused: agent crashing") as caught:
            arena.run(spec, data=folder)
        assert "no model at weights.bin" in str(caught.value)
    with arena.Client(data=folder) as client:
        client.cancel("pauses")
    with pytest.raises(arena.InvalidArgument, match="was cancelled: start it anew with again=True"):
        arena.run(spec, data=folder)


def test_run_with_faults_alone_shows_them(folder):
    spec = {**SPEC, "name": "losses", "blocks": 1, "agents": ["random", "crashing"]}
    with pytest.raises(arena.ArenaError, match="every game of losses-") as caught:
        arena.run(spec, set={"unplayed_limit": 1.0}, data=folder)
    assert not isinstance(caught.value, arena.TournamentStopped)
    assert "crashing: 2 " in str(caught.value) and "weights.bin" in str(caught.value)
    with arena.Client(data=folder) as client:
        standings = client.standings("losses")
    assert standings.faults()[0] in str(standings)
    assert "weights.bin" in standings.faults()[0]


def test_missing_workers_are_shown(idle, capfd):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "alone"})
        progress = next(client.watch(started))
        assert progress.lacks_workers
        assert "0/24 games, 0 games/s, no workers (start `arena worker`), 0 faults" in str(progress)
        for show, lines in ((None, 1), (True, 1), (False, 0)):
            client.pause(started)
            client.resume(started)
            wait_and_cancel(idle, started, show)
            printed = capfd.readouterr().err
            hint = f"no worker is connected: start one with `arena worker --coordinator {idle.url}`"
            assert printed.count(hint) == lines, printed
            started = client.start(SPEC, set={"name": "alone"}, again=True)
        client.cancel(started)


def wait_and_cancel(idle, started, show):
    """Waits for a tournament that is cancelled after the first progress."""

    async def calls():
        async with arena.AsyncClient(idle.url) as client:
            waiting = asyncio.create_task(client.wait(started, show=show))
            # A note is shown at the first progress.
            async for _ in client.watch(started):
                break
            await asyncio.sleep(0.5)
            await client.cancel(started)
            with pytest.raises(arena.TournamentStopped, match="cancelled"):
                await waiting

    asyncio.run(calls())


def test_wait_of_a_folder_names_both_remedies(tmp_path, monkeypatch, capfd):
    with arena.Client(data=tmp_path) as client:
        started = client.start(SPEC)
        # The first progress has no workers; an error ends the wait.
        watch = client.watch
        monkeypatch.setattr(client, "watch", lambda id, **_: itertools.islice(watch(id), 1))
        client.wait(started)
    printed = capfd.readouterr().err
    assert "start one with `arena worker --coordinator http://127.0.0.1:" in printed
    assert "close this client and play the tournament with `arena.run`" in printed


def test_connected_workers_are_counted(client, played):
    progress = next(client.watch(played))
    assert not progress.lacks_workers
    assert "1 worker, 0 faults: finished" in str(progress)
