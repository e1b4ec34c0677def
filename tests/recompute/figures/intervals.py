"""Intervals of means over blocks."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

Z = norm.ppf(0.975)
ALPHA = 0.05


def student(z, freedom):
    """The two-sided point of Student's distribution for a normal one."""
    if freedom <= 0:
        return np.inf
    if freedom >= 30:
        # The series of Cornish and Fisher, as the page defines it.
        v, q = freedom, z * z
        return (
            z
            + z * (q + 1) / (4 * v)
            + z * ((5 * q + 16) * q + 3) / (96 * v**2)
            + z * (((3 * q + 19) * q + 17) * q - 15) / (384 * v**3)
        )
    return student_t.isf(norm.sf(z), freedom)


def anytime_bound(blocks, horizon):
    """The factor of an anytime-valid interval, instead of z."""
    level = -2 * log(ALPHA)
    rho = (level + log(1 + level)) / max(horizon, 10)
    return sqrt((1 + blocks * rho) / (blocks * rho) * (level + log(1 + blocks * rho)))


def spread(parts, others=None):
    """Sum of squares (or products) about the means, and degrees of freedom.

    `parts` has the values of each group that has any."""
    others = others or parts
    count, groups = sum(len(part) for part in parts), len(parts)
    if count >= 2 * groups:
        return sum(((a - a.mean()) * (b - b.mean())).sum() for a, b in zip(parts, others)), count - groups
    a, b = np.concatenate(parts), np.concatenate(others)
    return ((a - a.mean()) * (b - b.mean())).sum(), count - 1


def centred(parts):
    """Each group's values minus their mean, or minus the mean of all."""
    count = sum(len(part) for part in parts)
    if count >= 2 * len(parts):
        return [part - part.mean() for part in parts]
    mean = np.concatenate(parts).mean()
    return [part - mean for part in parts]


def added(count, variance, most):
    return 0.7 if count * variance * most**2 < 1e-6 else 2 / most**2


def effective(count, variance, mean, most):
    """The effective number of blocks."""
    a = added(count, variance, most)
    return count / ((count * variance + a) / (count * mean * (1 - mean) + a))


def wilson(mean, e, z, freedom):
    centre = (mean + z**2 / (2 * e)) / (1 + z**2 / e)
    half = sqrt(mean * (1 - mean) / e + z**2 / (4 * e**2)) / (1 + z**2 / e) * student(z, freedom)
    return min(max(centre - half, 0), mean), min(max(centre + half, mean), 1)


@dataclass
class Mean:
    """A mean over blocks of values from 0 to 1."""

    parts: list
    most: float

    def __post_init__(self):
        self.parts = [part for part in self.parts if len(part)]
        self.count = sum(len(part) for part in self.parts)
        if self.count:
            self.mean = np.concatenate(self.parts).mean()
            squares, self.freedom = spread(self.parts)
            self.variance = squares / self.freedom if self.freedom else 0.0
        else:
            self.mean, self.freedom, self.variance = None, 0, 0.0

    @property
    def effective(self):
        return effective(self.count, self.variance, self.mean, self.most)

    def interval(self, z=Z):
        if not self.count:
            return None
        if self.count == 1:
            return 0.0, 1.0
        return wilson(self.mean, self.effective, z, self.freedom)

    def anytime(self, horizon):
        return self.interval(anytime_bound(self.count, horizon)) if self.count else None

    def superiority(self):
        if self.count < 2:
            return None
        return student_t.cdf(2 * (self.mean - 0.5) * sqrt(self.effective), self.freedom)


def of_units(parts, mosts):
    """A mean of whole units; each group has its maximum."""
    shares = [np.array(part, float) / most for part, most in zip(parts, mosts) if len(part)]
    kept = [most for part, most in zip(parts, mosts) if len(part)]
    return Mean(shares, max(kept, default=1))


def freedom_of_both(one, other, shared):
    least = min(one, other)
    if least == 0:
        return max(one + other - shared, 0)
    s = sum(1 / (v + 1) for v in (one, other))
    q = sum(1 / ((v + 1) ** 2 * v) for v in (one, other))
    return max(min(one + other - shared, round(s * s / q)), least)


@dataclass
class Difference:
    """The difference of two means over blocks, some of them shared."""

    mean: float
    observed: float
    variance: float
    blocks: float
    freedom: int
    most: float

    def interval(self, z=Z):
        if self.freedom == 0:
            return -1.0, 1.0
        middle, observed = (min(max((1 + x) / 2, 0), 1) for x in (self.mean, self.observed))
        e = effective(self.blocks, self.blocks * self.variance / 4, observed, self.most)
        low, high = wilson(middle, e, z, self.freedom)
        return min(2 * low - 1, self.mean), max(2 * high - 1, self.mean)

    def anytime(self, horizon):
        return self.interval(anytime_bound(self.blocks, horizon))


def difference(one, other, shared, observed=None):
    """Covariance of two means, given both values in each shared group."""
    shared = [(a, b) for a, b in shared if len(a)]
    count, covariance, freedom = sum(len(a) for a, _ in shared), 0.0, 0
    if shared:
        products, freedom = spread([a for a, _ in shared], [b for _, b in shared])
        covariance = count * products / freedom if count >= 2 else 0.0
    both = one.variance / one.count + other.variance / other.count
    variance = max(both - 2 * covariance / (one.count * other.count), 0.0)
    steps = min(max(variance / both, 1), 2) if both > 0 else 1
    mean = one.mean - other.mean
    return Difference(
        mean=mean,
        observed=mean if observed is None else observed,
        variance=variance,
        blocks=2 * one.count * other.count / (one.count + other.count),
        freedom=freedom_of_both(one.freedom, other.freedom, freedom),
        most=2 * max(one.most, other.most) / steps,
    )


def stretched(interval, mean):
    if interval is None or mean is None:
        return None, None
    return min(interval[0], mean), max(interval[1], mean)
