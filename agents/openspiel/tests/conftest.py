"""Runs `arena` with agents of this package."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("ARENA_BIN") or str(PACKAGE.parents[1] / "target/debug/arena")


class Folder:
    """A folder in which commands run."""

    def __init__(self, path):
        self.path = path
        modules = ("arena_agent", "arena_openspiel", "pyspiel")
        readable = {str(Path(find_spec(name).origin).parents[name != "pyspiel"]) for name in modules}
        names = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self.environment = {
            **names,
            # The Python of the tests, whose packages may be elsewhere.
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ARENA_AGENT_PATH": ":".join(readable),
        }

    def agent(self, name, *arguments, program=None):
        """A folder with an agent: arguments of `python -m arena_openspiel`, or a program."""
        folder = self.path / name
        folder.mkdir()
        command = ["python3", "-m", "arena_openspiel", *arguments]
        if program is not None:
            (folder / "agent.py").write_text(program)
            command = ["python3", "agent.py"]
        (folder / "arena-agent.toml").write_text(f"command = {json.dumps(command)}\n")
        return name

    def arena(self, *arguments, code=0):
        """Standard output of a command, or standard error if it has to fail."""
        ran = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ran.returncode == code, f"{ran.stdout}\n{ran.stderr}"
        return ran.stderr if code else ran.stdout

    def spec(self, ruleset, agents, blocks=4, more=""):
        path = self.path / f"{ruleset}.toml"
        path.write_text(
            f'name = "cup"\nruleset = "{ruleset}"\nseed = "0x5eed"\nblocks = {blocks}\n'
            f"agents = {json.dumps(agents)}\n{more}"
        )
        return path

    def tournament(self, spec, agents, data, workers=1):
        """Registers agents of this folder, and plays. Returns standings and hashes of games."""
        for name in agents:
            self.arena("agent", "register", name, "--binary", name, "--data", data)
        run = ("run", spec, "--data", data, "--workers", workers, "--output", "json")
        standings = json.loads(self.arena(*run))
        games = self.arena("export", standings["tournament_id"], "--format", "jsonl", "--data", data)
        hashes = {game["index"]: game["hash"] for game in map(json.loads, games.splitlines())}
        return {agent["agent"]: agent for agent in standings["agents"]}, hashes


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
