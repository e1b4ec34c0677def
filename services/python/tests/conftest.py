"""A coordinator and a worker, started by the command on free ports of loopback."""

import json
import os
import pathlib
import subprocess
import time

import pytest

import arena

ROOT = pathlib.Path(__file__).resolve().parents[3]
PYTHON = ROOT / "services/python"
PROGRAM = os.environ.get("ARENA_BIN") or str(ROOT / "target/debug/arena")
LOOPBACK = "127.0.0.1:0"

SPEC = {
    "name": "small",
    "ruleset": "cowry",
    "seed": "0x5eed",
    "blocks": 4,
    "agents": ["random", "aggressive", "defensive"],
}
GAMES = 24


@pytest.fixture(scope="session", autouse=True)
def environment(tmp_path_factory):
    """No variable of the user reaches the client and the command."""
    if not pathlib.Path(PROGRAM).is_file():
        pytest.fail(f"there is no {PROGRAM}: build it first")
    for name in [name for name in os.environ if name.startswith("ARENA_")]:
        del os.environ[name]
    runtime = tmp_path_factory.mktemp("runtime")
    runtime.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    os.environ["ARENA_BIN"] = PROGRAM
    # Kernels of notebooks and scripts find the module.
    os.environ["PYTHONPATH"] = str(PYTHON / "src")


class Service:
    """A process of the command. It ends with the test."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [PROGRAM, *map(str, arguments), "--metrics", LOOPBACK],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        # Its first line comes when it serves.
        self.about = json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()


class Coordinator(Service):
    """A coordinator with a data folder of its own."""

    def __init__(self, data, *arguments, listen=LOOPBACK):
        super().__init__("coordinator", "--data", data, "--listen", listen, *arguments)
        self.data = data
        self.url = f"http://{self.about['listen']}"


@pytest.fixture(scope="session")
def idle(tmp_path_factory):
    """A coordinator without workers."""
    coordinator = Coordinator(tmp_path_factory.mktemp("idle") / "data")
    yield coordinator
    coordinator.stop()


@pytest.fixture(scope="session")
def coordinator(tmp_path_factory):
    """A coordinator with a worker."""
    coordinator = Coordinator(tmp_path_factory.mktemp("busy") / "data")
    worker = subprocess.Popen(
        [PROGRAM, "worker", "--coordinator", coordinator.url, "--metrics", LOOPBACK],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield coordinator
    worker.terminate()
    worker.wait(60)
    coordinator.stop()


@pytest.fixture(scope="session")
def client(coordinator):
    with arena.Client(coordinator.url) as client:
        yield client


@pytest.fixture(scope="session")
def played(client):
    """A finished tournament."""
    started = client.start(SPEC)
    client.wait(started)
    return started


@pytest.fixture(scope="session")
def result(tmp_path_factory):
    """A tournament that was run without a coordinator."""
    return arena.run(SPEC, data=tmp_path_factory.mktemp("run") / "data")


@pytest.fixture(scope="session")
def crashing(tmp_path_factory):
    """The program of an agent that never starts."""
    program = tmp_path_factory.mktemp("crashing") / "crashing.sh"
    program.write_text("#!/bin/sh\necho 'no model at weights.bin' >&2\nexit 7\n")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="session")
def stopped(client, crashing):
    """A tournament that paused itself, because an agent does not start."""
    client.command("agent", "register", "crashing", "--binary", str(crashing))
    started = client.start(SPEC, set={"name": "stopped", "agents": ["random", "crashing"]})
    while client.tournament(started).state == "running":
        time.sleep(0.02)
    return started
