"""Environments of PettingZoo by Arena's protocol for rules, compared with PettingZoo's own loop at each step."""

import importlib
import io
import json
import os
import pkgutil
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pettingzoo.classic
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test

import environments
from arena_pettingzoo import ruleset, two_players
from arena_pettingzoo.call import Call, Refused
from arena_pettingzoo.ruleset import Answers, Rules

OWN = Path(environments.__file__)
#: The long form plays slow environments as often as others, and to the end.
LONG = bool(os.environ.get("ARENA_LONG"))

CLASSIC = [it.name for it in pkgutil.iter_modules(pettingzoo.classic.__path__) if it.name[-3:-1] == "_v"]


def own(text):
    return f"{OWN}:{text}"


def answer(text):
    try:
        rules = Rules(text)
    except Refused as refused:
        return str(refused)
    return f"plays with {rules.seed_bits} bits"


# Random games, compared with the environment.


def ask(answers, **message):
    """An answer by lines of JSON."""
    output = io.BytesIO()
    ruleset.serve(answers, [json.dumps(message).encode()], output)
    return json.loads(output.getvalue())


def turns(environment, seed):
    """PettingZoo's loop. Yields the agent and what it sees, takes its action, and returns all rewards."""
    environment.reset(seed=seed)
    totals = dict.fromkeys(environment.possible_agents, 0)
    for agent in environment.agent_iter():
        seen, reward, terminated, truncated, info = environment.last()
        totals[agent] += reward
        if terminated or truncated:
            environment.step(None)
            continue
        space = environment.action_space(agent)
        mask = seen.get("action_mask") if isinstance(seen, dict) else info.get("action_mask")
        legal = range(space.n) if mask is None else np.flatnonzero(mask)
        environment.step(space.start + (yield agent, seen, legal))
    return totals


def rounds(environment, seed):
    """The same for a parallel environment, whose agents choose one after another."""
    seen, _ = environment.reset(seed=seed)
    totals = dict.fromkeys(environment.possible_agents, 0)
    while environment.agents:
        chosen = {}
        for agent in environment.agents:
            space = environment.action_space(agent)
            chosen[agent] = space.start + (yield agent, seen[agent], range(space.n))
        seen, rewards, _, _, _ = environment.step(chosen)
        for agent, reward in rewards.items():
            totals[agent] += reward
    return totals


def shown(seen):
    """An observation as JSON, apart from the mask."""
    if isinstance(seen, dict):
        seen = seen["observation"]
    return np.asarray(seen, dtype=object if seen is None else None).tolist()


def compare(text, make, loop, games, moves=20_000):
    """Plays random games by the protocol and in the environment itself. Returns how many ended."""
    rules, ended, draw = Rules(text), 0, random.Random(text)
    answers = Answers(rules)
    other = Answers(Rules(text, rules.seed_bits))
    description = ask(answers, type="describe", protocol=1)
    assert description == ask(other, type="describe", protocol=1)
    assert description["chance"] == (rules.seed_bits > 0) and len(description["summary"]) <= 400
    question = {"type": "game", "game": 0, "seats": description["seats"][0], "options": {}}
    first = ask(answers, **question)["node"]
    assert ask(other, **question)["node"] == first
    for _ in range(games):
        node, seed = first, 0
        while node["next"] == "chance":
            assert node["weights"] == [1] * 16 and len(set(node["outcomes"])) == 16
            outcome = draw.randrange(16)
            seed = seed << 4 | outcome
            node = step(answers, node, outcome)
        reference = loop(make(), seed)
        reply, played = next(reference), 0
        while node["next"] == "decision" and played < moves:
            agent, seen, legal = reply
            assert rules.agents[node["seat"]] == agent == node["position"]["agent"]
            assert node["legal"] == list(legal) and node["moves"] == [str(it) for it in legal]
            assert node["position"]["observation"] == shown(seen)
            if draw.randrange(16) == 0:
                # A process that has not seen the states before.
                look = {"type": "look", "batch": 1, "game": 0, "states": [node["state"]]}
                assert ask(other, **look)["nodes"] == [node]
            action, played = draw.choice(node["legal"]), played + 1
            node = step(answers, node, action)
            try:
                reply = reference.send(action)
            except StopIteration as stopped:
                totals, ended = [stopped.value[it] for it in rules.agents], ended + 1
                assert node["next"] == "over"
                assert node["ranks"] == [1 + sum(round(it - own, 9) > 0 for it in totals) for own in totals]
                assert node.get("scores", totals) == pytest.approx(totals)
        assert (node["next"] == "over") == (reference.gi_frame is None)
    return ended


def step(answers, node, event):
    asked = {"type": "apply", "batch": 1, "game": 0, "states": [node["state"]], "events": [event]}
    return ask(answers, **asked)["nodes"][0]


@pytest.mark.parametrize(
    "text, make",
    [
        ("cards(arena_returns=(-2, 2))", environments.cards),
        ("race", environments.race),
        ("race(goal=40)", lambda: environments.race(40)),
        ("nim(matches=17)", lambda: environments.nim(17)),
        ("truncated", environments.truncated),
        ("seldom_chance(arena_chance=True)", environments.seldom_chance),
    ],
)
def test_random_games_are_those_of_the_environment(text, make):
    assert compare(own(text), make, turns, 100) == 100


def test_random_games_are_those_of_the_parallel_environment():
    assert compare(own("rps(rounds=5)"), lambda: environments.rps(5), rounds, 100) == 100


@pytest.mark.parametrize("name", CLASSIC)
def test_classic_environment_plays(name):
    text = f"pettingzoo.classic.{name}"
    if name == "hanabi_v5":
        # It needs a module that is not installed, or all agents get the same rewards.
        refused = answer(text)
        assert "cannot be made: ImportError" in refused or "the same reward" in refused
        return
    try:
        module = importlib.import_module(text)
    except ModuleNotFoundError as error:
        pytest.skip(str(error))
    if name.startswith(("chess", "go_")) and not LONG:
        compare(text, module.env, turns, 2, 40)
        return
    assert compare(text, module.env, turns, 100) == 100
    has_chance = name.startswith(("leduc", "texas"))
    assert answer(f"{text}:raw_env") == f"plays with {64 * has_chance} bits"


# What a registration finds out.


@pytest.mark.parametrize(
    "text, bits",
    [
        ("cards", 64),
        ("race", 64),
        ("rps", 0),
        ("nim", 0),
        ("seeds_of_32_bits", 32),
        # Random games do not show it.
        ("seldom_chance", 0),
        ("seldom_chance(arena_chance=True)", 64),
    ],
)
def test_chance_is_found_by_random_games(text, bits):
    assert answer(own(text)) == f"plays with {bits} bits"
    rules = Rules(own(text))
    game = ruleset.Game(rules)
    node, events = game.look(""), 0
    while node["next"] == "chance":
        node, events = game.apply(node["state"], 15), events + 1
    assert events == bits // 4 and rules.describe()["events_max"] == 20_000
    assert game.kept[node["state"]][0].seed == (2**bits - 1 if bits else 0)


def test_chance_that_is_denied_is_refused():
    assert "random games with the same actions differ with the seed" in answer(own("cards(arena_chance=False)"))


@pytest.mark.parametrize(
    "text, where",
    [
        ("global_random_at_reset", "after 0 moves, at the observation of player_0"),
        ("global_generator_seeded_at_reset", "after 1 moves, at the observation of player_0"),
        ("clock", "after 0 moves, at the observation of player_0"),
    ],
)
def test_environment_that_its_seed_does_not_determine_is_named(text, where):
    refused = answer(own(text))
    for words in [f"{text}: it is not determined by its seed", where, "np_random(seed)"]:
        assert words in refused


@pytest.mark.parametrize(
    "text, error",
    [
        ("players(count=1)", "it has 1 agent; Arena supports 2 to"),
        ("players(count=99)", "it has 99 agents; Arena supports 2 to"),
        ("players(count=0)", "it has no possible_agents"),
        ("box", "the action space of player_0 is Box("),
        ("multi_discrete", "is MultiDiscrete([2 3]), and Arena supports Discrete alone"),
        ("many_actions", "player_0 has 40000 actions; Arena supports 32768"),
        ("large_observation", "bytes as JSON; Arena supports 262144"),
        ("strange_observation", "an observation has a object, which has no JSON"),
        ("short_mask", "the action mask of player_0 has shape (1,), and there are 2 actions"),
        ("no_legal_action", "player_0 has no legal action: its action mask is 0"),
        ("together", "all agents get the same reward in random games"),
        ("not_an_environment", "the function returns str, which is no AECEnv or ParallelEnv"),
        ("of_gymnasium", "returns Nim, which is no AECEnv or ParallelEnv; two_players of arena_pettingzoo"),
        ("fails_at_start", "cannot be made: OSError: no such device"),
        ("fails_at_step", "a random game fails: IndexError: out of range"),
        ("race(gaol=3)", "cannot be made: TypeError: race() got an unexpected keyword argument 'gaol'"),
        ("missing_function", "the module has no function missing_function"),
        ("race(12)", "each parameter is written name=value"),
        ("race(goal=print('x'))", "literals of Python"),
        ("race(goal=)", "literals of Python"),
        ("race(goal=" + "[" * 200 + ")", "literals of Python"),
        ("race(arena_speed=3)", "unknown parameter arena_speed; those of Arena are arena_information"),
        ("race(arena_information='secret')", "has to be 'hidden' or 'perfect'"),
        ("race(arena_chance=3)", "arena_chance has to be True or False"),
        ("race(arena_returns=(1, 1))", "arena_returns has to be (min, max)"),
        ("race(arena_returns=(0, 1, 100001))", "arena_returns has to be (min, max)"),
        ("race(arena_returns=0.5)", "arena_returns has to be (min, max)"),
        ("race(arena_moves_max=0)", "a whole number from 1 to 19984"),
    ],
)
def test_environment_that_arena_does_not_support_is_refused_with_the_reason(text, error):
    refused = answer(own(text))
    assert error in refused and len(refused) < 600 and "\n" not in refused


@pytest.mark.parametrize(
    "text, error",
    [
        ("", "is no environment: write module, module:function or ./file.py:function"),
        ("x" * 999, "is no environment"),
        ("gø", "is no environment"),
        ("a\nb", "is no environment"),
        ("--help", "'--help' is no name of a module"),
        ("../../etc/passwd", "is no name of a module; a file ends in .py"),
        ("os; rm -rf", "is no name of a module"),
        ("no_such_module", "finds no module no_such_module; a file of your own is written ./no_such_module.py"),
        ("pettingzoo.classic.tictactoe_v1", "did you mean pettingzoo.classic.tictactoe_v3"),
        ("json", "the module has no function env, parallel_env, raw_env; name one: module:function"),
    ],
)
def test_name_that_is_no_environment_is_refused_with_the_reason(text, error):
    refused = answer(text)
    assert error in refused and len(refused) < 600 and "\n" not in refused


def test_module_that_an_environment_needs_is_named(tmp_path, monkeypatch):
    (tmp_path / "needs.py").write_text("import no_such_helper\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    assert "needs the module no_such_helper" in answer(f"{tmp_path}/needs.py")
    assert "only this one is in the package" in answer(f"{tmp_path}/needs.py")
    assert "cannot be imported: ZeroDivisionError" in answer(f"{tmp_path}/broken.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert "needs the module no_such_helper" in answer("needs")


def test_function_is_found_by_its_usual_names(tmp_path):
    for names in (["env", "parallel_env", "raw_env"], ["parallel_env", "raw_env"], ["raw_env"]):
        (tmp_path / "game.py").write_text("".join(f"def {name}():\n    return '{name}'\n" for name in names))
        assert Call(f"{tmp_path}/game.py").load()() == names[0]


# The nodes.


def game(text, **options):
    rules = Rules(own(text))
    return ruleset.Game(rules, **options), "0" * (rules.seed_bits // 4)


def test_player_does_not_see_what_others_chose_or_have():
    played, start = game("rps(rounds=2)")
    after = [played.apply(start, action) for action in range(3)]
    assert [it["seat"] for it in after] == [1, 1, 1]
    assert all(it["position"] == {"agent": "right", "observation": 3} for it in after)
    replies = [[played.apply(it["state"], reply)["position"]["observation"] for it in after] for reply in range(3)]
    assert replies == [[reply] * 3 for reply in range(3)], "the first player sees the reply only"
    # In the game of cards, positions of a player depend on its own card alone.
    played, start = game("cards")
    seen, hands = {}, set()
    for seed in range(256):
        node = played.look(f"{start[:-2]}{seed:02x}")
        cards = played.kept[node["state"]][0].environment.cards
        hands.add((cards[0], cards[1]))
        seen.setdefault(cards[0], set()).add(json.dumps({**node, "state": None}))
    assert len(seen) == 9 and len(hands) > 50 and all(len(it) == 1 for it in seen.values())


def test_states_that_have_been_left_are_played_again(monkeypatch):
    draw = random.Random(1)
    for bound in (1, 3, 512):
        monkeypatch.setattr(ruleset, "_KEPT", bound)
        (played, _), (alone, _) = game("race(goal=30)"), game("race(goal=30)")
        nodes, events = [played.look("0123456789abcdef")], []
        while nodes[-1]["next"] != "over":
            events.append(draw.choice(nodes[-1]["legal"]))
            nodes.append(played.apply(nodes[-1]["state"], events[-1]))
            assert len(played.kept) <= bound
        for _ in range(3):
            assert [played.look(it["state"]) for it in nodes] == nodes
            for at in draw.sample(range(len(events)), len(events)):
                assert played.apply(nodes[at]["state"], events[at]) == nodes[at + 1]
                assert len(played.kept) <= bound
        # Other actions, at states that the environment has left.
        for node in nodes[:-1]:
            for action in node["legal"]:
                alone.kept.clear()
                assert played.apply(node["state"], action) == alone.apply(node["state"], action)


def test_illegal_action_is_refused():
    played, start = game("race")
    assert played.look(start)["legal"] == [0, 1]
    for action in (2, 3, 64, -1):
        with pytest.raises(ValueError, match=f"action {action} is illegal"):
            played.apply(start, action)


def test_game_without_an_end_ends_after_its_most_moves():
    played, state = game("endless(arena_moves_max=5)")
    for move in range(5):
        node = played.apply(state, move % 2)
        state = node["state"]
    assert node["next"] == "over" and node["ending"] == "cap"
    # Only the second player has won points, in moves 2 and 4.
    assert node["ranks"] == [2, 1]
    most = Rules(own("endless")).describe()["events_max"]
    assert (most, Rules(own("endless(arena_moves_max=5)")).describe()["events_max"]) == (20_000, 5)


def test_truncated_game_ends_by_a_cap_and_another_normally():
    for text, ending in [("truncated", "cap"), ("nim", "normal")]:
        played, state = game(text)
        node = played.look(state)
        while node["next"] != "over":
            node = played.apply(node["state"], node["legal"][0])
        assert node["ending"] == ending


def test_longest_game_stays_within_the_bytes_of_a_state():
    rules = Rules(own("endless"))
    rules.width = 3
    assert rules.seed_bits // 4 + rules.moves_max * rules.width <= rules.describe()["state_bytes_max"]


@pytest.mark.parametrize(
    "returns, error",
    [("(-1, 1)", "is not within -1 to 1"), ("(-2, 2)", None), ("(-2, 2, 12)", None)],
)
def test_returns_are_checked_against_their_bounds(returns, error):
    played, start = game(f"cards(arena_returns={returns})")
    bounds = Rules(own(f"cards(arena_returns={returns})")).describe()["returns"][0]
    scores, errors = set(), set()
    for seed in range(64):
        node = played.look(f"{start[:-2]}{seed:02x}")
        try:
            node = played.apply(played.apply(node["state"], 1)["state"], 1)
            scores.add(node["scores"][0] / bounds["parts"])
        except Refused as refused:
            errors.add(str(refused))
    assert scores == ({-2, -1, 0, 1, 2} if error is None else {-1, 0, 1})
    assert all(error in it for it in errors) and bool(errors) == bool(error)


def test_rewards_that_are_no_parts_of_one_are_refused():
    rules = Rules(own("cards(arena_returns=(-2, 2, 2))"))
    assert ruleset.Game(rules)._score(1.5) == 3
    with pytest.raises(Refused, match="the return 0.3 is no whole number of 2 parts of 1"):
        ruleset.Game(rules)._score(0.3)


def test_options_are_refused():
    answers = Answers(Rules(own("cards"), 0))
    refused = ask(answers, type="game", game=0, seats=2, options={"goal": 3})
    assert (refused["type"], refused["game"]) == ("error", 0)
    assert "unknown option 'goal'" in refused["message"]


def test_positions_are_left_out_if_no_agent_sees_them():
    answers = Answers(Rules(own("cards"), 0))
    for positions in (True, False):
        question = {"type": "game", "game": 0, "seats": 2, "options": {}, "positions": positions}
        assert ("position" in ask(answers, **question)["node"]) == positions


@pytest.mark.parametrize(
    "value, expected",
    [
        (np.array([[True, False]]), {"observation": [[1, 0]], "shape": [1, 2], "dtype": "bool"}),
        (np.array([1.0, -2.0], np.float32), {"observation": [1, -2], "shape": [2], "dtype": "float32"}),
        (np.array([0.5, np.inf, np.nan]), {"observation": [0.5, None, None], "shape": [3], "dtype": "float64"}),
        (np.int64(7), {"observation": 7}),
        ({"observation": np.array([3]), "action_mask": [1, 1]}, {"observation": [3], "shape": [1], "dtype": "int64"}),
        ({"a": (1, "x"), "action_mask": [1, 1]}, {"observation": {"a": [1, "x"]}}),
        ({"a": float("nan"), "b": None}, {"observation": {"a": None, "b": None}}),
    ],
)
def test_observation_is_json(value, expected):
    rules = Rules(own("cards"), 0)
    rules.function = lambda: environments.observing(value)
    position = ruleset.Episode(rules, 0).position()
    assert json.loads(json.dumps(position, allow_nan=False)) == {"agent": "player_0", **expected}


# Games for two with the methods of Gymnasium.


def test_game_of_gymnasium_is_an_environment_of_pettingzoo():
    api_test(environments.nim(), num_cycles=200)


def test_functions_of_two_players():
    class Numbers(environments.Nim):
        action_space = spaces.Discrete(3)

        def step(self, action):
            self.left -= 1
            return self.left, 5.0, self.left == 0, False, {"action_mask": [0, 1, 1]}

    env = two_players(Numbers(2), rewards=lambda made, player, reward: (reward + player, 1))
    env.reset(seed=1)
    assert env.agent_selection == "player_0" and env.last()[0]["action_mask"].tolist() == [1, 1, 1]
    env.step(2)
    assert env.agent_selection == "player_1" and env.last()[0]["action_mask"].tolist() == [0, 1, 1]
    env.step(1)
    assert env.rewards == {"player_0": 6.0, "player_1": 1.0} and all(env.terminations.values())
    # Each reward counts once.
    reference = turns(two_players(Numbers(7), rewards=lambda made, player, reward: (1, -2)), 1)
    next(reference)
    with pytest.raises(StopIteration) as stopped:
        while True:
            reference.send(1)
    assert stopped.value.value == {"player_0": 7, "player_1": -14}
    env = two_players(Numbers(3), turn=lambda made: 1, observe=lambda made, player: (made.left, player))
    env.reset(seed=1)
    assert env.agent_selection == "player_1" and env.observe("player_0")["observation"] == (3, 0)
    env.step(1)
    assert env.agent_selection == "player_1" and env.rewards == {"player_0": -5.0, "player_1": 5.0}
    with pytest.raises(TypeError, match="has to be Discrete"):
        Numbers.action_space = spaces.Box(0, 1)
        two_players(Numbers())


# The process.


@pytest.fixture
def package(tmp_path):
    command = [sys.executable, "-m", "arena_pettingzoo.package", "ruleset", f"./{OWN.name}:cards", str(OWN.parent)]
    subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


def process(folder, lines=""):
    """Runs the command of a package with the Python of the tests."""
    _, _, command = (folder / "arena-agent.toml").read_text().partition(" = ")
    command = [sys.executable, *json.loads(command)[1:]]
    return subprocess.run(command, cwd=folder, input=lines, capture_output=True, text=True, timeout=60)


def test_process_of_a_package_answers_lines(package):
    files = sorted(str(it.relative_to(package)) for it in package.rglob("*") if it.is_file() and it.suffix != ".pyc")
    assert files == [
        "arena-agent.toml",
        "arena_pettingzoo/__init__.py",
        "arena_pettingzoo/call.py",
        "arena_pettingzoo/episode.py",
        "arena_pettingzoo/machine.py",
        "arena_pettingzoo/rules.py",
        "arena_pettingzoo/ruleset.py",
        "arena_pettingzoo/turns.py",
        "environment/environments.py",
        "pettingzoo.json",
    ]
    messages = [
        {"type": "describe", "protocol": 1},
        {"type": "later"},
        {"type": "game", "game": 3, "seats": 2, "options": {}},
        {"type": "apply", "batch": 1, "game": 3, "states": ["0" * 15], "events": [15]},
        {"type": "apply", "batch": 2, "game": 3, "states": ["0" * 16], "events": [7]},
        {"type": "apply", "batch": 3, "game": 3, "states": ["0" * 16, "01" * 8], "events": [0, 1]},
    ]
    ran = process(package, lines="".join(json.dumps(it) + "\n" for it in messages))
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [it["type"] for it in answers] == ["description", "initial", "nodes", "error", "nodes"]
    assert answers[0]["summary"].startswith("environments.py:cards by PettingZoo ")
    assert answers[3] == {
        "type": "error",
        "batch": 2,
        "game": 3,
        "message": f"ValueError: environments.py:cards: action 7 is illegal at {'0' * 16}",
    }
    assert [it["state"] for it in answers[4]["nodes"]] == ["0" * 17, "01" * 8 + "1"]
    assert ran.returncode == 0


def test_what_an_environment_prints_does_not_disturb_the_protocol(tmp_path):
    text = OWN.read_text() + "\n\ndef loud():\n    print('{loud}', flush=True)\n    return Cards()\n"
    (tmp_path / "game.py").write_text(text)
    (tmp_path / "package").mkdir()
    command = [sys.executable, "-m", "arena_pettingzoo.package", "ruleset", "game.py:loud", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path / "package", check=True)
    ran = process(tmp_path / "package", json.dumps({"type": "describe", "protocol": 1}) + "\n")
    assert ran.stdout.count("\n") == 1 and "{loud}" not in ran.stdout and "{loud}" in ran.stderr


@pytest.mark.parametrize(
    "change, words",
    [
        ({"python": "3.1"}, ["has Python ", "3.1 was registered", "python3 is Python 3.1;"]),
        ({"numpy": "1.0"}, ["has numpy ", "1.0 was registered", "pip install numpy==1.0"]),
        ({"no-such-package": "2"}, ["has no-such-package not installed, but 2", "pip install no-such-package==2"]),
        ({"modules": ["json", "no_such_module"]}, ["has modules json… with the SHA-256 "]),
        ({"modules": ["json"], "sources_sha256": "0" * 64}, ["0" * 64, "Install the same files"]),
    ],
)
def test_machine_that_differs_is_named_with_the_remedy(package, change, words):
    file = package / ruleset.PINNED
    pinned = json.loads(file.read_text())
    for field, value in change.items():
        (pinned if field in pinned else pinned["packages"])[field] = value
    file.write_text(json.dumps(pinned))
    ran = process(package)
    (line,) = ran.stderr.splitlines()
    assert ran.returncode == 1 and ran.stdout == ""
    for word in ["the machine " + os.uname().nodename, "--replace", *words]:
        assert word in line


def test_module_on_a_path_is_part_of_what_has_to_be_the_same(tmp_path):
    package, modules = tmp_path / "package", tmp_path / "modules"
    for folder in (package, modules):
        folder.mkdir()
    (modules / "mygame_v0.py").write_text(OWN.read_text())
    (modules / "helper.py").write_text("")
    (modules / "mygame_v0.py").write_text("import helper\n" + OWN.read_text())
    environment = {**os.environ, "PYTHONPATH": f"{modules}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "arena_pettingzoo.package", "ruleset", "mygame_v0:cards", "/"]
    subprocess.run(command, cwd=package, env=environment, check=True)
    pinned = json.loads((package / ruleset.PINNED).read_text())
    assert pinned["modules"] == ["helper", "mygame_v0"]
    assert {"gymnasium", "numpy", "pettingzoo"} <= set(pinned["packages"])
    (modules / "helper.py").write_text("x = 1\n")
    run = [sys.executable, "-m", "arena_pettingzoo.ruleset", "mygame_v0:cards"]
    ran = subprocess.run(run, cwd=package, env=environment, input="", capture_output=True, text=True)
    assert ran.returncode == 1 and "has modules helper… with the SHA-256" in ran.stderr


def test_missing_pettingzoo_is_named_with_the_remedy(package):
    (package / "pettingzoo.py").write_text("raise ImportError('none here')\n")
    ran = process(package)
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    for word in ["has no pettingzoo", "none here", "pip install pettingzoo", "ARENA_AGENT_PATH"]:
        assert word in ran.stderr
