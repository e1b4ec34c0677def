"""Ratings of other programs, for tests/stress/comparisons.rs.

Reads one JSON object from stdin and writes one to stdout: log strengths by
choix (two seats, and four) and by a fit of its own with ties, and running
ratings by trueskill and openskill.
"""

import json
import math
import sys
from itertools import combinations

import choix
import numpy
import openskill.models
import trueskill
from scipy.optimize import minimize


def tiers(placement):
    """Seats by rank, best first."""
    return [
        [seat for seat, rank in enumerate(placement) if rank == best]
        for best in sorted(set(placement))
    ]


def with_ties(agents, games, precision):
    """Davidson-Luce by a general optimiser: log strengths, then log weights of
    ties of two, three and four, if they occurred."""
    sizes = sorted({len(t) for g in games for t in tiers(g["placement"]) if len(t) > 1})
    steps = []
    for game in games:
        left = list(range(len(game["seats"])))
        for first in tiers(game["placement"]):
            if len(left) > 1:
                steps.append((tuple(game["seats"][s] for s in left),
                              tuple(game["seats"][s] for s in first)))
            left = [seat for seat in left if seat not in first]
    counts = {}
    for step in steps:
        counts[step] = counts.get(step, 0) + 1

    def log_odds(values, players):
        tie = 0.0
        if len(players) > 1:
            if len(players) not in sizes:
                return None
            tie = values[agents + sizes.index(len(players))]
        return tie + sum(values[p] for p in players) / len(players)

    def minus_posterior(values):
        total = precision / 2 * float(numpy.dot(values, values))
        sums = {}
        for (left, first), count in counts.items():
            if left not in sums:
                every = [log_odds(values, players) for size in range(1, len(left) + 1)
                         for players in combinations(left, size)]
                sums[left] = math.log(sum(math.exp(odds) for odds in every if odds is not None))
            total -= count * (log_odds(values, first) - sums[left])
        return total

    found = minimize(minus_posterior, numpy.zeros(agents + len(sizes)), method="BFGS",
                     options={"gtol": 1e-7})
    return list(found.x[:agents])


def running(given):
    table = trueskill.TrueSkill()
    skills = [table.create_rating() for _ in range(given["agents"])]
    # skillratings has no drift between games.
    model = openskill.models.BradleyTerryFull(tau=0.0)
    others = [model.rating() for _ in range(given["agents"])]
    for game in given["games"]:
        seats, ranks = game["seats"], game["placement"]
        rated = table.rate([(skills[a],) for a in seats], ranks)
        for agent, (rating,) in zip(seats, rated):
            skills[agent] = rating
        rated = model.rate([[others[a]] for a in seats], ranks=list(ranks))
        for agent, (rating,) in zip(seats, rated):
            others[agent] = rating
    return {
        "trueskill": [[r.mu, r.sigma] for r in skills],
        "openskill": [[r.mu, r.sigma] for r in others],
    }


def main():
    given = json.load(sys.stdin)
    alpha = given["precision"] / 2
    two, four = given["two"], given["four"]
    wins = [tuple(a for _, a in sorted(zip(g["placement"], g["seats"]))) for g in two["games"]]
    orders = [tuple(a for _, a in sorted(zip(g["placement"], g["seats"]))) for g in four["games"]]
    reported = {
        "two": list(choix.opt_pairwise(two["agents"], wins, alpha=alpha, tol=1e-9)),
        "four": list(choix.opt_rankings(four["agents"], orders, alpha=alpha, tol=1e-9)),
        "running": running(four),
    }
    for name in ("two_ties", "four_ties"):
        reported[name] = with_ties(given[name]["agents"], given[name]["games"], given["precision"])
    json.dump(reported, sys.stdout)


if __name__ == "__main__":
    main()
