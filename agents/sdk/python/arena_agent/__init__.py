"""Write an agent for Arena in Python.

    from arena_agent import Agent, serve

    class First(Agent):
        name = "first"
        deterministic = True

        def choose(self, decision):
            return decision.legal[0]

    serve(First())
"""

from .agent import Agent, Answer, Choice
from .decision import Decision, UnknownRuleset
from .options import Option
from .policy import action_count, from_policy, observation
from .rng import Rng
from .server import Server, serve

__all__ = [
    "Agent",
    "Answer",
    "Choice",
    "Decision",
    "Option",
    "Rng",
    "Server",
    "UnknownRuleset",
    "action_count",
    "from_policy",
    "observation",
    "serve",
]
