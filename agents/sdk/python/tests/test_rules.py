"""Rules over gRPC: the class of the kit for lines, served as it is."""

import importlib.util
import json
import sys
from pathlib import Path

import grpc
import pytest

from arena_agent.proto import rules_pb2 as pb

KIT = Path(__file__).resolve().parents[4] / "services/games/kits/python"
SERVES = f"""
import sys
sys.path.insert(0, {str(KIT)!r})
from arena_agent.rules import serve_rules
from game import Game
"""
FULL = """
class Full(Game):
    information = "hidden"
    returns = [{"min": -1, "max": 1, "parts": 2}]
    options = [*Game.options, {"name": "fast", "type": "bool", "default": False, "summary": "f"},
               {"name": "board", "type": "choice", "default": "a", "choices": ["a", "b"], "summary": ""}]
    presets = [{"name": "short", "summary": "s", "options": {"target": 50, "fast": True, "board": "b"}, "seats": 3}]

    def values(self, state):
        return [500000] * self.seats

    def position(self, state):
        return {"seat": state["seat"]}

    def svg(self, state):
        return "<svg/>" if state["turns"] else None

serve_rules(Full)
"""


class Rules:
    """A client, as a worker is one."""

    def __init__(self, process):
        self.process = process
        self._channel = process.client.channel

    def __getattr__(self, method):
        answer = getattr(pb, f"{method}Response")
        call = self._channel.unary_unary(
            f"/arena.v1.RulesService/{method}",
            request_serializer=getattr(pb, f"{method}Request").SerializeToString,
            response_deserializer=answer.FromString,
        )
        request = getattr(pb, f"{method}Request")
        return lambda **fields: call(request(**fields))

    def start(self, target=100, **more):
        options = [pb.RulesOptionValue(name="target", integer=target)]
        return self.StartGame(game=7, seats=2, options=options, **more).node


@pytest.fixture
def rules(start):
    return lambda text="serve_rules(Game)": Rules(start(SERVES + text))


@pytest.fixture
def lines(monkeypatch):
    """The answers of the kit to the same questions over lines."""
    monkeypatch.syspath_prepend(str(KIT))
    for name in ("arena_game", "game"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    spec = importlib.util.spec_from_file_location("game", KIT / "game.py")
    game = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(game)
    import arena_game

    return lambda games, message: arena_game._answer(game.Game, games, message)


def as_line(node):
    """A message as the node of a line."""
    line = {"state": node.state, "next": pb.RulesNext.Name(node.next)[len("RULES_NEXT_") :].lower()}
    for field in ("legal", "moves", "weights", "probabilities", "outcomes", "ranks", "scores", "values"):
        if getattr(node, field):
            line[field] = list(getattr(node, field))
    if node.HasField("seat"):
        line["seat"] = node.seat
    if node.ending:
        line["ending"] = pb.RulesEnding.Name(node.ending)[len("RULES_ENDING_") :].lower()
    if node.position_json:
        line["position"] = json.loads(node.position_json)
    return line


def test_nodes_are_those_of_lines(rules, lines):
    served, games = rules(), {}
    message = {"type": "game", "game": 7, "seats": 2, "options": {"target": 10}}
    node, line = served.start(target=10), lines(games, message)["node"]
    kinds = set()
    # Throws of the most pips; each seat holds at once.
    for _ in range(20):
        assert as_line(node) == line
        kinds.add(line["next"])
        if line["next"] == "over":
            break
        event = 5 if line["next"] == "chance" else 0
        states = [line["state"]]
        node = served.Apply(game=7, states=states, events=[event]).nodes[0]
        assert served.Look(game=7, states=states * 2).nodes[1].state == states[0]
        asked = {"type": "apply", "batch": 1, "game": 7, "states": states, "events": [event]}
        line = lines(games, asked)["nodes"][0]
    assert kinds == {"chance", "decision", "over"}


def test_description_has_all_fields(rules):
    served = rules(FULL)
    described = served.DescribeRules()
    assert (described.seats_min, described.seats_max, described.protocol) == (2, 4, 1)
    assert described.information == pb.RULES_INFORMATION_HIDDEN
    assert described.chance and described.values and described.draws
    kinds = [option.WhichOneof("type") for option in described.options]
    assert kinds == ["integer", "boolean", "choice"]
    assert described.options[0].integer == pb.RulesInteger(min=10, max=200, default_value=100)
    values = [value.WhichOneof("value") for value in described.presets[0].options]
    assert (values, described.presets[0].seats) == (["integer", "boolean", "choice"], 3)
    assert described.returns[0] == pb.RulesReturns(min=-1, max=1, parts=2)


def test_probabilities_and_wide_ids_are_passed_through(rules):
    served = rules(
        """
from arena_game import chance, decision

class Wide(Game):
    wide_ids = True
    def next(self, state):
        if state["throws"]:
            return chance([("heads", 0.25), ("tails", 0.75), ("edge", 0)])
        return decision(0, {7: "a", 2**31 - 1: "b"})

serve_rules(Wide)
"""
    )
    assert served.DescribeRules().wide_ids
    node = served.start()
    assert (list(node.probabilities), list(node.weights)) == ([0.25, 0.75, 0], [])
    node = served.Apply(game=7, states=[node.state], events=[1]).nodes[0]
    assert list(node.legal) == [7, 2**31 - 1]


def test_unknown_options_are_refused(rules, lines):
    served = rules()
    for options in [{"goal": 3}, {"target": 10, "goal": 3}]:
        message = {"type": "game", "game": 7, "seats": 2, "options": options}
        with pytest.raises(ValueError, match="unknown option 'goal'"):
            lines({}, message)
        given = [pb.RulesOptionValue(name=name, integer=value) for name, value in options.items()]
        with pytest.raises(grpc.RpcError) as failure:
            served.StartGame(game=7, seats=2, options=given)
        assert failure.value.details() == "ValueError: unknown option 'goal'"


def test_positions_are_left_out_on_request(rules):
    served = rules(FULL)
    state = served.start().state
    thrown = served.Apply(game=7, states=[state], events=[3]).nodes[0]
    assert thrown.position_json == '{"seat":0}'
    served.start(omit_positions=True)
    thrown = served.Apply(game=7, states=[state], events=[3]).nodes[0]
    assert thrown.position_json == ""


def test_boards_are_drawn(rules):
    served = rules(FULL)
    state = served.start().state
    after = served.Apply(game=7, states=[state], events=[0]).nodes[0].state
    boards = served.Draw(game=7, states=[state, after]).boards
    assert boards[0].text.startswith("seat 0: 0\n")
    assert [board.svg for board in boards] == ["", "<svg/>"]


def test_exception_is_the_error_of_its_question(rules):
    served = rules()
    state = served.start().state
    with pytest.raises(grpc.RpcError) as failure:
        served.Apply(game=7, states=['{"throws": 0}'], events=[0])
    assert failure.value.code() == grpc.StatusCode.INTERNAL
    assert failure.value.details() == "KeyError: 'totals'"
    assert "KeyError: 'totals'" in served.process.stderr()
    assert served.Look(game=7, states=[state]).nodes[0].state == state


def test_exit_ends_the_process(rules):
    served = rules("Game.apply = lambda *_: sys.exit(3)\nserve_rules(Game)")
    state = served.start().state
    with pytest.raises(grpc.RpcError):
        served.Apply(game=7, states=[state], events=[0])
    assert served.process.child.wait(30) == 3


def test_rules_end_on_sigterm(rules):
    served = rules()
    assert served.DescribeRules().name == "my-game"
    assert served.process.terminate() == 0
