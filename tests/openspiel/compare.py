"""Plays given games with OpenSpiel, and prints where they differ.

    compare.py oware|mancala < GAMES

Each line of GAMES is a game in JSON: `seed`, `actions` (offsets of pits in the
mover's row), and for each step, the end included, `players` (-1 at the end),
`legal` (the same offsets) and `boards` (twelve pits counter-clockwise from seat
0's left, then both scores), at last `placement`. Prints one JSON object:
`games`, `steps`, `differing` (games), `first` (what differed first in some).

OpenSpiel numbers pits otherwise. Its oware numbers those of the mover's row, as
we do. Its mancala is Kalah on cells: 0 is player 1's store, 1 to 6 player 0's
pits, 7 player 0's store, 8 to 13 player 1's pits, and an action is a cell.

One convention differs: at the end each player takes the own row, but not on every
board. In Oware with more than half of the seeds in a score OpenSpiel does so and
we do not; in mancala it counts the own rows in the result and leaves them lie. So
the boards of an end are compared with the own rows taken.
"""

import json
import sys

import pyspiel

FIRST_MAX = 5


class Oware:
    name = "oware"
    # The tensor has shares of all seeds.
    seeds = 48

    def offset(self, player, action):
        return action

    def action(self, player, offset):
        return offset

    def board(self, state):
        return [round(share * self.seeds) for share in state.observation_tensor(0)]


class Mancala:
    name = "mancala"
    first = (1, 8)

    def offset(self, player, action):
        return action - self.first[player]

    def action(self, player, offset):
        return offset + self.first[player]

    def board(self, state):
        cells = [round(cell) for cell in state.observation_tensor(0)[:14]]
        return cells[1:7] + cells[8:14] + [cells[7], cells[0]]


def swept(board):
    rows, scores = board[:12], board[12:]
    return [sum(rows[:6]) + scores[0], sum(rows[6:]) + scores[1]]


def placement(returns):
    return [1 + sum(other > own for other in returns) for own in returns]


def difference(rules, state, played):
    """The first difference, or None."""
    for step, player in enumerate(played["players"]):
        over = player < 0
        there = {
            "over": state.is_terminal(),
            "player": -1 if state.is_terminal() else state.current_player(),
            "board": rules.board(state),
            "legal": []
            if state.is_terminal()
            else [rules.offset(player, action) for action in state.legal_actions()],
        }
        here = {
            "over": over,
            "player": player,
            "board": played["boards"][step],
            "legal": played["legal"][step],
        }
        if over and state.is_terminal():
            here["board"], there["board"] = swept(here["board"]), swept(there["board"])
            there["placement"] = placement(state.returns())
            here["placement"] = played["placement"]
        if here != there:
            keys = [key for key in here if here[key] != there.get(key)]
            return {
                "seed": played["seed"],
                "step": step,
                "differ": keys,
                "here": {key: here[key] for key in keys},
                "openspiel": {key: there.get(key) for key in keys},
                "actions": played["actions"][:step],
            }
        if not over:
            state.apply_action(rules.action(player, played["actions"][step]))
    return None


def main():
    rules = {"oware": Oware, "mancala": Mancala}[sys.argv[1]]()
    game = pyspiel.load_game(rules.name)
    reported = {"games": 0, "steps": 0, "differing": 0, "first": []}
    for line in sys.stdin:
        played = json.loads(line)
        reported["games"] += 1
        reported["steps"] += len(played["players"])
        differs = difference(rules, game.new_initial_state(), played)
        if differs is not None:
            reported["differing"] += 1
            if len(reported["first"]) < FIRST_MAX:
                reported["first"].append(differs)
    print(json.dumps(reported))


main()
