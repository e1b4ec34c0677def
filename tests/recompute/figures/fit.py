"""How well one number for each agent fits the pairs, and equilibria of fields without one."""

import itertools
from math import exp

import numpy as np
from scipy.special import softmax
from scipy.stats import f as f_distribution

# At this temperature the equilibrium is told.
TEMPERATURE = 1e-3


def model_fit(standings):
    """The test of the model's fit, two seats only; none where nothing is left over."""
    t, ratings = standings.t, standings.ratings
    fit, nu = ratings.fit, ratings.nu
    sums, rows, variances, counts = [], [], [], []
    for group in t.groups:
        count = len(group.blocks)
        if count < 10:
            continue
        a, b = group.agents()
        d = ratings.logs[a] - ratings.logs[b]
        odds = np.array([exp(d / 2), nu, exp(-d / 2)])
        p = odds / odds.sum()
        worth, by_d, by_nu = np.array([1, 0.5, 0]), np.array([0.5, 0, -0.5]), np.array([0, 1, 0])
        mean = p @ worth
        each = np.array([sum(game.units(a) for game in block) / 2 for block in group.blocks])
        variance = each.var(ddof=1)
        if variance < 1e-12:
            variance = t.rotations * (p @ worth**2 - mean**2)
        row = np.zeros(fit.k + 1)
        games = count * t.rotations
        row[a] = games * (p @ (worth * by_d) - mean * (p @ by_d))
        row[b] = -row[a]
        if ratings.tie is not None:
            row[-1] = games * (p @ (worth * by_nu) - mean * (p @ by_nu))
        sums.append(each.sum() - games * mean)
        rows.append(row)
        variances.append(count * variance)
        counts.append(count)
    if not sums:
        return None
    weight = 1 / np.sqrt(np.array(variances))
    x, r = np.array(rows) * weight[:, None], np.array(sums) * weight
    # Columns of strengths by an orthonormal basis of them, and that of ties, whose
    # coefficient has a prior.
    u, s, _ = np.linalg.svd(x[:, :-1], full_matrices=False)
    u = u[:, s > s.max() * 1e-9]
    k = len(r) - u.shape[1]
    if k <= 0:
        return None
    design = np.column_stack([u, x[:, -1]])
    penalty = np.zeros(design.shape[1])
    penalty[-1] = 1 / 9
    inverse = np.linalg.inv(design.T @ design + np.diag(penalty))
    best = inverse @ design.T @ r
    q = ((r - design @ best) ** 2).sum() + best[-1] ** 2 / 9
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    spare = ((1 - leverage) ** 2 / (np.array(counts) - 1)).sum()
    statistic = q / (k + 2 * spare - 6 * spare / (k + 2))
    residual = min(k * (k + 2) / (3 * spare), 1e7)
    return {
        "pairs": len(r),
        "statistic": statistic,
        "df": k,
        "df_residual": residual,
        "p": f_distribution.sf(statistic, k, residual),
    }


def equilibrium(payoff):
    """p = softmax(payoff p / temperature), followed from the uniform one."""
    size = len(payoff)
    logs, temperature = np.zeros(size), 4.0
    while True:
        for _ in range(100):
            p = softmax(logs)
            off = logs - payoff @ p / temperature
            off -= off.mean()
            slope = np.eye(size) - payoff @ (np.diag(p) - np.outer(p, p)) / temperature
            slope -= slope.mean(axis=0)
            step = np.linalg.lstsq(slope, off, rcond=None)[0]
            logs = logs - np.clip(step, -1, 1)
            if abs(step).max() < 1e-12:
                break
        if temperature == TEMPERATURE:
            return softmax(logs)
        temperature = max(temperature * 0.9, TEMPERATURE)


def has_circle(pairs, agents):
    """Three agents of whom each beats the next by its whole interval."""
    beats = set()
    for (a, b), (low, high) in pairs.items():
        if low is not None and low > 0.5:
            beats.add((a, b))
        if high is not None and high < 0.5:
            beats.add((b, a))
    return any(
        {(a, b), (b, c), (c, a)} <= beats for a, b, c in itertools.permutations(range(agents), 3)
    )
