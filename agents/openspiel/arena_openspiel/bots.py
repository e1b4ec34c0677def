"""Bots that OpenSpiel has. Names of options are those of OpenSpiel."""

import pyspiel
from arena_agent import Option
from open_spiel.python.algorithms.minimax import alpha_beta_search

from .agent import BotAgent
from .rulesets import RULESETS

_MEMORY_MB_MAX = 512
#: For bots of any game.
_ANY = ("rulesets=any",)


class Mcts(BotAgent):
    name = "mcts"
    summary = "Monte Carlo tree search with random rollouts"
    registered = _ANY
    options = (
        Option("max_simulations", 1000, "simulations for each move", low=1, high=10**8),
        Option("uct_c", 2.0, "weight of exploration", low=0, high=1000),
        Option("n_rollouts", 1, "rollouts for each evaluation", low=1, high=10**6),
        Option("solve", True, "use proven results"),
    )
    deterministic = True
    uses_seed = True

    def bot(self, game, player, seed, uct_c, max_simulations, n_rollouts, solve):
        evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts, seed)
        return pyspiel.MCTSBot(
            game, evaluator, uct_c, max_simulations, _MEMORY_MB_MAX, solve, seed, False
        )


class _AlphaBeta(pyspiel.Bot):
    def __init__(self, stores, board, depth):
        super().__init__()
        self._stores, self._board, self._depth = stores, board, depth

    def _value(self, state):
        own, other = (self._board(state)[store] for store in self._stores)
        # A win has the value 1.
        return (own - other) / 100

    def step(self, state):
        return alpha_beta_search(state.get_game(), state, self._value, self._depth)[1]


class AlphaBeta(BotAgent):
    name = "alpha-beta"
    summary = "alpha-beta search for the lead in the stores"
    options = (Option("depth", 4, "plies to search", low=1, high=100),)
    deterministic = True
    uses_seed = False

    def bot(self, game, player, seed, depth):
        (shared,) = (it for it in RULESETS.values() if it.game == game.get_type().short_name)
        return _AlphaBeta((shared.stores[player], shared.stores[1 - player]), shared.board, depth)


class UniformRandom(BotAgent):
    name = "uniform-random"
    summary = "any legal action, with equal probability"
    registered = _ANY
    deterministic = True
    uses_seed = True

    def bot(self, game, player, seed):
        return pyspiel.make_uniform_random_bot(player, seed)

    def choose_hidden(self, decision):
        return decision.rng.choice(decision.legal)


class FixedActionPreference(BotAgent):
    name = "fixed-action-preference"
    summary = "the first legal action of a list"
    options = (Option("actions", ":".join(map(str, range(14))), "actions of OpenSpiel, best first"),)
    deterministic = True
    uses_seed = False

    def bot(self, game, player, seed, actions):
        return pyspiel.load_bot(self.name.replace("-", "_"), game, player, {"actions": actions})


BOTS = {bot.name: bot for bot in (Mcts(), AlphaBeta(), UniformRandom(), FixedActionPreference())}
