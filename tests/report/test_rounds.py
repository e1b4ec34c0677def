"""Rounds of Swiss tournaments and knockouts: on the page, in Chromium, and as text."""

import csv
import io
import json

import pytest
from test_page import HERE, LOOKS, Page

NINE = [
    "random",
    "aggressive",
    "defensive",
    "mixed",
    "move-first",
    "move-last",
    "greedy",
    "mcts",
    "expectimax",
]
FORMATS = {
    "swiss": 'format = "swiss"',
    "single": 'format = "knockout"',
    "double": 'format = "knockout"\n[knockout]\nelimination = "double"',
    "tables": 'format = "knockout"\nseats = 4',
}


@pytest.fixture(scope="module")
def played(arena):
    """Nine agents in every format: the id, the JSON of the standings, and the page."""
    found = {}
    for name, more in FORMATS.items():
        identity = arena.tournament("cowry", NINE, blocks=2, more=more)
        file = arena.folder / f"{name}.html"
        arena.run("report", identity, "--data", "data", "--html", file)
        shown = arena.run("standings", identity, "--data", "data", "--output", "json").stdout
        found[name] = (identity, json.loads(shown), file)
    return found


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("width, scheme", LOOKS)
def test_rounds_are_legible_without_overflow(browser, played, name, width, scheme):
    with Page(browser, played[name][2], width, scheme) as open_page:
        assert open_page.said == []
        assert open_page.page.evaluate("document.documentElement.scrollWidth") <= width
        result = open_page.page.evaluate((HERE / "contrast.js").read_text())
        assert result["found"] == []
        # Scrolling regions scroll alone, are reachable by keyboard, and have a name.
        wide = open_page.page.locator("section[aria-labelledby=rounds] .wide")
        assert wide.get_attribute("tabindex") == "0" and wide.get_attribute("aria-label")


@pytest.mark.parametrize("name", ["single", "double", "tables"])
def test_bracket_lists_all_agents_by_round(browser, played, name):
    _, standings, file = played[name]
    rounds = standings["verdict"]["rounds"]
    with Page(browser, file) as open_page:
        columns = open_page.page.locator("ol.bracket > li")
        assert columns.count() == len(rounds)
        for column, reported in zip(columns.all(), rounds):
            names = column.locator(".who").all_text_contents()
            expected = [agent for table in reported["tables"] for agent in table["agents"]]
            assert sorted(names) == sorted(expected + reported["byes"])
            on = [table["agents"][: table["go_on"]] for table in reported["tables"]]
            on = sorted(sum(on, []) + reported["byes"])
            assert sorted(column.locator(".on .who").all_text_contents()) == on
            # For screen readers, which ignore bold text.
            said = column.locator(".on", has_text="advances").count()
            assert said == len(on) - len(reported["byes"])
            level = sum(table["by_seed"] for table in reported["tables"])
            assert column.get_by_text("tied: the better seed advances").count() == level


def boxes(column):
    return [tie.bounding_box() for tie in column.locator(".meeting").all()]


def middle(box):
    return box["y"] + box["height"] / 2


def test_bracket_lines_join_two_tables(browser, played):
    with Page(browser, played["single"][2]) as open_page:
        columns = [boxes(column) for column in open_page.page.locator("ol.tree > li").all()]
        assert [len(column) for column in columns] == [8, 4, 2, 1]
        for before, after in zip(columns, columns[1:]):
            assert all(one["x"] + one["width"] < two["x"] for one in before for two in after)
            for place, box in enumerate(after):
                between = (middle(before[2 * place]) + middle(before[2 * place + 1])) / 2
                assert abs(middle(box) - between) <= 2


@pytest.mark.parametrize("name", ["single", "double", "tables"])
def test_rounds_stack_on_a_phone(browser, played, name):
    with Page(browser, played[name][2], 400) as open_page:
        wide = open_page.page.locator("section[aria-labelledby=rounds] .wide")
        assert wide.evaluate("node => node.scrollWidth - node.clientWidth") <= 1
        columns = [column.bounding_box() for column in open_page.page.locator("ol.bracket > li").all()]
        for before, after in zip(columns, columns[1:]):
            assert before["y"] + before["height"] <= after["y"] + 1


@pytest.mark.parametrize("name", ["single", "double"])
def test_printed_bracket_is_complete(browser, played, name):
    # As wide as a sheet of A4 between its margins.
    with Page(browser, played[name][2], 700) as open_page:
        open_page.page.emulate_media(media="print")
        bracket = open_page.page.locator("ol.bracket")
        ends = [box["x"] + box["width"] for box in boxes(bracket)]
        assert max(ends) <= 700
        starts = {round(column.bounding_box()["x"]) for column in bracket.locator("> li").all()}
        assert len(starts) == (4 if name == "single" else 2), "beside each other, or in two columns"


def test_swiss_standings_have_tie_breaks(arena, played, browser):
    identity, standings, file = played["swiss"]
    places = standings["verdict"]["places"]
    ours = [
        (agent["agent"], agent["swiss_points"], agent["buchholz"], agent["byes"])
        for agent in standings["agents"]
    ]
    theirs = [(row["agent"], row["points"], row["buchholz"], row["byes"]) for row in places]
    assert sorted(ours) == sorted(theirs)
    assert ours == sorted(ours, key=lambda row: (-row[1], -row[2]))
    # An agent's points come from its games: a bye has none.
    whole = 2 * 2
    for agent in standings["agents"]:
        assert agent["swiss_points"] == agent["points"] + whole * agent["byes"]
    assert sum(agent["byes"] for agent in standings["agents"]) == 4
    command = ["standings", identity, "--data", "data"]
    table = arena.run(*command).stdout
    shown = [line.split()[1:5] for line in table.splitlines()[2:11]]
    number = lambda value: f"{value:g}"
    assert shown == [[a, number(p), number(b), str(c)] for a, p, b, c in ours]
    rows = list(csv.DictReader(io.StringIO(arena.run(*command, "--output", "csv").stdout)))
    assert [float(row["buchholz"]) for row in rows] == [row[2] for row in ours]
    with Page(browser, file) as open_page:
        head = open_page.page.locator("[aria-label='Standings in numbers'] thead th")
        assert head.all_text_contents()[2:5] == ["Swiss points", "Buchholz", "byes"]
        cells = open_page.page.locator("[aria-label='Standings in numbers'] tbody tr").first
        assert cells.locator("td").all_text_contents()[1:3] == [number(value) for value in ours[0][1:3]]
    text = arena.run("report", identity, "--data", "data", "--markdown").stdout
    assert "| # | agent | Swiss points | Buchholz | byes |" in text


def test_rounds_are_shown_on_request(arena, played):
    for name, (identity, standings, _) in played.items():
        command = ["standings", identity, "--data", "data"]
        plain, asked = (arena.run(*command, *more).stdout for more in [[], ["--rounds"]])
        assert ("\nround 1" in plain) == (name != "swiss")
        assert "round 1" in asked
        lines = arena.run(*command, "--rounds", "--output", "jsonl").stdout.splitlines()
        rows = [json.loads(line) for line in lines]
        reported = standings["verdict"]["rounds"]
        assert sum(row["bye"] for row in rows) == sum(len(one["byes"]) for one in reported)
        table = csv.DictReader(io.StringIO(arena.run(*command, "--rounds", "--output", "csv").stdout))
        assert [row["agent"] for row in table] == [row["agent"] for row in rows]
    both = [*command, "--rounds", "--crosstable", "--output", "csv"]
    assert "use one at a time" in arena.run(*both, code=2).stderr


def test_format_without_rounds_says_so(arena):
    identity = arena.tournament("cowry", NINE[:2], blocks=2)
    command = ["standings", identity, "--data", "data", "--rounds"]
    assert "this format has none" in arena.run(*command).stdout
    assert arena.run(*command, "--output", "jsonl").stdout == ""
