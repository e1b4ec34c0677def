"""Runs `arena` with environments of PettingZoo."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("ARENA_BIN") or str(PACKAGE.parents[1] / "target/debug/arena")
#: What a worker needs, and agents of the tests.
MODULES = ("arena_agent", "pettingzoo", "gymnasium", "numpy", "pygame", "rlcard", "chess")


class Folder:
    """A folder in which commands run."""

    def __init__(self, path):
        self.path = path
        found = [find_spec(name) for name in MODULES]
        readable = {str(Path(it.origin).parents[1]) for it in found if it}
        names = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self.environment = {
            **names,
            # The Python of the tests, whose packages may be elsewhere.
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ARENA_AGENT_PATH": ":".join(readable),
        }

    def copy(self, name, to=None):
        """Copies a file of the tests."""
        text = Path(__file__).with_name(name).read_text(encoding="utf-8")
        (self.path / (to or name)).write_text(text, encoding="utf-8")

    def agent(self, name, program, data):
        """Registers an agent in Python."""
        folder = self.path / name
        folder.mkdir()
        (folder / "agent.py").write_text(program)
        (folder / "arena-agent.toml").write_text('command = ["python3", "agent.py"]\n')
        self.arena("agent", "register", name, "--binary", name, "--data", data)

    def arena(self, *arguments, code=0, notes=False):
        """Standard output of a command, or standard error if it has to fail or its notes are wanted."""
        ran = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ran.returncode == code, f"{ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stderr if code or notes else ran.stdout

    def spec(self, ruleset, agents, blocks=4, more=""):
        path = self.path / f"{ruleset}.toml"
        variants = "".join(f'[[agent]]\nname = "{name}"\nbot = "random"\n' for name in agents if "-" in name)
        path.write_text(
            f'name = "cup"\nruleset = "{ruleset}"\nseed = "0x5eed"\nblocks = {blocks}\n'
            f"agents = {json.dumps(agents)}\n{more}{variants}"
        )
        return path


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
