"""Games by the rules of services/games/docs: moves, results, luck and hashes."""

import json
import random
import re

import openings
import pytest
import replay
from conftest import ROOT

# Option sets for each ruleset, and blocks of each, drawn from the list of `arena rulesets`.
DRAWN, BLOCKS = 10, 2
NATIVE = {"cowry": ["random", "aggressive", "defensive", "mixed"]}


def check(played):
    reported, spec = played.standings.get("openings"), played.spec
    book = reported and openings.book(
        spec["ruleset"],
        played.records[0]["options"],
        spec["seed"],
        reported["plies"],
        reported["size"],
    )
    assert not reported or len(book) == reported["size"]
    first = {}
    for line, record in zip(played.lines, played.records):
        opening = None
        if reported:
            # One group of two: its k-th block is block k.
            number = openings.number_of(spec["seed"], 0, record["block"], len(book))
            opening = book[number]
            assert first.setdefault(tuple(opening), number) == number
        replay.check_game(line, record, spec.get("play", {}), opening)


def listed(arena, ruleset):
    return json.loads(arena.run("games", ruleset, "--output", "json"))


def drawn_options(rng, ruleset, options):
    """A valid set of option values that keeps games short."""
    chosen = {}
    for option in options:
        name = option["name"]
        if rng.random() < 0.5:
            continue
        if "choices" in option:
            chosen[name] = rng.choice(option["choices"])
        elif option["default"] in (True, False) and isinstance(option["default"], bool):
            chosen[name] = rng.random() < 0.5
    if ruleset == "cowry":
        chosen["board"], chosen["pieces"] = rng.choice([(5, 0), (5, 2), (5, 10), (7, 2), (9, 1)])
        if chosen.get("throw_mode") == "single":
            chosen.pop("extra_on_4_8", None)
            chosen.pop("extra_on_hit", None)
    if ruleset == "kalah":
        chosen["pits"], chosen["stones"] = rng.randint(1, 8), rng.randint(1, 8)
    limits = {"cowry": "max_throws", "chinese-ludo": "max_rolls"}
    if rng.random() < 0.4:
        chosen[limits.get(ruleset, "max_plies")] = rng.choice([12, 50, 300])
    if ruleset.startswith("oware") and rng.random() < 0.3:
        chosen["no_capture_limit"] = rng.choice([3, 10, 40])
    return chosen


@pytest.mark.parametrize("ruleset", replay.RULESETS)
def test_rule_page_covers_all_options(arena, ruleset):
    rng = random.Random(f"16 {ruleset}")
    options = listed(arena, ruleset)["options"]
    endings, games = set(), 0
    for number in range(DRAWN):
        seats = rng.choice([2, 2, 3, 4]) if ruleset == "cowry" else 2
        names = [f"a{seat}" for seat in range(seats)]
        bots = {name: (rng.choice(NATIVE.get(ruleset, ["random", "greedy"])), {}) for name in names}
        chosen = drawn_options(rng, ruleset, options)
        play = {"ask_forced": rng.random() < 0.5}
        if ruleset in ("cowry", "chinese-ludo"):
            play["opening_plies"] = rng.choice([0, 0, 3, 30])
        elif rng.random() < 0.5:
            # No game may end before this.
            play["opening_plies"] = rng.choice([0, 2]) if chosen.get("pits", 6) > 3 else 0
        played = arena.tournament(
            f"options-{number}",
            ruleset,
            names,
            BLOCKS,
            seed=f"{number}",
            bots=bots,
            seats=seats,
            options=chosen,
            play=play,
        )
        check(played)
        endings |= {record["termination"] for record in played.records}
        games += len(played.records)
    assert games >= 2 * DRAWN * BLOCKS
    assert {"normal", "cap"} <= endings


@pytest.mark.parametrize(
    ("ruleset", "preset", "seats"),
    [
        ("cowry", "basic", 4),
        ("cowry", "basic_single", 4),
        ("cowry", "doubles", 2),
        ("cowry", "cb2012", 2),
        ("cowry", "ns2017", 4),
        ("chinese-ludo", "hz2022", 2),
        ("chinese-ludo", "standard", 2),
        ("oware-abapa", "paper002", 2),
        ("oware-abapa", "stateless", 2),
        ("oware-anan-anan", "paper002", 2),
        ("oware-anan-anan", "literal", 2),
        ("oware-anan-anan", "framework", 2),
        ("kalah", None, 2),
        ("chess", None, 2),
    ],
)
def test_rule_page_covers_presets(arena, ruleset, preset, seats):
    names = [f"a{seat}" for seat in range(seats)]
    bots = NATIVE.get(ruleset, ["random", "greedy"])
    check(
        arena.tournament(
            f"preset-{preset or 'none'}".replace("_", "-"),
            ruleset,
            names,
            {2: 10, 4: 2}[seats] if ruleset == "cowry" else 20,
            bots={name: (bots[at % len(bots)], {}) for at, name in enumerate(names)},
            seats=seats,
            options={"preset": preset} if preset else {},
        )
    )


def test_rule_page_finds_deadlocks(arena):
    # One piece a seat and few squares: a gate that neither can open.
    options = {"pieces": 1, "dice": "uniform"}
    for deadlock in ["draw", "progress", "open-gate"]:
        played = arena.tournament(
            "stuck", "cowry", ["one", "two"], 20,
            bots={"one": ("random", {}), "two": ("random", {})},
            options=options | {"deadlock": deadlock},
        )
        check(played)
        stuck = {record["termination"] for record in played.records} == {"normal"}
        assert stuck == (deadlock == "open-gate")


@pytest.mark.parametrize("policy", ["forfeit", "random-move"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_rule_page_covers_forfeits(arena, seats, policy):
    name = f"illegal-{seats}-{policy}"
    arena.misbehave(name, "illegal", 3)
    names = [name, "random", "aggressive", "mixed"][:seats]
    # 1: if every game has a fault.
    play = {"on_fault": policy, "opening_plies": 2}
    played = arena.tournament("faults", "cowry", names, 2, seats=seats, play=play, codes=(0, 1))
    check(played)
    faulty = [record for record in played.records if record["fault"]]
    assert len(faulty) > len(played.records) / 2
    ends = {record["termination"] for record in faulty}
    assert ends == ({"forfeit"} if policy == "forfeit" else {"normal"})


@pytest.mark.parametrize("ask_forced", [False, True])
@pytest.mark.parametrize("ruleset", ["kalah", "chess"])
def test_record_page_covers_adjudication(arena, ruleset, ask_forced):
    agents = [f"{ruleset}-{ask_forced}-{number}".lower() for number in (1, 2)]
    for agent in agents:
        arena.register(agent, ROOT / "tests/agents/scorer.py")
    play = {
        "resign": {"score": 0.4, "moves": 3},
        "draw": {"score": 0.1, "moves": 3, "after_plies": 14},
        "ask_forced": ask_forced,
        "opening_plies": 2,
    }
    options = {"pits": 4, "stones": 4} if ruleset == "kalah" else {}
    played = arena.tournament("adjudication", ruleset, agents, 40, play=play, options=options)
    check(played)
    ended = [it["placement"] for it in played.records if it["termination"] == "adjudication"]
    wanted = [[1, 1]] if ruleset == "chess" else [[1, 1], [1, 2], [2, 1]]
    assert sorted(map(list, {tuple(it) for it in ended})) == wanted


@pytest.mark.parametrize("ruleset", replay.RULESETS)
def test_rule_pages_name_options_and_presets(arena, ruleset):
    page = (ROOT / f"services/games/docs/{ruleset}.md").read_text()
    shared = page + (ROOT / "services/games/README.md").read_text()
    if ruleset == "oware-anan-anan":
        shared += (ROOT / "services/games/docs/oware-abapa.md").read_text()
    listing = listed(arena, ruleset)
    for option in listing["options"]:
        assert re.search(rf"`{option['name']}\b", shared), option["name"]
        default = option["default"]
        for choice in option.get("choices", []):
            known = choice == default or re.search(rf"`?\"?{re.escape(choice)}\"?`?", shared)
            assert known, f"{option['name']} = {choice}"
    for preset in listing.get("presets", []):
        assert f"`{preset['name']}`" in page, preset["name"]
