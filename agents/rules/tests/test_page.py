"""Follows the page agents/docs/train.md: writes its files, and runs its commands."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ARENA = Path(os.environ.get("ARENA_BIN") or ROOT / "target/debug/arena")
PAGE = ROOT / "agents/docs/train.md"
#: A block with what it is: `test`, `build`, `output` or `file: PATH`.
BLOCK = re.compile(r"^<!-- ([^>\n]+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not ARENA.is_file(), reason="arena is not built")
def test_policy_is_trained_and_rated_as_the_page_says(tmp_path):
    for module in ("arena_agent", "numpy", "pettingzoo"):
        pytest.importorskip(module)
    text = PAGE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("\n```") // 2, "a block has no role"
    script = ["set -euo pipefail"]
    for role, block in blocks:
        if role.startswith("file: "):
            file = tmp_path / role.removeprefix("file: ")
            file.parent.mkdir(exist_ok=True)
            file.write_text(block, encoding="utf-8")
        elif role == "test":
            script.append(block)
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "arena").symlink_to(ARENA)
    found = [find_spec(name) for name in ("arena_agent", "numpy")]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ARENA_")},
        "PATH": f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        # What the sandbox lets the agent read.
        "ARENA_AGENT_PATH": ":".join(str(Path(it.origin).parents[1]) for it in found if it),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    ran = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for role, block in blocks:
        if role == "output":
            for line in block.splitlines():
                assert line in ran.stdout, ran.stdout
