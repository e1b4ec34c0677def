"""The example of `deploy/notebook`; every format has the same data."""

import hashlib
import io
import json
import pathlib
import runpy

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
polars = pytest.importorskip("polars", reason="polars is not installed")


@pytest.fixture(scope="module")
def field(arena):
    return arena.tournament("cowry", ["random", "aggressive", "mixed"], blocks=10)


def table(arena, field, name, form):
    """A table of the tournament as a data frame."""
    file = arena.folder / f"{name}.{form}"
    arena.run("export", field, "--data", "data", "--table", name, "--format", form, "--out", file)
    return {
        "parquet": polars.read_parquet,
        "csv": lambda file: polars.read_csv(file, infer_schema_length=None),
        "jsonl": polars.read_ndjson,
    }[form](file)


@pytest.mark.parametrize("name", ["decisions", "standings"])
def test_formats_have_the_same_rows(arena, field, name):
    frames = [table(arena, field, name, form) for form in ["parquet", "csv", "jsonl"]]
    assert len({frame.shape for frame in frames}) == 1
    for other in frames[1:]:
        assert sorted(other.columns) == sorted(frames[0].columns)
        for column in frames[0].columns:
            ours, theirs = frames[0][column].to_list(), other[column].to_list()
            same = lambda a, b: a == b or (a in (None, "") and b in (None, ""))
            assert all(same(a, b) for a, b in zip(ours, theirs)), column


def test_games_match_in_csv_and_parquet(arena, field):
    ours, theirs = (table(arena, field, "games", form) for form in ["parquet", "csv"])
    assert ours.columns == theirs.columns
    assert {"seed", "luck_0", "luck_1"} <= set(ours.columns)
    for column in ours.columns:
        same = lambda a, b: a == b or (a in (None, "") and b in (None, ""))
        pairs = zip(ours[column].to_list(), theirs[column].to_list())
        assert all(same(a, b) for a, b in pairs), column


def test_standings_columns_match_the_command(arena, field):
    exported = table(arena, field, "standings", "csv")
    shown = arena.run("standings", field, "--data", "data", "--output", "csv").stdout
    shown = polars.read_csv(io.StringIO(shown), infer_schema_length=None)
    assert exported.select(shown.columns).equals(shown)
    whose = ["tournament_id", "generation", "tournament_seed", "spec_sha256", "spec_json"]
    assert exported.columns == shown.columns + whose
    assert {"faults_by_kind", "ranks_1", "ranks_2"} <= set(exported.columns)


def test_files_with_and_without_faults_combine(arena, field, faulty):
    for name in ["games", "decisions", "standings"]:
        frames = [table(arena, one, name, "parquet") for one in [field, faulty]]
        assert frames[0].schema == frames[1].schema, name
        assert polars.concat(frames).height == sum(frame.height for frame in frames)


def test_parquet_games_match_the_export(arena, field):
    games = table(arena, field, "games", "parquet")
    lines = arena.run("export", field, "--data", "data").stdout.splitlines()
    records = [json.loads(line) for line in lines]
    assert games["game_id"].to_list() == [record["game_id"] for record in records]
    assert games["hash"].to_list() == [record["hash"] for record in records]
    for seat in range(2):
        for column, key in [("seat", "seats"), ("placement", "placement"), ("score", "scores")]:
            ours = games[f"{column}_{seat}"].to_list()
            assert ours == [record[key][seat] for record in records], column


def test_decisions_are_the_actions_of_the_games(arena, field):
    decisions = table(arena, field, "decisions", "parquet")
    lines = arena.run("export", field, "--data", "data").stdout.splitlines()
    moves = [
        event["move"] for line in lines for event in json.loads(line)["events"] if "move" in event
    ]
    assert decisions["move"].to_list() == moves


def test_notebook_example_works(arena, field, monkeypatch):
    for name in ["games", "decisions"]:
        table(arena, field, name, "parquet")
    monkeypatch.chdir(arena.folder)
    said = io.StringIO()
    monkeypatch.setattr("sys.stdout", said)
    found = runpy.run_path(str(ROOT / "deploy/notebook/tournament.py"))
    standings = arena.run("standings", field, "--data", "data", "--output", "json").stdout
    expected = {agent["agent"]: agent["score"] for agent in json.loads(standings)["agents"]}
    scores = dict(found["scores"].select("agent", "score").iter_rows())
    assert scores == pytest.approx(expected)
    assert found["moves"].height > 0


def exported_folder(arena, name, form, *more):
    """All tournaments in a folder, and its manifest."""
    folder = arena.folder / name
    words = ["export", "--all", "--data", "data", "--format", form, "--folder", folder]
    arena.run(*words, *more)
    return folder, json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_folder_has_the_rows_of_the_file(arena, field, faulty, form):
    folder, manifest = exported_folder(arena, f"parts-{form}", form, "--rows-per-file", "13")
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*"))
    assert files == sorted([*(file["path"] for file in manifest["files"]), "manifest.json"])
    read = {"parquet": polars.read_parquet, "csv": polars.read_csv}[form]
    for of in [field, faulty]:
        parts = [file for file in manifest["files"] if file["tournament_id"] == of]
        assert all(file["path"].startswith(f"tournament_id={of}/part-0000") for file in parts)
        assert [file["rows"] for file in parts[:-1]] == [13] * (len(parts) - 1)
        for file in parts:
            content = (folder / file["path"]).read_bytes()
            assert file["bytes"] == len(content)
            assert file["sha256"] == hashlib.sha256(content).hexdigest()
            assert read(io.BytesIO(content)).height == file["rows"]
        whole = table(arena, of, "games", form)
        both = polars.concat([read(folder / file["path"]) for file in parts])
        assert both.equals(whole.select(both.columns))
    assert [column["name"] for column in manifest["columns"]] == both.columns
    assert manifest["rows"] == sum(file["rows"] for file in manifest["files"])


def test_folder_has_standings_of_all_tournaments(arena, field, faulty):
    folder, manifest = exported_folder(arena, "all-standings", "parquet", "--table", "standings")
    frame = polars.read_parquet(folder / "*/*.parquet", hive_partitioning=True)
    for of in [field, faulty]:
        whole = table(arena, of, "standings", "parquet")
        part = frame.filter(polars.col("tournament_id") == of)
        assert part.select(whole.columns).sort("agent").equals(whole.sort("agent"))
    assert manifest["rows"] == frame.height


def test_folder_is_read_by_duckdb(arena, field, monkeypatch):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    exported_folder(arena, "games", "parquet", "--rows-per-file", "9")
    monkeypatch.chdir(arena.folder)
    query = (ROOT / "deploy/notebook/games.sql").read_text()
    found = duckdb.sql(query).fetchall()
    standings = arena.run("standings", field, "--data", "data", "--output", "json").stdout
    expected = {agent["agent"]: agent["score"] for agent in json.loads(standings)["agents"]}
    scores = {agent: float(score) for of, agent, _, score in found if of == field}
    assert scores == pytest.approx(expected)


def test_folder_that_cannot_be_used_is_refused(arena, field):
    used = arena.folder / "used"
    used.mkdir()
    (used / "notes.txt").write_text("mine")
    words = ["export", field, "--data", "data"]
    parquet = [*words, "--format", "parquet"]
    for more, reason, code in [
        ([*parquet, "--folder", used], "is not empty: name a new one", 2),
        ([*words, "--folder", "new"], "--folder needs --format csv or parquet", 2),
        ([*parquet, "--rows-per-file", "5"], "--folder <FOLDER>", 2),
        ([*parquet, "--folder", "new", "--rows-per-file", "0"], "--rows-per-file", 2),
        ([*parquet, "--folder", used / "notes.txt/new"], "notes.txt/new: Not a directory", 1),
    ]:
        assert reason in arena.run(*more, code=code).stderr
    assert [file.name for file in used.iterdir()] == ["notes.txt"]
    assert not (arena.folder / "new").exists()
