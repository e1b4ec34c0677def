"""Agents that play bots of OpenSpiel."""

from functools import lru_cache
from importlib.metadata import version
from typing import Any, List, Tuple

import pyspiel
from arena_agent import Agent, Decision

from .nodes import has_places
from .rulesets import RULESETS

_load_game = lru_cache(pyspiel.load_game)


class BotAgent(Agent):
    """An agent with a bot of OpenSpiel: give it a `name`, and write `bot`."""

    version = f"open_spiel {version('open_spiel')}"
    rulesets = tuple(RULESETS)
    required_options = {ruleset: shared.options for ruleset, shared in RULESETS.items()}
    # OpenSpiel makes states from moves only: a position of Oware has earlier ones.
    sticky = True
    move_details = False
    #: Arguments of `python -m arena_openspiel` after the name in the package of `--openspiel`.
    registered: Tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "perfect_information" not in cls.__dict__:
            # An agent with a method of its own says what it does where information is hidden.
            cls.perfect_information = cls.choose_hidden is BotAgent.choose_hidden

    def bot(self, game: pyspiel.Game, player: int, seed: int, **options: Any) -> pyspiel.Bot:
        """A bot for one decision. Take all its random numbers from `seed`, which has 31 bits.
        `options` has the values of the agent's own options."""
        raise NotImplementedError(f"{type(self).__name__} needs a method bot(self, game, player, seed)")

    def choose_hidden(self, decision: Decision) -> int:
        """A decision of a ruleset that was registered with --openspiel and hides information. Its
        position has what the player sees: `information_state`, or `observation` and own `actions`."""
        raise ValueError(f"bot {self.name} needs the whole state, and {decision.ruleset} hides a part of it")

    def choose(self, decision: Decision) -> int:
        if decision.ruleset not in RULESETS:
            return self._choose_registered(decision)
        shared, player = RULESETS[decision.ruleset], decision.seat
        for name, value in shared.options.items():
            if decision.options[name] != value:
                raise ValueError(
                    f"OpenSpiel has no {decision.ruleset} with {name} = {decision.options[name]!r}; "
                    f"set {name} = {value!r}"
                )
        game = _load_game(shared.game)
        bot = self.bot(game, player, decision.seed % (2**31 - 1), **decision.bot_options)
        state = game.new_initial_state()
        for mover, move in decision.past_moves:
            action = shared.first[mover] + move
            if action not in state.legal_actions(mover):
                raise _differs(decision, f"action {action} of player {mover} is illegal in {state}")
            if mover != player:
                bot.inform_action(state, mover, action)
            elif bot.provides_force_action():
                bot.force_action(state, action)
            state.apply_action(action)
        legal = [shared.first[player] + move for move in decision.legal]
        if state.legal_actions(player) != legal:
            there = state.legal_actions(player)
            raise _differs(decision, f"legal actions are {there} in OpenSpiel, {legal} in Arena")
        there, here = shared.board(state), shared.position(decision.position)
        if there != here:
            raise _differs(decision, f"the board is {there} in OpenSpiel, {here} in Arena")
        return self._step(bot, state, legal) - shared.first[player]

    def _choose_registered(self, decision: Decision) -> int:
        """A decision of a ruleset that was registered with --openspiel. Its positions have the game
        and all actions."""
        try:
            game = decision.position["game"]
        except (LookupError, TypeError):
            raise ValueError(
                f"{decision.ruleset} is no game of OpenSpiel; bot {self.name} plays {', '.join(RULESETS)} and "
                "rulesets of `arena rulesets register --openspiel`"
            ) from None
        if "history" not in decision.position:
            return self.choose_hidden(decision)
        game, history, player = _load_game(game), decision.position["history"], decision.seat
        bot = self.bot(game, player, decision.seed % (2**31 - 1), **decision.bot_options)
        state = game.new_initial_state()
        for action in history:
            mover = state.current_player()
            if mover != player:
                bot.inform_action(state, mover, action)
            elif bot.provides_force_action():
                bot.force_action(state, action)
            state.apply_action(action)
        legal = there = state.legal_actions(player)
        if has_places(game):
            there = list(range(len(legal)))
        if there != decision.legal:
            raise ValueError(
                f"{decision.ruleset} differs in OpenSpiel after {history}: legal actions are {there} in "
                f"OpenSpiel, {decision.legal} in Arena"
            )
        return there[legal.index(self._step(bot, state, legal))]

    def _step(self, bot: pyspiel.Bot, state: pyspiel.State, legal: List[int]) -> int:
        action = bot.step(state)
        if action not in legal:
            raise ValueError(
                f"bot {self.name} ({type(bot).__name__}) returned the illegal action {action} as player "
                f"{state.current_player()} of {state.get_game().get_type().short_name}; legal actions: {legal}"
            )
        return action


def _differs(decision: Decision, how: str) -> ValueError:
    moves = decision.past_moves
    return ValueError(f"{decision.ruleset} differs in OpenSpiel after the moves {moves}: {how}")
