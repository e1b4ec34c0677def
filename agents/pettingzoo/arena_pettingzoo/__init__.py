"""Makes environments of PettingZoo rulesets of Arena, and games for two with the methods of Gymnasium too:

    from arena_pettingzoo import two_players

    def env():
        return two_players(MyGame(), turn=lambda game: game.player)
"""


def two_players(game, **functions):
    """An environment of PettingZoo for a game for two with the methods of `gymnasium.Env`; see `TwoPlayers`."""
    from .turns import TwoPlayers

    return TwoPlayers(game, **functions)


__all__ = ["two_players"]
