"""mcts: Monte Carlo tree search (UCT) with chance nodes, for every ruleset and number of seats.

The policy of the Python kit with Arena's own rules: see "Search ahead" in the README of the kit.
"""

import math
import random

from arena import option, serve
from arena_rules import POINT

EXPLORATION = 0.1 * POINT  # leaves have estimated values, which vary less than results


class Node:
    """An edge of the tree: how often it was chosen, and what it brought the seat that chose it."""

    __slots__ = ("visits", "sum", "children")

    def __init__(self):
        self.visits, self.sum, self.children = 0, 0, {}


def select(node, state, rng):
    """The legal move with the highest upper confidence bound (UCB1); unvisited moves come first."""
    children = node.children
    if not children:
        moves = state.legal()
        rng.shuffle(moves)
        children.update((move, Node()) for move in moves)
    factor = EXPLORATION * math.sqrt(math.log(node.visits + 1))
    best, best_bound = None, -1.0
    for move, child in children.items():
        if not child.visits:
            return move
        bound = child.sum / child.visits + factor / math.sqrt(child.visits)
        if bound > best_bound:
            best, best_bound = move, bound
    return best


def search(root_state, iterations, rng):
    """The most visited move."""
    root, state = Node(), root_state.clone()
    for _ in range(iterations):
        state.copy_from(root_state)
        node, path, is_new = root, [(root, 0)], False
        while not is_new and not state.is_over():
            seat = state.to_move
            if seat is None:
                outcomes, weights = zip(*state.chance())
                event = rng.choices(outcomes, weights)[0]
                state.apply_outcome(event)
                node = node.children.setdefault(event, Node())
            else:
                event = select(node, state, rng)
                state.apply(event)
                node = node.children[event]
                is_new = not node.visits
            path.append((node, seat))
        values = state.values()
        for node, seat in path:
            node.visits += 1
            node.sum += values[seat or 0]
    return max(root.children, key=lambda move: root.children[move].visits)


def choose(decision):
    """Returns the id of one of the legal moves."""
    iterations = int(decision.bot_options["iterations"])
    return search(decision.state(), iterations, random.Random(decision.seed))


serve(
    choose,
    name="mcts",
    version="1.0.0",
    deterministic=True,
    uses_seed=True,
    omit_move_details=True,
    options=[option("iterations", 1000, "positions evaluated for each move", min=1, max=5000)],
)
