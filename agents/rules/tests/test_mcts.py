"""The example agents play every ruleset over the line protocol, and beat `greedy`.

The driver is a small worker: it plays some games at once and asks in batches.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena_rules import POINT, Game, rulesets

FOLDER = Path(__file__).resolve().parent.parent / "examples"
CASES = [(name, 2) for name in rulesets()] + [("cowry", 3), ("cowry", 4)]


class Agent:
    """A process that answers lines."""

    def __init__(self, language, folder):
        program = {"python": "mcts.py", "node": "mcts.mjs"}[language]
        shutil.copy(FOLDER / program, folder)
        command = [sys.executable, program]
        if language == "node":
            package = os.environ.get("ARENA_RULES_NODE", "")
            if not Path(package, "arena_rules.node").exists() or not shutil.which("node"):
                pytest.skip("the Node module is not built")
            shutil.copytree(package, folder / "node_modules" / "arena-rules")
            command = ["node", program]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=folder, **pipes)
        self.batches = 0
        self.hello = self.ask({"type": "hello", "protocol": 1, "arena": "0.1.0"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, message):
        self.send(message)
        return json.loads(self.process.stdout.readline())

    def start(self, game, iterations):
        self.send({
            "type": "game", "context": 7, "ruleset": game.ruleset, "rules_version": game.version,
            "seats": game.seats, "options": game.options, "bot": "", "nodes": "0",
            "bot_options": {"iterations": str(iterations)},
        })  # fmt: skip

    def moves(self, decisions):
        """The answers to some states, each with a seed."""
        self.batches += 1
        answer = self.ask({
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
        assert answer["batch"] == self.batches
        return answer["moves"]


@pytest.fixture(params=["python", "node"])
def agent(request, tmp_path):
    agent = Agent(request.param, tmp_path)
    yield agent
    agent.process.stdin.close()
    assert agent.process.wait(10) == 0
    agent.process.stdout.close()


def greedy(state):
    """The move that leads to the position with the highest value for the mover."""

    def value(move):
        after = state.clone()
        after.apply(move)
        return after.values()[state.to_move]

    return max(state.legal(), key=value)


def mean_score(agent, game, games, rng):
    """The mean score of the agent against greedy, with each seat in turn."""
    running = [(game.initial(), number % game.seats) for number in range(games)]
    while True:
        asked = []
        for state, seat in running:
            while not state.is_over() and state.to_move != seat:
                if state.is_chance():
                    state.apply_outcome(rng.choices(*zip(*state.chance()))[0])
                else:
                    state.apply(greedy(state))
            if not state.is_over():
                asked.append((state, rng.getrandbits(64)))
        if not asked:
            return sum(state.values()[seat] for state, seat in running) / games / POINT
        for (state, _), move in zip(asked, agent.moves(asked)):
            state.apply(move)


@pytest.mark.parametrize(("ruleset", "seats"), CASES)
def test_agent_plays_every_ruleset(agent, ruleset, seats):
    game = Game(ruleset, {}, seats)
    agent.start(game, 8)
    # The driver applies the moves: an illegal one fails.
    assert 0 <= mean_score(agent, game, 4, random.Random(3)) <= 1


def test_agent_beats_greedy(agent):
    scores = []
    for ruleset, seats in CASES:
        game = Game(ruleset, {}, seats)
        agent.start(game, 150)
        scores.append(mean_score(agent, game, 24, random.Random(4)))
    assert sum(scores) / len(scores) > 0.6, scores


def test_same_seed_gives_the_same_move(agent):
    state = Game("kalah").initial()
    agent.start(Game("kalah"), 100)
    first, second = agent.moves([(state, 5), (state, 5)])
    assert first == second
    assert agent.moves([(state, 5)]) == [first]


def test_agent_describes_itself(agent):
    assert agent.hello["type"] == "hello" and agent.hello["protocol"] == 1
    assert [bot["name"] for bot in agent.hello["bots"]] == ["mcts"]
