"""Starts agents as Arena does: a process, reported by ARENA_LISTEN where to listen."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from client import Client

SDK = Path(__file__).resolve().parents[1]
SECONDS = 30


class Process:
    """A served agent. Its output is kept in files, so that no pipe fills up."""

    def __init__(self, folder, script, listen=None):
        self.listen = listen or f"unix:{folder / 'agent.sock'}"
        self._stderr = folder / "stderr.txt"
        environment = {**os.environ, "ARENA_LISTEN": self.listen, "PYTHONPATH": str(SDK)}
        with self._stderr.open("w") as stderr:
            self.child = subprocess.Popen(
                [sys.executable, str(script)], env=environment, stderr=stderr
            )
        self.client = Client(self.listen)

    def stderr(self):
        return self._stderr.read_text()

    def terminate(self):
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(SECONDS)

    def close(self):
        self.client.channel.close()
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


@pytest.fixture
def start(tmp_path):
    """Starts a script, given as a path or as its text."""
    started = []

    def run(script, ready=True, **more):
        folder = tmp_path / str(len(started))
        folder.mkdir()
        if not isinstance(script, Path):
            text, script = script, folder / "agent.py"
            script.write_text("from arena_agent import *\n" + textwrap.dedent(text))
        process = Process(folder, script, **more)
        started.append(process)
        if ready:
            process.client.health()
        return process

    yield run
    for process in started:
        process.close()
