"""The TypeScript SDK: packed, installed in an empty folder, and served to a client and to Arena."""

import hashlib
import json
import random
import shutil

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor

from arena_agent.decision import position_type
from arena_agent.proto import agent_pb2 as pb
from conftest import KITS, ROOT
from typescript_sdk import SDK, block, sdk, serve  # noqa: F401
from client import cowry_context, cowry_decision, kalah_context, kalah_decision, values
from grpc_health.v1 import health_pb2

RULESETS = ["chinese-ludo", "cowry", "kalah", "oware-abapa", "oware-anan-anan"]
FIRST = "(decision) => decision.legalMoves[0]"
# What an agent of the line protocol answers.
NOISE = """'{"type":"answer","batch":1,"moves":[99]}'"""
PICKY = """
serve((decision) => {
  if (decision.number === 13) throw new Error("unlucky");
  if (decision.number === 14) return undefined;
  return decision.legalMoves.at(-1);
}, { name: "picky" });
"""


def moves(client, contexts, decisions):
    answers = client.choose_all(contexts, decisions)
    return {slot: choice.move_id for slot, choice in answers.items()}


def test_messages_are_current(sdk):
    sdk.run(f"ARENA_PROTO={ROOT}/proto node generate.mjs --check", sdk.source)


def test_package_has_only_the_built_sdk(sdk):
    installed = sdk.folder / "node_modules/arena-agent"
    assert {path.name for path in installed.iterdir()} == {"README.md", "dist", "package.json"}
    for link in ("../../rules/README.md", "examples/greedy.js"):
        assert (SDK / link).exists()


def test_readme_agent_is_checked_and_registered(sdk, tmp_path):
    folder = sdk.folder
    (folder / "agent.ts").write_text(block("ts"))
    (folder / "arena-agent.toml").write_text(block("toml"))
    (folder / ".arenaignore").write_text(block("text"))
    sdk.run(sdk.bundle, folder)
    check, register = sdk.commands
    assert "no fault" in sdk.run(check, folder)
    assert "my-greedy" in sdk.run(f"{register} --data {tmp_path}", folder)


def test_types_describe_decisions_and_answers(sdk):
    (sdk.folder / "types.mts").write_text("""
      import { type Agent, type CowryPosition, type Decision, type KalahPosition, option, serve } from "arena-agent";
      const first: Agent<KalahPosition> = { name: "a", choose: ({ position }) => position.moves[0].pit };
      const options = [option("x", 1.5, "", { type: "real" })];
      const second: Agent<CowryPosition> = { name: "b", options, choose: async () => ({ move: 1, score: 0.5 }) };
      serve(first, second);
      serve(({ legalMoves, rng }) => rng.choice(legalMoves), { name: "c" });
      serve((decision) => decision.position.any_field, { name: "d" });
      // @ts-expect-error: an answer is not a text
      serve(() => "x", { name: "e" });
      // @ts-expect-error: Kalah has no die
      serve((decision: Decision<KalahPosition>) => decision.position.die, { name: "f" });
    """)
    (sdk.folder / "readme.mts").write_text(block("ts"))
    compiler = "tsc --strict --noEmit --module node16 --target es2022 --types node"
    sdk.run(f"{compiler} types.mts readme.mts", sdk.folder)


def test_example_passes_every_step_of_the_check(sdk, tmp_path):
    text = (SDK / "examples/greedy.js").read_text()
    assert len(text.splitlines()) < 30
    (sdk.folder / "greedy.js").write_text(text)
    folder = sdk.package(tmp_path / "greedy", "greedy.js")
    report = json.loads(sdk.run(f"arena agent check {folder} --output json 2>/dev/null", tmp_path))
    steps = {step["name"]: step["result"] for step in report["steps"]}
    assert len(steps) == 13 and set(steps.values()) == {"passed"}, steps


def test_lines_and_grpc_play_the_same_games(sdk, tmp_path):
    """The policy of the kit plays by lines, and by gRPC with another import and with prints."""
    shutil.copytree(KITS / "javascript", tmp_path / "lines")
    text = (KITS / "javascript/agent.js").read_text()
    text = text.replace('"./arena.js"', '"arena-agent"')
    anchor = "function choose(decision) {"
    assert anchor in text
    text = text.replace(anchor, f"console.log({NOISE});{anchor}console.log({NOISE});")
    (sdk.folder / "kit.js").write_text(text)
    sdk.package(tmp_path / "grpc", "kit.js")
    for ruleset in RULESETS:
        spec = f'name = "same"\nruleset = "{ruleset}"\nseed = "7"\nblocks = 5\nagents = ["mine", "random"]\n'
        (tmp_path / f"{ruleset}.toml").write_text(spec)
    hashes = []
    for folder in ("lines", "grpc"):
        data = f"--data {folder}-data"
        sdk.run(f"arena agent register mine --binary {folder} {data}", tmp_path)
        sdk.run(f"for spec in *.toml; do arena run $spec {data}; done", tmp_path)
        games = sdk.run(f"arena export --all {data}", tmp_path).splitlines()
        games = [[json.loads(game)[key] for key in ("ruleset", "seed", "events", "fault")] for game in games]
        assert len(games) == 10 * len(RULESETS) and all(fault is None for *_, fault in games)
        hashes.append(sorted(hashlib.sha256(json.dumps(game).encode()).hexdigest() for game in games))
    assert hashes[0] == hashes[1]


def test_kit_switches_to_grpc_as_its_readme_says(sdk, tmp_path):
    kit = tmp_path / "kit"
    shutil.copytree(KITS / "typescript", kit)
    shutil.copy(sdk.folder.parent / "arena-agent-0.1.0.tgz", tmp_path)
    readme = (kit / "README.md").read_text()
    commands = readme.split("## gRPC")[1].split("```sh\n")[1].split("```")[0]
    sdk.run(commands + "ARENA=arena ./check --ruleset kalah", kit)
    assert "grpc" in (kit / "dist/agent.js").read_text()


def test_answers_are_those_of_the_policy_alone_and_in_batches(sdk, serve):
    client = serve((SDK / "examples/greedy.js").read_text().split("\n", 3)[3]).client
    assert client.choose(kalah_context(), kalah_decision()).move_id == 2
    decisions = [cowry_decision(slot=slot, context=1) for slot in (0, 2)]
    decisions += [kalah_decision(slot=slot) for slot in (1, 3)]
    contexts = [kalah_context(), cowry_context()]
    assert moves(client, contexts, decisions) == {0: 12, 1: 2, 2: 12, 3: 2}
    assert client.health("arena.v1.AgentService") == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as failure:
        client.health("other")
    assert failure.value.code() == grpc.StatusCode.NOT_FOUND


def test_description_and_bots_of_a_process(serve):
    client = serve("""
      const options = [option("n", 1, "which move", { min: 0, max: 5 }), option("back", false)];
      const nth = ({ legalMoves, botOptions: { n, back } }) => legalMoves.at(back === "true" ? -1 - n : +n);
      const last = ({ legalMoves }) => ({ move: legalMoves.at(-1), score: 0.5, depth: 3, nodes: 7, variation: [5, "x"] });
      const required_options = { kalah: { pits: 6, early_stop: false } };
      serve({ name: "nth", version: "3", options, required_options, perfect_information: true,
              choose: nth, sticky: true, usesSeed: false },
            { name: "last", choose: last, rulesets: ["kalah"], deterministic: true });
    """).client
    description = client.describe()
    assert (description.name, description.version, description.sticky) == ("nth", "3", True)
    assert (description.omit_move_details, description.concurrent) == (False, False)
    nth, last = description.bots
    required = [(it.ruleset, it.name, it.value) for it in nth.required_options]
    assert required == [("kalah", "pits", "6"), ("kalah", "early_stop", "false")]
    assert (nth.perfect_information, last.perfect_information) == (True, False)
    assert (nth.name, nth.uses_seed, nth.deterministic) == ("nth", pb.SEED_USE_NO, False)
    assert (list(last.rulesets), last.uses_seed, last.deterministic) == (["kalah"], 0, True)
    option = nth.options[0]
    assert (option.name, option.type, option.default_value) == ("n", pb.OPTION_TYPE_INTEGER, "1")
    assert (option.summary, option.min, option.max) == ("which move", "0", "5")
    assert nth.options[1].type == pb.OPTION_TYPE_BOOL
    contexts = [
        kalah_context(bot_options=values(n="1", back="false")),
        kalah_context(bot="nth", bot_options=values(n="2", back="true")),
        kalah_context(bot="last"),
        kalah_context(bot="other"),
    ]
    decisions = [kalah_decision(slot=slot, context=slot) for slot in range(5)]
    answers = client.choose_all(contexts, decisions)
    assert {slot: choice.move_id for slot, choice in answers.items()} == {0: 1, 1: 3, 2: 5}
    info = answers[2].info
    assert (info.score, info.depth, info.nodes, list(info.variation)) == (0.5, 3, 7, ["5", "x"])
    with pytest.raises(grpc.RpcError) as failure:
        client.choose(contexts[3], decisions[0])
    assert failure.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert 'no bot "other"; this process offers nth, last' in failure.value.details()


# Reports what a decision has as an error, which is the one text that a client gets.
WITNESS = """
serve((d) => {
  throw [d.ruleset, d.rulesVersion, d.options, d.seats, d.seat, d.number, String(d.seed), d.legalMoves,
    d.notations, d.clock, d.timeBudgetUs, String(d.nodes), d.game, d.moves, d.rng.below(1000000),
    d.position].map((value) => JSON.stringify(value)).join("\\n");
}, { name: "witness" });
"""


def witness(client, context, decision):
    with pytest.raises(grpc.RpcError) as failure:
        client.choose(context, decision, time_budget_us=2_500_000)
    lines = failure.value.details().splitlines()
    return [None if line == "" else json.loads(line) for line in lines]


def test_decision_has_all_request_fields(serve):
    client = serve(WITNESS).client
    decision = cowry_decision(seed=2**64 - 1, number=9, game=b"g1")
    decision.moves.add(seat=1, move_id=300)
    clock = decision.clock
    clock.left_us, clock.increment_us, clock.moves_to_go = 2**40, 100_000, 3
    clock.seats_left_us.extend([9_000_000, 2**40])
    context = cowry_context(nodes=2**64 - 1)
    *read, below, position = witness(client, context, decision)
    assert read == [
        "cowry", 1, {"board": "5", "dice": "empirical", "gate": "true", "variant": "basic"},
        4, 1, 9, str(2**64 - 1), [8, 12, 14], ["2:0", "2:2", "2:3"],
        {"left_us": 2**40, "increment_us": 100_000, "moves_to_go": 3, "seats_left_us": [9_000_000, 2**40]},
        2_500_000, str(2**64 - 1), b"g1".hex(), [[1, 300]],
    ]  # fmt: skip
    assert below == 0xE4D971771B652C20 * 1000000 >> 64
    assert position["pieces"] == [14, 3, 24, 0, 10, 23, 4, 12]
    read = witness(client, context, cowry_decision(seed=0))
    assert read[9] is None and read[12] is None and read[13] == []


def fill(message, draw):
    """Sets fields to random values, and returns the message as the line protocol has it."""
    plain = {}
    for field in message.DESCRIPTOR.fields:
        count = draw.randrange(4) if field.is_repeated else draw.randrange(2)
        signs = (-(2**31), 2**31) if field.type == FieldDescriptor.TYPE_SINT32 else (0, 2**32)
        number = lambda: draw.choice([draw.randrange(*signs), draw.randrange(200)])
        if field.message_type:
            plain[field.name] = [fill(getattr(message, field.name).add(), draw) for _ in range(count)]
        elif field.is_repeated:
            plain[field.name] = [number() for _ in range(count)]
            getattr(message, field.name).extend(plain[field.name])
        elif field.enum_type:
            value = draw.choice(field.enum_type.values)
            prefix = field.enum_type.values_by_number[0].name.removesuffix("UNSPECIFIED")
            plain[field.name] = value.name.removeprefix(prefix).lower()
            setattr(message, field.name, value.number)
        else:
            kinds = {FieldDescriptor.TYPE_BYTES: draw.randbytes(5), FieldDescriptor.TYPE_BOOL: True}
            value = kinds.get(field.type, number()) if count else field.default_value
            plain[field.name] = list(value) if isinstance(value, bytes) else value
            setattr(message, field.name, value)
    return plain


def test_positions_are_read_exactly(serve):
    client = serve(WITNESS).client
    draw = random.Random(1)
    for ruleset in RULESETS * 30:
        message = position_type(ruleset)()
        plain = fill(message, draw)
        decision = pb.Decision(position=message.SerializeToString(), legal_moves=[1])
        # A field of a later version.
        decision.position += b"\xf8\x07\x05"
        *_, position = witness(client, pb.GameContext(ruleset=ruleset), decision)
        assert position == plain


def test_position_of_an_unknown_ruleset_is_a_clear_error(serve):
    client = serve("serve((decision) => decision.position.x, { name: 'first' });").client
    with pytest.raises(grpc.RpcError) as failure:
        client.choose(pb.GameContext(ruleset="snap"), kalah_decision())
    assert "cannot read positions of snap: install a newer one" in failure.value.details()


def test_position_of_an_added_ruleset_is_its_json(serve):
    program = "serve((it) => it.position.pots[it.positionBytes.length], { name: 'first' });"
    decision = pb.Decision(position=b'{"pots":{"17":5}}', legal_moves=[1, 5])
    client = serve(program).client
    assert client.choose(pb.GameContext(ruleset="snap"), decision).move_id == 5


def test_error_of_the_policy_fails_only_its_decision(serve):
    process = serve(PICKY)
    decisions = [kalah_decision(slot=slot, number=slot) for slot in range(30)]
    assert set(moves(process.client, [kalah_context()], decisions)) == set(range(30)) - {13, 14}
    printed = process.printed()
    assert "failed in decision 13 of seat 0 in kalah, seed 1, legal moves 0,1,2,3,4,5" in printed
    assert "(and 1 more failures in this batch)\nError: unlucky\n    at " in printed
    for number, text in ((13, "Error: unlucky"), (14, "the policy returned undefined: return one of")):
        with pytest.raises(grpc.RpcError) as failure:
            process.client.choose(kalah_context(), kalah_decision(number=number))
        assert failure.value.code() == grpc.StatusCode.INTERNAL
        assert text in failure.value.details()
    assert process.client.choose(kalah_context(), kalah_decision()).move_id == 5


def test_wrong_requests_and_long_errors_leave_the_agent_ready(serve):
    client = serve("serve((decision) => { throw 'long'.repeat(decision.seats * 50_000); }, { name: 'first' });").client
    raw = {"request_serializer": bytes, "response_deserializer": bytes}
    choose = client.channel.unary_unary("/arena.v1.AgentService/ChooseMove", **raw)
    batch = client.channel.stream_stream("/arena.v1.AgentService/ChooseMoves", **raw)
    for request in (b"", b"\xff\xff", b"\x12\x02\x08"):
        with pytest.raises(grpc.RpcError) as failure:
            choose(request, timeout=30)
        assert failure.value.code() == grpc.StatusCode.INTERNAL
    with pytest.raises(grpc.RpcError):
        list(batch(iter([b"\xff\xff"]), timeout=30))
    with pytest.raises(grpc.RpcError) as failure:
        client.choose(kalah_context(), kalah_decision())
    assert failure.value.code() == grpc.StatusCode.INTERNAL
    assert failure.value.details().startswith("longlong")
    assert moves(client, [kalah_context()], [kalah_decision(context=7)]) == {}


def test_arena_records_the_error_of_a_policy(sdk, tmp_path):
    program = "import { serve } from 'arena-agent';\n" + PICKY.replace("=== 13", ">= 3")
    (sdk.folder / "agent.js").write_text(program)
    folder = sdk.package(tmp_path / "agent")
    report = sdk.run(f"arena agent check {folder} --ruleset kalah", tmp_path, code=3)
    assert "crash" in report and "Error: unlucky" in report, report


def test_promises_of_a_policy_are_awaited_one_batch_at_a_time(serve):
    client = serve("""
      let inside = 0;
      serve(async ({ number, legalMoves }) => {
        if (++inside > 20) throw new Error("two batches");
        await new Promise((resolve) => setTimeout(resolve, 1));
        inside--;
        if (number === 13) throw new Error("unlucky");
        return legalMoves[1];
      }, { name: "later" });
    """).client
    decisions = [kalah_decision(slot=slot, number=slot) for slot in range(20)]
    request = pb.ChooseMovesRequest(contexts=[kalah_context()], decisions=decisions)
    streams = [client.stream([request, request]) for _ in range(4)]
    for stream in streams:
        assert [len(response.choices) for response in stream] == [19, 19]


def test_agent_can_choose_for_a_batch(serve):
    process = serve("""
      const chooseBatch = (decisions) => {
        if (decisions.some(({ number }) => number === 13)) throw new Error("the whole batch");
        return decisions.map(({ number, legalMoves }) => (number === 2 ? undefined : legalMoves.at(-1)));
      };
      serve((decision) => decision.legalMoves[0], { name: "together", chooseBatch, batch_size: 64, omit_move_details: true });
    """)
    description = process.client.describe()
    assert description.omit_move_details and description.batch_size == 64
    decisions = [kalah_decision(slot=slot, number=slot) for slot in range(4)]
    assert moves(process.client, [kalah_context()], decisions) == {0: 5, 1: 5, 3: 5}
    assert process.client.choose(kalah_context(), decisions[0]).move_id == 0
    assert moves(process.client, [kalah_context()], [kalah_decision(number=13)]) == {}
    assert "Error: the whole batch" in process.printed()


def test_sigterm_ends_an_agent_with_an_open_stream(serve):
    process = serve(f"serve({FIRST}, {{ name: 'first' }});")
    request = pb.ChooseMovesRequest(contexts=[kalah_context()], decisions=[kalah_decision()])

    def endless():
        yield request
        process.child.wait()

    stream = process.client.stream(endless())
    assert len(next(stream).choices) == 1
    assert process.terminate() == 0


def test_sigterm_waits_for_answers_but_not_forever(serve):
    program = "serve(() => new Promise((resolve) => { console.log('asked'); %s }), { name: 'slow' });"
    request = pb.ChooseMovesRequest(contexts=[kalah_context()], decisions=[kalah_decision()])
    for ends, code in (("process.once('SIGTERM', () => setTimeout(resolve, 100, 3));", 0), ("", 1)):
        process = serve(program % ends)
        stream = process.client.stream([request])
        while "asked" not in process.printed():
            assert stream.is_active()
        assert process.terminate() == code
        if code == 0:
            assert [choice.move_id for choice in next(stream).choices] == [3]
        else:
            assert "still choosing after 2000 ms" in process.printed()


def test_agent_that_cannot_be_served_is_reported(serve):
    agent = f"{{ name: 'a', choose: {FIRST} }}"
    for arguments, message in [
        (f"{FIRST}, {{ name: 'A' }}", 'the name of an agent is "A": use lower-case'),
        (f"{agent}, {agent}", 'two agents have the name "a"'),
        ("", "serve at least one agent"),
    ]:
        process = serve(f"serve({arguments});", ready=False)
        assert process.wait() == 1
        assert message in process.printed()
    process = serve(f"process.env.ARENA_LISTEN = 'unix:/no/such/folder/x'; serve({agent});", ready=False)
    assert process.wait() == 1
    assert "cannot listen on unix:/no/such/folder/x" in process.printed()
