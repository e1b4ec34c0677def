"""The blocks of code in the README run as they are."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from arena_rules import Game
from kits import ARENA, ROOT, TARGET, run

README = (ROOT / "agents/rules/README.md").read_text()


def blocks(language, count):
    """The blocks of a language. Each of them has a test, so their number is known."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)
    assert len(found) == count
    return found


def after_move_two():
    """The state that the blocks for Node, C and Rust print or reach."""
    state = Game("kalah").initial()
    state.apply(2)
    return state


def test_every_block_has_a_test():
    languages = re.findall(r"^```(\w+)$", README, re.M)
    assert sorted(languages) == ["c", "js", "python", "rust", "sh", "sh"]


def test_commands_that_build_exist(tmp_path):
    for line in blocks("sh", 2)[0].splitlines():
        program = ROOT / line.split()[0]
        assert "build" in run([program, "--help"], tmp_path)


@pytest.mark.skipif(not ARENA.exists(), reason=f"{ARENA} is not built")
def test_commands_register_the_search(tmp_path):
    (tmp_path / "agents").symlink_to(ROOT / "agents")
    (tmp_path / "target").mkdir()
    (tmp_path / "target/rules").symlink_to(TARGET)
    commands = f"PATH={ARENA.parent}:$PATH\n{blocks('sh', 2)[1]}"
    assert "bot mcts" in run(commands, tmp_path)


def test_python_block_plays_a_game(tmp_path):
    (tmp_path / "block.py").write_text(blocks("python", 1)[0])
    environment = os.environ | {"PYTHONPATH": str(TARGET / "python")}
    printed = subprocess.check_output([sys.executable, "block.py"], cwd=tmp_path, env=environment)
    values = json.loads(printed)
    # Four seats: the scores are the shares of other seats that each one beats.
    assert len(values) == 4 and sum(values) == 2_000_000 and max(values) <= 1_000_000


def test_node_block_prints_the_state(tmp_path):
    if not shutil.which("node") or not (TARGET / "node/arena_rules.node").exists():
        pytest.skip("the Node module is not built")
    shutil.copytree(TARGET / "node", tmp_path / "node_modules/arena-rules")
    (tmp_path / "block.js").write_text(blocks("js", 1)[0])
    state = after_move_two()
    expected = f"{state.to_move} {state.legal()} {state.playout(7)}"
    assert re.sub(r"\[ | \]", lambda found: found[0].strip(), run(["node", "block.js"], tmp_path)) == f"{expected}\n"


def test_c_block_compiles_and_runs(tmp_path):
    library = TARGET / "release/libarena_rules.a"
    if not shutil.which("cc") or not library.exists():
        pytest.skip("cc or the C library is missing")
    (tmp_path / "block.c").write_text(
        '#include <inttypes.h>\n#include <stdio.h>\n#include "arena_rules.h"\nint main(void) {\n'
        + blocks("c", 1)[0]
        + 'printf("%" PRIu64 "\\n", arena_state_hash(state));\n}\n'
    )
    include = ROOT / "agents/rules/c/include"
    flags = ["-Wall", "-Werror", f"-I{include}", "-lpthread", "-ldl", "-lm"]
    run(["cc", "block.c", str(library), *flags, "-o", "block"], tmp_path)
    assert int(run(["./block"], tmp_path)) == after_move_two().hash()


def test_rust_block_compiles_and_runs(tmp_path):
    library = TARGET / "release/libarena_rules.rlib"
    if not shutil.which("rustc") or not library.exists():
        pytest.skip("rustc or the crate is missing")
    (tmp_path / "block.rs").write_text(
        "use arena_rules::{Game, Options};\nfn main() -> Result<(), arena_rules::RulesError> {\n"
        + blocks("rust", 1)[0]
        + "Ok(())\n}\n"
    )
    dependencies = f"dependency={TARGET / 'release/deps'}"
    command = ["rustc", "--edition", "2024", "block.rs", "--extern", f"arena_rules={library}", "-L", dependencies]
    run(command, tmp_path)
    state = after_move_two()
    assert run(["./block"], tmp_path) == f"Some({state.to_move}) {state.legal()}\n"
