"""Games for two with the methods of Gymnasium, as environments of PettingZoo."""

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv


class TwoPlayers(AECEnv):
    """A game with `action_space`, `reset(seed=…)` and `step(action)`, whose actions are those of two players.

    All functions are optional:
    - `turn(game)`: the player that moves, 0 or 1. By default the players alternate.
    - `legal(game)`: the legal actions. By default those of `info["action_mask"]`, or all.
    - `rewards(game, player, reward)`: the rewards of both players after a move of one. By default the reward is
      the mover's, and the other player gets its negative.
    - `observe(game, player)`: what a player sees. By default what `reset` or `step` returned last.
    """

    metadata = {"name": "two_players", "render_modes": [], "is_parallelizable": False}
    render_mode = None

    def __init__(self, game, turn=None, legal=None, rewards=None, observe=None):
        super().__init__()
        self.game = game
        self.possible_agents = ["player_0", "player_1"]
        self._turn, self._legal, self._rewards, self._observe = turn, legal, rewards, observe
        if not isinstance(game.action_space, spaces.Discrete):
            raise TypeError(f"the action space is {game.action_space}, and has to be Discrete")
        mask = spaces.Box(0, 1, (int(game.action_space.n),), np.int8)
        self._space = spaces.Dict({"observation": game.observation_space, "action_mask": mask})

    def action_space(self, agent):
        return self.game.action_space

    def observation_space(self, agent):
        return self._space

    def reset(self, seed=None, options=None):
        self._seen, self._info = self.game.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._player = 0
        self._select()

    def _select(self):
        if self._turn is not None:
            self._player = int(self._turn(self.game))
        self.agent_selection = self.possible_agents[self._player]

    def _mask(self):
        space = self.game.action_space
        if self._legal is None:
            return np.asarray(self._info.get("action_mask", np.ones(int(space.n))), np.int8)
        mask = np.zeros(int(space.n), np.int8)
        mask[[int(action) - int(space.start) for action in self._legal(self.game)]] = 1
        return mask

    def observe(self, agent):
        player = self.possible_agents.index(agent)
        seen = self._seen if self._observe is None else self._observe(self.game, player)
        return {"observation": seen, "action_mask": self._mask()}

    def step(self, action):
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        player = self._player
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._seen, reward, terminated, truncated, self._info = self.game.step(action)
        if self._rewards is not None:
            rewards = self._rewards(self.game, player, reward)
        else:
            rewards = (reward, -reward) if player == 0 else (-reward, reward)
        self.rewards = dict(zip(self.possible_agents, map(float, rewards)))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, bool(terminated))
        self.truncations = dict.fromkeys(self.agents, bool(truncated))
        self._player = 1 - player
        if not (terminated or truncated):
            self._select()
        else:
            self.agent_selection = self.possible_agents[self._player]

    def close(self):
        if hasattr(self.game, "close"):
            self.game.close()
