"""Single decisions: the bot gets Arena's position, or an error says how it differs."""

import pyspiel
import pytest
from arena_agent.decision import Context, Decision
from arena_agent.proto import agent_pb2 as pb
from arena_agent.proto import kalah_pb2, oware_abapa_pb2

from arena_openspiel import BotAgent
from arena_openspiel.rulesets import RULESETS

#: Seat 0 plays pit 2, whose last stone falls into its store, and then pit 0; seat 1 is to move.
MOVES = [(0, 2), (0, 0)]
BOARD = [0, 5, 1, 6, 6, 5, 1, 4, 4, 4, 4, 4, 4, 0]


class Spy(pyspiel.Bot):
    """Plays the last legal action, and keeps what it is given."""

    def __init__(self, answer=None):
        super().__init__()
        self.answer = answer
        self.seen = []

    def provides_force_action(self):
        return True

    def inform_action(self, state, player, action):
        self.seen.append(("inform", state.history(), player, action))

    def force_action(self, state, action):
        self.seen.append(("force", state.history(), action))

    def step(self, state):
        self.seen.append(("step", state.history()))
        return state.legal_actions()[-1] if self.answer is None else self.answer


class SpyAgent(BotAgent):
    name = "spy"

    def __init__(self, answer=None):
        self.made = []
        self.answer = answer

    def bot(self, game, player, seed):
        self.made.append((game.get_type().short_name, player, seed, Spy(self.answer)))
        return self.made[-1][-1]


def written(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def decision(ruleset="kalah", board=BOARD, legal=range(6), moves=MOVES, seat=1, seed=1, **changed):
    options = {**RULESETS[ruleset].options, **changed}
    context = pb.GameContext(
        ruleset=ruleset,
        seats=2,
        options=[pb.OptionValue(name=name, value=written(value)) for name, value in options.items()],
    )
    if ruleset == "kalah":
        position = kalah_pb2.KalahPosition(board=board)
    else:
        position = oware_abapa_pb2.OwareAbapaPosition(pits=board[:12], score=board[12:])
    message = pb.Decision(
        seat=seat,
        seed=seed,
        position=position.SerializeToString(),
        legal_moves=legal,
        moves=[pb.PastMove(seat=mover, move_id=move) for mover, move in moves],
    )
    return Decision(Context(context, ()), message)


def test_bot_is_informed_of_all_moves():
    agent = SpyAgent()
    assert agent.choose(decision()) == 5
    game, player, seed, bot = agent.made[0]
    assert (game, player, seed) == ("mancala", 1, 1)
    assert bot.seen == [("inform", [], 0, 3), ("inform", [3], 0, 1), ("step", [3, 1])]
    moves = [*MOVES, (1, 5)]
    board = [1, 6, 2, 6, 6, 5, 1, 4, 4, 4, 4, 4, 0, 1]
    assert agent.choose(decision(moves=moves, board=board, seat=0)) == 5
    bot = agent.made[1][-1]
    assert bot.seen[:3] == [("force", [], 3), ("force", [3], 1), ("inform", [3, 1], 1, 13)]


def test_each_bit_of_the_seed_counts():
    agent = SpyAgent()
    seeds = [0x9E3779B97F4A7C15, *(0x9E3779B97F4A7C15 ^ 1 << bit for bit in range(64))]
    for seed in seeds:
        agent.choose(decision(seed=seed))
    first, *others = [seed for _, _, seed, _ in agent.made]
    assert first not in others
    assert all(0 <= seed < 2**31 for seed in (first, *others))


def test_oware_position_is_compared_too():
    board = [0, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 0, 0]
    given = {"ruleset": "oware-abapa", "moves": [(0, 0)], "board": board}
    assert SpyAgent().choose(decision(**given)) == 5
    with pytest.raises(ValueError, match="the board is .* in OpenSpiel, .*1, 0] in Arena"):
        SpyAgent().choose(decision(**{**given, "board": [*board[:12], 1, 0]}))


@pytest.mark.parametrize(
    "changed, error",
    [
        ({"legal": [0, 1]}, r"legal actions are \[8, .*13\] in OpenSpiel, \[8, 9\] in Arena"),
        ({"seat": 0}, r"legal actions are \[\] in OpenSpiel, \[1, 2, .*\] in Arena"),
        ({"board": [9, *BOARD[1:]]}, r"the board is \[0, .* in OpenSpiel, \[9, .* in Arena"),
        ({"moves": [(0, 2), (0, 2)]}, r"after the moves \[\(0, 2\), \(0, 2\)\]: action 3 of player 0 "),
        ({"moves": [(1, 2)]}, "action 10 of player 1 is illegal in"),
    ],
)
def test_different_rules_are_an_error_that_names_both(changed, error):
    with pytest.raises(ValueError, match=error) as raised:
        SpyAgent().choose(decision(**changed))
    assert str(raised.value).startswith("kalah differs in OpenSpiel after the moves [(")


@pytest.mark.parametrize("action", [-1, 7, 6, 99])
def test_illegal_action_names_the_bot(action):
    error = f"bot spy .Spy. returned the illegal action {action} as player 1 of mancala"
    with pytest.raises(ValueError, match=error):
        SpyAgent(action).choose(decision())


@pytest.mark.parametrize(
    "ruleset, option, value",
    [("kalah", "stones", 3), ("kalah", "early_stop", True), ("oware-abapa", "grand_slam", "allow")],
)
def test_options_that_openspiel_lacks_are_refused(ruleset, option, value):
    agent = SpyAgent()
    with pytest.raises(ValueError, match=f"OpenSpiel has no {ruleset} with {option} = {value!r}; set"):
        agent.choose(decision(ruleset, **{option: value}))
    described = {(it.ruleset, it.name): it.value for it in agent.describe().required_options}
    assert described[ruleset, option] == written(RULESETS[ruleset].options[option])
