"""Wrong arguments raise, and change nothing."""

import copy
import random
import sys
import threading

import pytest

import arena_rules
from arena_rules import Game, IllegalMove, InvalidGame, InvalidPosition, RulesError, WrongNode


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("snap",), 'unknown ruleset "snap"; there are chess, chinese-ludo, cowry, kalah'),
        (("kallah",), 'unknown ruleset "kallah", did you mean "kalah"'),
        (("kalah", {"pitts": 6}), 'unknown option "pitts", did you mean "pits"'),
        (("kalah", {"pits": 99}), 'option "pits": 99 is not a whole number from 1 to 8'),
        (("kalah", {"pits": True}), 'option "pits": true is not'),
        (("kalah", {}, 3), "kalah is for 2 seats, not 3"),
        (("cowry", {}, 0), "cowry is for 2 to 4 seats, not 0"),
        (("cowry", {"preset": "none"}), 'unknown preset "none"'),
    ],
)
def test_wrong_game(arguments, message):
    with pytest.raises(InvalidGame, match="^(ruleset [a-z]*: )?" + message):
        Game(*arguments)


def test_wrong_version():
    with pytest.raises(InvalidGame, match="kalah version 9 is not available"):
        Game("kalah", version=9)


@pytest.mark.parametrize(
    "arguments",
    [(), (1,), (None,), ("kalah", []), ("kalah", {1: 2}), ("kalah", {"pits": None}),
     ("kalah", {"pits": 6.5}), ("kalah", {}, "two"), ("kalah", {"pits": [6]})],
)  # fmt: skip
def test_wrong_type_of_argument(arguments):
    with pytest.raises(TypeError):
        Game(*arguments)


@pytest.mark.parametrize("seats", [-1, 2**70])
def test_seats_out_of_range(seats):
    with pytest.raises((OverflowError, InvalidGame)):
        Game("cowry", {}, seats)


@pytest.mark.parametrize("move", [-1, 6, 65536, 2**31, 2**63, -(2**63), 10**30])
def test_illegal_move(move):
    state = Game("kalah").initial()
    before = state.clone()
    for call in (state.apply, state.notation):
        with pytest.raises(IllegalMove, match=r"is not legal; legal moves: 0, 1, 2, 3, 4, 5$"):
            call(move)
    assert state == before


@pytest.mark.parametrize("move", ["0", None, 1.0, [0]])
def test_move_of_wrong_type(move):
    state = Game("kalah").initial()
    with pytest.raises(TypeError):
        state.apply(move)


@pytest.mark.parametrize("outcome", [-1, 6, 2**40, 10**30])
def test_impossible_outcome(outcome):
    state = Game("chinese-ludo").initial()
    before = state.clone()
    for call in (state.apply_outcome, state.outcome_notation):
        with pytest.raises(IllegalMove, match="possible outcomes: 0, 1, 2, 3, 4, 5$"):
            call(outcome)
    assert state == before


def test_chance_is_no_decision():
    state = Game("chinese-ludo").initial()
    for call in (state.legal, lambda: state.apply(0), lambda: state.notation(0), state.placement):
        with pytest.raises(WrongNode, match="a chance outcome is drawn next"):
            call()


def test_decision_is_no_chance():
    state = Game("kalah").initial()
    for call in (
        state.chance,
        state.weights,
        lambda: state.apply_outcome(0),
        lambda: state.outcome_notation(0),
        state.placement,
    ):
        with pytest.raises(WrongNode, match="^seat 0 moves next"):
            call()


def test_nothing_follows_the_end():
    state = Game("kalah").initial()
    while not state.is_over():
        state.apply(state.legal()[0])
    for call in (
        state.legal,
        state.chance,
        state.weights,
        lambda: state.apply(0),
        lambda: state.apply_outcome(0),
        lambda: state.notation(0),
        lambda: state.outcome_notation(0),
    ):
        with pytest.raises(WrongNode, match="^the game is over$"):
            call()
    assert state.playout(7) == state.values()


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("", "no JSON object"),
        ("[]", "no JSON object"),
        ("{", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ({}, "another number of pits"),
        ({"pits": -6}, "pits: -6 is not a whole number"),
        ({"pits": 2**32}, "pits: 4294967296 is not a whole number"),
        ({"pits": 6, "board": 4}, "board: not a list"),
        ({"pits": 6, "board": ["4"]}, 'board: "4" is not a whole number'),
        ({"pits": 6, "board": [4] * 100_000}, "board has another length"),
        ({"pits": 6, "board": [4] * 12 + [0, 0], "to_move": 2}, "to_move is not a seat"),
        ({"pits": [6]}, "pits: \\[6\\] is not a whole number"),
    ],
)
def test_wrong_position(position, message):
    with pytest.raises(InvalidPosition, match="^not a position of kalah: .*" + message):
        Game("kalah").state(position)


def test_wrong_phase_and_bytes():
    with pytest.raises(InvalidPosition, match='phase: "fly" is not one of move, throw, start'):
        Game("cowry").state({"phase": "fly"})
    with pytest.raises(InvalidPosition, match="pieces: not a list of bytes"):
        Game("cowry").state({"pieces": [256]})


@pytest.mark.parametrize("position", [None, 3, b"{}", [1]])
def test_position_of_wrong_type(position):
    with pytest.raises(TypeError):
        Game("kalah").state(position)


def test_random_messages_are_refused_or_playable():
    rng = random.Random(5)
    for ruleset in arena_rules.rulesets():
        game = Game(ruleset)
        state = game.initial()
        for _ in range(2000):
            message = bytearray(state.encode())
            for _ in range(rng.randrange(3)):
                message[rng.randrange(len(message))] = rng.randrange(256)
            try:
                other = game.decode(bytes(message[: rng.randrange(len(message) + 1) or None]))
            except InvalidPosition:
                pass
            else:
                assert sum(other.playout(1)) > 0
            step(state, rng)
            if state.is_over():
                state = game.initial()


def step(state, rng):
    if state.is_chance():
        state.apply_outcome(rng.choice(state.chance())[0])
    else:
        state.apply(rng.choice(state.legal()))


def test_states_are_compared_with_their_games():
    game = Game("kalah")
    assert game.initial() == Game("kalah").initial()
    assert game.initial() != Game("kalah", {"max_plies": 100}).initial()
    assert game.initial() != Game("oware-abapa").initial()
    assert game.initial() != 3
    with pytest.raises(TypeError):
        hash(game.initial())


def test_copies_are_independent():
    state = Game("kalah").initial()
    copies = [state.clone(), copy.copy(state), copy.deepcopy(state)]
    other = Game("oware-abapa").initial()
    other.copy_from(state)
    state.apply(0)
    for one in [*copies, other]:
        assert one == Game("kalah").initial()
    with pytest.raises(ValueError, match="from itself"):
        state.copy_from(state)
    with pytest.raises(TypeError):
        state.copy_from(None)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_has_64_bits(seed):
    with pytest.raises(OverflowError):
        Game("kalah").initial().playout(seed)


def test_threads_share_a_state():
    state = Game("cowry", {}, 4).initial()
    expected = [state.playout(seed) for seed in range(50)]
    found = {}

    def play(number):
        found[number] = [state.playout(seed) for seed in range(50)]

    threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 4


def test_objects_cannot_be_made_without_a_game():
    with pytest.raises(TypeError):
        arena_rules.State()
    assert issubclass(IllegalMove, RulesError) and issubclass(RulesError, ValueError)


def test_texts():
    game = Game("kalah")
    assert repr(game).startswith("Game('kalah', {'early_stop': ") and repr(game).endswith(", 2)")
    assert repr(game.initial()) == "<State of kalah for 2: seat 0 moves>"
    assert "4" in str(game.initial())
    assert sys.getrefcount(game) >= 1
