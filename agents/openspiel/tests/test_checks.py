"""`arena rulesets check` of games of OpenSpiel."""

import os
import time
from pathlib import Path

import pytest
from test_rules import PLAYS

LONG = os.environ.get("ARENA_LONG")
#: The answers of the check: `passes`, or why a game does not.
TABLE = Path(__file__).with_name("checks.tsv")
#: Random games with each combination of options.
GAMES = 20
#: Checked always: chance, hidden information, simultaneous moves, 2 to 10 seats, ties.
SHORT = ["kuhn_poker", "liars_dice", "matrix_rps", "tic_tac_toe"]


def table():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


def test_each_game_has_a_result_and_sixty_pass():
    answers = table()
    names = {name.partition("(")[0] for name in answers}
    assert names >= {name for name in PLAYS if "(" not in name}
    passing = {name.partition("(")[0] for name, answer in answers.items() if answer == "passes"}
    assert len(passing) >= 60


@pytest.mark.parametrize("game", table() if LONG else SHORT)
def test_game_passes_the_check(folder, game):
    answer, start = table()[game], time.monotonic()
    check = ("rulesets", "check", "--openspiel", game, "--games", GAMES)
    if answer == "passes":
        assert "FAILED" not in folder.arena(*check)
    elif answer.startswith("fails: "):
        assert answer.partition(": ")[2] in folder.arena(*check, code=3)
    else:
        pytest.skip(answer)
    print(f"{game}: {time.monotonic() - start:.1f} s")
