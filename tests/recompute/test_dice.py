"""1,000 games of each ruleset with dice: every draw follows from seed and seat.

The program reads services/model/README.md's derivation and the weights on the
rulesets' pages; it uses the standard library only.
"""

import copy
import hashlib
import json
import re

import draws
import pytest
import replay
from conftest import ROOT

GAMES = 500

# Ruleset, seats, options and the share of GAMES; each ruleset's shares add up to 1.
SETTINGS = {
    "chinese-ludo": [
        (2, {}, 0.4),
        (2, {"preset": "hz2022", "three_sixes": "hangar"}, 0.3),
        (2, {"preset": "standard", "launch": "even", "starter": "random"}, 0.3),
    ],
    "cowry": [
        (2, {"preset": "doubles"}, 0.3),
        (2, {"preset": "cb2012", "starter": "random"}, 0.2),
        (2, {"dice": "uniform", "throw_mode": "immediate"}, 0.1),
        (2, {"board": 7, "pieces": 3, "safe": "corners"}, 0.1),
        (3, {"dice": "binomial", "starter": "random"}, 0.15),
        (4, {"preset": "basic", "starter": "random"}, 0.15),
    ],
    "oware-abapa": [(2, {"starter": "random"}, 1)],
    "oware-anan-anan": [(2, {"starter": "random"}, 1)],
}


def test_keys_match_another_program():
    for case in json.loads((ROOT / "services/model/data/keys.json").read_text()):
        seed = draws.block_seed(draws.tournament_seed(case["seed"]), case["block"])
        assert f"0x{seed:016x}" == case["block_seed"]
        assert f"0x{draws.rotation_seed(seed, 1):016x}" == case["rotation_1"]
        streams = draws.GameStreams(case["block_seed"], case["names"])
        assert streams.table.key.hex() == case["table"]
        assert streams.opening.key.hex() == case["opening"]
        for name in ["dice", "agents", "substitute"]:
            assert [stream.key.hex() for stream in getattr(streams, name)] == case[name]


def test_words_match_another_program():
    lines = (ROOT / "services/engine/data/streams.txt").read_text().splitlines()
    for line in lines:
        if line.startswith("#"):
            continue
        name, byte, *words = line.split()
        stream = (
            draws.Stream(bytes([int(byte)] * 32))
            if name == "chacha8"
            else draws.SplitMix64(int(byte))
        )
        assert [f"{stream.word():016x}" for _ in words] == words


@pytest.mark.parametrize("ruleset", SETTINGS)
def test_draws_follow_from_seed_and_seat(arena, ruleset):
    games = throws = 0
    for number, (seats, options, share) in enumerate(SETTINGS[ruleset]):
        blocks = round(GAMES * share / seats + 0.5)
        played = arena.tournament(
            f"dice-{number}",
            ruleset,
            [f"a{seat}" for seat in range(seats)],
            blocks,
            seats=seats,
            options=options,
            bots={f"a{seat}": ("random", {}) for seat in range(seats)},
        )
        for record in played.records:
            throws += replay.check_dice(record)
        games += len(played.records)
    assert games >= GAMES
    assert throws >= games


def test_block_seeds_follow_from_the_tournament(arena):
    for paired in [True, False]:
        played = arena.tournament(
            "seeds", "cowry", ["random", "aggressive"], 20, play={"paired": paired}
        )
        root = draws.tournament_seed("0x5eed")
        for record in played.records:
            assert record["block"] == record["index"] // 2
            seed = draws.block_seed(root, record["block"])
            if not paired:
                seed = draws.rotation_seed(seed, record["index"] % 2)
            assert record["seed"] == f"0x{seed:016x}"
            replay.check_dice(record)


def test_repeated_seat_order_gets_new_dice(arena):
    agents = {"format": "sprt", "seats": 4, "play": {"paired": True}}
    played = arena.tournament("necklace", "cowry", ["random", "aggressive"], 8, **agents)
    again = 0
    for record in played.records:
        names, rotation = record["seats"], record["index"] % 4
        period = 2 if names[0] == names[2] and names[1] == names[3] else 4
        seed = draws.block_seed(draws.tournament_seed("0x5eed"), record["block"])
        if rotation >= period:
            seed, again = draws.rotation_seed(seed, rotation // period), again + 1
        assert record["seed"] == f"0x{seed:016x}"
        replay.check_dice(record)
    assert again > 0


def test_random_moves_follow_decision_seeds(arena):
    played = arena.tournament(
        "seeded", "chinese-ludo", ["one", "two"], 10, bots={"one": ("random", {}), "two": ("random", {})}
    )
    asked = 0
    for record in played.records:
        streams = draws.GameStreams(record["seed"], record["seats"])
        game = replay.RULESETS[record["ruleset"]](record["options"], 2)
        for event in record["events"]:
            if "chance" in event:
                names = [name for name, _ in game.outcomes()]
                game.draw(names.index(event["chance"]))
                continue
            seed = streams.agents[event["seat"]].word()
            legal = game.legal()
            if len(legal) > 1:
                expected = legal[draws.SplitMix64(seed).below(len(legal))]
                assert event["action"] == expected, record["game_id"]
                asked += 1
            game.apply(event["action"])
    assert asked > 500


def test_dice_of_another_seed_are_detected(arena):
    played = arena.tournament("other", "cowry", ["random", "aggressive"], 1)
    for record, line in zip(played.records, played.lines):
        other = copy.deepcopy(record)
        other["seed"] = "0x0000000000000001"
        with pytest.raises(AssertionError, match="the seed gives"):
            replay.check_dice(other)
        # Replay notices it although the hash is correct.
        line = line.replace(record["seed"], other["seed"])
        text = re.sub(r',"hash":"[0-9a-f]*"', "", line)
        other["hash"] = hashlib.sha256(text.encode()).hexdigest()
        line = line.replace(record["hash"], other["hash"])
        assert replay.content_hash(line) == other["hash"]
        with pytest.raises(AssertionError, match="is drawn"):
            replay.check_game(line, other, {})
