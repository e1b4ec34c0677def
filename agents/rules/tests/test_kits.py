"""The commands of "Search ahead" in the README of each kit make an agent that searches with Arena's own rules."""

import pytest

from arena_rules import Game, rulesets
from kits import IS_LONG, KITS, Agent, made

# An agent that compares its state with its question.
JAVASCRIPT = """
const { serve } = require("./arena.js");
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
serve((d) => (same(d.state().legal(), d.legalMoves) ? d.legalMoves.at(-1) : -1), { name: "last" });
"""


def playouts(state, seed, number):
    """The first of the moves with the highest sum of values."""

    def value(move):
        after = state.clone()
        after.apply(move)
        games = max(1, number // len(state.legal()))
        return sum(after.playout((seed + k) % 2**64)[state.to_move] for k in range(games))

    return max(state.legal(), key=value)


def opening(ruleset):
    """A game, and its first decision."""
    game = Game(ruleset)
    state = game.initial()
    while state.is_chance():
        state.apply_outcome(state.chance()[0][0])
    return game, state


@pytest.mark.parametrize("lang", ["c", "cpp", "go", "rust"])
def test_commands_make_an_agent_that_plays_random_games(lang, tmp_path):
    if lang == "rust" and not IS_LONG:
        pytest.skip("the Rust kit compiles the rules for minutes: run with --long")
    agent = Agent(made(lang, tmp_path / "agent"))
    assert agent.hello["name"] == "playouts"
    for ruleset in rulesets():
        game, state = opening(ruleset)
        agent.start(game, playouts=40)
        asked = [(state, seed) for seed in (0, 7, 2**64 - 1)]
        assert agent.moves(asked) == [playouts(state, seed, 40) for _, seed in asked], ruleset
    agent.end()


@pytest.mark.parametrize("lang", ["python", "typescript"])
def test_commands_make_an_agent_that_searches_a_tree(lang, tmp_path):
    agent = Agent(made(lang, tmp_path / "agent"))
    assert agent.hello["name"] == "mcts"
    agent.end()


def test_commands_of_javascript_add_the_rules(tmp_path):
    folder = made("javascript", tmp_path / "agent")
    (folder / "agent.js").write_text(JAVASCRIPT)
    agent = Agent(folder)
    game, state = opening("kalah")
    agent.start(game)
    assert agent.moves([(state, 1)]) == [state.legal()[-1]]
    agent.end()


def test_other_kits_do_not_search_ahead():
    others = {path.parent.name for path in KITS.glob("*/README.md") if "## Search ahead" not in path.read_text()}
    assert others == {"bash", "java"}
