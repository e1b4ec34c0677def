"""Luck-adjusted scores, with the slope from the other half of the blocks."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from .intervals import Mean, Z, anytime_bound, centred, effective, spread, student, wilson


@dataclass
class Adjusted:
    """Luck-adjusted values over blocks, by group."""

    parts: list
    luck: list
    halves: list
    most: float

    def __post_init__(self):
        kept = [at for at, part in enumerate(self.parts) if len(part)]
        self.parts, self.luck, self.halves = (
            [list_[at] for at in kept] for list_ in (self.parts, self.luck, self.halves)
        )
        self.raw = Mean(self.parts, self.most)
        self.is_raw = not self.parts or any(l is None for l in self.luck)
        slopes = []
        for half in (0, 1) if not self.is_raw else ():
            x = [p[h == half] for p, h in zip(self.parts, self.halves) if (h == half).any()]
            l = [p[h == half] for p, h in zip(self.luck, self.halves) if (h == half).any()]
            squares, freedom = spread(l) if l else (0.0, 0)
            products = spread(l, x)[0] if l else 0.0
            self.is_raw |= freedom < 7
            slopes.append(products / squares if squares > 0 else 0.0)
        if self.is_raw:
            return
        self.left = [
            p - np.where(h == 0, slopes[1], slopes[0]) * l
            for p, l, h in zip(self.parts, self.luck, self.halves)
        ]
        self.mean = np.concatenate(self.left).mean()
        self.squares, self.freedom = spread(self.left)
        self.variance = self.squares / self.freedom
        self.count = self.raw.count

    def interval(self, z=Z):
        e = effective(self.count, self.variance, self.raw.mean, 1000)
        mean = min(max(self.mean, 0), 1)
        low, high = wilson(mean, e, z, self.freedom)
        return min(low, self.mean), max(high, self.mean)

    def anytime(self, horizon):
        return self.interval(anytime_bound(self.count, horizon))

    def luck_mean(self):
        return np.concatenate(self.luck).mean()

    def share(self):
        """Share of the variance that luck explains, with the ends of its interval."""
        whole, _ = spread(self.parts)
        if whole <= 1e-12 or self.count < 30:
            return None
        rho = self.squares / whole
        within = self.count >= 2 * len(self.parts)
        total = 0.0
        for e, x in zip(centred(self.left), centred(self.parts)):
            if within and len(e) == 1:
                continue
            factor = len(e) / (len(e) - 1) if within else 1.0
            total += factor * ((e**2 - rho * x**2) ** 2).sum()
        variance = total / whole**2 + 40 * rho**2 / self.count**2
        half = student(Z, self.freedom) * sqrt(variance)
        return rho, rho + half, max(0.0, rho - half)
