"""`from_policy`: agents from functions of an observation and a mask."""

import json
import re

import chess
import pytest
from client import cowry_context, cowry_decision, kalah_context, kalah_decision, values
from test_parts import REPOSITORY

from arena_agent import UnknownRuleset, action_count, from_policy, observation
from arena_agent.decision import Context, Decision, position_type
from arena_agent.policy import OBSERVED, flat
from arena_agent.proto import agent_pb2 as pb


def first(observation, mask):
    return mask.index(True)


def page(ruleset):
    """The decision and the table of fields of a ruleset's page."""
    text = (REPOSITORY / f"services/games/docs/{ruleset}.md").read_text()
    shown = json.loads(re.search(r"^```json\n(.*?)^```$", text, re.M | re.S).group(1))
    table = re.search(r"^\| Field of .*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M).group(1)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return shown, {row[0].strip("`"): row[-1] for row in rows}


def decision_of(ruleset, shown, seats=2):
    """A decision with the position of a page."""
    fields = {k: v for k, v in shown["position"].items() if k not in ("phase", "moves")}
    if "pieces" in fields:
        fields["pieces"] = bytes(fields["pieces"])
    message = pb.Decision(
        position=position_type(ruleset)(**fields).SerializeToString(),
        legal_moves=shown["legal_moves"],
    )
    context = pb.GameContext(
        ruleset=ruleset, seats=seats, options=values(pits="4", pieces="2")
    )
    return Decision(Context(context, ()), message)


def test_position_of_an_added_ruleset_is_its_json():
    context = Context(pb.GameContext(ruleset="snap"), ())
    decision = Decision(context, pb.Decision(position=b'{"pots":[1,2]}'))
    assert decision.position == {"pots": [1, 2]}
    assert decision.position_bytes == b'{"pots":[1,2]}'
    with pytest.raises(UnknownRuleset, match="install a newer one"):
        Decision(context, pb.Decision(position=b"\x08\x01")).position  # noqa: B018


def chess_numbers(fen):
    """A position of chess as numbers, read by another program."""
    board = chess.Board(fen)
    pieces = map(board.piece_at, chess.SQUARES)
    rights = (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
    return [
        *(piece.piece_type + 6 * (not piece.color) if piece else 0 for piece in pieces),
        int(not board.turn),
        *(int(bool(board.castling_rights & rook)) for rook in rights),
        -1 if board.ep_square is None else board.ep_square,
        board.halfmove_clock,
        board.fullmove_number,
    ]


def test_position_of_chess_is_72_numbers():
    for fen in [
        "r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 9",
        "r3k2r/8/8/8/3pP3/8/8/RN2K2R b Qk e3 0 31",
        "4k3/8/8/8/8/8/8/QB2K1N1 b - - 57 90",
    ]:
        assert flat("chess", {"fen": fen, "plies": 5}.__getitem__, 2) == [*chess_numbers(fen), 5]
    shredder = "1r3kr1/8/8/8/8/8/8/1R3KR1 w GBb - 0 1"
    numbers = flat("chess", {"fen": shredder, "plies": 0}.__getitem__, 2)
    assert numbers[65:69] == [1, 1, 0, 1]


@pytest.mark.parametrize("ruleset", sorted(OBSERVED))
def test_observation_has_the_fields_of_the_page(ruleset):
    shown, table = page(ruleset)
    observed = [name for name, numbers in table.items() if numbers != "none"]
    assert observed == list(OBSERVED[ruleset])
    expected = []
    for name in observed:
        value = shown["position"][name]
        if name == "may_pass":
            value = value or [0, 0]
        if name == "fen":
            value = chess_numbers(value)
        expected += value if isinstance(value, list) else [int(value)]
    found = observation(decision_of(ruleset, shown))
    assert found == expected
    assert all(type(number) is int for number in found)


@pytest.mark.parametrize("ruleset", sorted(OBSERVED))
def test_mask_is_true_for_legal_actions(ruleset):
    shown, _ = page(ruleset)
    asked = []

    def policy(observation, mask):
        asked.append((observation, mask))
        return shown["legal_moves"][-1]

    decision = decision_of(ruleset, shown)
    assert from_policy(policy).choose(decision) == shown["legal_moves"][-1]
    [(numbers, mask)] = asked
    assert numbers == observation(decision)
    assert len(mask) == action_count(ruleset, {"pits": 4, "pieces": 2})
    assert [action for action, legal in enumerate(mask) if legal] == shown["legal_moves"]
    assert set(map(type, mask)) == {bool}


def test_own_observations_replace_numbers():
    def greedy(moves, mask):
        return max(moves, key=lambda move: move.banked).id

    agent = from_policy(greedy, observe=lambda decision: decision.moves)
    assert agent.move_details
    assert agent.choose(Decision(Context(kalah_context(), ()), kalah_decision())) == 2


def test_attributes_describe_the_agent():
    agent = from_policy(first, name="net-7", rulesets=("kalah",), deterministic=True)
    assert (agent.name, agent.rulesets, agent.deterministic) == ("net-7", ("kalah",), True)
    assert not agent.move_details
    assert from_policy(first).describe().name == "first"
    assert from_policy(lambda observation, mask: 0).describe().name == "lambda"
    for name in ("naem", "choose", "_function"):
        with pytest.raises(TypeError, match=f"no attribute '{name}'"):
            from_policy(first, **{name: 1})


def test_numbers_of_other_types_are_ids():
    class Scalar:
        def __index__(self):
            return 4

    context = Context(cowry_context(), ())
    context.message.options.extend(values(pieces="4"))
    decision = Decision(context, cowry_decision())
    assert from_policy(lambda observation, mask: Scalar()).choose(decision) == 4
    with pytest.raises(TypeError):
        from_policy(lambda observation, mask: 4.5).choose(decision)


def test_unknown_ruleset_needs_its_own_functions():
    context = kalah_context()
    context.ruleset = "hex-on-mars"
    decision = Decision(Context(context, ()), kalah_decision())
    with pytest.raises(UnknownRuleset, match="observe"):
        observation(decision)
    with pytest.raises(UnknownRuleset, match="actions"):
        action_count("hex-on-mars", {})


def test_policy_is_served(start):
    process = start(
        """
        def last(observation, mask):
            return max(action for action, legal in enumerate(mask) if legal)

        serve(from_policy(last, rulesets=("kalah",), deterministic=True, uses_seed=False))
        """
    )
    [bot] = process.client.describe().bots
    assert (bot.name, bot.deterministic) == ("last", True)
    answers = process.client.choose_all([kalah_context()], [kalah_decision()])
    assert answers[0].move_id == 5
