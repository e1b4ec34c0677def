"""Tournaments without a running coordinator."""

import json
import signal
import subprocess
import sys
import time

import pytest
from conftest import GAMES, SPEC, Coordinator

import arena


def test_run_returns_result(result):
    assert result.passed
    assert result.standings.games == GAMES
    assert result.standings.verdict["winner"] == result.standings.agents[0].agent
    assert str(result).startswith(f"{result.id}: finished, 24/24 games")
    assert "<table>" in result._repr_html_()


def test_result_has_all_tables(result):
    assert result.games().height == GAMES
    assert result.decisions(frame="pandas")["index"].max() == GAMES - 1
    assert result.ratings(anchor="random").height == 3
    assert result.report().html.startswith("<!DOCTYPE html>")


def test_records_do_not_depend_on_where_they_are_played(result, client, played):
    assert result.id == played.id
    assert result.games().equals(client.games(played))


def test_standings_are_those_of_the_coordinator(result):
    with result.client() as client:
        standings = client.standings(result.id)
    ours = {name: value for name, value in result.standings.rows()[0].items() if value}
    theirs = standings.rows()[0]
    assert ours == {name: theirs[name] for name in ours}
    assert result.standings.pairs().height == standings.pairs().height


def test_finished_tournament_is_not_played_again(tmp_path, capfd):
    data = tmp_path / "data"
    first = arena.run(SPEC, data=data, show=False)
    second = arena.run(SPEC, data=data, show=True)
    assert second.id == first.id
    assert "already finished; showing stored results (use again=True to" in capfd.readouterr().err
    third = arena.run(SPEC, data=data, again=True, show=False)
    assert third.id != first.id
    assert capfd.readouterr().err == ""


def test_failed_expectation_is_no_error(tmp_path):
    spec = {**SPEC, "blocks": 1}
    failed = arena.run(spec, data=tmp_path / "data", expect=["random beats defensive by 500 elo"])
    assert not failed.passed


def test_wrong_spec_has_the_reason(tmp_path):
    with pytest.raises(arena.InvalidArgument, match="missing") as caught:
        arena.run(SPEC, set={"agents": ["random", "missing"]}, data=tmp_path / "data")
    assert "spec.toml" not in str(caught.value), "a file that no longer exists"
    assert not (tmp_path / "data").exists()


def test_folder_in_use_is_an_error(tmp_path):
    coordinator = Coordinator(tmp_path / "data")
    try:
        with pytest.raises(arena.ArenaError, match="in use by a coordinator"):
            arena.run(SPEC, data=tmp_path / "data")
    finally:
        coordinator.stop()


def test_interrupt_keeps_finished_games(tmp_path):
    script = tmp_path / "script.py"
    spec = {**SPEC, "blocks": 100_000}
    data = tmp_path / "data"
    script.write_text(f"import arena\narena.run({spec!r}, data={str(data)!r}, show=True)\n")
    child = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True)
    # Its first line comes when the tournament is started.
    child.stderr.readline()
    with arena.Client(data=data) as client:
        (started,) = client.tournaments()
        next(one for one in client.watch(started) if one.games_done > 0)
        child.send_signal(signal.SIGINT)
        child.stderr.read()
        assert child.wait() != 0
    with arena.Client(data=data) as client:
        (kept,) = client.tournaments()
        assert 0 < kept.games_done < kept.games_total


def test_client_of_folder_stops_its_coordinator(result):
    client = arena.Client(data=result.data)
    assert client.tournament(result.id).state == "finished"
    client.close()
    client.close()
    # The folder is free again.
    assert arena.run(SPEC, data=result.data, show=False).id == result.id


def test_coordinator_of_killed_client_ends(result):
    script = (
        "import arena, os, signal, sys\n"
        "client = arena.Client(data=sys.argv[1])\n"
        "client.tournaments()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(result.data)])
    assert done.returncode == -signal.SIGKILL
    for _ in range(3000):
        if not (result.data / "coordinator.json").exists():
            break
        time.sleep(0.02)
    assert arena.run(SPEC, data=result.data, show=False).id == result.id


def test_folder_that_cannot_be_opened_is_an_error(tmp_path):
    (tmp_path / "lock").mkdir()
    with pytest.raises(arena.ArenaError):
        arena.Client(data=tmp_path)


def test_sweep_is_one_frame(tmp_path):
    grid = {"blocks": [1, 2], "play.opening_plies": [0, 2]}
    spec = {"name": "sweep", "ruleset": "kalah", "seed": "0x1", "agents": ["random", "greedy"]}
    frame = arena.sweep(spec, grid, data=tmp_path / "data", show=False)
    assert frame.height == 2 * 2 * 2
    assert frame["tournament_id"].n_unique() == 4
    assert set(frame.select("blocks", "blocks_played", "games").iter_rows()) == {
        (1, 1, 2),
        (2, 2, 4),
    }
    assert set(frame["play.opening_plies"]) == {0, 2}


def test_sweep_of_a_coordinator(client, tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('name = "fields"\nruleset = "kalah"\nseed = "0x1"\nblocks = 1\nagents = []\n')
    grid = {"agents": [["random", "greedy"], ["greedy", "mcts"]]}
    frame = arena.sweep(path, grid, client=client, frame="pandas")
    assert [json.loads(one) for one in frame["agents"].unique()] == grid["agents"]
    assert len(frame) == 4
