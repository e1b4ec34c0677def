"""Tournaments on games of OpenSpiel whose processes are killed."""

import hashlib
import json
import os
import random
import signal
import subprocess
import time
from contextlib import ExitStack

import pytest
from conftest import PROGRAM

LONG = os.environ.get("ARENA_LONG")
#: What is killed, and how often in each tournament. Their order and the moments are drawn by a seed.
KILLS = {
    "rules": 3,
    "all rules of a worker": 1,
    "rules that start": 1,
    "worker": 2,
    "coordinator": 2,
}
#: The same with one worker. A worker whose rules were killed five times at a question reports that they fail.
KILLS_ALONE = {"rules": 2, "rules that start": 1, "worker": 2, "coordinator": 2}
#: Games with their seats, blocks, and seconds of a move while processes are killed.
GAMES = [
    ("backgammon", 2, 1, 0.4),
    ("connect_four", 2, 2, 0.5),
    ("goofspiel(num_cards=4)", 2, 2, 1.5),
    ("kuhn_poker", 3, 4, 2.5),
    ("leduc_poker", 2, 2, 2.5),
]
#: The long form plays each with three workers and with one.
PLAYED = [(3, *game) for game in (GAMES if LONG else GAMES[2:3])]
PLAYED += [(1, *game) for game in (GAMES if LONG else GAMES[-1:])]
#: The longest pause between two kills, in seconds.
GAP = 0.6
#: Maximum time for what takes a moment on a quiet machine.
TIMEOUT = 40

#: A bot that thinks as long as a file says, without the processor: games last until all kills are done.
SLOW = """\
import time

from arena_agent import Agent, serve


class Slow(Agent):
    name = "slow"
    version = "1"
    deterministic = True
    uses_seed = True

    def pause(self):
        with open(%r) as file:
            return float(file.read() or 0)

    def choose(self, decision):
        start = time.monotonic()
        while time.monotonic() - start < self.pause():
            time.sleep(0.05)
        return decision.rng.choice(decision.legal)


serve(Slow())
"""


def until(what, ready):
    """Waits until a function returns something, and returns it."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if found := ready():
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {TIMEOUT} s: {what}")


def below(parents):
    """The programs of all processes that these ones started, by id."""
    children, names = {}, {}
    for folder in os.scandir("/proc"):
        if not folder.name.isdecimal():
            continue
        try:
            with open(f"{folder.path}/stat") as stat, open(f"{folder.path}/cmdline") as line:
                parent = int(stat.read().rpartition(")")[2].split()[1])
                names[int(folder.name)] = line.read().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        children.setdefault(parent, []).append(int(folder.name))
    found, left = {}, list(parents)
    while left:
        for child in children.get(left.pop(), []):
            found[child] = names[child]
            left.append(child)
    return found


class Server:
    """A coordinator or a worker, which can be started again. Its log is kept."""

    def __init__(self, folder, name, *arguments):
        self.folder, self.arguments = folder, arguments
        self.log = folder.path / f"{name}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, *map(str, self.arguments)],
                cwd=self.folder.path,
                env=self.folder.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def address(self):
        """Waits until it listens."""
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        return json.loads(line)["listen"]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def rules(self):
        """Ids of its processes that answer for rules."""
        programs = below([self.process.pid])
        return sorted(pid for pid, line in programs.items() if line[:2] == ["python3", "ruleset.py"])


class Disturbed:
    """A coordinator and workers, which a seed kills."""

    def __init__(self, folder, data, seed, workers, stack):
        self.draw = random.Random(seed)
        self.rules_killed = 0
        any_port = "127.0.0.1:0"
        arguments = ["coordinator", "--data", data, "--metrics", any_port, "--listen"]
        self.coordinator = Server(folder, "coordinator", *arguments, any_port)
        self.coordinator.start()
        stack.callback(lambda: self.coordinator.kill())
        listen = self.coordinator.address()
        self.url = f"http://{listen}"
        self.coordinator.arguments = (*arguments, listen)
        of = ("worker", "--coordinator", self.url, "--metrics", any_port, "--capacity", 1)
        names = [f"worker-{it}" for it in range(workers)]
        self.workers = [Server(folder, name, *of, "--name", name) for name in names]
        for worker in self.workers:
            worker.start()
            stack.callback(worker.kill)

    def kill_rules(self, pids):
        """Kills processes of the rules. Returns how many: some may have just been replaced."""
        killed = 0
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed += 1
        self.rules_killed += killed
        return killed

    def worker_with_rules(self):
        """Waits until some have processes of the rules, and draws one of these."""
        return self.draw.choice(until("rules run", lambda: [it for it in self.workers if it.rules()]))

    def strike(self, target):
        """Kills what is named, as soon as there is one."""
        if target == "worker":
            worker = self.draw.choice(self.workers)
            worker.kill()
            worker.start()
        elif target == "coordinator":
            self.coordinator.kill()
            self.coordinator.start()
            self.coordinator.address()
        else:
            until("rules are killed", lambda: self.strike_rules(target))

    def strike_rules(self, target):
        worker = self.worker_with_rules()
        pids = worker.rules()
        if len(self.workers) == 1:
            pids = pids[:1]
        if target == "rules":
            return self.kill_rules([self.draw.choice(pids)] if pids else [])
        killed = self.kill_rules(pids)
        if target == "rules that start":
            killed = until("rules start again", lambda: self.kill_rules(worker.rules()[:1]))
        return killed


@pytest.mark.parametrize("workers, game, seats, blocks, pause", PLAYED)
def test_killed_processes_change_no_result(folder, workers, game, seats, blocks, pause):
    (folder.path / "pause").mkdir()
    file = folder.path / "pause/seconds"
    folder.environment["ARENA_AGENT_PATH"] += f":{file.parent}"
    folder.agent("slow", program=SLOW % str(file))
    more = f'seats = {seats}\n[play]\nmove_timeout = "30s"\n'
    spec = folder.spec("cup", ["slow", "spiel", "random"], blocks=blocks, more=more)

    def register(data):
        folder.arena("rulesets", "register", "cup", "--openspiel", game, "--data", data)
        folder.arena("agent", "register", "spiel", "--openspiel", "uniform-random", "--data", data)
        folder.arena("agent", "register", "slow", "--binary", "slow", "--data", data)

    def exported(data):
        return folder.arena("export", tournament, "--format", "jsonl", "--data", data)

    file.write_text("0")
    register("calm")
    run = ("run", spec, "--data", "calm", "--workers", 1, "--output", "json")
    tournament = json.loads(folder.arena(*run))["tournament_id"]

    file.write_text(str(pause))
    register("disturbed")
    with ExitStack() as stack:
        disturbed = Disturbed(folder, "disturbed", game, workers, stack)
        of = ("--coordinator", disturbed.url)
        listed = json.loads(folder.arena("tournament", "start", spec, *of, "--output", "json"))
        assert listed["tournament_id"] == tournament
        kills = KILLS_ALONE if workers == 1 else KILLS
        strikes = [target for target, count in kills.items() for _ in range(count)]
        disturbed.draw.shuffle(strikes)
        for target in strikes:
            time.sleep(disturbed.draw.uniform(0, GAP))
            disturbed.strike(target)
        shown = json.loads(folder.arena("standings", tournament, *of, "--output", "json"))
        assert shown["state"] == "running", shown
        file.write_text("0")
        folder.arena("tournament", "watch", tournament, *of)
        logs = [worker.log.read_text() for worker in disturbed.workers]
    # Those of "all rules of a worker" are at least one, and those of "rules that start" at least two.
    assert disturbed.rules_killed >= kills["rules"] + kills.get("all rules of a worker", 0) + 2
    # A process that is killed while it is idle fails when it is asked next.
    assert "signal SIGKILL ended the process; asking another process" in "".join(logs)

    standings = json.loads(folder.arena("standings", tournament, "--data", "disturbed", "--output", "json"))
    assert standings["state"] == "finished"
    assert standings["games_clean"] == standings["games"] >= 6
    for agent in standings["agents"]:
        assert (agent["faults"], agent["voids"]) == (0, 0), agent
    records = exported("disturbed")
    digests = [hashlib.sha256(it.encode()).hexdigest() for it in (records, exported("calm"))]
    assert digests[0] == digests[1]
    assert len(records.splitlines()) == standings["games"]
    # With several workers, another one has replayed each record.
    assert ("unverified" in json.dumps(standings["notes"])) == (workers == 1)
    games = range(standings["games"])
    for index in games if LONG else games[::4]:
        replayed = folder.arena("game", "replay", f"{tournament}/{index}", "--data", "disturbed")
        assert "are correct" in replayed
    for index in games if LONG else (games[0], games[-1]):
        rerun = folder.arena("game", "rerun", f"{tournament}/{index}", "--data", "disturbed")
        assert "same hash" in rerun
    folder.arena("store", "verify", "--data", "disturbed")
