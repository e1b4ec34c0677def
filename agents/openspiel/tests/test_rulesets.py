"""Games of OpenSpiel as rulesets of Arena, by its commands."""

import hashlib
import json
import os
import re
import sys
from math import comb

import pyspiel
import pytest

from arena_openspiel import nodes

BOTS = {"mcts": ["--option", "max_simulations=40"], "uniform-random": []}


def register(folder, data, game):
    """Registers a game as `cup`, and both bots. Returns the digest of the rules."""
    listed = folder.arena("rulesets", "register", "cup", "--openspiel", game, "--data", data, "--output", "json")
    for bot, options in BOTS.items():
        folder.arena("agent", "register", f"spiel-{bot}", "--openspiel", bot, *options, "--data", data)
    another = ("agent", "register", "spiel-uniform-random-2", "--openspiel", "uniform-random")
    folder.arena(*another, "--data", data)
    (ruleset,) = json.loads(listed)
    return ruleset["rules_digest"]


#: The first ones are played always: chance, and simultaneous moves.
SAME = [
    ("pig(winscore=30)", 3),
    ("goofspiel(num_cards=4)", 2),
    ("colored_trails", 3),
    ("kuhn_poker", 3),
    ("connect_four", 2),
]


@pytest.mark.parametrize("game, seats", SAME if os.environ.get("ARENA_LONG") else SAME[:2])
def test_tournaments_are_the_same_with_one_worker_and_with_three(folder, game, seats):
    bots = BOTS if game.startswith(("connect", "pig")) else ["uniform-random", "uniform-random-2"]
    agents = [*(f"spiel-{bot}" for bot in bots), "random"]
    spec = folder.spec("cup", agents, blocks=2, more=f"seats = {seats}\n")
    digests, exports = set(), set()
    for data, workers in [("one", 1), ("three", 3)]:
        digests.add(register(folder, data, game))
        run = ("run", spec, "--data", data, "--workers", workers, "--output", "json")
        standings = json.loads(folder.arena(*run))
        assert standings["games_clean"] == standings["games"] >= 6, "no faults"
        # With three workers, another one has replayed each record.
        assert ("unverified" in json.dumps(standings["notes"])) == (workers == 1)
        if game == "connect_four":
            assert standings["agents"][0]["agent"] == "spiel-mcts"
        tournament = standings["tournament_id"]
        exported = folder.arena("export", tournament, "--format", "jsonl", "--data", data)
        assert json.loads(exported.splitlines()[0])["rules_digest"] in digests
        exports.add(hashlib.sha256(exported.encode()).hexdigest())
    assert len(digests) == 1 and len(exports) == 1
    assert "are correct" in folder.arena("game", "replay", f"{tournament}/4", "--data", data)
    assert "same hash" in folder.arena("game", "rerun", f"{tournament}/4", "--data", data)
    folder.arena("store", "verify", "--data", data)


def test_bot_that_needs_whole_states_is_refused(folder):
    folder.arena("rulesets", "register", "cup", "--openspiel", "matrix_rps", "--data", "data")
    shown = folder.arena("agent", "register", "spiel", "--openspiel", "mcts", "--data", "data")
    assert "plays any ruleset, without hidden information" in shown
    spec = folder.spec("cup", ["spiel", "random"], blocks=2)
    for command in (["run"], ["tournament", "plan"]):
        refused = folder.arena(*command, spec, "--data", "data", code=2)
        assert 'agent "spiel": it needs whole states, and seats of cup see only a part of them' in refused


POLICY = """\
from arena_agent import Agent, serve

BETS = %s


class Policy(Agent):
    name = "policy"
    version = "1"
    deterministic = True
    uses_seed = True

    def choose(self, decision):
        return int(decision.rng.random() < BETS[decision.position["information_state"]])


serve(Policy())
"""


def wins(state, policies):
    """The probability that each player wins a game of Kuhn poker, from OpenSpiel alone."""
    if state.is_terminal():
        return [float(it > 0) for it in state.returns()]
    if state.is_chance_node():
        after = state.chance_outcomes()
    else:
        bets = policies[state.current_player()][state.information_state_string()]
        after = [(0, 1 - bets), (1, bets)]
    found = [[it * share for it in wins(state.child(action), policies)] for action, share in after if share]
    return [sum(column) for column in zip(*found)]


def test_scores_of_known_strategies_are_the_exact_ones(folder):
    cards, seen = "012", ["", "p", "b", "pb"]
    careful = {"0": 0.3, "1": 0.0, "2": 0.9, "0p": 0.3, "1p": 0.0, "2p": 1.0}
    careful.update({"0b": 0.0, "1b": 0.1, "2b": 0.9, "0pb": 0.0, "1pb": 0.1, "2pb": 0.9})
    bold = {card + bets: 0.9 for card in cards for bets in seen}
    first = wins(pyspiel.load_game("kuhn_poker").new_initial_state(), [careful, bold])[0]
    second = wins(pyspiel.load_game("kuhn_poker").new_initial_state(), [bold, careful])[1]
    folder.arena("rulesets", "register", "kuhn", "--openspiel", "kuhn_poker", "--data", "data")
    for name, policy in [("careful", careful), ("bold", bold)]:
        folder.agent(name, program=POLICY % policy)
    spec = folder.spec("kuhn", ["careful", "bold"], blocks=500)
    agents, _ = folder.tournament(spec, ["careful", "bold"], "data")
    # The error of a mean of 1,000 games is at most 0.016. Games of a block have the same cards for other
    # seats, which makes it smaller. Four errors: once in 15,000 seeds, and this seed is fixed.
    assert abs(agents["careful"]["score"] - (first + second) / 2) < 4 * 0.016
    assert abs((first + second) / 2 - 0.5) > 2 * 4 * 0.016, "the strategies are apart"


LEDUC = """\
import re

from arena_agent import Agent, serve

WEIGHTS = %s


class Careful(Agent):
    name = "careful"
    version = "1"
    deterministic = True
    uses_seed = True

    def choose(self, decision):
        card = int(re.search("Private: ([0-5])", decision.position["information_state"]).group(1))
        weights = [WEIGHTS[card // 2][it] for it in decision.legal]
        point = decision.rng.random() * sum(weights)
        for move, weight in zip(decision.legal, weights):
            point -= weight
            if point < 0:
                break
        return move


serve(Careful())
"""
#: The weights of fold, call and raise with a private card of each rank.
CAREFUL = [(2, 5, 3), (1, 6, 3), (1, 4, 6)]
RANDOM = [(1, 1, 1)] * 3


def mean_return(state, weights):
    """The expected return of player 0 in Leduc poker, from OpenSpiel alone."""
    if state.is_terminal():
        return state.returns()[0]
    if state.is_chance_node():
        after = state.chance_outcomes()
    else:
        player, legal = state.current_player(), state.legal_actions()
        card = int(re.search("Private: ([0-5])", state.information_state_string()).group(1))
        own = [weights[player][card // 2][it] for it in legal]
        after = [(it, weight / sum(own)) for it, weight in zip(legal, own)]
    return sum(share * mean_return(state.child(action), weights) for action, share in after)


def test_intervals_of_mean_returns_cover_the_exact_value(folder):
    start = pyspiel.load_game("leduc_poker").new_initial_state()
    exact = (mean_return(start, [RANDOM, CAREFUL]) - mean_return(start, [CAREFUL, RANDOM])) / 2
    folder.arena("rulesets", "register", "leduc", "--openspiel", "leduc_poker", "--data", "data")
    folder.agent("careful", program=LEDUC % CAREFUL)
    folder.arena("agent", "register", "careful", "--binary", "careful", "--data", "data")
    # Each opponent meets only this agent, in games of its own, as in a tournament of two.
    tournaments, rounds = (200, 10) if os.environ.get("ARENA_LONG") else (60, 1)
    opponents = [f"random-{it}" for it in range(tournaments)]
    variants = "".join(f'[[agent]]\nname = "{name}"\nbot = "random"\n' for name in opponents)
    covered = {"": 0, "_anytime": 0}
    for seed in range(1, rounds + 1):
        spec = folder.path / "leduc.toml"
        spec.write_text(
            f'name = "leduc"\nruleset = "leduc"\nseed = {seed}\nblocks = 20\noutcome = "returns"\n'
            f'format = "fixed"\nagents = {json.dumps(["careful", *opponents])}\n'
            f'[fixed]\ngames = {json.dumps([["careful", it] for it in opponents])}\n{variants}'
        )
        standings = json.loads(folder.arena("run", spec, "--data", "data", "--output", "json"))
        assert standings["games_clean"] == standings["games"] == 40 * tournaments
        for agent in standings["agents"]:
            for kind in covered if agent["agent"] != "careful" else ():
                low, high = agent[f"return_mean{kind}_low"], agent[f"return_mean{kind}_high"]
                covered[kind] += low <= exact <= high
                assert -13 <= low < agent["return_mean"] < high <= 13
    print(f"exact {exact:.4f}, covered of {rounds * tournaments}: {covered}")
    for kind, count in covered.items():
        # The upper 99.9 % bound of the coverage (C. J. Clopper and E. S. Pearson, 1934).
        assert probability_of_at_most(count, rounds * tournaments) > 0.001, (kind, count)


def probability_of_at_most(count, trials):
    """Of at most so many successes, each with a probability of 19/20."""
    ways = sum(comb(trials, it) * 19**it for it in range(count + 1))
    return ways / 20**trials


@pytest.mark.parametrize(
    "game", ["hex(board_size=5)", "backgammon(max_player_turns=20)", "leduc_poker", "colored_trails"]
)
def test_check_passes(folder, game):
    checked = folder.arena("rulesets", "check", "--openspiel", game, "--games", "2")
    assert "FAILED" not in checked and "passed" in checked


def test_options_and_seats_are_those_of_openspiel(folder):
    shown = json.loads(
        folder.arena("rulesets", "register", "p", "--openspiel", "pig", "--data", "data", "--output", "json")
    )[0]["description"]
    assert shown["seats"] == [2, 10] and shown["chance"] and shown["name"] == "pig"
    assert [(option["name"], option["type"], option["default"]) for option in shown["options"]] == [
        ("piglet", "bool", False)
    ]
    others = ["second", "third", "fourth"]
    spec = folder.spec("p", ["random", *others], blocks=1, more="seats = 4\n[options]\npiglet = true\n")
    agents = "".join(f'[[agent]]\nname = "{name}"\nbot = "random"\n' for name in others)
    spec.write_text(spec.read_text() + agents)
    assert json.loads(folder.arena("run", spec, "--data", "data", "--output", "json"))["games_clean"] > 0


@pytest.mark.parametrize(
    "game, error",
    [
        ("connect_for", "OpenSpiel 2.0.2 has no game 'connect_for'; did you mean 'connect_four'?"),
        ("$(touch pwned)/../x", "has no game '$'"),
        ("; touch pwned", "has no game '; touch pwned'"),
        ("--help", "has no game '--help'"),
        ("\x1b[31mred", "1 to 300 characters of ASCII"),
        ("hanabi", "hanabi: all players get the same return, and Arena ranks them"),
        ("go(board_size=-1)", "OpenSpiel cannot start it: unsupported board size"),
    ],
)
def test_wrong_game_is_an_error_of_the_user(folder, game, error):
    for command in (["register", "x"], ["check"]):
        shown = folder.arena("rulesets", *command, f"--openspiel={game}", code=2)
        assert error in shown and "\x1b" not in shown and "Traceback" not in shown
    assert [it.name for it in folder.path.iterdir()] == []


def test_wrong_bot_is_an_error_of_the_user(folder):
    shown = folder.arena("agent", "register", "x", "--openspiel", "mtcs", code=2)
    assert "unknown bot 'mtcs'; bots: mcts, alpha-beta, uniform-random" in shown


def test_openspiel_conflicts_with_other_packages(folder):
    for arguments in (
        ["rulesets", "register", "x", "--openspiel", "pig", "--package", "."],
        ["rulesets", "check", "kalah", "--openspiel", "pig"],
        ["agent", "register", "x", "--openspiel", "mcts", "--binary", "."],
    ):
        assert "cannot be used with" in folder.arena(*arguments, code=2)


def test_missing_python_is_named_with_the_remedy(folder):
    empty = folder.path / "empty"
    empty.mkdir()
    folder.environment["PATH"] = str(empty)
    shown = folder.arena("rulesets", "register", "x", "--openspiel", "pig", code=1)
    assert "PATH has no python3" in shown and "pip install agents/sdk/python agents/openspiel" in shown


@pytest.mark.parametrize("module", ["arena_openspiel", "pyspiel"])
def test_missing_module_is_named_with_the_remedy(folder, module):
    # A Python that finds all modules but one.
    hidden = folder.path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.abc, sys\n\n"
        "class Without(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == '{module}':\n"
        "            raise ModuleNotFoundError(f\"No module named '{name}'\", name=name)\n\n"
        "sys.meta_path.insert(0, Without())\n"
    )
    python = folder.path / "python3"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{hidden}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    folder.environment["PATH"] = f"{folder.path}:{folder.environment['PATH']}"
    shown = folder.arena("rulesets", "register", "x", "--openspiel", "pig", code=1)
    assert "pip install agents/sdk/python agents/openspiel" in shown, shown
    assert module in shown


def test_game_that_ends_openspiel_is_named(folder):
    python = folder.path / "python3"
    python.write_text("#!/bin/sh\nkill -SEGV $$\n")
    python.chmod(0o755)
    folder.environment["PATH"] = f"{folder.path}:{folder.environment['PATH']}"
    shown = folder.arena("rulesets", "register", "x", "--openspiel", "pig(players=2)", code=2)
    assert 'ended by signal 11 when it loaded "pig(players=2)"' in shown


def test_machine_with_another_openspiel_is_named(folder):
    package = folder.path / "package"
    package.mkdir()
    command = f"cd '{package}' && '{sys.executable}' -m arena_openspiel.package ruleset pig"
    assert os.system(command) == 0
    file = package / "openspiel.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "open_spiel": "1.0.0"}))
    shown = folder.arena("rulesets", "register", "x", "--package", "package", code=2)
    for words in ["the machine ", "has open_spiel ", "1.0.0 was registered", "pip install open_spiel==1.0.0"]:
        assert words in shown


def test_moves_that_differ_are_named(monkeypatch):
    from test_decisions import SpyAgent
    from arena_agent.decision import Context, Decision
    from arena_agent.proto import agent_pb2 as pb

    def decide(legal, **position):
        context = Context(pb.GameContext(ruleset="c4", seats=2), ())
        message = pb.Decision(seat=1, seed=1, position=json.dumps(position).encode(), legal_moves=legal)
        agent = SpyAgent()
        return agent, agent.choose(Decision(context, message))

    agent, move = decide(range(7), game="connect_four()", history=[3])
    assert move == 6 and agent.made[0][-1].seen == [("inform", [], 0, 3), ("step", [3])]
    agent, move = decide([0, 1], game="pig()", history=[0, 4, 1])
    # Chance is informed of, too.
    seen = agent.made[0][-1].seen
    assert [it[2:] for it in seen if it[0] == "inform"][1] == (-1, 4)
    with pytest.raises(ValueError, match=r"c4 differs in OpenSpiel after \[3\]: legal actions are \[0, 1, 2"):
        decide([0], game="connect_four()", history=[3])
    with pytest.raises(ValueError, match="c4 is no game of OpenSpiel"):
        decide([0], board=[3])
    # Ids are places.
    monkeypatch.setattr(nodes, "IDS", 6)
    agent, move = decide(range(6), game="connect_four()", history=[0] + [3] * 6)
    assert move == 5 and agent.made[0][-1].answer is None
    with pytest.raises(ValueError, match=r"legal actions are \[0, 1, 2, 3, 4, 5\] in OpenSpiel, \[0, 1, 2, 4"):
        decide([0, 1, 2, 4, 5, 6], game="connect_four()", history=[0] + [3] * 6)
