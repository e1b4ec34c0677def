"""Arena's rulesets as environments of PettingZoo and Gymnasium: train there, play in Arena.

They need Python 3.10 or newer, `arena-rules` (agents/rules), PettingZoo and Gymnasium.
Observations and masks are those of `from_policy`, so a trained function plays as it is:

    from arena_agent import from_policy, serve
    serve(from_policy(lambda observation, mask: policy(observation, mask)))
"""

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"arena_agent.environments needs {error.name}, which is not installed: run `pip install "
        "pettingzoo gymnasium`",
        name=error.name,
    ) from error
try:
    from arena_rules import POINT, Game, State
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"arena_agent.environments needs {error.name}, which is not installed: install the wheel "
        "arena_rules-*.whl of a release of Arena, or build it with `agents/rules/run build`",
        name=error.name,
    ) from error

from .options import Value
from .policy import Policy, action_count, flat

#: Bounds of the numbers of an observation.
_LOWEST, _HIGHEST = -1, 2**31 - 1


class _Table:
    """A game in progress that stops only at decisions, as for agents of Arena."""

    def __init__(self, game: Game, ask_forced: bool) -> None:
        self.game = game
        self.ask_forced = ask_forced
        self.actions = action_count(game.ruleset, {k: _typed(v) for k, v in game.options.items()})
        self.state: State = game.initial()
        # Every decision has as many numbers as the first.
        self.begin(seeding.np_random(0)[0])
        self.length = len(self.observation())

    def begin(self, random: np.random.Generator) -> None:
        self.random = random
        self.state = self.game.initial()
        self._advance()

    def play(self, move: int) -> None:
        self.state.apply(move)
        self._advance()

    def _advance(self) -> None:
        """Draws chance outcomes, and plays what agents are not asked for."""
        state = self.state
        while not state.is_over():
            if state.is_chance():
                outcomes, chances = zip(*state.chance())
                weights = np.asarray(chances)
                state.apply_outcome(int(self.random.choice(outcomes, p=weights / weights.sum())))
                continue
            legal = state.legal()
            if len(legal) > 1 or (self.ask_forced and legal[0] != self.game.pass_move):
                return
            state.apply(legal[0])

    def observation(self) -> np.ndarray:
        numbers = flat(self.game.ruleset, json.loads(self.state.to_json()).__getitem__, self.game.seats)
        return np.asarray(numbers, dtype=np.int32)

    def mask(self) -> np.ndarray:
        mask = np.zeros(self.actions, dtype=np.int8)
        if not self.state.is_over():
            mask[self.state.legal()] = 1
        return mask

    def rewards(self) -> List[float]:
        """At the end, from -1 for the last place to 1 for the first."""
        return [2.0 * value / POINT - 1.0 for value in self.state.values()]

    def observation_space(self) -> spaces.Box:
        return spaces.Box(_LOWEST, _HIGHEST, (self.length,), np.int32)


def _typed(text: str) -> Value:
    return int(text) if text.isdigit() else text


class RulesetEnv(AECEnv):
    """A ruleset for all its seats. An observation has the position as `observation`, and
    `action_mask`; the reward at the end is from -1 for the last place to 1 for the first."""

    def __init__(
        self,
        ruleset: str,
        options: Optional[Mapping[str, Value]] = None,
        seats: Optional[int] = None,
        ask_forced: bool = False,
        render_mode: Optional[str] = None,
    ) -> None:
        super().__init__()
        game = Game(ruleset, dict(options or {}), seats)
        self.metadata = {
            "name": f"{ruleset.replace('-', '_')}_v{game.version}",
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._table = _Table(game, ask_forced)
        self.possible_agents = [f"seat_{seat}" for seat in range(game.seats)]
        self._random: Optional[np.random.Generator] = None
        self._spaces = {
            agent: spaces.Dict(
                {
                    "observation": self._table.observation_space(),
                    "action_mask": spaces.Box(0, 1, (self._table.actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {
            agent: spaces.Discrete(self._table.actions) for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space:
        return self._spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self._action_spaces[agent]

    def observe(self, agent: str) -> Dict[str, np.ndarray]:
        mask = self._table.mask()
        if agent != self.agent_selection:
            mask[:] = 0
        return {"observation": self._table.observation(), "action_mask": mask}

    def reset(self, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> None:
        if seed is not None or self._random is None:
            self._random = seeding.np_random(seed)[0]
        self._table.begin(self._random)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: Dict[str, Dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def step(self, action: Optional[int]) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._table.play(int(action))  # type: ignore[arg-type]
        if self._table.state.is_over():
            self.rewards = dict(zip(self.possible_agents, self._table.rewards()))
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._accumulate_rewards()

    def _select(self) -> None:
        seat = self._table.state.to_move
        if seat is not None:
            self.agent_selection = self.possible_agents[seat]
        elif self.agents:
            self.agent_selection = self.agents[0]

    def render(self) -> Optional[str]:
        if self.render_mode != "ansi":
            gymnasium.logger.warn("render: make the environment with render_mode='ansi'")
            return None
        return self._table.state.to_json()

    def close(self) -> None:
        pass


def env(ruleset: str, **settings: Any) -> AECEnv:
    """A `RulesetEnv` that ends the game of who plays an illegal move, as PettingZoo's own do."""
    made = RulesetEnv(ruleset, **settings)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=-1)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


class SeatEnv(gymnasium.Env):
    """One seat of a ruleset against given opponents, for Gymnasium.

    `opponents` are functions of an observation and a mask, one for each other seat; by default they
    play at random. `info["action_mask"]` has the legal moves. An illegal move ends the game with
    the reward -1.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self,
        ruleset: str,
        options: Optional[Mapping[str, Value]] = None,
        seats: Optional[int] = None,
        seat: int = 0,
        opponents: Sequence[Policy] = (),
        ask_forced: bool = False,
        render_mode: Optional[str] = None,
    ) -> None:
        game = Game(ruleset, dict(options or {}), seats)
        if not 0 <= seat < game.seats:
            raise ValueError(f"seat {seat}: the game has the seats 0 to {game.seats - 1}")
        others = game.seats - 1
        if opponents and len(opponents) != others:
            raise ValueError(f"{len(opponents)} opponents: the game has {others} other seats")
        self._table = _Table(game, ask_forced)
        self._seat = seat
        players: List[Callable[..., int]] = list(opponents) or [self._at_random] * others
        players.insert(seat, self._at_random)
        self._players = players
        self.render_mode = render_mode
        self.observation_space = self._table.observation_space()
        self.action_space = spaces.Discrete(self._table.actions)

    def _at_random(self, observation: Any, mask: Sequence[bool]) -> int:
        return int(self.np_random.choice(np.flatnonzero(mask)))

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Any:
        super().reset(seed=seed)
        self._table.begin(self.np_random)
        self._opponents_move()
        return self._table.observation(), self._info()

    def step(self, action: int) -> Any:
        table = self._table
        if not table.mask()[int(action)]:
            return table.observation(), -1.0, True, False, self._info()
        table.play(int(action))
        self._opponents_move()
        over = table.state.is_over()
        reward = table.rewards()[self._seat] if over else 0.0
        return table.observation(), reward, over, False, self._info()

    def _opponents_move(self) -> None:
        table = self._table
        while not table.state.is_over() and table.state.to_move != self._seat:
            player = self._players[table.state.to_move]
            table.play(int(player(table.observation(), table.mask().astype(bool))))

    def _info(self) -> Dict[str, Any]:
        return {"action_mask": self._table.mask()}

    def render(self) -> Optional[str]:
        return self._table.state.to_json() if self.render_mode == "ansi" else None
