"""The bots of OpenSpiel in tournaments."""

import re

import pytest
from conftest import PACKAGE

from arena_openspiel.bots import BOTS

RULESETS = ["kalah", "oware-abapa"]


def test_check_passes(folder):
    folder.arena("agent", "check", folder.agent("mcts", "mcts", "max_simulations=20"))


def test_agent_of_the_readme_plays(folder):
    readme = (PACKAGE / "README.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```$", readme, re.M | re.S)
    agent = folder.agent("mine", program=program)
    folder.arena("agent", "check", agent, "--ruleset", "kalah")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_mcts_beats_random_and_repeats_its_games(folder, ruleset):
    agents = [folder.agent("spiel", "mcts", "max_simulations=30"), folder.agent("uniform", "uniform-random")]
    spec = folder.spec(ruleset, [*agents, "random"], blocks=6)
    standings, hashes = folder.tournament(spec, agents, "one")
    assert len(hashes) == 36 and all(agent["faults"] == 0 for agent in standings.values())
    assert standings["spiel"]["wins"] >= 20
    assert folder.tournament(spec, agents, "two", workers=2)[1] == hashes


@pytest.mark.parametrize("ruleset", RULESETS)
def test_one_program_offers_all_bots(folder, ruleset):
    agents = [folder.agent("openspiel")]
    names = [f"a-{name}" for name in BOTS]
    variants = "".join(
        f'[[agent]]\nname = "a-{name}"\nfrom = "openspiel"\nbot = "{name}"\n' for name in BOTS
    )
    variants = variants.replace('bot = "mcts"', 'bot = "mcts"\noptions = { max_simulations = 10 }')
    spec = folder.spec(ruleset, names, blocks=1, more=variants)
    standings, _ = folder.tournament(spec, agents, "data")
    assert all(agent["games"] == 6 and agent["faults"] == 0 for agent in standings.values())


def test_illegal_action_of_a_bot_is_shown(folder):
    program = """
import pyspiel
from arena_agent import serve
from arena_openspiel import BotAgent

class Wrong(pyspiel.Bot):
    def step(self, state):
        return 42

class Mine(BotAgent):
    name = "mine"

    def bot(self, game, player, seed):
        return Wrong()

serve(Mine())
"""
    agent = folder.agent("mine", program=program)
    shown = folder.arena("agent", "check", agent, "--ruleset", "kalah", code=3)
    assert "bot mine (Wrong) returned the illegal action 42 as player 0 of mancala" in shown


def test_tournament_with_other_options_is_refused(folder):
    agent = folder.agent("spiel", "mcts")
    folder.arena("agent", "register", agent, "--binary", agent, "--data", "data")
    options = '[options]\ngrand_slam = "allow"\n'
    spec = folder.spec("oware-abapa", [agent, "random"], more=options)
    shown = folder.arena("run", spec, "--data", "data", code=2)
    assert "agent \"spiel\": it plays oware-abapa only with grand_slam = no-capture" in shown


@pytest.mark.parametrize(
    "arguments, error",
    [
        (["mtcs"], "unknown bot 'mtcs'; bots: mcts, alpha-beta"),
        (["mcts", "depth=3"], "mcts has no option 'depth'; options: max_simulations, uct_c"),
        (["mcts", "max_simulations=many"], "invalid literal for int"),
    ],
)
def test_wrong_arguments_are_named(folder, arguments, error):
    agent = folder.agent("wrong", *arguments)
    assert error in folder.arena("agent", "check", agent, code=3)
