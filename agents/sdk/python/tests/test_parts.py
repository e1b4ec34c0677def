"""The parts of the SDK that need no process."""

import importlib
import re
import sys
from pathlib import Path

import generate
import pytest
from client import kalah_context, kalah_decision, values
from conftest import SDK
from google.protobuf import descriptor_pb2

import arena_agent.proto as generated
from arena_agent import Agent, Option, Rng, UnknownRuleset
from arena_agent.decision import Context, Decision
from arena_agent.options import bot_options, guess
from arena_agent.proto import agent_pb2 as pb

REPOSITORY = SDK.parents[2]
STREAMS = REPOSITORY / "services/engine/data/streams.txt"


def test_dice_match_other_languages():
    checked = 0
    for line in STREAMS.read_text().splitlines():
        name, _, rest = line.partition(" ")
        if name == "splitmix64":
            seed, *words = rest.split()
            rng = Rng(int(seed))
            assert [f"{rng.word():016x}" for _ in words] == words
            checked += 1
    assert checked > 0


def test_draw_uses_the_high_part_of_a_word():
    word = Rng(7).word()
    assert Rng(7).below(10) == word * 10 // 2**64
    assert Rng(7).random() == (word >> 11) / 2**53
    assert Rng(7).choice("abcdefghij") == "abcdefghij"[word * 10 // 2**64]


def test_weights_are_drawn_in_proportion():
    rng = Rng(1)
    counts = [0] * 4
    for _ in range(10_000):
        counts[rng.weighted([1, 0, 2, 7])] += 1
    assert counts[1] == 0
    # Six standard deviations of a seeded draw.
    for count, share in zip(counts, (1000, 0, 2000, 7000)):
        assert abs(count - share) < 280, counts
    with pytest.raises(ValueError, match="sum above 0"):
        rng.weighted([0, 0])


def test_shuffle_keeps_all_items():
    items = list(range(52))
    Rng(3).shuffle(items)
    assert items != list(range(52)) and sorted(items) == list(range(52))
    sample = Rng(3).sample(range(52), 5)
    assert sample == items[:5]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("7", 7),
        ("-7", -7),
        ("0.25", 0.25),
        ("1e-3", 0.001),
        ("empirical", "empirical"),
        ("007", 7.0),
        ("nan", "nan"),
        ("", ""),
    ],
)
def test_ruleset_options_have_guessed_types(text, value):
    assert guess(text) == value and type(guess(text)) is type(value)


def test_bot_options_have_declared_types():
    declared = (
        Option("depth", 4, low=1, high=9),
        Option("share", 0.5),
        Option("tie", "random", choices=("random", "first")),
        Option("note", ""),
        Option("flag", True),
        Option("weights", [0.5, -1], low=-2, high=2),
    )
    assert [option.kind() for option in declared] == [
        pb.OPTION_TYPE_INTEGER,
        pb.OPTION_TYPE_REAL,
        pb.OPTION_TYPE_CHOICE,
        pb.OPTION_TYPE_TEXT,
        pb.OPTION_TYPE_BOOL,
        pb.OPTION_TYPE_NUMBERS,
    ]
    given = values(depth="6", share="1", note="12", flag="false", weights="[1.0, 0.25]")
    typed = bot_options(declared, given)
    assert typed == {
        "depth": 6,
        "share": 1.0,
        "tie": "random",
        "note": "12",
        "flag": False,
        "weights": (1.0, 0.25),
    }
    assert declared[-1].describe().length == 2
    assert isinstance(typed["share"], float)
    for option in declared:
        assert option.parse(option.describe().default_value) == option.default


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (("Depth", 1), {}, "lower-case"),
        (("depth", 1), {"low": 2}, "outside its bounds"),
        (("depth", 9), {"high": 8}, "outside its bounds"),
        (("tie", "x"), {"choices": ("a", "b")}, "is none of"),
        (("flag", True), {"low": 0}, "only numbers have bounds"),
        (("share", float("nan")), {}, "not finite"),
        (("weights", (0.5, float("inf"))), {}, "not finite"),
        (("weights", (0.5, 3.0)), {"high": 2}, "outside its bounds"),
    ],
)
def test_contradictory_option_is_refused(arguments, more, message):
    with pytest.raises(ValueError, match=message):
        Option(*arguments, **more)


def test_position_is_decoded_only_when_used():
    message = kalah_decision()
    message.position = b"\xff\xff"
    decision = Decision(Context(kalah_context(), ()), message)
    assert decision.legal == list(range(6))
    with pytest.raises(ValueError, match="no arena.games.v1.KalahPosition"):
        _ = decision.position


def test_unknown_ruleset_is_played_by_ids():
    context = kalah_context()
    context.ruleset = "hex-on-mars"
    decision = Decision(Context(context, ()), kalah_decision())
    assert decision.legal == list(range(6))
    with pytest.raises(UnknownRuleset, match="'hex-on-mars'"):
        _ = decision.position


def test_generated_messages_match_the_protocol(tmp_path):
    pytest.importorskip("grpc_tools")
    target = tmp_path / "descriptors.binpb"
    generate.protoc(f"--descriptor_set_out={target}")
    files = descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes()).file
    assert set(generated.__all__) == {Path(file.name).stem + "_pb2" for file in files}
    for file in files:
        name = Path(file.name).stem + "_pb2"
        committed = descriptor_pb2.FileDescriptorProto()
        getattr(generated, name).DESCRIPTOR.CopyToProto(committed)
        for message in file.message_type:
            for field in message.field:
                # Python's modules leave it out, where it says nothing new.
                field.ClearField("json_name")
        assert committed == file, f"{name} is out of date: run generate.py of the SDK"


def test_required_options_are_described_as_text():
    class Standard(Agent):
        name = "standard"
        required_options = {"kalah": {"pits": 6, "early_stop": False}}

    described = [(it.ruleset, it.name, it.value) for it in Standard().describe().required_options]
    assert described == [("kalah", "pits", "6"), ("kalah", "early_stop", "false")]


def test_need_of_whole_states_is_described():
    class Whole(Agent):
        name = "whole"
        perfect_information = True

    assert Whole().describe().perfect_information
    assert not Agent.perfect_information


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [
        ("gymnasium", "run `pip install pettingzoo gymnasium`"),
        ("pettingzoo", "run `pip install pettingzoo gymnasium`"),
        ("arena_rules", "install the wheel arena_rules-*.whl of a release of Arena"),
    ],
)
def test_environments_name_missing_packages(monkeypatch, missing, remedy):
    if missing != "gymnasium":
        pytest.importorskip("gymnasium")
    if missing == "arena_rules":
        pytest.importorskip("pettingzoo")
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "arena_agent.environments", raising=False)
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("arena_agent.environments")
    assert caught.value.name == missing
    text = f"arena_agent.environments needs {missing}, which is not installed: {remedy}"
    assert text in str(caught.value)


def test_environments_are_an_extra():
    project = (SDK / "pyproject.toml").read_text()
    (extra,) = re.findall(r"^environments = \[(.*)\]$", project, re.MULTILINE)
    assert re.findall(r'"(\w+)', extra) == ["gymnasium", "pettingzoo"]
