"""Keys, streams and draws, as services/model/README.md describes them.

Standard library only; nothing of Arena is used.
"""

import hashlib
import hmac

MASK = 0xFFFFFFFF
WORD = (1 << 64) - 1


def derive(key, *labels):
    """The 32 bytes that a key and labels derive."""
    message = b""
    for label in labels:
        label = label if isinstance(label, bytes) else label.encode("ascii")
        message += len(label).to_bytes(4, "little") + label
    return hmac.new(key, message, hashlib.sha256).digest()


def first(digest):
    """The number in the first 8 bytes."""
    return int.from_bytes(digest[:8], "big")


def tournament_seed(text):
    """The 32 bytes of a tournament's seed."""
    number = int(text, 16) if text.lower().startswith("0x") else int(text)
    return number.to_bytes(32, "big")


def block_seed(seed, block):
    """The seed of a block, as a number."""
    return first(derive(seed, "block", block.to_bytes(8, "little")))


def rotation_seed(seed, rotation):
    """The seed of a rotation with its own dice, as a number."""
    return first(derive(seed.to_bytes(8, "big"), "rotation", rotation.to_bytes(4, "little")))


def chacha8(key, counter):
    """The 8 words of 64 bits of one block; the nonce is 0."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    start += [int.from_bytes(key[at : at + 4], "little") for at in range(0, 32, 4)]
    start += [counter & MASK, counter >> 32 & MASK, 0, 0]
    s = list(start)
    columns = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
    diagonals = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
    for _ in range(4):
        for a, b, c, d in columns + diagonals:
            x, y, z, w = s[a], s[b], s[c], s[d]
            x = (x + y) & MASK
            w ^= x
            w = (w << 16 | w >> 16) & MASK
            z = (z + w) & MASK
            y ^= z
            y = (y << 12 | y >> 20) & MASK
            x = (x + y) & MASK
            w ^= x
            w = (w << 8 | w >> 24) & MASK
            z = (z + w) & MASK
            y ^= z
            y = (y << 7 | y >> 25) & MASK
            s[a], s[b], s[c], s[d] = x, y, z, w
    out = [(one + other) & MASK for one, other in zip(s, start)]
    return [out[at] | out[at + 1] << 32 for at in range(0, 16, 2)]


class Stream:
    """The words of a key, one draw each."""

    def __init__(self, key):
        self.key, self.words = key, []
        self.drawn = 0

    def word(self):
        if self.drawn == len(self.words):
            self.words += chacha8(self.key, self.drawn // 8)
        self.drawn += 1
        return self.words[self.drawn - 1]

    def below(self, bound):
        return self.word() * bound >> 64

    def weighted(self, weights):
        point = self.below(sum(weights))
        for index, weight in enumerate(weights):
            if point < weight:
                return index
            point -= weight
        raise AssertionError("the point is below the sum of the weights")


class GameStreams:
    """All streams of one game."""

    def __init__(self, seed, names):
        key = int(seed, 16).to_bytes(8, "big")
        seats = range(len(names))
        self.dice = [Stream(derive(key, "dice", bytes([seat]))) for seat in seats]
        self.table = Stream(derive(key, "table"))
        self.opening = Stream(derive(key, "opening"))
        self.substitute = [Stream(derive(key, "substitute", bytes([seat]))) for seat in seats]
        self.agents = [Stream(derive(key, "agent", *names, bytes([seat]))) for seat in seats]

    def chance(self, seat, weights):
        """The outcome of a chance event, of a seat or of no seat."""
        stream = self.table if seat is None else self.dice[seat]
        return stream.weighted(weights)


class SplitMix64:
    """The draws of a built-in agent, seeded for one decision."""

    def __init__(self, seed):
        self.state = seed

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
        return z ^ z >> 31

    def below(self, bound):
        return self.word() * bound >> 64
