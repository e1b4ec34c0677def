"""The agent's own dice: the same from one seed in every language."""

from typing import List, MutableSequence, Sequence, TypeVar

T = TypeVar("T")

_WORD = (1 << 64) - 1


class Rng:
    """SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as Arena's other SDKs
    have it. Every draw but `shuffle` takes exactly one word of 64 bits."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed

    def word(self) -> int:
        """The next word, 0 to 2**64 - 1."""
        self._state = z = (self._state + 0x9E3779B97F4A7C15) & _WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1; `bound` is 1 to 2**32."""
        return self.word() * bound >> 64

    def random(self) -> float:
        """A real number in [0, 1), a multiple of 2**-53."""
        return (self.word() >> 11) * 2.0**-53

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`, uniformly."""
        # As `below`, written out: policies that play at random live from it.
        self._state = z = (self._state + 0x9E3779B97F4A7C15) & _WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return items[(z ^ (z >> 31)) * len(items) >> 64]

    def weighted(self, weights: Sequence[int]) -> int:
        """An index drawn in proportion to whole-number weights."""
        point = self.below(sum(weights))
        for index, weight in enumerate(weights):
            if point < weight:
                return index
            point -= weight
        raise ValueError(f"weights must be whole numbers with a sum above 0: {weights}")

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Puts `items` into a random order, in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[T], count: int) -> List[T]:
        """`count` different ones of `items`, in random order."""
        pool = list(items)
        self.shuffle(pool)
        return pool[:count]
