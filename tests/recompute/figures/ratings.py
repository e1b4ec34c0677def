"""Ratings by maximum likelihood, with a sandwich covariance over blocks."""

import itertools
from functools import lru_cache
from math import asinh, exp, log, sinh, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import t as student_t

from .intervals import Z, added, anytime_bound, of_units, student

ELO = 400 / log(10)
PRIOR = 5.0
FAR = 4000.0


@lru_cache(maxsize=None)
def subsets(players):
    return [
        chosen
        for size in range(1, len(players) + 1)
        for chosen in itertools.combinations(players, size)
    ]


def steps(placement):
    """The remaining agents, and those that share their best place."""
    left = tuple(range(len(placement)))
    while len(left) > 1:
        best = min(placement[s] for s in left)
        first = tuple(s for s in left if placement[s] == best)
        yield left, first
        left = tuple(s for s in left if placement[s] != best)


class Fit:
    """Log strengths of all agents, then logs of the weights of ties that occurred."""

    def __init__(self, tournament):
        self.t = tournament
        self.k = len(tournament.agents)
        sizes = {
            len(first) for game in tournament.evidence for _, first in steps(game.placement)
        } - {1}
        self.ties = {size: self.k + at for at, size in enumerate(sorted(sizes))}
        self.size = self.k + len(self.ties)
        self.known = {}
        for game in tournament.evidence:
            for left, first in steps(game.placement):
                key = tuple(game.seats[s] for s in left), tuple(game.seats[s] for s in first)
                key = tuple(sorted(key[0])), tuple(sorted(key[1]))
                self.known[key] = self.known.get(key, 0) + 1
        self.values = self.solve()

    def feature(self, first):
        row = np.zeros(self.size)
        for agent in first:
            row[agent] += 1 / len(first)
        if len(first) > 1:
            row[self.ties[len(first)]] += 1
        return row

    @lru_cache(maxsize=None)
    def features(self, left):
        """The features of every outcome of a step with these players."""
        possible = [s for s in subsets(left) if len(s) == 1 or len(s) in self.ties]
        return np.array([self.feature(first) for first in possible])

    def expected(self, left, values):
        """ln of the sum of odds, mean and covariance of the features."""
        rows = self.features(left)
        odds = rows @ values
        top = odds.max()
        chances = np.exp(odds - top)
        total = chances.sum()
        chances /= total
        mean = chances @ rows
        return top + log(total), mean, (rows.T * chances) @ rows - np.outer(mean, mean)

    def point(self, values):
        value = -(values @ values) / (2 * PRIOR**2)
        slope = -values / PRIOR**2
        information = np.eye(self.size) / PRIOR**2
        for (left, first), count in self.known.items():
            total, mean, covariance = self.expected(left, values)
            came = self.feature(first)
            value += count * (came @ values - total)
            slope = slope + count * (came - mean)
            information = information + count * covariance
        return value, slope, information

    def solve(self):
        values = np.zeros(self.size)
        value, slope, self.information = self.point(values)
        for _ in range(200):
            move, factor = np.linalg.solve(self.information, slope), 1.0
            while True:
                after = self.point(values + factor * move)
                if after[0] >= value - 1e-12 * abs(value) or factor < 1e-9:
                    break
                factor /= 2
            values = values + factor * move
            value, slope, self.information = after
            if abs(move).max() < 1e-11:
                break
        return values

    def score(self, games):
        """The gradient of the log likelihood of some games."""
        total = np.zeros(self.size)
        for game in games:
            for left, first in steps(game.placement):
                names = tuple(sorted(game.seats[s] for s in left))
                came = self.feature(tuple(game.seats[s] for s in first))
                total += came - self.expected(names, self.values)[1]
        return total

    def model_information(self, games):
        total = np.zeros((self.size, self.size))
        for game in games:
            for left, _ in steps(game.placement):
                names = tuple(sorted(game.seats[s] for s in left))
                total += self.expected(names, self.values)[2]
        return total


def components(count, edges, connection):
    if not edges:
        return list(range(count))
    rows, columns = zip(*edges)
    graph = csr_array((np.ones(len(edges)), (rows, columns)), shape=(count, count))
    return list(connected_components(graph, directed=True, connection=connection)[1])


class Ratings:
    def __init__(self, tournament, means):
        self.t, self.means = tournament, means
        self.fit = fit = Fit(tournament)
        self.logs, self.k = fit.values[: fit.k], fit.k
        self.tie = fit.ties.get(2)
        self.nu = exp(fit.values[self.tie]) if self.tie is not None else 0.0
        self.weights = [exp(fit.values[fit.ties[s]]) if s in fit.ties else 0.0 for s in (2, 3, 4)]
        met, level = set(), set()
        for game in tournament.evidence:
            for s, t in itertools.permutations(range(tournament.n), 2):
                a, b = game.seats[s], game.seats[t]
                if a != b:
                    met.add((a, b))
                    if game.placement[s] <= game.placement[t]:
                        level.add((a, b))
        self.linked = components(self.k, list(met), "weak")
        self.level = components(self.k, list(level), "strong")
        self.played = {agent for game in tournament.evidence for agent in game.seats}
        self.covariance = self.sandwich()

    def sandwich(self):
        t, fit = self.t, self.fit
        blocks = {a: self.means[a].count for a in range(self.k)}
        meat = np.zeros((fit.size, fit.size))
        for group in t.groups:
            count = len(group.blocks)
            if not count:
                continue
            agents = group.agents()
            separated = len({self.level[a] for a in agents}) > 1
            games = [game for block in group.blocks for game in block]
            # A level with several agents, separate from the others.
            if separated and any(self.level.count(self.level[a]) > 1 for a in agents):
                meat += fit.model_information(games)
                continue
            scores = np.array([fit.score(block) for block in group.blocks])
            if count == 1:
                share = min(0.75, sum(1 / blocks[a] for a in agents))
                meat += np.outer(scores[0], scores[0]) / (1 - share)
            else:
                apart = scores - scores.mean(axis=0)
                meat += apart.T @ apart * count / (count - 1)
        complete = sum(len(g.blocks) for g in t.groups) * t.rotations
        if complete < 2 * t.rotations:
            return None
        meat *= len(t.evidence) / complete
        meat += np.eye(fit.size) / PRIOR**2
        for agent in range(self.k):
            extra = self.extra(agent)
            if extra:
                reported = fit.information[agent, agent] - 1 / PRIOR**2
                g = fit.information[agent] / reported
                g[agent] = 1.0
                g[self.k :] = 0.0
                meat += extra * np.outer(g, g)
        inverse = np.linalg.inv(fit.information)
        return inverse @ meat @ inverse

    def extra(self, agent):
        mean, t = self.means[agent], self.t
        if not mean.count or mean.freedom == 0:
            return 0.0
        pairs = max(group.own(agent) * (t.n - group.own(agent)) for group in t.of(agent))
        r = pairs * t.rotations * sum(1 / k for k in range(1, t.n)) / (t.n - 1)
        a = added(mean.count, mean.variance, mean.most)
        mu = min(max(mean.mean - self.logs[agent] / (PRIOR**2 * mean.count * r), 0), 1)
        h = mean.count * mu * (1 - mu)
        alike = mean.count * mean.variance * mean.most**2 < 1e-6
        q = 4 if len(t.of(agent)) > 1 and not alike else 2
        return r**2 * a * h / (h + a) / q

    # Scale.

    def g(self, d, nu=None):
        nu = self.nu if nu is None else nu
        return log((exp(d / 2) + nu / 2) / (exp(-d / 2) + nu / 2))

    def slopes(self, d, nu):
        """Derivatives of g in d and in ln nu."""
        up, down = exp(d / 2), exp(-d / 2)
        first, second = up + nu / 2, down + nu / 2
        return up / 2 / first + down / 2 / second, nu / 2 / first - nu / 2 / second

    def odds_variance(self, d, spread):
        by_d, by_nu = self.slopes(d, self.nu)
        variance, with_tie, of_tie = spread
        covariance = by_d * with_tie + by_nu * of_tie
        return by_d**2 * variance + 2 * by_d * by_nu * with_tie + by_nu**2 * of_tie, covariance

    def around(self, d, spread, t):
        """Interval of g, and of d, at Student's point t."""
        if not np.isfinite(t):
            return None, None
        sigma2, covariance = self.odds_variance(d, spread)
        g, half = self.g(d), 2 * asinh(t * sqrt(sigma2) / 2)
        ends = []
        for g_end in (g - half, g + half):
            k = covariance / sigma2 if sigma2 > 0 else 0.0
            nu = self.nu * exp(k * (g_end - g)) if self.nu else 0.0
            end = brentq(lambda x: self.g(x, nu) - g_end, -200, 200, xtol=1e-13)
            by_d, by_nu = self.slopes(end, nu)
            rest = max(spread[2] - k * covariance, 0.0)
            distance = sqrt((end - d) ** 2 + (t * sqrt(rest) * by_nu / by_d) ** 2)
            ends.append(d - distance if g_end < g else d + distance)
        return (g - half, g + half), tuple(ends)

    def spread_of(self, weights):
        """Variance of a sum of log strengths, with and of ln nu."""
        c = self.covariance
        variance = weights @ c[: self.k, : self.k] @ weights
        if self.tie is None:
            return variance, 0.0, 0.0
        return variance, weights @ c[: self.k, self.tie], c[self.tie, self.tie]

    def rating(self, agent):
        """Value and intervals: (value, fixed, anytime)."""
        value = self.logs[agent] - self.logs.mean()
        mean = self.means[agent]
        if self.covariance is None or mean.freedom == 0:
            return value * ELO, None, None
        weights = np.full(self.k, -1 / self.k)
        weights[agent] += 1
        f = 1 - 1 / self.k
        spread = self.spread_of(weights / f)
        found = []
        for z in (Z, anytime_bound(mean.count, self.t.horizon(agent))):
            _, ends = self.around(value / f, spread, student(z, mean.freedom))
            found.append(tuple(ELO * f * end for end in ends))
        fixed, looks = found
        if max(value * ELO - looks[0], looks[1] - value * ELO) > FAR:
            looks = None
        return value * ELO, fixed, looks

    def pair(self, a, b, freedom):
        """Difference of ratings, of Elo by scores, and their intervals."""
        d = self.logs[a] - self.logs[b]
        found = {"rating_difference": d * ELO, "elo_difference": self.g(d) * ELO}
        one, other = self.means[a], self.means[b]
        if self.covariance is None or freedom == 0 or not one.count or not other.count:
            return found
        weights = np.zeros(self.k)
        weights[a], weights[b] = 1, -1
        spread = self.spread_of(weights)
        sigma2, _ = self.odds_variance(d, spread)
        found["rating_superiority"] = student_t.cdf(2 * sinh(self.g(d) / 2) / sqrt(sigma2), freedom)
        odds, ends = self.around(d, spread, student(Z, freedom))
        found["rating_difference_low"], found["rating_difference_high"] = (ELO * x for x in ends)
        found["elo_difference_low"], found["elo_difference_high"] = (ELO * x for x in odds)
        blocks = 2 * one.count * other.count / (one.count + other.count)
        horizon = (self.t.horizon(a) + self.t.horizon(b)) / 2
        odds, _ = self.around(d, spread, student(anytime_bound(blocks, horizon), freedom))
        found["elo_difference_anytime_low"], found["elo_difference_anytime_high"] = (
            ELO * x for x in odds
        )
        return found
