"""Environments in the middle of a game, and what agents see of them."""

import json
from math import isfinite

import numpy as np

#: JSON in one line.
dump = json.JSONEncoder(separators=(",", ":")).encode


class Episode:
    """An environment in the middle of a game. It stops at decisions, and adds up the rewards."""

    def __init__(self, rules, seed):
        self.rules, self.seed = rules, seed
        self.environment = rules.make()
        self.totals = [0.0] * len(rules.agents)
        self.was_truncated = False
        self.seat = None
        self.environment.reset(seed=seed)
        self._advance()

    def _advance(self):
        """Goes on to the next decision, as the loop `for agent in env.agent_iter()` does."""
        environment, agents = self.environment, self.rules.agents
        # Each agent is removed once.
        for _ in range(len(agents) + 1):
            if not environment.agents:
                self.seat = None
                return
            agent = environment.agent_selection
            if agent not in agents:
                self.rules.refuse(f"agent {agent} is none of possible_agents")
            _, reward, terminated, truncated, _ = environment.last(observe=False)
            self.seat = agents.index(agent)
            self.totals[self.seat] += float(reward)
            if not terminated and not truncated:
                return
            self.was_truncated = self.was_truncated or bool(truncated)
            environment.step(None)
        self.rules.refuse(f"agent {agent} is not removed after its end")

    def step(self, action):
        """Plays the action with this id: an id counts from 0."""
        self.environment.step(self.rules.spaces[self.seat][1] + action)
        self._advance()

    def _observe(self):
        return self.environment.observe(self.rules.agents[self.seat])

    def legal(self):
        agent, (size, _) = self.rules.agents[self.seat], self.rules.spaces[self.seat]
        seen = self._observe()
        info = self.environment.infos.get(agent) or {}
        mask = seen.get("action_mask") if isinstance(seen, dict) else None
        mask = info.get("action_mask") if mask is None else mask
        if mask is None:
            return list(range(size))
        mask = np.asarray(mask)
        if mask.shape != (size,):
            self.rules.refuse(f"the action mask of {agent} has shape {mask.shape}, and there are {size} actions")
        legal = np.flatnonzero(mask).tolist()
        if not legal:
            self.rules.refuse(f"{agent} has no legal action: its action mask is 0")
        return legal

    def position(self):
        """What the agent that moves sees."""
        seen = self._observe()
        if isinstance(seen, dict) and "action_mask" in seen:
            seen = {name: value for name, value in seen.items() if name != "action_mask"}
            if list(seen) == ["observation"]:
                seen = seen["observation"]
        position = {"agent": str(self.rules.agents[self.seat]), "observation": self._json(seen)}
        if isinstance(seen, np.ndarray):
            position.update(shape=list(seen.shape), dtype=str(seen.dtype))
        return position

    def everything(self):
        """All that agents see and get, to compare games. The keys name it."""
        found = {"the rewards": list(self.totals), "the end": self.seat is None}
        for agent in self.environment.agents:
            try:
                seen = _comparable(self.environment.observe(agent))
            except Exception as error:  # some environments show an agent nothing before its turn
                seen = type(error).__name__
            found[f"the observation of {agent}"] = seen
        if self.seat is not None:
            found["the agent that moves"] = self.seat
            found["the legal actions"] = self.legal()
        return found

    def _json(self, value):
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
            return _numbers(value)
        if isinstance(value, float):
            return value if isfinite(value) else None
        if isinstance(value, dict):
            return {str(name): self._json(it) for name, it in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._json(it) for it in value]
        if value is None or isinstance(value, (bool, int, str)):
            return value
        self.rules.refuse(f"an observation has a {type(value).__name__}, which has no JSON")


def _numbers(array):
    """Lists of numbers: true and false are 1 and 0, whole numbers have no point, which is shorter, and infinity
    and NaN are null."""
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    elif array.dtype.kind == "f":
        if not np.all(np.isfinite(array)):
            array = np.where(np.isfinite(array), array, None)
        elif np.all(array == np.floor(array)) and np.all(np.abs(array) < 2**53):
            array = array.astype(np.int64)
    return array.tolist()


def _comparable(value):
    """A value that is equal for equal observations."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind != "O":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return [(str(name), _comparable(it)) for name, it in value.items()]
    if isinstance(value, (list, tuple)):
        return [_comparable(it) for it in value]
    return repr(value) if isinstance(value, (bool, int, float, str)) else type(value).__name__
