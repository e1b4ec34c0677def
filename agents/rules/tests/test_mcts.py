"""The agents `mcts` play every ruleset over the line protocol, and beat `greedy` at each of them."""

import json
import random
import re

import pytest

from arena_rules import Game, rulesets
from kits import ARENA, EXAMPLES, IS_LONG, Agent, made, run

CASES = [(name, 2) for name in rulesets()] + [("cowry", 3), ("cowry", 4)]

# Blocks of two games with the seats exchanged: as many as decide. Games of a race are decided by luck more
# often.
BLOCKS = {"chess": 12, "chinese-ludo": 30, "cowry": 20, "kalah": 60, "oware-abapa": 8, "oware-anan-anan": 8}
ITERATIONS = 300

SPEC = """name = "{ruleset}"
ruleset = "{ruleset}"
seed = "0x5eed"
blocks = {blocks}
agents = ["mine", "greedy"]
"""


@pytest.fixture(scope="module", params=["python", "typescript"])
def folder(request, tmp_path_factory):
    return made(request.param, tmp_path_factory.mktemp(request.param) / "mcts")


@pytest.fixture
def agent(folder):
    agent = Agent(folder)
    yield agent
    agent.end()


@pytest.fixture(scope="module")
def data(folder):
    """A data folder in which the agent is registered."""
    if not ARENA.exists():
        pytest.skip(f"{ARENA} is not built; ARENA_BIN names another one")
    option = f"iterations={ITERATIONS}"
    run([ARENA, "agent", "register", "mine", "--binary", folder, "--option", option, "--data", "../data"], folder)
    return folder.parent / "data"


@pytest.mark.parametrize("program", ["mcts.py", "mcts.ts"])
def test_agent_has_less_than_80_lines(program):
    lines = (EXAMPLES / program).read_text().splitlines()
    code = [line for line in lines if not re.match(r"\s*(#|//|$)", line)]
    assert 40 < len(code) < 80


@pytest.mark.parametrize(("ruleset", "seats"), CASES)
def test_agent_plays_every_ruleset_and_number_of_seats(agent, ruleset, seats):
    game, rng = Game(ruleset, {}, seats), random.Random(3)
    agent.start(game, iterations=8)
    states = [game.initial() for _ in range(4)]
    while states:
        for state in states:
            while state.is_chance():
                state.apply_outcome(rng.choices(*zip(*state.chance()))[0])
        states = [state for state in states if not state.is_over()]
        asked = [(state, rng.getrandbits(64)) for state in states]
        # An illegal move fails.
        for state, move in zip(states, agent.moves(asked) if asked else []):
            state.apply(move)


# With and without dice, and the one with the most moves; the long form plays all.
@pytest.mark.parametrize("ruleset", rulesets() if IS_LONG else ["chess", "cowry", "kalah"])
def test_agent_beats_greedy(data, ruleset):
    spec = data.parent / f"{ruleset}.toml"
    blocks = BLOCKS[ruleset] * (5 if IS_LONG else 1)
    spec.write_text(SPEC.format(ruleset=ruleset, blocks=blocks))
    standings = json.loads(run([ARENA, "run", spec, "--data", data, "--output", "json"], data.parent))
    (mine,) = (agent for agent in standings["agents"] if agent["agent"] == "mine")
    assert (mine["games"], mine["faults"], mine["voids"]) == (2 * blocks, 0, 0)
    # The 95 % interval is above one half: of the score, or with dice, of the score without their luck.
    low = mine["score_low"] if mine["score_adjusted_low"] is None else mine["score_adjusted_low"]
    assert low > 0.5, mine
    assert (mine["wins"] + mine["draws"] / 2) / mine["games"] > 0.5, mine


def test_same_seed_gives_the_same_move(agent):
    state = Game("kalah").initial()
    agent.start(Game("kalah"), iterations=100)
    first, second = agent.moves([(state, 5), (state, 5)])
    assert first == second
    assert agent.moves([(state, 5)]) == [first]


def test_agent_describes_itself(agent):
    assert agent.hello["type"] == "hello" and agent.hello["protocol"] == 1
    assert [bot["name"] for bot in agent.hello["bots"]] == ["mcts"]
