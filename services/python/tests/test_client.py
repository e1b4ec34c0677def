"""The client against a coordinator with a worker."""

import asyncio
import time

import polars
import pyarrow
import pytest
from conftest import GAMES, SPEC

import arena


def test_tournament_is_started_and_listed(client, played):
    listed = {one.id: one for one in client.tournaments()}
    assert listed[played.id].state == "finished"
    assert listed[played.id].games_done == GAMES
    assert played.ruleset == "cowry"
    assert client.tournament(played).message.spec_json


def test_spec_may_be_file_text_or_mapping(client, played, tmp_path):
    text = '\n'.join(
        f"{key} = {value!r}".replace("'", '"') for key, value in SPEC.items()
    )
    path = tmp_path / "small.toml"
    path.write_text(text)
    assert client.start(text).id == played.id
    assert client.start(path).id == played.id
    assert client.start(str(path)).id == played.id
    other = client.start(path, set={"blocks": 100_000, "play.opening_plies": 2})
    assert other.id != played.id
    client.cancel(other)


def test_watch_ends_with_tournament(client):
    started = client.start(SPEC, set={"name": "watched", "blocks": 40})
    seen = list(client.watch(started))
    assert seen[-1].state == "finished"
    assert seen[-1].games_done == seen[-1].games_total == 240
    assert [one.games_done for one in seen] == sorted(one.games_done for one in seen)
    assert "240/240 games" in str(seen[-1])
    assert len(seen[-1].standings) == 3


def test_many_pages_are_listed(idle, monkeypatch):
    monkeypatch.setattr("arena._calls._PAGE", 2)
    with arena.Client(idle.url) as client:
        names = [f"page-{number}" for number in range(5)]
        for name in names:
            client.start(SPEC, set={"name": name, "blocks": 1})
        listed = [one.name for one in client.tournaments()]
        assert [name for name in listed if name.startswith("page-")] == names


def test_standings_have_agents_in_order(client, played):
    standings = client.standings(played)
    assert [one.place for one in standings] == [1, 2, 3]
    assert standings["random"].games == 16
    assert standings.verdict["kind"] == "ranking"
    row = standings.rows()[0]
    assert row["place"] == 1 and row["score_low"] <= row["score"] <= row["score_high"]
    assert row["nash"] is None
    assert standings.frame("polars").height == 3
    assert list(standings.frame("pandas")["agent"]) == [one.agent for one in standings]
    assert standings.frame("arrow").num_rows == 3
    assert standings.pairs().height == 3
    with pytest.raises(KeyError):
        standings["missing"]


def test_standings_are_shown_as_table(client, played):
    standings = client.standings(played)
    assert str(standings).splitlines()[1].split()[:3] == ["place", "agent", "rating"]
    page = standings._repr_html_()
    assert page.count("<tr>") == 4 and "aggressive" in page


def test_anchor_has_rating_zero(client, played):
    frame = client.ratings(played, anchor="random", frame="polars")
    assert frame.filter(polars.col("agent") == "random")["rating"].item() == 0


def test_sequential_ratings_are_a_frame(client, played):
    frame = client.ratings(played, model="elo", frame="pandas")
    assert sorted(frame["agent"]) == sorted(SPEC["agents"])


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_games_are_a_frame(client, played, kind):
    games = client.games(played, frame=kind)
    table = {"polars": lambda: games.to_arrow(), "arrow": lambda: games}.get(
        kind, lambda: pyarrow.Table.from_pandas(games)
    )()
    assert table.num_rows == GAMES
    assert table["index"].to_pylist() == list(range(GAMES))
    assert {"seat_0", "score_0", "termination", "hash"} <= set(table.column_names)


def test_decisions_are_the_moves_of_games(client, played):
    games = client.games(played, timing=True)
    moves = client.decisions(played)
    assert "duration_us" in games.columns or "worker" in games.columns
    plies = moves.group_by("index").len().sort("index")["len"]
    assert plies.to_list() == games["plies"].to_list()


def test_default_frame_is_polars(client, played):
    assert isinstance(client.ratings(played), polars.DataFrame)
    with pytest.raises(arena.InvalidArgument, match="numpy"):
        client.games(played, frame="numpy")


def test_export_writes_file(client, played, tmp_path):
    path = tmp_path / "standings.parquet"
    client.export(played, path, table="standings")
    assert polars.read_parquet(path).height == 3


def test_report_is_inline(client, played, tmp_path):
    report = client.report(played)
    assert report.passed and report.html.startswith("<!DOCTYPE html>")
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<script" not in shown
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.html
    assert not client.report(played, expect=["random beats defensive"]).passed


def test_command_runs_with_the_coordinator(client, played):
    assert played.id in client.command("tournament", "list", "--output", "csv")


def test_tournament_is_paused_and_cancelled(idle):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "controlled"})
        assert client.pause(started).state == "paused"
        assert client.resume(started).state == "running"
        assert client.cancel(started).state == "cancelled"
        with pytest.raises(arena.TournamentStopped, match="cancelled"):
            client.wait(started)
        with pytest.raises(arena.FailedPrecondition) as caught:
            client.pause(started)
        assert caught.value.reason == "STATE_CONFLICT"


def test_removed_tournament_is_gone(idle):
    with arena.Client(idle.url) as client:
        started = client.start(SPEC, set={"name": "removed"})
        with pytest.raises(arena.FailedPrecondition, match="only one that has ended") as caught:
            client.remove(started)
        assert caught.value.reason == "STATE_CONFLICT"
        client.cancel(started)
        removed = client.remove("removed-")
        assert (removed.id, removed.state) == (started.id, "removed")
        assert removed.message.removal.by == "local"
        assert started.id not in [one.id for one in client.tournaments()]
        for call in (client.remove, client.tournament, client.standings, client.games):
            with pytest.raises(arena.NotFound, match="was removed on") as caught:
                call(started)
            assert caught.value.reason == "TOURNAMENT_REMOVED"
        with pytest.raises(arena.FailedPrecondition, match="again=True"):
            client.start(SPEC, set={"name": "removed"})
        with pytest.raises(arena.NotFound) as caught:
            client.remove("nothing")
        assert caught.value.reason == "UNKNOWN_TOURNAMENT"


def test_asyncio_client_removes(idle):
    async def calls():
        async with arena.AsyncClient(idle.url) as client:
            started = await client.start(SPEC, set={"name": "removed-too"})
            with pytest.raises(arena.FailedPrecondition):
                await client.remove(started)
            await client.cancel(started)
            assert (await client.remove(started)).state == "removed"

    asyncio.run(calls())


def test_asyncio_client_has_the_same_results(coordinator, client, played):
    async def calls():
        async with arena.AsyncClient(coordinator.url) as other:
            started = await other.start(SPEC)
            seen = [one async for one in other.watch(started)]
            standings, ratings, games, moves, report, listed = await asyncio.gather(
                other.wait(started),
                other.ratings(started),
                other.games(started),
                other.decisions(started),
                other.report(started),
                other.tournaments(),
            )
            assert seen[-1].state == "finished"
            assert standings.message == client.standings(played).message
            assert ratings.equals(client.ratings(played))
            assert games.equals(client.games(played))
            assert moves.equals(client.decisions(played))
            assert report.passed
            assert played.id in [one.id for one in listed]
            with pytest.raises(arena.NotFound):
                await other.games("nothing")
            with pytest.raises(arena.InvalidArgument):
                await other.command("game", "show", "nothing")
            assert played.id in await other.command("tournament", "list", "--output", "csv")

    asyncio.run(calls())


def test_both_clients_have_the_same_methods():
    import inspect

    for name, method in inspect.getmembers(arena.Client, inspect.isfunction):
        if name.startswith("_"):
            continue
        other = getattr(arena.AsyncClient, name)
        assert inspect.signature(method).parameters == inspect.signature(other).parameters, name
    assert inspect.signature(arena.Client) == inspect.signature(arena.AsyncClient)


def test_refused_call_is_repeated_after_its_delay(client, monkeypatch):
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    outcomes = [arena.ResourceExhausted("busy", "OVERLOADED", {}, 20.0)] * 2

    def refuse(error, url):
        return outcomes.pop()

    monkeypatch.setattr("arena.errors.of_rpc", refuse)
    with pytest.raises(arena.ResourceExhausted):
        client.standings("nothing")
    assert waits == [20.0]
