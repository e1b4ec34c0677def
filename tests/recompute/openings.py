"""The openings of tournaments without chance, as services/model/README.md describes them."""

import copy
from math import gcd

from draws import SplitMix64, Stream, derive, first, tournament_seed
from rules import RULESETS
from rules.common import CHANCE, DECISION

LISTED_MAX = 200_000
TRIES = 20


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def number(tag, value):
    return bytes([tag << 3]) + varint(value) if value else b""


def packed(tag, values):
    body = b"".join(varint(value) for value in values)
    return bytes([tag << 3 | 2]) + varint(len(body)) + body if body else b""


def text(tag, value):
    return bytes([tag << 3 | 2]) + varint(len(value)) + value.encode()


def encoded(game):
    """The position's message (proto/arena/games/v1), without moves."""
    if type(game).__name__ == "Chess":
        fields = text(1, game.fen()) + number(2, int(not game.board.turn)) + number(3, game.plies)
        fields += number(4, 1) + text(5, game.base)
        return fields + b"".join(text(6, uci) for uci in game.played)
    if type(game).__name__ == "Kalah":
        fields = number(1, game.p) + packed(2, game.cells)
        return fields + number(3, game.mover) + number(4, game.plies)
    fields = packed(1, game.pits) + packed(2, game.banked) + number(3, game.mover)
    fields += number(4, game.quiet) + number(5, game.plies) + number(6, 1)
    if hasattr(game, "passed"):
        return fields + number(7, game.passed)
    return fields + packed(7, [seeds for board in game.past for seeds in board])


def after(game, action):
    game = copy.deepcopy(game)
    game.apply(action)
    return game


def number_of(seed, group, block, size):
    """The index of the opening of a group's block."""
    draws = SplitMix64(first(derive(tournament_seed(seed), "opening order")) ^ group)
    start, step = draws.word() % size, draws.word() % size
    while gcd(step, size) != 1:
        step += 1
    return (start + step * block) % size


def book(ruleset, options, seed, plies, size):
    """The openings, in the order in which the blocks of a group have them."""
    stream = Stream(derive(tournament_seed(seed), "openings"))
    start = RULESETS[ruleset](options, 2)
    if start.node()[0] == CHANCE:  # Only the starter is drawn.
        start.draw(0)
    level = {encoded(start): (start, [])}
    for _ in range(plies):
        following = {}
        for game, moves in level.values():
            for action in game.legal():
                reached, way = after(game, action), [*moves, action]
                if reached.node()[0] != DECISION:
                    continue
                key = encoded(reached)
                if key not in following or way < following[key][1]:
                    following[key] = reached, way
        if len(following) > LISTED_MAX:
            return sampled(start, stream, plies, size)
        level = following
    openings = [level[key][1] for key in sorted(level)]
    for last in range(len(openings) - 1, 0, -1):
        other = stream.below(last + 1)
        openings[last], openings[other] = openings[other], openings[last]
    return openings


def sampled(start, stream, plies, size):
    known, openings = set(), []
    for _ in range(size * TRIES):
        game, moves = copy.deepcopy(start), []
        while game.node()[0] == DECISION and len(moves) < plies:
            legal = game.legal()
            moves.append(legal[stream.below(len(legal))])
            game.apply(moves[-1])
        if game.node()[0] != DECISION:
            continue
        if encoded(game) not in known:
            known.add(encoded(game))
            openings.append(moves)
        if len(openings) == size:
            break
    return openings
