"""Environments of the tests. The name of each function says what is special about it."""

import random
import time

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import AgentSelector

from arena_pettingzoo import two_players


class Base(AECEnv):
    """Turns in the order of agents. A game has `start`, `play(seat, action)` and `see(seat)`."""

    metadata = {"name": "base", "render_modes": [], "is_parallelizable": False}
    render_mode = None
    players, actions, start_at = 2, 2, 0

    def __init__(self):
        super().__init__()
        self.possible_agents = [f"player_{it}" for it in range(self.players)]

    def action_space(self, agent):
        return spaces.Discrete(self.actions, start=self.start_at)

    def observation_space(self, agent):
        return spaces.Box(-100, 100, (8,), np.int64)

    def reset(self, seed=None, options=None):
        self.random = seeding.np_random(seed)[0]
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.selector = AgentSelector(self.agents)
        self.agent_selection = self.selector.next()
        self.start()

    def start(self):
        pass

    def see(self, seat):
        return np.zeros(8, np.int64)

    def observe(self, agent):
        return self.see(self.possible_agents.index(agent))

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.play(self.possible_agents.index(agent), action)
        self._accumulate_rewards()
        while True:
            self.agent_selection = self.selector.next()
            if self.agent_selection in self.agents:
                break
        self._deads_step_first()

    def end(self, rewards, truncated=False):
        for agent, reward in zip(self.possible_agents, rewards):
            if agent in self.agents:
                self.rewards[agent] = float(reward)
                (self.truncations if truncated else self.terminations)[agent] = True


class Cards(Base):
    """Each player gets a card that only it sees, may swap it once, and the higher one wins 1 or 2."""

    def start(self):
        self.cards = [int(it) for it in self.random.permutation(9)]
        self.moves = 0

    def see(self, seat):
        return {"observation": np.array([self.cards[seat], self.moves]), "action_mask": np.array([1, 1], np.int8)}

    def play(self, seat, action):
        if action:
            self.cards[seat] = int(self.random.integers(9))
        self.moves += 1
        if self.moves == 2:
            lead = np.sign(self.cards[0] - self.cards[1]) * (1 + (self.cards[0] + self.cards[1] > 8))
            self.end([lead, -lead])


def cards():
    return Cards()


class Race(Base):
    """Three players throw dice to a goal. The first at the goal gets 2 and leaves, the second gets 1."""

    players, actions, start_at = 3, 3, 5

    def __init__(self, goal=12):
        super().__init__()
        self.goal = goal

    def start(self):
        self.places, self.prize = [0, 0, 0], 2

    def see(self, seat):
        legal = np.array([1, 1, self.places[seat] > 3], np.int8)
        self.infos[self.possible_agents[seat]] = {"action_mask": legal}
        return np.array(self.places, np.float32) / 2

    def play(self, seat, action):
        assert 5 <= action <= 7, action
        agent = self.possible_agents[seat]
        self.places[seat] += int(self.random.integers(1, 4)) * (action - 4)
        if self.places[seat] >= self.goal:
            self.rewards[agent], self.prize = float(self.prize), self.prize - 1
            self.terminations[agent] = True
            if self.prize == 0:
                self.end([self.rewards.get(it, 0.0) for it in self.possible_agents])


def race(goal=12):
    return Race(goal)


class RockPaperScissors(ParallelEnv):
    """A parallel environment: some rounds, and each player sees the last choice of the other."""

    metadata = {"name": "rps", "render_modes": []}
    render_mode = None

    def __init__(self, rounds):
        self.possible_agents, self.rounds = ["left", "right"], rounds

    def action_space(self, agent):
        return spaces.Discrete(3)

    def observation_space(self, agent):
        return spaces.Discrete(4)

    def reset(self, seed=None, options=None):
        self.agents, self.round = self.possible_agents[:], 0
        return dict.fromkeys(self.agents, 3), {agent: {} for agent in self.agents}

    def step(self, actions):
        left, right = actions["left"], actions["right"]
        self.round += 1
        won, over = (0, 1, -1)[(left - right) % 3], self.round == self.rounds
        agents = self.agents
        if over:
            self.agents = []
        return (
            {"left": right, "right": left},
            {"left": won, "right": -won},
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )


def rps(rounds=3):
    return RockPaperScissors(rounds)


class Nim(gymnasium.Env):
    """A game for two with the methods of Gymnasium: the player that takes the last match wins."""

    action_space = spaces.Discrete(3, start=1)
    observation_space = spaces.Box(0, 21, (1,), np.int64)

    def __init__(self, matches=10):
        self.matches = matches

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.left, self.player = self.matches, 0
        return np.array([self.left]), {}

    def legal(self):
        return [it for it in (1, 2, 3) if it <= max(1, self.left)]

    def step(self, action):
        self.left -= action
        self.player = 1 - self.player
        return np.array([self.left]), float(self.left == 0), self.left == 0, False, {}


def nim(matches=10):
    return two_players(Nim(matches), turn=lambda game: game.player, legal=Nim.legal)


# Environments that do not end, or not at once.


class Endless(Base):
    """Each move wins a point for action 1, and the game has no end of its own."""

    def play(self, seat, action):
        self.rewards[self.possible_agents[seat]] = float(action)


def endless():
    return Endless()


class Truncated(Endless):
    moves = 0

    def start(self):
        self.moves = 0

    def play(self, seat, action):
        super().play(seat, action)
        self.moves += 1
        if self.moves == 6:
            self.end([self.rewards["player_0"], self.rewards["player_1"]], truncated=True)


def truncated():
    return Truncated()


# Environments that a seed does not determine.


class Careless(Cards):
    def start(self):
        super().start()
        self.cards = random.sample(range(10**9), 9)


def global_random_at_reset():
    return Careless()


class SeedsGlobally(Cards):
    def start(self):
        super().start()
        np.random.seed(int(self.random.integers(2**31)))

    def play(self, seat, action):
        self.cards[seat] = int(np.random.randint(1000))
        super().play(seat, action)


def global_generator_seeded_at_reset():
    return SeedsGlobally()


class Clock(Base):
    def see(self, seat):
        return np.array([time.perf_counter_ns()])


def clock():
    return Clock()


class Hashed(Cards):
    """The same in each game of one process, and different in another one."""

    def see(self, seat):
        return np.array([hash("a text") % 1000])


def hash_of_text():
    return Hashed()


class SmallSeeds(Cards):
    def reset(self, seed=None, options=None):
        np.random.RandomState(seed)
        super().reset(seed)


def seeds_of_32_bits():
    return SmallSeeds()


# Environments that Arena refuses.


def players(count):
    made = Base()
    made.possible_agents = [f"player_{it}" for it in range(count)]
    return made


def with_space(space):
    made = Cards()
    made.action_space = lambda agent: space
    return made


def box():
    return with_space(spaces.Box(0, 1, (2,)))


def multi_discrete():
    return with_space(spaces.MultiDiscrete([2, 3]))


def many_actions():
    return with_space(spaces.Discrete(40_000))


def observing(value):
    made = Cards()
    made.see = lambda seat: value
    return made


def large_observation():
    return observing(np.full((300, 300, 3), 255, np.uint8))


def strange_observation():
    return observing(object())


def short_mask():
    return observing({"observation": 1, "action_mask": np.array([1])})


def no_legal_action():
    return observing({"observation": 1, "action_mask": np.array([0, 0])})


class Together(Truncated):
    def end(self, rewards, truncated=False):
        super().end([3, 3], truncated)

    def play(self, seat, action):
        super().play(seat, 0)


def together():
    return Together()


def not_an_environment():
    return "a text"


def of_gymnasium():
    return Nim()


def fails_at_start():
    raise OSError("no such device")


class Fails(Cards):
    def play(self, seat, action):
        raise IndexError("out of range")


def fails_at_step():
    return Fails()


class SeldomChance(Truncated):
    """Chance that random games nearly never meet."""

    def play(self, seat, action):
        self.luck = self.random.random() < 1e-9
        super().play(seat, action)


def seldom_chance():
    return SeldomChance()
