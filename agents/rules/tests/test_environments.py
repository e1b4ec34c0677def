"""The environments of PettingZoo and Gymnasium keep their contracts, and have Arena's rules."""

import random
import sys
import warnings
from pathlib import Path

import pytest

from arena_rules import POINT, Game, rulesets

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
pytest.importorskip("google.protobuf", reason="the SDK needs protobuf")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdk/python"))

import numpy as np  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import api_test, seed_test  # noqa: E402

from arena_agent.environments import RulesetEnv, SeatEnv, env  # noqa: E402

CASES = [(name, 2) for name in rulesets()] + [("cowry", 3), ("cowry", 4)]


@pytest.mark.parametrize("ruleset, seats", CASES)
def test_api_of_pettingzoo_holds(ruleset, seats):
    with warnings.catch_warnings():
        # Numbers of a position have no useful upper bound.
        warnings.simplefilter("ignore")
        api_test(env(ruleset, seats=seats), num_cycles=400)


@pytest.mark.parametrize("ruleset, seats", CASES)
def test_same_seed_gives_the_same_game(ruleset, seats):
    seed_test(lambda: env(ruleset, seats=seats), num_cycles=60)


@pytest.mark.parametrize("ruleset, seats", CASES)
def test_rewards_are_the_scores_of_arena(ruleset, seats):
    table = RulesetEnv(ruleset, seats=seats)
    rng = random.Random(ruleset)
    for seed in range(5):
        table.reset(seed=seed)
        got = dict.fromkeys(table.agents, 0.0)
        moves = 0
        for agent in table.agent_iter():
            observation, reward, terminated, truncated, _ = table.last()
            got[agent] += reward
            if terminated or truncated:
                table.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            assert len(legal) > 1, "forced moves are not asked"
            table.step(int(rng.choice(list(legal))))
            moves += 1
        values = table._table.state.values()
        assert list(got.values()) == [2 * value / POINT - 1 for value in values] and moves > 2
        assert sum(values) == pytest.approx(seats * POINT / 2, abs=seats)


@pytest.mark.parametrize("ruleset, seats", CASES)
def test_gymnasium_accepts_every_seat(ruleset, seats):
    def first(observation, mask):
        return int(np.flatnonzero(mask)[0])

    for seat in range(seats):
        single = SeatEnv(ruleset, seats=seats, seat=seat, opponents=[first] * (seats - 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_env(single, skip_render_check=True)
        _, info = single.reset(seed=3)
        over, reward = False, 0.0
        while not over:
            legal = np.flatnonzero(info["action_mask"])
            _, reward, over, _, info = single.step(int(legal[-1]))
        assert -1.0 <= reward <= 1.0


def test_wrong_seats_and_opponents_are_named():
    with pytest.raises(ValueError, match="seats 0 to 1"):
        SeatEnv("kalah", seat=2)
    with pytest.raises(ValueError, match="1 other seats"):
        SeatEnv("kalah", opponents=[lambda *_: 0] * 2)


def test_mask_has_the_moves_of_the_rules():
    table = RulesetEnv("kalah", options={"pits": 4})
    table.reset(seed=1)
    assert list(table.last()[0]["action_mask"]) == [1, 1, 1, 1]
    assert Game("kalah", {"pits": 4}).initial().legal() == [0, 1, 2, 3]
