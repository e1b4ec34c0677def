"""Agents of the kits in a folder of a test, with Arena's own rules."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KITS = ROOT / "agents/kits"
EXAMPLES = ROOT / "agents/rules/examples"
TARGET = Path(os.environ.get("ARENA_RULES_TARGET", ROOT / "target/rules"))
ARENA = Path(os.environ.get("ARENA_BIN", TARGET.parent / "debug/arena"))
IS_LONG = int(os.environ.get("ARENA_RULES_GAMES", "0")) >= 100_000

NEEDS = {
    "python": [sys.executable, TARGET / "wheels"],
    "javascript": ["node", "npm", TARGET / "node/arena_rules.node"],
    "typescript": ["node", "npm", "tsc", TARGET / "node/arena_rules.node"],
    "c": ["cc", TARGET / "release/libarena_rules.a"],
    "cpp": ["c++", TARGET / "release/libarena_rules.a"],
    "go": ["go", "cc", TARGET / "release/libarena_rules.a"],
    "rust": ["cargo"],
}


def needs(lang):
    """Skips a test if something is missing that a language needs."""
    missing = [str(one) for one in NEEDS[lang] if not (Path(one).exists() or shutil.which(one))]
    if missing:
        pytest.skip(f"{lang} needs {', '.join(missing)}")


def environment():
    """The environment of a user: no variables of Cargo, and no path to the Python module."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CARGO_", "PYTHON"))}
    python = os.path.dirname(sys.executable)
    return kept | {"PATH": f"{python}:{kept['PATH']}", "ARENA": "true", "npm_config_offline": "true"}


def run(command, folder, **more):
    """Runs a command of a shell; returns what it printed."""
    command = ["sh", "-ec", command] if isinstance(command, str) else command
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=900, **more
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def search_ahead(lang):
    """The commands of "Search ahead" in the README of a kit, without those that build the packages."""
    section = (KITS / lang / "README.md").read_text().split("## Search ahead\n")[1].split("\n## ")[0]
    lines = re.search(r"^```sh\n(.*?)^```$", section, re.M | re.S).group(1).splitlines()
    assert lines[0].startswith("source=~/arena ")
    lines[0] = f"source={ROOT}"
    lines = [line.replace("$source/target/rules", str(TARGET)) for line in lines if " build " not in line]
    return "\n".join(lines)


def made(lang, folder):
    """A kit in a folder, after the commands of "Search ahead"."""
    needs(lang)
    built = shutil.ignore_patterns("target", "node_modules", "dist", "__pycache__", "agent")
    shutil.copytree(KITS / lang, folder, ignore=built)
    commands = search_ahead(lang)
    if lang != "typescript":
        run(commands, folder)
        return folder
    # Without a network: the compiler and its types are those of tests/setup.
    run("npm pkg delete devDependencies", folder)
    install, build = commands.replace("./check", ""), "./check"
    run(install, folder)
    types = Path(shutil.which("tsc")).parent.parent / "@types"
    (folder / "node_modules/@types").symlink_to(types)
    run(build, folder)
    return folder


class Agent:
    """A process that answers lines."""

    def __init__(self, folder):
        manifest = (folder / "arena-agent.toml").read_text()
        command = ast.literal_eval(re.search(r"^command = (.*)$", manifest, re.M).group(1))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=folder, env=environment(), **pipes)
        self.batches = 0
        self.hello = self.ask({"type": "hello", "protocol": 1, "arena": "0.1.0"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, message):
        self.send(message)
        return json.loads(self.process.stdout.readline())

    def start(self, game, **options):
        """Sends a game. Later decisions are of this game."""
        self.send({
            "type": "game", "context": 7, "ruleset": game.ruleset, "rules_version": game.version,
            "seats": game.seats, "options": game.options, "bot": "", "nodes": "0",
            "bot_options": {name: str(value) for name, value in options.items()},
        })  # fmt: skip

    def answer(self, decisions):
        """The answer to some states, each with a seed."""
        self.batches += 1
        return self.ask({
            "type": "ask", "batch": self.batches, "time_budget_us": 0,
            "decisions": [
                {
                    "slot": slot, "context": 7, "seat": state.to_move, "number": 0,
                    "seed": str(seed), "legal_moves": state.legal(),
                    "position": json.loads(state.to_json()),
                }
                for slot, (state, seed) in enumerate(decisions)
            ],
        })  # fmt: skip

    def moves(self, decisions):
        """The moves for some states, each with a seed."""
        answer = self.answer(decisions)
        assert (answer["type"], answer["batch"]) == ("answer", self.batches), answer
        return answer["moves"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        self.process.stdout.close()
