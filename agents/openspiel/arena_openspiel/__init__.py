"""Makes bots of OpenSpiel agents of Arena.

    import pyspiel
    from arena_agent import serve
    from arena_openspiel import BotAgent

    class Mine(BotAgent):
        name = "mine"
        deterministic = True

        def bot(self, game, player, seed):
            return pyspiel.make_uniform_random_bot(player, seed)

    serve(Mine())
"""

from .agent import BotAgent

__all__ = ["BotAgent"]
