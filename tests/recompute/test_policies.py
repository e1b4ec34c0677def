"""Agents of `from_policy`: their masks fit the engine's action ids."""

import json
import re

import pytest
import replay
from conftest import ROOT

# Checks each observation and mask, and reports a wrong one as a fault.
AGENT = """#!/usr/bin/env python3
from arena_agent import from_policy, serve

LENGTH, ACTIONS = {length}, {actions}


def policy(observation, mask):
    assert (len(observation), len(mask)) == (LENGTH, ACTIONS), (len(observation), len(mask))
    assert all(isinstance(number, int) for number in observation)
    legal = [action for action, ok in enumerate(mask) if ok]
    return legal[sum(observation) % len(legal)]


serve(from_policy(policy, rulesets=("{ruleset}",), deterministic=True, uses_seed=False))
"""


def actions_of(ruleset, options):
    """The number of actions as the README of the SDK has it."""
    readme = (ROOT / "agents/sdk/python/README.md").read_text()
    text = re.search(rf"^\| `{ruleset}` \| ([^|:]+)[:|]", readme, re.M).group(1).strip()
    text = re.sub(r"`(\w+)`", lambda name: str(options[name.group(1)]), text)
    return eval(text.replace("·", "*"), {})


@pytest.mark.parametrize(
    ("ruleset", "seats", "options", "length"),
    [
        ("chess", 2, {"max_plies": 60}, 73),
        ("chess", 2, {"variant": "chess960", "max_plies": 60}, 73),
        ("chinese-ludo", 2, {}, 12),
        ("cowry", 2, {"pieces": 2}, 18),
        ("cowry", 4, {"preset": "basic"}, 32),
        ("cowry", 3, {"variant": "doubles", "pieces": 3}, 24),
        ("kalah", 2, {"pits": 4, "stones": 3}, 12),
        ("oware-abapa", 2, {}, 17),
        ("oware-anan-anan", 2, {}, 18),
    ],
)
def test_masks_fit_the_ids_of_the_engine(arena, ruleset, seats, options, length):
    listing = json.loads(arena.run("rulesets", ruleset, "--output", "json"))
    resolved = {option["name"]: option["default"] for option in listing["options"]} | options
    if ruleset == "cowry" and not resolved["pieces"]:
        resolved["pieces"] = resolved["board"] - 1
    actions = actions_of(ruleset, resolved)
    name = f"policy-{ruleset}-{seats}-{length}"
    program = arena.folder / f"{name}.py"
    program.write_text(AGENT.format(ruleset=ruleset, length=length, actions=actions))
    program.chmod(0o755)
    arena.register(name, program)
    agents = [name, *(f"a{seat}" for seat in range(1, seats))]
    bots = {agent: ("random", {}) for agent in agents[1:]}
    played = arena.tournament(name, ruleset, agents, 4, bots=bots, seats=seats, options=options)
    ids = set()
    for record in played.records:
        assert record["fault"] is None, record["fault"]
        assert record["options"]["pieces"] == resolved["pieces"] if ruleset == "cowry" else True
        ids |= {event["action"] for event in record["events"] if "action" in event}
        game = replay.RULESETS[ruleset](record["options"], seats)
        assert game.PASS in (None, actions - 1)
    assert max(ids) < actions
