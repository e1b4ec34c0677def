"""The pages of services/games/docs: options, messages, example games and pictures."""

import json
import os
import re
import shlex
from xml.etree import ElementTree

import pytest
import replay
from conftest import ROOT
from rules.common import CHANCE
from rules.cowry import board, south

PAGES = ROOT / "services/games/docs"
# Answers each question with an error that repeats it, so that `arena play` prints the question.
SPY = """#!/usr/bin/env python3
import json, sys
print('{"type":"hello","protocol":1,"name":"spy"}', flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "ask":
        answer = {"type": "error", "batch": message["batch"], "message": line}
        print(json.dumps(answer), flush=True)
"""


def section(page, heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    assert found, f"no section {heading}"
    return found.group(1)


def block(text, language):
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S).group(1)


def rows(text):
    """The rows of the tables of a text, without their headings."""
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in cells]


def option_tables(listing):
    """The options and presets as a page has them."""
    lines = ["| Option | Default | Values | Meaning |", "|---|---|---|---|"]
    for option in listing["options"]:
        choices = [f"`{json.dumps(choice)}`" for choice in option.get("choices", [])]
        values = ", ".join(choices) or option["values"]
        default = json.dumps(option["default"])
        lines.append(f"| `{option['name']}` | `{default}` | {values} | {option['summary']} |")
    if listing["presets"]:
        lines += ["", "| Preset | Seats | Sets | Meaning |", "|---|---|---|---|"]
    for preset in listing["presets"]:
        sets = [f"`{name} = {json.dumps(value)}`" for name, value in preset["options"].items()]
        seats = preset["seats"] or "any"
        lines.append(f"| `{preset['name']}` | {seats} | {', '.join(sets)} | {preset['summary']} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("ruleset", replay.RULESETS)
def test_page_lists_options_and_presets(arena, ruleset):
    file = PAGES / f"{ruleset}.md"
    listing = json.loads(arena.run("rulesets", ruleset, "--output", "json"))
    found, tables = section(file.read_text(), "All options"), option_tables(listing)
    if os.environ.get("ARENA_UPDATE"):
        file.write_text(file.read_text().replace(found, f"\n{tables}\n"))
        return
    assert found.strip() == tables.strip(), f"{file} is outdated: set ARENA_UPDATE=1"


def position(ruleset, game):
    """A position as the column "After the move" has it."""
    if ruleset == "chess":
        return f"`{game.fen()}`"
    if ruleset == "cowry":
        sides = [(pieces, None) for pieces in game.pieces]
    elif ruleset == "chinese-ludo":
        sides = [(planes, None) for planes in game.planes]
    elif ruleset == "kalah":
        sides = [([game.cells[at] for at in game.row(s)], game.cells[game.store(s)]) for s in (0, 1)]
    else:
        sides = [(game.row(seat), game.banked[seat]) for seat in (0, 1)]
    texts = [f"`{' '.join(map(str, row))}`" + ("" if n is None else f" {n}") for row, n in sides]
    return " · ".join(texts)


def example(arena, page):
    """The command of a page's example game, and its record."""
    command = shlex.split(block(section(page, "Example game"), "sh"))
    assert command.pop(0) == "arena"
    line = arena.run(*command, "--output", "json")
    return command, line, json.loads(line)


@pytest.mark.parametrize("ruleset", replay.RULESETS)
def test_example_game_is_a_real_game(arena, ruleset):
    page = (PAGES / f"{ruleset}.md").read_text()
    text = section(page, "Example game")
    _, line, record = example(arena, page)
    replay.check_game(line, record, {})
    assert record["termination"] == "normal"
    shown = [event.get("move") or f"({event['chance']})" for event in record["events"]]
    if "```text" in text:
        assert block(text, "text").split() == shown
    explained = {int(row[0]): row[1:] for row in rows(text) if row[0].isdigit()}
    if "```text" not in text:
        assert list(explained) == list(range(len(shown)))
    game = replay.RULESETS[ruleset](record["options"], 2)
    verb = "rolls" if ruleset == "chinese-ludo" else "throws"
    for number, event in enumerate(record["events"]):
        if game.node()[0] == CHANCE:
            names = [name for name, _ in game.outcomes()]
            game.draw(names.index(event["chance"]))
            plays = [f"{verb} {event['chance']}", ""]
        else:
            game.apply(event["action"])
            plays = [f"`{event['move']}`", position(ruleset, game)]
        if number in explained:
            found = explained[number]
            assert found[:3] == [record["seats"][event["seat"]], *plays], f"event {number}"
            assert "```text" not in text or found[3], f"event {number} has no explanation"
    best, worst = sorted(record["scores"], reverse=True)
    assert re.search(rf"\b{best} (to|and) {worst}\.$", text.strip()), "the result"


@pytest.mark.parametrize("ruleset", replay.RULESETS)
def test_message_is_what_an_agent_gets(arena, ruleset):
    page = (PAGES / f"{ruleset}.md").read_text()
    text = section(page, "Messages")
    command, _, record = example(arena, page)
    number, name = re.search(r"Before event (\d+) .*agent `(\w+)`", text).groups()
    events = record["events"][: int(number)]
    event = record["events"][int(number)]
    assert record["seats"][event["seat"]] == name
    spy = arena.folder / "spy"
    spy.write_text(SPY)
    spy.chmod(0o755)
    data = f"spies-{ruleset}"
    for seat in record["seats"]:
        # Draws depend on names, so the agents have the names of the example.
        arena.run("agent", "register", seat, "--binary", spy, "--data", data)
    command[command.index("--seats") + 1] = ",".join(record["seats"])
    moves = [str(event["action"]) for event in events if "action" in event]
    opening = ["--opening", ",".join(moves)] if moves else []
    printed = arena.errors(*command, *opening, "--data", data)
    [message] = re.findall(r"answered with an error: (.*)", printed)
    decision = json.JSONDecoder().raw_decode(message)[0]["decisions"][0]
    shown = json.loads(block(text, "json"))
    assert shown == {key: decision[key] for key in shown}
    assert {"seat", "legal_moves", "notations", "position"} == set(shown)
    answer = int(re.search(r"The answer `(\d+)`", text).group(1))
    assert answer == event["action"]
    assert f'{{"type":"answer","batch":1,"moves":[{answer}]}}' in text
    fields = [row[0].strip("`") for row in rows(text)[2:]]
    assert fields == list(shown["position"]), "the table of the fields"


@pytest.mark.parametrize("ruleset", replay.RULESETS)
def test_page_shows_a_picture_for_light_and_dark(ruleset):
    page = (PAGES / f"{ruleset}.md").read_text()
    [(alternative, name)] = re.findall(r"^!\[(.+)\]\((\S+)\)$", page, re.M)
    assert alternative
    text = (PAGES / name).read_text()
    assert "prefers-color-scheme:dark" in text
    root = ElementTree.fromstring(text)
    assert root.find("{*}title").text and root.find("{*}desc").text


def numbers(name, style, anchor):
    """The numbers of a picture with their places."""
    root = ElementTree.parse(PAGES / f"{name}.svg")
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        here = (text.get("class"), text.get("text-anchor")) == (style, anchor)
        if here and text.text.isdigit():
            yield int(text.text), (float(text.get("x")), float(text.get("y")))


def test_picture_of_cowry_has_the_paths():
    path = south(5, "alternate")
    places = dict(numbers("cowry", "a", "start"))
    assert sorted(places) == list(range(25))
    size = places[1][0] - places[0][0]
    x0, y0 = places[10]
    for index, (x, y) in places.items():
        row, column = path[index]
        assert (x, y) == (x0 + column * size, y0 + row * size), f"index {index}"
    # North's index of a square is where the rules say.
    _, cross = board(5, "alternate", False, 2)
    shift = None
    for index, (x, y) in numbers("cowry", "b", "end"):
        there = places[cross[1][0][index]]
        shift = shift or (x - there[0], y - there[1])
        assert (x - there[0], y - there[1]) == shift, f"index {index} of North"


def test_picture_of_chinese_ludo_has_both_ways():
    own = dict(numbers("chinese-ludo", "a", "start"))
    other = dict(numbers("chinese-ludo", "b", "end"))
    assert sorted(own) == sorted(other) == list(range(1, 51))
    shift = other[27][0] - own[1][0], other[27][1] - own[1][1]
    for progress, (x, y) in own.items():
        there = (progress + 25) % 52 + 1
        if there <= 50:
            assert (other[there][0] - x, other[there][1] - y) == shift, f"square {progress}"
