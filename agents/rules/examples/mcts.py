#!/usr/bin/env python3
"""mcts: Monte Carlo tree search (UCT) with chance nodes, for every ruleset and number of seats.

It speaks the line protocol of agents/PROTOCOL.md. It needs only the package arena-rules.
"""

import json
import math
import random
import sys

from arena_rules import POINT, Game

EXPLORATION = 0.1 * POINT  # leaves have estimated values, which vary less than results
OPTION = {"name": "iterations", "type": "integer", "default_value": "1000"}
OPTION |= {"min": "1", "max": "1000000", "summary": "positions evaluated for each move"}
BOT = {"name": "mcts", "deterministic": True, "uses_seed": "yes", "options": [OPTION]}
HELLO = {"type": "hello", "protocol": 1, "name": "mcts", "bots": [BOT], "omit_move_details": True}


class Node:
    """An edge of the tree: how often it was chosen, and what it brought the seat that chose it."""

    __slots__ = ("visits", "sum", "children")

    def __init__(self):
        self.visits, self.sum, self.children = 0, 0, {}


def choose(node, state, rng):
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
                event = choose(node, state, rng)
                state.apply(event)
                node = node.children[event]
                is_new = not node.visits
            path.append((node, seat))
        values = state.values()
        for node, seat in path:
            node.visits += 1
            node.sum += values[seat or 0]
    return max(root.children, key=lambda move: root.children[move].visits)


def answer(game, iterations, decision):
    """The move for a decision."""
    if len(decision["legal_moves"]) == 1:
        return decision["legal_moves"][0]
    state = game.state(decision["position"])
    return search(state, iterations, random.Random(int(decision["seed"])))


def main():
    """Answers lines until their end."""
    games = {}
    for line in sys.stdin:
        message = json.loads(line)
        reply = None
        if message["type"] == "hello":
            reply = HELLO
        elif message["type"] == "game":
            game = Game(message["ruleset"], message["options"], message["seats"])
            games[message["context"]] = (game, int(message["bot_options"]["iterations"]))
        elif message["type"] == "ask":
            moves = [answer(*games[one["context"]], one) for one in message["decisions"]]
            reply = {"type": "answer", "batch": message["batch"], "moves": moves}
        if reply:
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
