"""Agents of the kits, as processes that speak the line protocol."""

import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KITS = ROOT / "agents/kits"

# The programs that a kit needs.
NEEDS = {
    "python": ["python3"],
    "typescript": ["node", "npm", "tsc"],
    "javascript": ["node"],
    "rust": ["cargo"],
    "cpp": ["c++"],
    "c": ["cc"],
    "go": ["go"],
    "java": ["java", "javac"],
    "bash": ["bash"],
}

# Ends an agent that does not answer, so that a test fails instead of waiting forever.
DEADLINE = 120


def compiler_modules():
    """The folder node_modules with the TypeScript compiler, or None."""
    tsc = shutil.which("tsc")
    modules = tsc and pathlib.Path(tsc).parent.parent
    return modules if modules and (modules / "@types/node").is_dir() else None


def build(lang, folder, edit=None):
    """Copies a kit into a folder, edits its policy, and builds it as its check script does."""
    missing = [program for program in NEEDS[lang] if shutil.which(program) is None]
    if lang == "typescript" and not missing and compiler_modules() is None:
        missing = ["@types/node"]
    if missing:
        pytest.skip(f"the kit {lang} needs {', '.join(missing)}")
    shutil.copytree(
        KITS / lang,
        folder,
        ignore=shutil.ignore_patterns("target", "node_modules", "dist", "classes", "__pycache__"),
    )
    if lang == "typescript":
        (folder / "node_modules").symlink_to(compiler_modules())
    if edit:
        edit(folder)
    environment = {**os.environ, "ARENA": "true"}
    # Without cargo's variables of a test run.
    environment = {key: value for key, value in environment.items() if not key.startswith("CARGO_")}
    built = subprocess.run(
        ["./check"], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning" not in built.stderr, built.stderr
    return folder


class Agent:
    """A running agent."""

    def __init__(self, folder, command=None):
        if command is None:
            manifest = (folder / "arena-agent.toml").read_text()
            command = ast.literal_eval(re.search(r"^command = (.*)$", manifest, re.M).group(1))
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.timer = threading.Timer(DEADLINE, self.process.kill)
        self.timer.start()

    def write(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def send(self, *messages):
        for message in messages:
            self.write(json.dumps(message) + "\n")

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"{line}: {self.process.stderr.read().decode()}"
        return json.loads(line)

    def ask(self, message):
        self.send(message)
        return self.receive()

    def end(self):
        """Closes the input; returns the exit code and what is left of the outputs."""
        out, err = self.process.communicate()
        self.timer.cancel()
        return self.process.returncode, out.decode(), err.decode()

    def kill(self):
        self.timer.cancel()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start():
    """Starts agents, which end with the test."""
    agents = []

    def started(folder, command=None):
        agents.append(Agent(folder, command))
        return agents[-1]

    yield started
    for agent in agents:
        agent.kill()
