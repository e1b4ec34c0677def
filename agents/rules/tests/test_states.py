"""`decision.state()` of the kits and the SDK is the position of the decision."""

import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena_rules import Game, rulesets

AGENTS = Path(__file__).resolve().parents[2]


@pytest.fixture
def node_package():
    package = os.environ.get("ARENA_RULES_NODE", "")
    if not Path(package, "arena_rules.node").exists() or not shutil.which("node"):
        pytest.skip("the Node module is not built")
    return package


def decisions(ruleset, count=20):
    """Some decisions of a random game, as `game` and `ask` have them."""
    game, rng = Game(ruleset), random.Random(ruleset)
    options = {name: json.dumps(value).strip('"') for name, value in game.options.items()}
    context = {"ruleset": ruleset, "rules_version": game.version, "seats": game.seats}
    context |= {"options": options, "bot_options": {}, "bot": "", "nodes": "0"}
    state = game.initial()
    while count and not state.is_over():
        if state.is_chance():
            outcomes, weights = zip(*state.chance())
            state.apply_outcome(rng.choices(outcomes, weights)[0])
            continue
        decision = {"slot": 0, "seat": state.to_move, "number": 0, "seed": "1"}
        decision |= {"legal_moves": state.legal(), "position": json.loads(state.to_json())}
        yield context, decision, state
        count -= 1
        state.apply(rng.choice(state.legal()))


def kit(language, file):
    return AGENTS / "kits" / language / file


@pytest.mark.parametrize("ruleset", rulesets())
def test_state_of_the_python_kit_is_the_position(ruleset):
    source = importlib.util.spec_from_file_location("kit", kit("python", "arena.py"))
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    for context, decision, state in decisions(ruleset):
        found = module.Decision(context, decision, 0).state()
        assert (found.legal(), found.hash()) == (decision["legal_moves"], state.hash())


@pytest.mark.parametrize("ruleset", rulesets())
def test_state_of_the_python_sdk_is_the_position(ruleset):
    sys.path.insert(0, str(AGENTS / "sdk/python"))
    pb = pytest.importorskip("arena_agent.proto.agent_pb2", reason="the SDK needs grpcio")
    from arena_agent.decision import Context, Decision

    for context, decision, state in decisions(ruleset):
        options = [pb.OptionValue(name=name, value=text) for name, text in context["options"].items()]
        message = pb.GameContext(ruleset=ruleset, seats=context["seats"], options=options)
        asked = pb.Decision(legal_moves=decision["legal_moves"], position=state.encode())
        found = Decision(Context(message, ()), asked).state()
        assert (found.legal(), found.hash()) == (decision["legal_moves"], state.hash())


@pytest.mark.parametrize("ruleset", rulesets())
def test_state_of_the_javascript_kit_is_the_position(ruleset, tmp_path, node_package):
    shutil.copy(kit("javascript", "arena.js"), tmp_path)
    shutil.copytree(node_package, tmp_path / "node_modules" / "arena-rules")
    (tmp_path / "agent.js").write_text(
        "const { serve } = require('./arena.js');\n"
        "const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);\n"
        "serve((d) => same(d.state().legal(), d.legalMoves) ? d.legalMoves[0] : -1, { name: 'x' });\n"
    )
    played = list(decisions(ruleset))
    lines = [{"type": "hello", "protocol": 1}, {"type": "game", "context": 0} | played[0][0]]
    asked = [decision | {"context": 0} for _, decision, _ in played]
    lines.append({"type": "ask", "batch": 1, "time_budget_us": 0, "decisions": asked})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    answered = subprocess.run(
        ["node", "agent.js"], cwd=tmp_path, input=text, capture_output=True, text=True, timeout=60
    )
    moves = json.loads(answered.stdout.splitlines()[-1])["moves"]
    assert moves == [decision["legal_moves"][0] for decision in asked], answered.stderr


def test_state_of_the_typescript_sdk_is_the_position(tmp_path, node_package):
    pytest.importorskip("grpc", reason="the client needs grpcio")
    sys.path[:0] = [str(AGENTS / "sdk/python"), str(AGENTS.parent / "tests/kits")]
    from typescript_sdk import Process, Sdk, pb

    sdk = Sdk(tmp_path)
    (sdk.folder / "states.js").write_text(
        "import { serve } from 'arena-agent';\n"
        "const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);\n"
        "serve((d) => same(d.state().legal(), d.legalMoves) ? d.legalMoves[0] : -1, { name: 'x' });\n"
    )
    folder = sdk.package(tmp_path / "states", "states.js")
    shutil.copytree(node_package, folder / "dist/node_modules/arena-rules")
    process = Process(["node", str(folder / "dist/agent.js")], folder, sdk.environment)
    try:
        process.client.health()
        for ruleset in rulesets():
            for context, decision, state in decisions(ruleset):
                options = [pb.OptionValue(name=name, value=text) for name, text in context["options"].items()]
                message = pb.GameContext(ruleset=ruleset, seats=context["seats"], options=options)
                asked = pb.Decision(legal_moves=decision["legal_moves"], position=state.encode())
                assert process.client.choose(message, asked).move_id == decision["legal_moves"][0]
    finally:
        process.close()


# Without the package, `state()` names the command that installs it.


def command_of(message, package):
    """The command that an error message says to run."""
    assert package in message and "not installed" in message and "agents/rules/run build" in message, message
    return re.search(r"run `([^`]*)`", message).group(1)


def test_state_of_the_python_kit_names_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "arena_rules", None)
    source = importlib.util.spec_from_file_location("kit", kit("python", "arena.py"))
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    context, decision, _ = next(decisions("kalah"))
    with pytest.raises(ModuleNotFoundError) as raised:
        module.Decision(context, decision, 0).state()
    assert command_of(str(raised.value), "arena_rules") == "pip install --target . arena_rules-*.whl"
    assert raised.value.name == "arena_rules"


def test_state_of_the_python_sdk_names_its_package(monkeypatch):
    sys.path.insert(0, str(AGENTS / "sdk/python"))
    pb = pytest.importorskip("arena_agent.proto.agent_pb2", reason="the SDK needs grpcio")
    from arena_agent.decision import Context, Decision

    monkeypatch.setitem(sys.modules, "arena_rules", None)
    with pytest.raises(ModuleNotFoundError) as raised:
        Decision(Context(pb.GameContext(ruleset="kalah", seats=2), ()), pb.Decision()).state()
    assert command_of(str(raised.value), "arena_rules") == "pip install arena_rules-*.whl"


def test_other_errors_of_an_import_are_as_they_are(monkeypatch, tmp_path):
    (tmp_path / "arena_rules.py").write_text("import of_another_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "arena_rules")
    source = importlib.util.spec_from_file_location("kit", kit("python", "arena.py"))
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    context, decision, _ = next(decisions("kalah"))
    with pytest.raises(ModuleNotFoundError, match="of_another_package"):
        module.Decision(context, decision, 0).state()


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_state_of_the_node_kits_names_its_package(language, tmp_path):
    if not shutil.which("node") or (language == "typescript" and not shutil.which("tsc")):
        pytest.skip("node or tsc is missing")
    if language == "javascript":
        shutil.copy(kit("javascript", "arena.js"), tmp_path)
    else:
        modules = Path(shutil.which("tsc")).parent.parent
        (tmp_path / "node_modules").symlink_to(modules)
        shutil.copy(kit("typescript", "arena.ts"), tmp_path)
        command = ["tsc", "--target", "es2022", "--module", "node16", "--types", "node", "--strict", "arena.ts"]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    program = "require('./arena.js').serve((d) => d.state().legal()[0], { name: 'x' });"
    answer, log = last_answer(["node", "-e", program], tmp_path)
    assert answer["type"] == "error"
    assert command_of(answer["message"], "arena-rules") == "npm install arena-rules-*.tgz"
    assert "not installed" in log


def last_answer(command, folder):
    """The last line that an agent prints after a question, and its log."""
    context, decision, _ = next(decisions("kalah"))
    lines = [{"type": "hello", "protocol": 1}, {"type": "game", "context": 0} | context]
    lines.append({"type": "ask", "batch": 1, "time_budget_us": 0, "decisions": [decision | {"context": 0}]})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    environment = {name: value for name, value in os.environ.items() if name != "NODE_PATH"}
    done = subprocess.run(
        command, cwd=folder, env=environment, input=text, capture_output=True, text=True, timeout=60
    )
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_state_of_the_typescript_sdk_names_its_package(tmp_path):
    grpc = pytest.importorskip("grpc", reason="the client needs grpcio")
    sys.path[:0] = [str(AGENTS / "sdk/python"), str(AGENTS.parent / "tests/kits")]
    from typescript_sdk import Process, Sdk, pb

    sdk = Sdk(tmp_path)
    (sdk.folder / "states.js").write_text(
        "import { serve } from 'arena-agent';\nserve((d) => d.state().legal()[0], { name: 'x' });\n"
    )
    folder = sdk.package(tmp_path / "states", "states.js")
    process = Process(["node", str(folder / "dist/agent.js")], folder, sdk.environment)
    try:
        process.client.health()
        message = pb.GameContext(ruleset="kalah", seats=2)
        asked = pb.Decision(legal_moves=[0, 1], position=Game("kalah").initial().encode())
        with pytest.raises(grpc.RpcError) as raised:
            process.client.choose(message, asked)
        command = command_of(raised.value.details(), "arena-rules")
        assert command == "npm install --prefix dist arena-rules-*.tgz"
    finally:
        process.close()
