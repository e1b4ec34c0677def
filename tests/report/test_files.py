"""Reports and exports as files."""

import hashlib
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import HOSTILE


@pytest.fixture(scope="module")
def gate(arena):
    """A tournament with an expectation that does not hold."""
    expect = """
[expect]
clean = "no faults"
strong = "aggressive beats random by 50 elo at 95 %"
wrong = "random ranks first"
"""
    names = '"random", "aggressive"'
    spec = arena.folder / "gate.toml"
    spec.write_text(
        f'name = "gate"\nruleset = "cowry"\nseed = "0x5eed"\nblocks = 60\nagents = [{names}]\n{expect}'
    )
    done = arena.run("run", spec, "--data", "data", "--output", "json", code=3)
    assert "1 of 3 expectations do not hold: wrong" in done.stderr
    return done


def test_run_shows_each_expectation(gate):
    import json

    standings = json.loads(gate.stdout)
    verdicts = {verdict["name"]: verdict for verdict in standings["expectations"]}
    assert [verdicts[name]["holds"] for name in ["clean", "strong", "wrong"]] == [True, True, False]
    strong = verdicts["strong"]
    assert 50 < strong["low"] < strong["value"] < strong["high"]
    assert strong["level"] == 0.95


def test_junit_has_a_case_per_expectation(arena, gate):
    import json

    identity = json.loads(gate.stdout)["tournament_id"]
    arena.run("report", identity, "--data", "data", "--junit", "gate.xml", code=3)
    suites = ElementTree.parse(arena.folder / "gate.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("5", "1")
    failed = [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None]
    assert failed == ["wrong"]


def test_user_text_is_escaped_in_markdown(arena, faulty):
    text = arena.run("report", faulty, "--data", "data", "--markdown").stdout
    assert "| # | agent |" in text
    outside, inside = text.split("```toml")
    assert "<script>" not in outside and HOSTILE in inside


def test_expectations_of_a_report_are_checked(arena, faulty):
    standings = ["standings", faulty, "--data", "data"]
    arena.run(*standings, "--expect", "random scores at least 0")
    arena.run(*standings, "--expect", "no faults", code=3)
    done = arena.run(*standings, "--expect", "randm ranks first", code=2)
    assert 'did you mean "random"?' in done.stderr
    done = arena.run(*standings, "--check", code=2)
    assert "has no expectations" in done.stderr


def test_missing_folder_is_named(arena, faulty):
    before = sorted(path.name for path in arena.folder.iterdir())
    for command in [
        ["report", faulty, "--html", "nowhere/page.html"],
        ["export", faulty, "--out", "nowhere/games.jsonl"],
    ]:
        done = arena.run(*command, "--data", "data", code=2)
        assert "there is no folder nowhere" in done.stderr
    assert sorted(path.name for path in arena.folder.iterdir()) == before


def test_unknown_id_is_named(arena, faulty):
    done = arena.run("report", "nobody-0123456789", "--data", "data", "--html", "x.html", code=2)
    assert "nobody-0123456789" in done.stderr
    assert not (arena.folder / "x.html").exists()


def test_page_hash_matches_the_export(arena, faulty):
    export = arena.run("export", faulty, "--data", "data", "--records", "hash").stdout
    digest = hashlib.sha256(export.encode()).hexdigest()
    page = arena.run("report", faulty, "--data", "data", "--html", "-").stdout
    assert digest in page


def test_page_is_reproducible(arena, faulty):
    pages = [
        arena.run("report", faulty, "--data", "data", "--html", "-").stdout for _ in range(2)
    ]
    assert pages[0] == pages[1]
