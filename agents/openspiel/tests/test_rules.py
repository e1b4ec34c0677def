"""Games of OpenSpiel by Arena's protocol for rules, compared with OpenSpiel at each step."""

import io
import json
import os
import random
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pyspiel
import pytest

from arena_openspiel import nodes as spiel_nodes
from arena_openspiel import ruleset
from arena_openspiel.nodes import Refused, notations, weights_of
from arena_openspiel.ruleset import Answers, Rules

TABLE = Path(__file__).with_name("games.tsv")
#: Random games of each game: 100 in the long form.
GAMES = int(os.environ.get("ARENA_OPENSPIEL_GAMES", "1"))
#: In the short form, games with more events than this are left unfinished, and variants of a game are left
#: out after so many actions and outcomes.
EVENTS, NAMES = (700, 200_000) if GAMES < 100 else (20_000, None)

NOTATION = re.compile(r"""[!-&(-\[\]-~]{1,32}""")


def table():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


PLAYS = [name for name, answer in table().items() if answer == "plays"]


def answer(name):
    try:
        Rules(name).probe()
    except Refused as refused:
        return str(refused)
    return "plays"


# Which games Arena plays.


def test_every_game_of_openspiel_plays_or_is_refused_with_the_reason():
    answers = {name: answer(name) for name in table()}
    if os.environ.get("ARENA_UPDATE"):
        header = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        lines = [*header, *("\t".join(it) for it in answers.items())]
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert answers == table()
    assert set(pyspiel.registered_names()) <= set(answers)


def test_at_least_a_hundred_games_play():
    assert len(PLAYS) >= 150
    assert len({name.partition("(")[0] for name in PLAYS}) >= 90


@pytest.mark.parametrize("kind", pyspiel.registered_games(), ids=lambda kind: kind.short_name)
def test_reason_follows_from_what_openspiel_declares(kind):
    found = table()[kind.short_name]
    of = pyspiel.GameType
    suits = (
        kind.default_loadable
        and kind.dynamics != of.Dynamics.MEAN_FIELD
        and kind.utility != of.Utility.IDENTICAL
        and kind.chance_mode != of.ChanceMode.SAMPLED_STOCHASTIC
        and 2 <= pyspiel.load_game(kind.short_name).num_players() <= 10
    )
    if suits:
        reasons = ["outcomes; Arena supports 20000", "more chance outcomes"]
        assert found == "plays" or any(reason in found for reason in reasons)
        return
    assert kind.short_name in found and found != "plays"
    if "mean-field" in found:
        assert kind.dynamics == of.Dynamics.MEAN_FIELD


@pytest.mark.parametrize(
    "name, error",
    [
        ("../../etc/passwd", "has no game '../../etc/passwd'"),
        ("connect_four; rm -rf /", "has no game 'connect_four; rm -rf /'"),
        ("$(reboot)", "has no game"),
        ("", "1 to 300 characters of ASCII"),
        ("a\nb", "1 to 300 characters of ASCII"),
        ("gø", "1 to 300 characters of ASCII"),
        ("x" * 9999, "1 to 300 characters of ASCII"),
        ("go(board_size=", "Missing closing bracket"),
        ("misere(game=efg_game(filename=/etc/passwd))", "filename names a file"),
        ("hex(board_size=100000000)", "Arena supports 20000"),
        ("blotto(coins=50,fields=5)", "more legal actions than 32768"),
        ("go(board_size=-1)", "OpenSpiel cannot start it"),
        ("breakthrough(rows=0,columns=0)", "OpenSpiel cannot"),
    ],
)
def test_hostile_name_is_refused_with_the_reason(name, error):
    refused = answer(name)
    assert error in refused and len(refused) < 400 and "\n" not in refused


# The nodes.


def ask(answers, **message):
    """An answer by lines of JSON."""
    output = io.BytesIO()
    ruleset.serve(answers, [json.dumps(message).encode()], output)
    return json.loads(output.getvalue())


def check(node, state, description, plain):
    """A node is that of a state of OpenSpiel, within the bounds of the protocol."""
    assert len(node["state"]) <= description["state_bytes_max"] <= 65536
    if state.is_terminal():
        returns = state.returns()
        assert node["next"] == "over"
        assert node["ranks"] == [1 + sum(other > own for other in returns) for own in returns]
        for bounds in (it for it in description.get("returns", []) if it["seats"] == len(returns)):
            assert node["scores"] == pytest.approx([it * bounds["parts"] for it in returns])
            assert all(type(it) is int for it in node["scores"])
            assert bounds["min"] <= min(returns) and max(returns) <= bounds["max"]
        return None
    if state.is_chance_node():
        outcomes = [it for it in state.chance_outcomes() if it[1] > 0]
        weights, total = node["weights"], sum(node["weights"])
        assert description["chance"] and node["next"] == "chance" and node.get("seat") is None
        assert len(weights) == len(outcomes) and 0 < total < 2**32
        assert all(type(weight) is int and weight > 0 for weight in weights)
        assert all(abs(weight / total - p) < 1e-12 for weight, (_, p) in zip(weights, outcomes))
        events, names = [action for action, _ in outcomes], node["outcomes"]
    else:
        events, names = state.legal_actions(), node["moves"]
        assert node["next"] == "decision" and node["seat"] == state.current_player()
        has_places = state.num_distinct_actions() > 32768
        assert events == sorted(set(events)) and node["legal"][-1] < 32768
        assert node["legal"] == (list(range(len(events))) if has_places else events)
        position = dict(node["position"])
        assert position.pop("legal", None) == (events if has_places else None)
        check_position(position, state, description["information"] == "hidden")
        assert len(json.dumps(node["position"], ensure_ascii=False)) <= 256 << 10
    assert len(names) == len(set(names)) == len(events)
    assert all(NOTATION.fullmatch(name) for name in names)
    for name, action in zip(names, events):
        there = state.action_to_string(state.current_player(), action)
        if NOTATION.fullmatch(there) and plain:
            assert name == there
    return events


def check_position(position, state, hidden):
    """It has the state, or if information is hidden what the player sees."""
    player, kind = state.current_player(), state.get_game().get_type()
    if not hidden:
        assert position["history"] == state.history()
        return
    assert set(position) <= {"game", "information_state", "actions", "observation", "tensor"}
    if kind.provides_information_state_string:
        assert position["information_state"] == state.information_state_string(player)
        assert "actions" not in position
    else:
        assert position["observation"] == spiel_nodes.plain(state.observation_string(player))
        assert position["actions"] == [it.action for it in state.full_history() if it.player == player]
    if kind.provides_information_state_tensor:
        assert position["tensor"] == pytest.approx(state.information_state_tensor(player))
    elif kind.provides_observation_tensor:
        assert position["tensor"] == pytest.approx(state.observation_tensor(player))


def load(text, parameters=None):
    """A game of OpenSpiel; the players of a simultaneous one move one after another."""
    game = pyspiel.load_game(text) if parameters is None else pyspiel.load_game(text, parameters)
    simultaneous = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    return pyspiel.convert_to_turn_based(game) if simultaneous else game


def variants(description):
    """The least and most seats with the defaults, and each option with its other value."""
    options = {option["name"]: option["default"] for option in description["options"]}
    for seats in sorted(set(description["seats"])):
        yield options, seats
    for option in description["options"]:
        yield {**options, option["name"]: not option["default"]}, description["seats"][0]


# The long form plays all of them.
@pytest.mark.parametrize("name", PLAYS if GAMES >= 100 else PLAYS[::3])
def test_random_games_are_those_of_openspiel(name):
    parts = Rules(name).find_parts()
    answers, other = Answers(Rules(name, parts)), Answers(Rules(name, parts))
    description = ask(answers, type="describe", protocol=1)
    assert description == ask(other, type="describe", protocol=1)
    assert description["events_max"] <= 20_000 and len(description["summary"]) <= 400
    draw, batch, names = random.Random(name), 0, 0
    for number, (options, seats) in enumerate(variants(description)):
        if number and NAMES and names > NAMES:
            break
        question = {"type": "game", "game": number, "seats": seats, "options": options}
        first = ask(answers, **question)["node"]
        assert ask(other, **question)["node"] == first
        given = ruleset._parameters(name)[1]
        if description["seats"][0] != description["seats"][1]:
            given["players"] = seats
        changed = {it["name"] for it in description["options"] if options[it["name"]] != it["default"]}
        game = load(name.partition("(")[0], {**given, **{it: options[it] for it in changed}})
        for _ in range(GAMES if number == 0 else 1 + GAMES // 20):
            node, state, events = first, game.new_initial_state(), 0
            while legal := check(node, state, description, True):
                if events == EVENTS:
                    break
                event, names = draw.randrange(len(legal)), names + len(legal)
                state.apply_action(legal[event])
                has_place = node["next"] == "chance" or node["legal"] != legal
                event = event if has_place else legal[event]
                at, batch, events = node["state"], batch + 1, events + 1
                asked = {"type": "apply", "batch": batch, "game": number, "states": [at], "events": [event]}
                reply = ask(answers, **asked)
                assert (reply["type"], reply["batch"]) == ("nodes", batch)
                (node,) = reply["nodes"]
                # A process that has not seen the states before.
                if events % 16 == 0 or state.is_terminal():
                    look = {"type": "look", "batch": 1, "game": number, "states": [node["state"]]}
                    assert ask(other, **look)["nodes"] == [node]
            assert events <= description["events_max"]
            drawn = ask(answers, type="draw", batch=1, game=number, states=[node["state"]])["drawings"][0]
            assert drawn.isascii() and len(drawn) <= 64 << 10 and "\x1b" not in drawn
            loaded = pyspiel.load_game(json.loads(json.dumps(answers.games[number].text)))
            assert str(loaded) == str(game)


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker",
        "kuhn_poker(players=3)",
        "leduc_poker",
        "liars_dice(numdice=1,dice_sides=3)",
        "goofspiel(num_cards=3,imp_info=True)",
        "matrix_rps",
        "matching_pennies_3p",
        "blotto(coins=3,fields=2)",
        "latent_ttt",
        "phantom_ttt_ir",
    ],
)
def test_player_sees_the_same_at_states_that_look_the_same(name):
    rules = Rules(name)
    game, open_states, seen, different = rules.game({}, rules.seats[0]), [""], {}, 0
    # All states of a small game, and random ones of a large one.
    draw, most = random.Random(1), 20_000
    while open_states and most:
        text, most = open_states.pop(), most - 1
        node, state = json.loads(game.look(text)), game._state(text)
        if node["next"] == "over":
            continue
        events = range(len(node["weights"])) if node["next"] == "chance" else node["legal"]
        if node["next"] == "decision":
            shown = {field: value for field, value in node.items() if field != "state"}
            key = state.current_player(), state.information_state_string()
            different += key in seen and seen[key][0] != text
            assert seen.setdefault(key, (text, shown))[1] == shown
        after = [json.loads(game.apply(text, event))["state"] for event in events]
        open_states += draw.sample(after, len(after))
    # Some states look the same to a player, and others do not.
    assert different > 0 and len(seen) > 1


def test_states_that_are_no_longer_kept_are_played_again(monkeypatch):
    game = Rules("go(board_size=5)").game({}, 2)
    answers, events, draw = [game.look("")], [], random.Random(1)
    nodes = [json.loads(answers[0])]
    while nodes[-1]["next"] != "over":
        events.append(draw.choice(nodes[-1]["legal"]))
        answers.append(game.apply(nodes[-1]["state"], events[-1]))
        nodes.append(json.loads(answers[-1]))
    order = draw.sample(range(len(events)), len(events))
    for bound in (1, 3, 1000):
        monkeypatch.setattr(spiel_nodes, "_KEPT_MAX", bound)
        game.newer, game.older, game.kept = {}, {}, bound
        for at in order:
            assert game.look(nodes[at]["state"]) == answers[at]
            assert game.apply(nodes[at]["state"], events[at]) == answers[at + 1]
            # An action that was applied changes no state that is kept.
            assert game.look(nodes[at]["state"]) == answers[at]
        assert [game.look(node["state"]) for node in nodes] == answers
        assert len(game.newer) <= bound and len(game.older) <= bound


def test_more_states_are_kept_while_there_is_memory(monkeypatch):
    for memory, kept in [(1 << 40, 4), (0, 2)]:
        monkeypatch.setattr(spiel_nodes, "_KEPT", 2)
        monkeypatch.setattr(spiel_nodes, "_KEPT_MAX", 4)
        monkeypatch.setattr(spiel_nodes, "_MEMORY_MAX", memory)
        game = Rules("go(board_size=5)").game({}, 2)
        node = json.loads(game.look(""))
        for _ in range(10):
            node = json.loads(game.apply(node["state"], node["legal"][0]))
        assert game.kept == kept


def test_ids_are_places_if_there_are_more_actions_than_ids(monkeypatch):
    monkeypatch.setattr(spiel_nodes, "IDS", 8)
    game, own = Rules("tic_tac_toe").game({}, 2), Rules("connect_four").game({}, 2)
    node = json.loads(game.apply(json.loads(game.apply("", 3))["state"], 4))
    assert node["state"] == "35" and node["legal"] == [0, 1, 2, 3, 4, 5, 6]
    assert node["moves"][3] == "x(1,1)" and node["position"]["legal"] == [0, 1, 2, 4, 6, 7, 8]
    for event in (-1, 7):
        with pytest.raises(ValueError, match="is illegal"):
            game.apply("35", event)
    # All of its actions have ids.
    assert "legal" not in json.loads(own.look(""))["position"]


def test_digits_of_any_action_that_openspiel_may_declare():
    for most in (1, 64, 65, 64**2, 64**3 + 1, 2**31 - 1):
        codes = spiel_nodes._Codes(most, "game")
        for action in (0, most // 2, most - 1):
            assert len(codes[action]) == codes.width and spiel_nodes._decode(codes[action]) == action
        with pytest.raises(Refused, match="larger than OpenSpiel declares"):
            codes[64**codes.width]


def test_answers_that_are_kept_belong_to_actions_weights_and_texts():
    game = spiel_nodes.Game(load("leduc_poker"))
    assert game.moves((0, 1), "a\0b") == '"legal":[0,1],"moves":["a","b"]'
    assert game.moves((0, 2), "a\0b") == '"legal":[0,2],"moves":["a","b"]'
    assert game.moves((0, 1), "a\0c") == '"legal":[0,1],"moves":["a","c"]'
    assert game.outcomes((0, 1), (0.5, 0.5), "a\0b") == '"weights":[1,1],"outcomes":["a","b"]'
    assert game.outcomes((0, 1), (0.75, 0.25), "a\0b") == '"weights":[3,1],"outcomes":["a","b"]'
    with pytest.raises(Refused, match="has a NUL"):
        game.moves((0, 1), "a\0b\0c")


@pytest.mark.parametrize("players, seed", [(3, 152), (4, 85)])
def test_quoridor_that_is_refused_is_wrong_in_openspiel(players, seed):
    walls = ",wall_count=4" if players == 4 else ""
    name, draw = f"quoridor(board_size=7,players={players}{walls})", random.Random(seed)
    for refused in (name, f"misere(game={name})"):
        assert "OpenSpiel offers some moves twice" in answer(refused)
    state = pyspiel.load_game(name).new_initial_state()
    while len(set(state.legal_actions())) == len(state.legal_actions()):
        state.apply_action(draw.choice(state.legal_actions()))


def test_coin_game_that_is_refused_is_wrong_in_openspiel():
    assert "more chance outcomes than OpenSpiel declares" in answer("coin_game(players=4)")
    game, draw = pyspiel.load_game("coin_game(players=4)"), random.Random(1)
    state, chances = game.new_initial_state(), 0
    while not state.is_terminal():
        chances += state.is_chance_node()
        state.apply_action(draw.choice(state.legal_actions()))
    assert chances > game.max_chance_nodes_in_history()


def test_ties_share_a_rank():
    class Over:
        def is_terminal(self):
            return True

        def returns(self):
            return [1 / 3, -1.0, 1 - 2 / 3, 5.0]

    game = spiel_nodes.Game(load("tic_tac_toe"))
    assert json.loads(game._node("", Over()))["ranks"] == [2, 4, 2, 1]
    with pytest.raises(Refused, match="is no whole number of 1 parts of 1"):
        Rules("tic_tac_toe").game({}, 2)._node("", Over())


@pytest.mark.parametrize(
    "texts, names",
    [
        (["a", "b"], ["a", "b"]),
        ([" wQ  /wA1", "wQ \\wA1"], ["wQ_/wA1", "wQ_|wA1"]),
        (["say 'x'", 'say "y"'], ["say_`x`", "say_`y`"]),
        (["é", "ü"], ["?#7", "?#8"]),
        (["", "b"], ["#7", "b"]),
        (["a", "a"], ["a#7", "a#8"]),
        (["x" * 40, "x" * 50], ["x" * 30 + "#7", "x" * 30 + "#8"]),
        (["a", "a", "a#7"], ["#7", "#8", "#9"]),
    ],
)
def test_notations_are_short_and_different(texts, names):
    assert notations(texts, range(7, 7 + len(texts))) == names
    assert all(NOTATION.fullmatch(name) for name in names)


@pytest.mark.parametrize(
    "probabilities, weights",
    [
        ([1.0], [1]),
        ([1 / 6] * 6, [1] * 6),
        ([1 / 36, 1 / 18] + [11 / 12], [1, 2, 33]),
        ([0.1 + 0.2, 0.7], [3, 7]),
        ([1 / 7776, 7775 / 7776], [1, 7775]),
        ([0.5, 0.25, 0.25], [2, 1, 1]),
        ([1e-9, 1 - 1e-9], [1, 999_999_999]),
        ([2**-0.5, 1 - 2**-0.5], [1_136_689, 470_832]),
    ],
)
def test_probabilities_become_whole_weights(probabilities, weights):
    assert weights_of(tuple(probabilities)) == weights


def test_weights_are_those_of_arena():
    vectors = Path(__file__).resolve().parents[3] / "services/worker/tests/data/weights.json"
    for vector in json.loads(vectors.read_text()):
        try:
            weights = weights_of(tuple(vector["probabilities"]))
        except Refused:
            weights = None
        assert weights == vector["weights"], vector


@pytest.mark.parametrize(
    "probabilities, error",
    [
        ([1 / 65537, 1 / 65539, 1 - 1 / 65537 - 1 / 65539], "common denominator below 2\\^32"),
        ([0.5, 0.4], "do not add up to 1"),
        ([0.2, 1 - 0.2, 0.2], "do not add up to 1"),
    ],
)
def test_probabilities_without_exact_weights_are_refused(probabilities, error):
    with pytest.raises(Refused, match=error):
        weights_of(tuple(probabilities))


# The process.


def process(folder, lines=""):
    """Runs the command of a package with the Python of the tests."""
    _, _, command = (folder / "arena-agent.toml").read_text().partition(" = ")
    command = [sys.executable, *json.loads(command)[1:]]
    return subprocess.run(command, cwd=folder, input=lines, capture_output=True, text=True, timeout=60)


@pytest.fixture
def package(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "arena_openspiel.package", "ruleset", "tic_tac_toe"], cwd=tmp_path, check=True
    )
    return tmp_path


def test_version_is_that_of_the_installed_package(monkeypatch):
    assert ruleset.spiel_version() == version("open_spiel")
    monkeypatch.delattr(pyspiel, "__version__", raising=False)
    assert ruleset.spiel_version() == version("open_spiel")


def test_process_of_a_package_answers_lines(package):
    files = ["arena-agent.toml", "nodes.py", "openspiel.json", "ruleset.py"]
    assert sorted(it.name for it in package.iterdir()) == files
    messages = [
        {"type": "describe", "protocol": 1},
        {"type": "later"},
        {"type": "game", "game": 3, "seats": 2, "options": {}},
        {"type": "apply", "batch": 1, "game": 3, "states": [""], "events": [4]},
        {"type": "apply", "batch": 2, "game": 3, "states": ["4"], "events": [4]},
        {"type": "apply", "batch": 3, "game": 3, "states": ["4", ""], "events": [0, 8]},
    ]
    ran = process(package, lines="".join(json.dumps(it) + "\n" for it in messages))
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [it["type"] for it in answers] == ["description", "initial", "nodes", "error", "nodes"]
    assert answers[3] == {
        "type": "error",
        "batch": 2,
        "game": 3,
        "message": "ValueError: tic_tac_toe(): action 4 is illegal after [4]",
    }
    assert [it["state"] for it in answers[4]["nodes"]] == ["40", "8"]
    assert ran.returncode == 0


@pytest.mark.parametrize(
    "field, value, words",
    [
        ("open_spiel", "1.5.0", ["has open_spiel ", "1.5.0 was registered", "pip install open_spiel==1.5.0"]),
        ("python", "3.1", ["has Python ", "3.1 was registered", "python3 is Python 3.1;"]),
        ("library_sha256", "0" * 64, ["has a pyspiel with the SHA-256 ", "0" * 64, "the same wheel"]),
    ],
)
def test_machine_that_differs_is_named_with_the_remedy(package, field, value, words):
    file = package / "openspiel.json"
    pinned = json.loads(file.read_text())
    file.write_text(json.dumps({**pinned, field: value}))
    ran = process(package)
    (line,) = ran.stderr.splitlines()
    assert ran.returncode == 1 and ran.stdout == ""
    for word in ["the machine " + os.uname().nodename, pinned[field], "--replace", *words]:
        assert word in line
    # Agents have the same file.
    command = [sys.executable, "-m", "arena_openspiel", "mcts"]
    agent = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=60)
    assert agent.returncode == 1 and agent.stderr.strip() == line


def test_missing_openspiel_is_named_with_the_remedy(package):
    (package / "pyspiel.py").write_text("raise ImportError('none here')\n")
    ran = process(package)
    assert ran.returncode == 1 and "Traceback" not in ran.stderr
    for word in ["has no open_spiel", "none here", "pip install open_spiel", "ARENA_AGENT_PATH"]:
        assert word in ran.stderr
