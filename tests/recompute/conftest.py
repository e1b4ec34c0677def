"""Tournaments that other programs recompute from their exports."""

import json
import os
import pathlib
import subprocess
import sys
import zipapp
from dataclasses import dataclass, field

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARENA = os.environ.get("ARENA_BIN", str(ROOT / "target/debug/arena"))


@dataclass
class Tournament:
    """The results of a tournament."""

    id: str
    spec: dict
    standings: dict
    lines: list
    records: list = field(init=False)

    def __post_init__(self):
        self.records = [json.loads(line) for line in self.lines]


def toml(value):
    """A value in TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


class Arena:
    """The program, in its own folder."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def run(self, *arguments, codes=(0,)):
        return self.start(*arguments, codes=codes).stdout

    def errors(self, *arguments, codes=(0,)):
        """What a command writes to standard error."""
        return self.start(*arguments, codes=codes).stderr

    def start(self, *arguments, codes):
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("ARENA_")
        }
        environment["NO_COLOR"] = "1"
        # Agents may read the SDK, which is not installed but linked.
        environment["ARENA_AGENT_PATH"] = str(ROOT / "agents/sdk/python")
        environment["PATH"] = os.path.dirname(sys.executable) + ":" + environment["PATH"]
        done = subprocess.run(
            [ARENA, *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode in codes, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def tournament(
        self, name, ruleset, agents, blocks, seed="0x5eed", bots=None, codes=(0,), **more
    ):
        """Plays a spec. `bots` are variants: name to (bot, options)."""
        spec = {"name": name, "ruleset": ruleset, "seed": seed, "blocks": blocks, "agents": agents}
        spec |= more
        text = "".join(
            f"{key} = {toml(value)}\n" for key, value in spec.items() if not isinstance(value, dict)
        )
        text += "".join(
            f"[{key}]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in value.items())
            for key, value in spec.items()
            if isinstance(value, dict)
        )
        for agent, (bot, options) in (bots or {}).items():
            text += f"[[agent]]\nname = {toml(agent)}\nbot = {toml(bot)}\noptions = {toml(options)}\n"
        self.count += 1
        file = self.folder / f"{self.count}.toml"
        file.write_text(text)
        run = self.run("run", file, "--data", "data", "--output", "json", codes=codes)
        played = json.loads(run)
        assert played["state"] == "finished", run
        found = played["tournament_id"]
        shown = self.run("standings", found, "--data", "data", "--crosstable", "--output", "json")
        lines = self.run("export", found, "--data", "data").splitlines()
        return Tournament(found, spec, json.loads(shown), lines)

    def register(self, name, program, *arguments):
        """Registers a program with arguments."""
        more = ["--", *arguments] if arguments else []
        self.run("agent", "register", name, "--binary", program, "--data", "data", *more)

    def misbehave(self, name, mode, *arguments):
        """Registers an agent of tests/agents/misbehave."""
        program = self.folder / "misbehave"
        if not program.exists():
            zipapp.create_archive(
                ROOT / "tests/agents/misbehave", program, interpreter="/usr/bin/env python3"
            )
        self.register(name, program, mode, *arguments)


@pytest.fixture(scope="session")
def arena(tmp_path_factory):
    if not pathlib.Path(ARENA).is_file():
        pytest.fail(f"there is no {ARENA}: build it first")
    return Arena(tmp_path_factory.mktemp("recompute"))
