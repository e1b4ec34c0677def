"""The rules that all rulesets share (services/games/README.md)."""

import pathlib
import re

GAMES = pathlib.Path(__file__).resolve().parents[3] / "services" / "games"
POINT = 1_000_000

CHANCE, DECISION, OVER = "chance", "decision", "over"


def tables(page):
    """The lines `NAME = numbers` of a page's code blocks."""
    found = {}
    for block in re.findall(r"```text\n(.*?)```", (GAMES / page).read_text(), re.S):
        for name, value in re.findall(r"^([A-Za-z_0-9.]+) *= (.+)$", block, re.M):
            words = value.replace(",", " ").split()
            found[name] = [int(w) for w in words if re.fullmatch(r"-?\d+", w)]
    return found


LOGISTIC = tables("README.md")["logistic"]


def logistic(a):
    if a < 0:
        return POINT - logistic(-a)
    if a >= 8000:
        return LOGISTIC[32]
    i, r = divmod(a, 250)
    return LOGISTIC[i] + (LOGISTIC[i + 1] - LOGISTIC[i]) * r // 250


def pairwise(seats, share):
    """Values of seats, from the values of each pair."""
    sums = [0] * seats
    for i in range(seats):
        for j in range(i + 1, seats):
            p = share(i, j)
            sums[i] += p
            sums[j] += POINT - p
    others = seats - 1
    return [(total + others // 2) // others for total in sums]


def towards_zero(a, b):
    """`a / b`, rounded towards zero."""
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def by_score(scores):
    """Ranks: higher is better, ties share a rank."""
    return [1 + sum(other > own for other in scores) for own in scores]
