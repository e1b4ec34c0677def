"""The fit of one rating for each agent, and equilibria of fields that it does not fit."""

import itertools

import numpy as np
from scipy.special import softmax
from scipy.stats import f as f_distribution

# The temperature of the reported equilibrium.
TEMPERATURE = 1e-3


def model_fit(standings):
    """The test of the model's fit; none without degrees of freedom."""
    t, fit = standings.t, standings.ratings.fit
    if fit.k < 3:
        return None
    left, rows, spans, counts = [], [], [], []
    for group in t.groups:
        count, members = len(group.blocks), sorted(set(group.agents()))
        if count < 10 or len(members) < t.n:
            continue
        scores = np.array([fit.score(block) for block in group.blocks])
        model = fit.model_information([game for block in group.blocks for game in block])
        kept = members[:-1]
        own = count * np.atleast_2d(np.cov(scores[:, kept].T))
        expected = model[np.ix_(kept, kept)]
        if len(kept) > 1:
            own = own + expected / count
        elif own[0, 0] <= 1e-12 * expected[0, 0]:
            own = own + expected
        whiten = np.linalg.inv(np.linalg.cholesky(own))
        spans.append(slice(len(left), len(left) + len(kept)))
        left.extend(whiten @ scores[:, kept].sum(axis=0))
        rows.extend(whiten @ model[kept])
        counts.append(count)
    if not left:
        return None
    x, r = np.array(rows), np.array(left)
    # Columns of strengths by an orthonormal basis of them, and those of ties, whose
    # coefficients have a prior.
    u, s, _ = np.linalg.svd(x[:, : fit.k], full_matrices=False)
    u = u[:, s > s.max() * 1e-9]
    k = len(r) - u.shape[1]
    if k <= 0:
        return None
    design = np.column_stack([u, x[:, fit.k :]])
    penalty = np.diag([0.0] * u.shape[1] + [1 / 9] * (fit.size - fit.k))
    inverse = np.linalg.inv(design.T @ design + penalty)
    best = inverse @ design.T @ r
    q = ((r - design @ best) ** 2).sum() + best @ penalty @ best
    spare = 0.0
    for span, count in zip(spans, counts):
        rest = np.eye(span.stop - span.start) - design[span] @ inverse @ design[span].T
        spare += (np.trace(rest @ rest) + np.trace(rest) ** 2) / 2 / (count - 1)
    statistic = q / (k + 2 * spare - 6 * spare / (k + 2))
    residual = min(k * (k + 2) / (3 * spare), 1e7)
    return {
        "pairs": len(counts),
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
    """Three agents, each of which beats the next with its whole interval."""
    beats = set()
    for (a, b), (low, high) in pairs.items():
        if low is not None and low > 0.5:
            beats.add((a, b))
        if high is not None and high < 0.5:
            beats.add((b, a))
    return any(
        {(a, b), (b, c), (c, a)} <= beats for a, b, c in itertools.permutations(range(agents), 3)
    )
