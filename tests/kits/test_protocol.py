"""Every kit speaks the line protocol of agents/PROTOCOL.md, and all kits play alike."""

import json
import random
import shutil
import signal

import pytest

from conftest import KITS, NEEDS, ROOT, build
from probes import PROBES, insert

WORD = (1 << 64) - 1
SEEDS = [0, 1, 2**53 + 1, 2**63, 2**64 - 1, 12602049412372182785]
TEXT = 'Ä"\\/\n😀'


def rng(seed):
    """SplitMix64, written a second time."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & WORD
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        yield z ^ (z >> 31)


def below(seed, bound):
    return next(rng(seed)) * bound >> 64


def expected(decision, again):
    """The move of the example policy."""
    gains = [
        move.get("captured", 0) + move.get("banked", 0) + move.get("hits", 0)
        + (again if move.get("moves_again") else 0)
        for move in decision["position"]["moves"]
    ]
    equal = [
        move for move, gain in zip(decision["legal_moves"], gains) if gain == max(gains)
    ]
    return equal[below(int(decision["seed"]), len(equal))]


HELLO = {"type": "hello", "protocol": 1, "arena": "0.1.0"}


def game(context, ruleset="kalah", again=1):
    return {
        "type": "game",
        "context": context,
        "ruleset": ruleset,
        "rules_version": 1,
        "seats": 2,
        "options": {"pits": "6", "stones": "4"},
        "bot": "",
        "bot_options": {"again": str(again)},
        "nodes": "18446744073709551615",
    }


def decision(draw, context=0, seed=None, number=0):
    """A random decision of a ruleset that depends on the context."""
    legal = sorted(draw.sample(range(500), draw.randint(1, 9)))
    effects = [
        {"banked": draw.randrange(3), "moves_again": draw.random() < 0.3},
        {"captured": draw.randrange(3), "endless": False},
        {"hits": draw.randrange(2), "from": -1},
    ]
    moves = [{"id": move, "pit": 3, **effects[context % 3]} for move in legal]
    for move in moves:
        move.update({key: draw.randrange(3) for key in ("banked", "captured", "hits") if key in move})
    return {
        "slot": 0,
        "context": context,
        "seat": draw.randrange(2),
        "number": number,
        "seed": str(draw.getrandbits(64) if seed is None else seed),
        "legal_moves": legal,
        "notations": [TEXT if draw.random() < 0.5 else "A" for _ in legal],
        "position": {
            "board": [4, 7, 0, 12],
            "to_move": 1,
            "plies": 2,
            "empty": [],
            "phase": "move",
            "moves": moves,
        },
        "clock": {"left_us": 12345, "increment_us": 0, "moves_to_go": 0, "seats_left_us": [1, 2]},
    }


def ask(batch, decisions):
    for slot, one in enumerate(decisions):
        one["slot"] = slot
    return {"type": "ask", "batch": batch, "time_budget_us": 60000000, "decisions": decisions}


def answers(decisions, agains=None):
    agains = agains or {}
    return [expected(one, agains.get(one["context"], 1)) for one in decisions]


@pytest.fixture(scope="module", params=sorted(NEEDS))
def lang(request):
    return request.param


@pytest.fixture(scope="module")
def kit(lang, tmp_path_factory):
    """A kit, built as it is."""
    return build(lang, tmp_path_factory.mktemp(lang) / "agent")


@pytest.fixture(scope="module")
def probe(lang, tmp_path_factory):
    """A kit whose policy prints, and returns what it has read."""
    folder = tmp_path_factory.mktemp(lang) / "probe"
    return build(lang, folder, lambda folder: insert(lang, folder))


@pytest.fixture
def agent(kit, start):
    agent = start(kit)
    agent.ask(HELLO)
    agent.send(game(0))
    return agent


def test_every_kit_is_tested():
    folders = {entry.name for entry in KITS.iterdir() if entry.is_dir()}
    assert folders == set(NEEDS) == set(PROBES)


def test_hello_describes_the_agent(kit, start):
    hello = start(kit).ask(HELLO)
    assert (hello["type"], hello["protocol"], hello["version"]) == ("hello", 1, "1.0.0")
    (bot,) = hello["bots"]
    assert (hello["name"], bot["name"]) == ("my-agent", "my-agent")
    assert (bot["deterministic"], bot["uses_seed"]) == (True, "yes")
    (option,) = bot["options"]
    assert option.pop("rulesets", []) == []
    assert option == {
        "name": "again",
        "summary": "what another turn is worth",
        "type": "integer",
        "default_value": "1",
        "min": "0",
        "max": "9",
    }


def test_moves_are_those_of_the_policy_in_batches_of_all_sizes(agent):
    draw = random.Random(1)
    for batch, size in enumerate([1, 2, 7, 64]):
        decisions = [decision(draw, seed=SEEDS[at] if at < len(SEEDS) else None) for at in range(size)]
        reply = agent.ask(ask(batch, decisions))
        assert reply == {"type": "answer", "batch": batch, "moves": answers(decisions)}


def test_large_numbers_of_batches_and_contexts_are_exact(agent):
    draw = random.Random(2)
    agent.send(game(2**32 - 1, again=9))
    one = decision(draw, context=2**32 - 1)
    reply = agent.ask(ask(2**53 - 1, [one]))
    assert reply == {"type": "answer", "batch": 2**53 - 1, "moves": [expected(one, 9)]}


def test_games_have_their_own_options(agent):
    draw = random.Random(3)
    agains = {0: 1, 1: 5, 2: 0, 3: 9}
    for context in (1, 2, 3):
        agent.send(game(context, again=agains[context]))
    decisions = [decision(draw, context=at % 4) for at in range(40)]
    draw.shuffle(decisions)
    assert agent.ask(ask(1, decisions))["moves"] == answers(decisions, agains)


def test_moves_do_not_depend_on_process_batch_or_order(kit, start):
    draw = random.Random(4)
    decisions = [decision(draw) for _ in range(30)]
    seen = []
    for size in (30, 1, 7):
        agent = start(kit)
        agent.ask(HELLO)
        agent.send(game(0))
        order = draw.sample(range(30), 30)
        moves = {}
        for first in range(0, 30, size):
            chosen = order[first : first + size]
            reply = agent.ask(ask(first, [dict(decisions[at]) for at in chosen]))
            moves.update(zip(chosen, reply["moves"]))
        seen.append([moves[at] for at in range(30)])
        assert agent.end()[0] == 0
    assert seen[0] == seen[1] == seen[2] == answers(decisions)


def test_several_batches_wait_in_the_pipe(agent):
    draw = random.Random(5)
    batches = [[decision(draw) for _ in range(3)] for _ in range(20)]
    agent.write("".join(json.dumps(ask(at, one)) + "\n" for at, one in enumerate(batches)))
    for at, decisions in enumerate(batches):
        assert agent.receive() == {"type": "answer", "batch": at, "moves": answers(decisions)}


def scrambled(value, draw):
    """JSON with fields in random order, unknown fields, white space and escapes."""
    space = lambda: draw.choice(["", " ", "\t", "  ", "\r"])
    if isinstance(value, dict):
        fields = [*value.items(), ("x-" + str(draw.random()), draw.choice([None, True, -1.5e-3, [[]], {}]))]
        draw.shuffle(fields)
        text = (space() + scrambled(key, draw) + space() + ":" + scrambled(one, draw) for key, one in fields)
        return space() + "{" + ",".join(text) + space() + "}" + space()
    if isinstance(value, list):
        return space() + "[" + ",".join(scrambled(one, draw) for one in value) + space() + "]" + space()
    if isinstance(value, str):
        units = value.encode("utf-16-be")
        codes = [units[at] << 8 | units[at + 1] for at in range(0, len(units), 2)]
        escape = {34: '\\"', 92: "\\\\", 47: "\\/", 10: "\\n"}
        escaped = lambda code: draw.choice([f"\\u{code:04x}", f"\\u{code:04X}"])
        plain = lambda code: chr(code) if 32 <= code < 128 and code not in escape else escape.get(code) or escaped(code)
        text = "".join(draw.choice([plain, plain, escaped])(code) for code in codes)
        return space() + '"' + text + '"' + space()
    return space() + json.dumps(value) + space()


def test_json_may_be_written_in_any_way(kit, start):
    draw = random.Random(6)
    agent = start(kit)
    for _ in range(3):
        agent.write(scrambled(HELLO, draw) + "\n")
        assert agent.receive()["type"] == "hello"
    agent.write(scrambled(game(0, again=3), draw) + "\n")
    for batch in range(20):
        decisions = [decision(draw) for _ in range(draw.randint(1, 5))]
        agent.write(scrambled(ask(batch, decisions), draw) + "\n")
        reply = agent.receive()
        assert reply == {"type": "answer", "batch": batch, "moves": answers(decisions, {0: 3})}


def test_unknown_types_are_ignored(agent):
    draw = random.Random(7)
    for kind in ({"type": "later", "batch": "x", "decisions": 7}, {"type": 5}, {"type": None}, {}):
        agent.send(kind)
    decisions = [decision(draw)]
    assert agent.ask(ask(1, decisions))["moves"] == answers(decisions)
    code, out, err = agent.end()
    assert (code, out, err) == (0, "", "")


def test_end_of_input_ends_the_agent(kit, start):
    assert start(kit).end() == (0, "", "")


def test_sigterm_ends_the_agent(agent):
    agent.process.send_signal(signal.SIGTERM)
    assert agent.process.wait(60) in (-signal.SIGTERM, 128 + signal.SIGTERM)


def test_values_are_read_exactly_and_prints_do_no_harm(probe, start):
    draw = random.Random(8)
    agent = start(probe)
    agent.ask(HELLO)
    agent.send(game(0))
    for batch, seed in enumerate(SEEDS):
        one = decision(draw, seed=seed)
        reads = []
        for number in range(1, 7):
            reads.append({**one, "number": number, "notations": [TEXT] * len(one["legal_moves"])})
        wanted = [12345, 71, below(seed, 1000000), 1, int(seed == 2**64 - 1), 26]
        assert agent.ask(ask(batch, reads))["moves"] == wanted
        escaped = scrambled(ask(batch, reads), draw)
        agent.write(escaped + "\n")
        assert agent.receive()["moves"] == wanted
    code, out, err = agent.end()
    assert (code, out) == (0, "")
    noise = 'noise {"type":"answer","batch":1,"moves":[99]}\n'
    assert err.count(noise) == err.count("more noise\n") == 12 * len(SEEDS)


def test_errors_of_the_policy_fail_only_their_batch(probe, start):
    draw = random.Random(9)
    agent = start(probe)
    agent.ask(HELLO)
    agent.send(game(0))
    good = [decision(draw) for _ in range(3)]
    bad = {**decision(draw), "number": 7}
    reply = agent.ask(ask(1, [*good, bad]))
    assert (reply["type"], reply["batch"]) == ("error", 1)
    assert reply["message"]
    for batch, one in enumerate(good, 2):
        assert agent.ask(ask(batch, [one])) == {"type": "answer", "batch": batch, "moves": answers([one])}
    # A decision of a game that the agent does not know.
    assert agent.ask(ask(9, [decision(draw, context=77)]))["type"] == "error"
    assert agent.ask(ask(10, good))["moves"] == answers(good)
    code, out, err = agent.end()
    assert (code, out) == (0, "")
    assert 'it "broke"' in err


@pytest.mark.skipif(not shutil.which("perl"), reason="perl is missing")
def test_protocol_page_suffices_to_write_an_agent(start, tmp_path):
    draw = random.Random(10)
    agent = start(tmp_path, [str(ROOT / "tests/agents/lines.pl")])
    hello = agent.ask(HELLO)
    assert (hello["type"], hello["protocol"]) == ("hello", 1)
    agent.send(game(0))
    decisions = [decision(draw, seed=seed) for seed in SEEDS]
    agent.write(scrambled(ask(5, decisions), draw) + "\n")
    moves = [one["legal_moves"][int(one["seed"]) % len(one["legal_moves"])] for one in decisions]
    assert agent.receive() == {"type": "answer", "batch": 5, "moves": moves}
    assert agent.end() == (0, "", "")


def test_policies_have_less_than_thirty_lines(lang):
    name = PROBES[lang][0]
    assert len((KITS / lang / name).read_text().splitlines()) < 30
