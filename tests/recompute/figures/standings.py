"""The expected `arena standings ID --output json` of a tournament."""

from math import log, sqrt

import numpy as np
from scipy.optimize import brentq

from .games import Tournament, against
from .intervals import Z, difference, of_units, stretched, wilson
from .luck import Adjusted
from .ratings import Ratings


def ends(name, interval, mean=None):
    low, high = interval or (None, None)
    if mean is not None and interval:
        low, high = stretched(interval, mean)
    return {f"{name}_low": low, f"{name}_high": high}


# The bounds of the returns of a ruleset.
BOUNDS = {"cards": (0, 12)}


class Standings:
    def __init__(self, spec, records, openings=None):
        self.t = t = Tournament(spec, records, openings)
        self.agents = range(len(t.agents))
        self.groups = {a: t.of(a) for a in self.agents}
        self.scores = {a: self.mean_score(a) for a in self.agents}
        self.ratings = Ratings(t, self.scores) if t.counted else None
        lucky = any(game.luck for game in t.counted)
        self.adjusted = {a: self.adjusted_score(a) for a in self.agents} if lucky else {}

    # Blocks.

    def block_units(self, group, agent):
        return np.array([sum(game.units(agent) for game in block) for block in group.blocks])

    def most(self, group, agent):
        own = group.own(agent)
        return 2 * self.t.rotations * own * (self.t.n - own)

    def mean_score(self, agent):
        groups = self.groups[agent]
        return of_units(
            [self.block_units(g, agent) for g in groups], [self.most(g, agent) for g in groups]
        )

    def halves(self, group):
        return np.array([(group.number ^ turn) % 2 for turn in group.turns])

    def block_luck(self, group, agent, pairs=None):
        """Luck of an agent's seats in each block, in parts of its score."""
        if any(game.luck is None for block in group.blocks for game in block):
            return None
        own = group.own(agent)
        scale = 1e6 * self.t.rotations * own * (self.t.n - own) / (self.t.n - 1)
        sums = [sum(game.luck[s] for game in block for s in game.held(agent)) for block in group.blocks]
        return np.array(sums) / scale

    def adjusted_score(self, agent):
        groups = self.groups[agent]
        return Adjusted(
            [self.block_units(g, agent) / self.most(g, agent) for g in groups],
            [self.block_luck(g, agent) for g in groups],
            [self.halves(g) for g in groups],
            max((self.most(g, agent) for g in groups), default=1),
        )

    # Agents.

    def agent(self, agent):
        t, mean = self.t, self.scores[agent]
        games = [game for game in t.counted if agent in game.seats]
        held = [(game, seat) for game in games for seat in game.held(agent)]
        before = [game.before(seat) for game, seat in held]
        wins = sum(game.wins(agent) for game in games)
        shared = sum(b == 0 for b in before) - wins
        reported = [game for game in t.evidence if agent in game.seats]
        score = np.mean([game.score(agent) for game in reported]) if reported else None
        rate = np.mean([game.wins(agent) / len(game.held(agent)) for game in reported]) if reported else None
        groups = self.groups[agent]
        won = of_units(
            [[sum(game.wins(agent) for game in block) for block in g.blocks] for g in groups],
            [t.rotations * g.own(agent) for g in groups],
        )
        kinds = [kind for game in t.games for one, kind in game.faults if one == agent]
        horizon = t.horizon(agent)
        found = {
            "games": len(held),
            "wins": wins,
            "draws": shared,
            "losses": len(held) - wins - shared,
            "voids": sum(len(game.held(agent)) for game in t.games if game.is_void),
            "faults": len(kinds),
            "faults_by_kind": {kind: kinds.count(kind) for kind in kinds},
            "ranks": [before.count(k) for k in range(t.n)],
            "score": score,
            "points": sum(game.score(agent) for game in reported),
            "win_rate": rate,
            "plies_mean": np.mean([game.plies for game, _ in held]) if held else None,
            "blocks": mean.count,
            "games_repeated": len(games) - len(reported),
            **ends("score", mean.interval(), score),
            **ends("score_anytime", mean.anytime(horizon), score),
            **ends("win_rate", won.interval(), rate),
        }
        found |= self.luck_of(agent, found) | self.return_of(agent)
        if agent in self.ratings.played:
            value, fixed, looks = self.ratings.rating(agent)
            found |= {"rating": value, **ends("rating", fixed), **ends("rating_anytime", looks)}
        return found

    def return_of(self, agent):
        names = ["return_mean" + kind for kind in ("", "_low", "_high", "_anytime_low", "_anytime_high")]
        if self.t.spec.get("outcome") != "returns":
            return dict.fromkeys(names)
        least, most = BOUNDS[self.t.spec["ruleset"]]

        def points(game):
            return [game.returned(seat, least, most) for seat in game.held(agent)]

        groups = self.groups[agent]
        mean = of_units(
            [[sum(sum(points(game)) for game in block) for block in g.blocks] for g in groups],
            [self.t.rotations * g.own(agent) * (most - least) for g in groups],
        )
        share = np.mean([it for game in self.t.evidence for it in points(game)]) / (most - least)
        fixed, looks = mean.interval(), mean.anytime(self.t.horizon(agent))
        shares = [share, *stretched(fixed, share), *stretched(looks, share)]
        return dict(zip(names, (least + it * (most - least) for it in shares)))

    def luck_of(self, agent, found):
        names = ["luck_mean", "luck_share", "luck_share_low", "luck_share_high"]
        names += ["luck_games_saved", "luck_games_saved_low", "luck_games_saved_high"]
        kinds = ["", "_low", "_high", "_anytime_low", "_anytime_high"]
        blank = dict.fromkeys([*("score_adjusted" + kind for kind in kinds), *names])
        one = self.adjusted.get(agent)
        if one is None:
            return blank
        if one.is_raw:
            raw = {"score_adjusted" + kind: found["score" + kind] for kind in kinds}
            return raw | {"score_adjusted_is_raw": True}
        blank |= {"score_adjusted": one.mean, "score_adjusted_is_raw": False}
        blank |= ends("score_adjusted", one.interval()) | {"luck_mean": one.luck_mean()}
        blank |= ends("score_adjusted_anytime", one.anytime(self.t.horizon(agent)))
        share = one.share()
        if share:
            # The share is lowest where the residual varies most.
            saved = [round(found["games"] * (1 / rho - 1)) if rho > 0 else None for rho in share]
            blank |= dict(zip(names[1:4], (1 - rho for rho in share)))
            blank |= dict(zip(names[4:], saved))
        return blank

    # Pairs.

    def duel(self, group, a, b):
        """Units of one agent against another in each block, and the maximum."""
        return (
            np.array([sum(game.units(a, b) for game in block) for block in group.blocks]),
            2 * self.t.rotations * group.own(a) * group.own(b),
        )

    def pair(self, a, b):
        t = self.t
        met = [(game, s, o) for game in t.evidence for s in game.held(a) for o in game.held(b)]
        units = [against(game.placement, s, o) for game, s, o in met]
        shared = [g for g in self.groups[a] if b in g.members]
        duels = [self.duel(g, a, b) for g in shared]
        mean = of_units([u for u, _ in duels], [m for _, m in duels])
        score = sum(units) / (2 * len(units)) if units else None
        courses = [g.courses for g in t.groups if {a, b} <= set(g.members)]
        found = {
            "blocks_played": mean.count
            + sum(len(g.held) for g in t.groups if {a, b} <= set(g.members)),
            "distinct_games": sum(min(len(one), t.courses_max) for one in courses),
            "distinct_games_more": any(len(one) > t.courses_max for one in courses),
            "games": len(met),
            "wins": units.count(2),
            "draws": units.count(1),
            "losses": units.count(0),
            "score": score,
            "blocks": mean.count,
            "superiority": mean.superiority(),
            **ends("score", mean.interval(), score),
            **ends("score_anytime", mean.anytime(t.horizon_pair()), score),
        }
        one, other = self.scores[a], self.scores[b]
        if one.count and other.count:
            x = [[self.block_units(g, c) / self.most(g, c) for c in (a, b)] for g in shared]
            apart = difference(one, other, [tuple(p) for p in x])
            horizon = (t.horizon(a) + t.horizon(b)) / 2
            found |= {"difference": apart.mean, **ends("difference", apart.interval())}
            found |= ends("difference_anytime", apart.anytime(horizon))
            if {a, b} <= self.ratings.played and self.ratings.linked[a] == self.ratings.linked[b]:
                found |= self.ratings.pair(a, b, apart.freedom)
                found["rating_is_open"] = self.ratings.level[a] != self.ratings.level[b]
        return found | self.pair_luck(a, b, shared, found)

    def pair_luck(self, a, b, shared, found):
        if not self.adjusted:
            return {}
        t = self.t
        parts = [u / m for u, m in (self.duel(g, a, b) for g in shared)]

        def luck(g):
            sums = []
            for block in g.blocks:
                if any(game.luck is None for game in block):
                    return None
                sums.append(
                    sum(game.luck[s] for game in block for s in game.held(a))
                    - sum(game.luck[s] for game in block for s in game.held(b))
                )
            return np.array(sums) / (1e6 * t.rotations * g.own(a) * g.own(b))

        one = Adjusted(
            parts,
            [luck(g) for g in shared],
            [self.halves(g) for g in shared],
            max((self.duel(g, a, b)[1] for g in shared), default=1),
        )
        result = {"score_adjusted_is_raw": one.is_raw and found["games"] > 0}
        if one.is_raw:
            for kind in ("", "_low", "_high", "_anytime_low", "_anytime_high"):
                result["score_adjusted" + kind] = found["score" + kind]
        else:
            result |= {"score_adjusted": one.mean, **ends("score_adjusted", one.interval())}
            result |= ends("score_adjusted_anytime", one.anytime(t.horizon_pair()))
        first, second = self.adjusted[a], self.adjusted[b]
        if first.is_raw or second.is_raw:
            for end in ("", "_low", "_high") if "difference" in found else ():
                result["difference_adjusted" + end] = found["difference" + end]
            return result | {"difference_adjusted_is_raw": True}
        both = []
        index = {c: {id(g): k for k, g in enumerate(self.groups[c])} for c in (a, b)}
        for g in shared:
            both.append((first.left[index[a][id(g)]], second.left[index[b][id(g)]]))
        observed = first.raw.mean - second.raw.mean
        first.most = second.most = 1000
        apart = difference(first, second, both, observed=observed)
        return result | {
            "difference_adjusted": apart.mean,
            "difference_adjusted_is_raw": False,
            **ends("difference_adjusted", apart.interval()),
        }

    # Seats and pairing.

    def seat(self, seat):
        t = self.t
        scores = [game.seat_units(seat) / (2 * (t.n - 1)) for game in t.evidence]
        blocks = [block for g in t.groups for block in g.blocks]
        units = [sum(game.seat_units(seat) for game in block) for block in blocks]
        mean = of_units([units], [2 * (t.n - 1) * t.rotations])
        score = np.mean(scores) if scores else None
        horizon = sum(t.horizon(agent) for agent in self.agents) / t.n
        return {
            "games": len(scores),
            "score": score,
            **ends("score", mean.interval(), score),
            **ends("score_anytime", mean.anytime(horizon), score),
        }

    def pairing(self):
        t = self.t
        if t.rotations == 1:
            return None
        groups = [g for g in t.groups if len(set(g.members)) == t.n and len(g.blocks) > 1]
        count = sum(len(g.blocks) for g in groups)
        if count - len(groups) < 29:
            return None
        total, alone, clusters, serial = 0.0, 0.0, {}, 0
        pieces = []
        for g in groups:
            units = np.zeros((len(g.blocks), t.n, t.n))
            for k, block in enumerate(g.blocks):
                for game in block:
                    for seat, agent in enumerate(game.seats):
                        units[k, g.members.index(agent), seat] += game.seat_units(seat)
            sums = units.sum(axis=2)
            top = ((sums - sums.mean(axis=0)) ** 2).sum(axis=1)
            bottom = ((units - units.mean(axis=0)) ** 2).sum(axis=(1, 2))
            factor = sqrt(len(g.blocks) / (len(g.blocks) - 1))
            for turn, a, b in zip(g.turns, top, bottom):
                serial += 1
                cluster = serial if t.n == 2 else (g.number + turn) % 32
                own = b * factor**2 if t.n == 2 else b
                pieces.append((cluster, factor, a, b, own))
            total, alone = total + top.sum(), alone + bottom.sum()
        found = {"blocks": count}
        if alone <= 0:
            return None
        rho = total / alone
        owns = {}
        for cluster, factor, a, b, own in pieces:
            clusters[cluster] = clusters.get(cluster, 0.0) + factor * (a - rho * b)
            owns[cluster] = owns.get(cluster, 0.0) + own
        c = len(clusters)
        variance = c / (c - 1) * sum((clusters[x] / (alone - owns[x])) ** 2 for x in clusters)
        games = count * t.rotations
        found |= {"variance_reduction": 1 - rho}
        found["games_saved"] = round(games * (1 / rho - 1)) if rho > 0 else None
        v = count * variance / t.rotations**2
        most, mean = 1000, rho / t.rotations
        a = 0.7 if count * v * most**2 < 1e-6 else 2 / most**2
        e = count / ((count * v + a) / (count * mean * (1 - mean) + a))
        freedom = min(c - 1, sum(len(g.blocks) - 1 for g in groups))
        low, high = (t.rotations * end for end in wilson(mean, e, Z, freedom))
        found |= {"variance_reduction_low": 1 - high, "variance_reduction_high": 1 - low}
        saved = [round(games * (1 / r - 1)) if r > 0 else None for r in (high, low)]
        found |= dict(zip(["games_saved_low", "games_saved_high"], saved))
        return found

    # Verdicts.

    def outcomes(self):
        """Complete blocks of a test, by the units of the first agent."""
        found = None
        for group in self.t.groups:
            if group.blocks:
                units, most = self.duel(group, 0, 1)
                found = np.zeros(most + 1) if found is None else found
                for u in units:
                    found[u] += 1
        return found

    def llr(self):
        test = {"elo0": 0.0, "elo1": 5.0, "model": "logistic"} | self.t.spec.get("sprt", {})
        counts = np.where(self.outcomes() > 0, self.outcomes(), 0.001)
        scores = np.linspace(0, 1, len(counts))
        q = counts / counts.sum()
        if test["model"] == "logistic":
            means = [1 / (1 + 10 ** (-test[elo] / 400)) for elo in ("elo0", "elo1")]
            p0, p1 = (nearest(q, scores, m) for m in means)
        else:
            p0, p1 = (
                nearest_normalised(q, scores, test[elo] * log(10) / 800 * sqrt(self.t.rotations))
                for elo in ("elo0", "elo1")
            )
        return counts.sum() * (q @ np.log(p1 / p0))

    def swiss(self):
        """Points, Buchholz and byes of each agent, and points at each table."""
        t = self.t
        tables = []
        for group in t.groups:
            for start in range(0, len(group.blocks), t.spec["blocks"]):
                blocks = group.blocks[start : start + t.spec["blocks"]]
                tables.append((blocks[0][0].block, group.agents(), [g for b in blocks for g in b]))
        tables.sort(key=lambda table: table[0])
        each = len(t.agents) // t.n
        rounds = [tables[at : at + each] for at in range(0, len(tables), each)]
        whole = (t.n - 1) * t.rotations * t.spec["blocks"]
        points, byes, met, reported = {a: 0.0 for a in self.agents}, {a: 0 for a in self.agents}, [], []
        for tables in rounds:
            seated = [a for _, agents, _ in tables for a in agents]
            for a in self.agents:
                if a not in seated:
                    byes[a] += 1
                    points[a] += whole if t.n == 2 else whole / 2
            rows = []
            for _, agents, games in tables:
                row = {a: sum(game.units(a) for game in games) / 2 for a in agents}
                for a, got in row.items():
                    points[a] += got
                met += [(a, b) for a in agents for b in agents if a != b]
                rows.append(row)
            reported.append(rows)
        buchholz = {a: sum(points[b] for x, b in met if x == a) for a in self.agents}
        return points, buchholz, byes, reported


def nearest(q, scores, mean):
    """The distribution nearest to q that has this mean."""
    low = -1 / (scores[-1] - mean)
    high = -1 / (scores[0] - mean)
    gap = 1e-12 * (high - low)
    f = lambda x: (q * (scores - mean) / (1 + x * (scores - mean))).sum()
    x = brentq(f, low + gap, high - gap, xtol=1e-15, rtol=1e-14)
    return q / (1 + x * (scores - mean))


def nearest_normalised(q, scores, t_value):
    """The distribution nearest to q whose mean is a number of its own standard
    deviations above one half: by Newton's method for the Lagrangian."""
    from scipy.optimize import minimize

    def constraint(p):
        mean = p @ scores
        return mean - 0.5 - t_value * sqrt(max(p @ (scores - mean) ** 2, 1e-300))

    found = minimize(
        lambda p: -(q * np.log(p)).sum(),
        q,
        jac=lambda p: -q / p,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": constraint},
        ],
        bounds=[(1e-15, 1)] * len(q),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return found.x
