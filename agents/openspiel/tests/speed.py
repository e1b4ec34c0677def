"""Plies of a game a second: OpenSpiel's own loop in Python, and Arena by the protocol for rules.

    ARENA_BIN=target/release/arena python agents/openspiel/tests/speed.py [GAME [BLOCKS]]

Each uses two cores. OpenSpiel's loop runs in two processes; Arena plays a tournament of two random bots
with one worker, which starts one process of the rules for each core.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyspiel
from conftest import Folder

SECONDS = 5
CORES = 2


def loop(arguments):
    name, seed = arguments
    game, draw, plies, start = pyspiel.load_game(name), random.Random(seed), 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes())
                state.apply_action(draw.choices(actions, weights)[0])
            else:
                state.apply_action(draw.choice(state.legal_actions()))
                plies += 1
    return plies / (time.perf_counter() - start)


def tournament(name, blocks):
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(Path(path))
        package = folder.path / "rules"
        package.mkdir()
        write = [sys.executable, "-m", "arena_openspiel.package", "ruleset", name]
        subprocess.run(write, cwd=package, check=True)
        folder.arena("rulesets", "register", "game", "--package", "rules", "--data", "data")
        spec = folder.spec("game", ["random", "second"], blocks, '[[agent]]\nname = "second"\nbot = "random"\n')
        start = time.perf_counter()
        run = folder.arena("run", spec, "--data", "data", "--workers", "1", "--output", "json")
        seconds = time.perf_counter() - start
        exported = folder.arena("export", json.loads(run)["tournament_id"], "--format", "jsonl", "--data", "data")
        games = [json.loads(line) for line in exported.splitlines()]
        return sum(game["plies"] for game in games) / seconds, len(games), seconds


def main(name="connect_four", blocks="1500"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    with ProcessPoolExecutor(CORES) as pool:
        print(f"OpenSpiel's loop in Python: {sum(pool.map(loop, [(name, 1), (name, 2)])):,.0f} plies/s")
    speed, games, seconds = tournament(name, int(blocks))
    print(f"tournament of Arena: {speed:,.0f} plies/s ({games:,} games in {seconds:.1f} s, starts included)")


if __name__ == "__main__":
    main(*sys.argv[1:])
