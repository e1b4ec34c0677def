"""All of Arena on this machine, started by deploy/local/run."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from conftest import DEADLINE, ROOT

ARENA = os.environ.get("ARENA_BIN") or str(ROOT / "target/debug/arena")
RUN = str(ROOT / "deploy/local/run")
COORDINATORS = ["coordinator-1", "coordinator-2"]
WORKERS = ["worker-1", "worker-2", "worker-3"]
EXIT_CODE = 7

# The command of --once: it shows its environment, and ends with the code in the next line of its input.
COMMAND = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.exit(int(input()))"

SPEC = """\
name = "{name}"
ruleset = "kalah"
seed = "0x5eed"
blocks = {blocks}
agents = ["{first}", "greedy"]

[play]
opening_plies = 4
"""

# An agent that sleeps, so that a tournament takes as long with any build of the program.
SLOW = """\
import time

from arena import serve


def choose(decision):
    time.sleep(0.005)
    return decision.rng.choice(decision.legal_moves)


serve(choose, name="slow", version="1.0.0", deterministic=True, uses_seed=True)
"""

has_postgres = shutil.which("initdb") or list(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
pytestmark = pytest.mark.skipif(not has_postgres, reason="PostgreSQL is not installed")

# Without a proxy.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url):
    """The status and the text of an answer; None if there is none."""
    try:
        with opener.open(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return None, ""


def until(what, look, pause=0.1):
    """Waits until a function returns something true, and returns that."""
    end = time.monotonic() + DEADLINE
    while not (found := look()):
        assert time.monotonic() < end, f"{what}: not within {DEADLINE} s"
        time.sleep(pause)
    return found


def processes(folder):
    """The processes that work in a folder or were started with its name."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            about = command + os.readlink(process / "cwd")
            about += (process / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(folder) in about:
            found[process.name] = command
    return found


class Stack:
    """Everything that deploy/local/run starts in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.process = None

    def start(self, *arguments, **environment):
        self.errors = open(self.folder.parent / "errors", "w+")
        self.process = subprocess.Popen(
            [RUN, "--dir", self.folder, *arguments],
            env={**os.environ, "ARENA_BIN": ARENA, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        return self

    def shown(self):
        self.errors.seek(0)
        return self.errors.read()

    def start_with_command(self):
        self.start("--once", sys.executable, "-c", COMMAND)
        line = self.process.stdout.readline()
        assert line, self.shown()
        self.environment = json.loads(line)
        return self

    def arena(self, *arguments):
        """Runs the program against the stack."""
        arguments = [self.environment["ARENA_BIN"], *map(str, arguments)]
        done = subprocess.run(
            arguments, env=self.environment, capture_output=True, text=True, timeout=DEADLINE
        )
        assert done.returncode == 0, f"{arguments}: {done}\n{self.shown()}"
        return done.stdout

    def spec(self, name, first, blocks):
        path = self.folder.parent / f"{name}.toml"
        path.write_text(SPEC.format(name=name, first=first, blocks=blocks))
        return path

    def metrics(self, name):
        """The address of a process's metrics."""
        addresses = self.environment["ARENA_LOCAL_METRICS"].split(",")
        return "http://" + dict(zip(COORDINATORS + WORKERS, addresses))[name]

    def games(self, name):
        """The games that became durable since a coordinator started."""
        lines = get(self.metrics(name) + "/metrics")[1].splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("arena_games_total{"))

    def owner(self):
        """The coordinator that owns the database."""
        healthy = (name for name in COORDINATORS if get(self.metrics(name) + "/healthz")[0] == 200)
        return next(healthy, None)

    def page(self, path):
        """A page of the coordinator that owns the database."""
        urls = self.environment["ARENA_LOCAL_WEB"].split(",")
        status, text = get(dict(zip(COORDINATORS, urls))[self.owner()] + path)
        assert status == 200, text
        return text

    def query(self, expression):
        """The values of a query in Prometheus by the addresses of their processes."""
        query = urllib.parse.urlencode({"query": expression})
        status, text = get(f"{self.environment['ARENA_LOCAL_PROMETHEUS']}/api/v1/query?{query}")
        assert status == 200, text
        result = json.loads(text)["data"]["result"]
        return {one["metric"]["instance"]: float(one["value"][1]) for one in result}

    def wait(self, code, line=None):
        """Waits until everything has ended in order and nothing is left."""
        self.process.communicate(line, timeout=DEADLINE)
        assert self.process.returncode == code, self.shown()
        assert processes(self.folder) == {}, self.shown()
        # It waited for each process.
        assert list((self.folder / "pid").iterdir()) == []
        for name, last in [("postgres", "is shut down"), *((one, "stopped; ") for one in COORDINATORS)]:
            assert last in (self.folder / "log" / f"{name}.log").read_text().splitlines()[-1]

    def close(self):
        """Stops what a failed test left."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.communicate(timeout=DEADLINE)
        if self.process:
            self.errors.close()


@pytest.fixture(scope="module")
def new_stack():
    """Makes stacks with folders that all users can reach: PostgreSQL does not run as root."""
    stacks, folders = [], []

    def made():
        folders.append(pathlib.Path(tempfile.mkdtemp(prefix="arena-local-")))
        folders[-1].chmod(0o755)
        stacks.append(Stack(folders[-1] / "stack"))
        return stacks[-1]

    yield made
    for stack in stacks:
        stack.close()
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def stack(new_stack):
    """A running stack for all tests of this file."""
    return new_stack().start_with_command()


def test_tournament_is_played_and_on_the_page(stack):
    spec = stack.spec("native", "random", 150)
    standings = json.loads(stack.arena("tournament", "start", spec, "--watch", "--output", "json"))
    assert (standings["state"], standings["games"], standings["games_total"]) == ("finished", 300, 300)
    tournament = standings["tournament_id"]
    assert f'href="/t/{tournament}"' in stack.page("/")
    shown = json.loads(stack.page(f"/api/tournaments/{tournament}"))["standings"]
    assert shown["games"] == 300
    assert "greedy" in stack.page(f"/t/{tournament}")


def test_killed_owner_loses_no_game(stack):
    agent = stack.folder.parent / "slow"
    stack.arena("agent", "new", "--lang", "python", agent)
    (agent / "agent.py").write_text(SLOW)
    stack.arena("agent", "register", "slow", "--binary", agent)
    killed = stack.owner()
    before = stack.games(killed)
    spec = stack.spec("killed", "slow", 100)
    started = [ARENA, "tournament", "start", spec, "--watch", "--output", "json"]
    watching = subprocess.Popen(
        started, env=stack.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until("the first games", lambda: stack.games(killed) > before, pause=0.01)
    os.kill(int((stack.folder / "pid" / killed).read_text()), signal.SIGKILL)
    out, err = watching.communicate(timeout=DEADLINE)
    assert watching.returncode == 0, err + stack.shown()
    standings = json.loads(out)
    assert (standings["state"], standings["games"], standings["games_total"]) == ("finished", 200, 200)
    assert [agent["voids"] for agent in standings["agents"]] == [0, 0]
    # The other one wrote the rest of the games.
    other = stack.owner()
    assert {killed, other} == set(COORDINATORS)
    assert 0 < stack.games(other) < 200
    assert standings["tournament_id"] in stack.page("/")
    # It is started again, and stands by.
    until("a standby", lambda: get(stack.metrics(killed) + "/healthz")[0] == 503)
    assert f"{killed} ended (exit code 137): it is started again" in stack.shown()


def test_prometheus_has_all_processes_and_games(stack):
    if not stack.environment["ARENA_LOCAL_PROMETHEUS"]:
        pytest.skip("Prometheus is not installed: tests/setup installs it")
    spec = stack.spec("measured", "random", 100)
    standings = json.loads(stack.arena("tournament", "start", spec, "--watch", "--output", "json"))
    expected = {stack.metrics(name).removeprefix("http://"): 1 for name in COORDINATORS + WORKERS}
    until("five processes are up", lambda: stack.query("up") == expected)
    owner = stack.metrics(stack.owner()).removeprefix("http://")
    games = f'arena_tournament_games{{tournament="{standings["tournament_id"]}", state="done"}}'
    until("all games", lambda: stack.query(games) == {owner: 200})


def test_stop_leaves_nothing_and_next_start_continues(stack):
    # If only this test runs.
    stack.arena("tournament", "start", stack.spec("kept", "random", 10), "--watch")
    before = json.loads(stack.arena("tournament", "list", "--output", "json"))
    assert len(processes(stack.folder)) > len(COORDINATORS + WORKERS)
    stack.wait(EXIT_CODE, f"{EXIT_CODE}\n")

    # Without Prometheus.
    programs = stack.folder.parent / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for program in os.scandir(folder) if os.path.isdir(folder) else []:
            link = programs / program.name
            if program.name != "prometheus" and not link.is_symlink():
                link.symlink_to(program.path)
    stack.start(PATH=str(programs))
    while "Ctrl-C" not in (line := stack.process.stdout.readline()):
        assert line, stack.shown()
    assert "Prometheus is missing" in stack.shown()
    script = 'source "$0/environment" && exec "$ARENA_BIN" tournament list --output json'
    listed = subprocess.run(["bash", "-c", script, stack.folder], capture_output=True, text=True)
    assert json.loads(listed.stdout) == before, listed
    stack.process.terminate()
    stack.wait(0)


def test_process_that_does_not_start_shows_its_log(new_stack):
    stack = new_stack()
    broken = stack.folder.parent / "arena"
    broken.write_text("#!/bin/sh\necho broken on purpose >&2\nexit 4\n")
    broken.chmod(0o755)
    stack.start(ARENA_BIN=str(broken))
    stack.process.communicate(timeout=DEADLINE)
    assert stack.process.returncode == 1, stack.shown()
    assert "coordinator-1 ended at its start" in stack.shown()
    assert "  broken on purpose" in stack.shown()
    assert processes(stack.folder) == {}


def test_port_in_use_is_named(new_stack):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        stack = new_stack().start("--base-port", str(port))
        stack.process.communicate(timeout=DEADLINE)
    assert stack.process.returncode == 1
    assert f"port {port} is in use" in stack.shown()
