"""Replays random games of the engine, which the program `reference` writes.

ARENA_RULES_GAMES is their number, ARENA_RULES_REFERENCE the program. ../../tests/README.md
describes the lines.
"""

import json
import os
import subprocess

import pytest

from arena_rules import Game, rulesets

GAMES = int(os.environ.get("ARENA_RULES_GAMES", "2000"))


def numbers(text):
    return [int(number) for number in text.split(",")]


class Replay:
    """Compares what the lines say with what the module does."""

    def __init__(self):
        self.game = self.state = None
        self.games = 0
        self.of_ruleset = {}

    def line(self, line):
        kind, *fields = line.rstrip("\n").split("\t")
        getattr(self, "on_" + kind)(*fields)

    def on_game(self, ruleset, version, seats, options, _label):
        options = json.loads(options)
        self.game = Game(ruleset, options, int(seats), version=int(version))
        assert self.game.options == options
        described = (self.game.ruleset, self.game.version, self.game.seats)
        assert described == (ruleset, int(version), int(seats))

    def on_initial(self):
        self.state = self.game.initial()
        self.games += 1
        of_ruleset = self.of_ruleset
        of_ruleset[self.game.ruleset] = of_ruleset.get(self.game.ruleset, 0) + 1

    def compare(self, position, values):
        assert f"{self.state.hash():016x}" == position
        assert self.state.values() == numbers(values)

    def on_position(self, position, message, text):
        assert self.state.encode() == bytes.fromhex(message)
        assert json.loads(self.state.to_json()) == json.loads(text)
        for other in (
            self.game.decode(bytes.fromhex(message)),
            self.game.state(text),
            self.game.state(json.loads(text)),
            self.state.clone(),
        ):
            assert other == self.state
            assert f"{other.hash():016x}" == position

    def on_playout(self, seed, values):
        assert self.state.playout(int(seed)) == numbers(values)

    def on_move(self, position, values, seat, legal, move, notation):
        state, move = self.state, int(move)
        self.compare(position, values)
        assert (state.is_over(), state.is_chance(), state.to_move) == (False, False, int(seat))
        assert state.legal() == numbers(legal)
        assert state.notation(move) == notation
        state.apply(move)

    def on_chance(self, position, values, weights, outcome, notation):
        state, outcome, weights = self.state, int(outcome), numbers(weights)
        self.compare(position, values)
        assert (state.is_over(), state.is_chance(), state.to_move) == (False, True, None)
        assert state.weights() == weights
        possible = [(one, weight / sum(weights)) for one, weight in enumerate(weights) if weight]
        assert state.chance() == possible
        assert state.outcome_notation(outcome) == notation
        state.apply_outcome(outcome)

    def on_over(self, position, values, scores, ranks):
        state = self.state
        self.compare(position, values)
        assert (state.is_over(), state.is_chance(), state.to_move) == (True, False, None)
        assert state.scores() == numbers(scores)
        assert state.placement() == numbers(ranks)

    def on_end(self, games):
        assert self.games == int(games)


def lines(games, seed):
    """The lines of random games."""
    reference = os.environ.get("ARENA_RULES_REFERENCE")
    if not reference:
        pytest.skip("ARENA_RULES_REFERENCE is not set: run agents/rules/run")
    command = [reference, str(games), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from process.stdout
    assert process.returncode == 0


def test_random_games_are_those_of_the_engine():
    replay = Replay()
    for number, line in enumerate(lines(GAMES, 1), 1):
        try:
            replay.line(line)
        except Exception as error:
            raise AssertionError(f"line {number}: {line}") from error
    assert replay.games == GAMES
    assert sorted(replay.of_ruleset) == rulesets()


@pytest.mark.parametrize("kind", ["position", "playout", "move", "chance", "over"])
def test_changed_line_is_a_difference(kind):
    """A replay compares each field: a changed one is found."""
    changed = set()
    replay = Replay()
    for line in lines(600, 2):
        name, *fields = line.rstrip("\n").split("\t")
        if name == kind and len(changed) < len(fields):
            index = len(changed)
            if (kind, index) != ("playout", 0):
                other = [*fields]
                other[index] = change(fields[index])
                before = replay.state.clone()
                with pytest.raises(Exception):
                    replay.line("\t".join([kind, *other]))
                replay.state = before
            changed.add(index)
        replay.line(line)
    assert changed


def change(field):
    """The field with another last digit or letter, or another number in JSON."""
    if field.startswith("{"):
        position = json.loads(field)
        position["to_move"] += 1
        return json.dumps(position)
    return field[:-1] + ("1" if field[-1] == "0" else "0")
