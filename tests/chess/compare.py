"""Plays given games with the package `chess`, and prints where they differ.

Each line of the input is a game in JSON: `seed`, `fen` (the start), `chess960`, `steps`, and `end`
(the phase at the end). A step is a position with the move that is played in it: `fen`, `legal` (ids),
`action`, `move` (its SAN), and in some steps `names` (the SAN of each legal move). The last step has no
move. Prints one JSON object: `games`, `steps`, `differing` (games), `first` (what differed first in
some).
"""

import json
import sys

import chess

FIRST_MAX = 5


def identify(move):
    promotion = (move.promotion or 1) - 1
    return move.from_square + 64 * move.to_square + 4096 * promotion


def phase(board, legal):
    if not legal:
        return "checkmate" if board.is_check() else "stalemate"
    if board.is_insufficient_material():
        return "insufficient-material"
    if board.is_repetition(3):
        return "repetition"
    return "fifty-moves" if board.halfmove_clock >= 100 else "move"


def difference(game):
    """The first difference, or None."""
    board = chess.Board(game["fen"], chess960=game["chess960"])
    for number, here in enumerate(game["steps"]):
        is_last = number == len(game["steps"]) - 1
        legal = {identify(move): move for move in board.legal_moves}
        there = {
            "fen": board.shredder_fen() if board.chess960 else board.fen(),
            "legal": sorted(legal),
            "phase": phase(board, legal),
        }
        here = {"phase": game["end"] if is_last else "move"} | here
        if is_last:
            del here["action"], here["move"]
        elif here["action"] in legal:
            there["action"] = here["action"]
            there["move"] = board.san(legal[here["action"]])
        if "names" in here:
            there["names"] = [board.san(legal[action]) for action in sorted(legal)]
        if here != there:
            keys = [key for key in here if here[key] != there.get(key)]
            return {
                "seed": game["seed"],
                "step": number,
                "here": {key: here[key] for key in keys},
                "chess": {key: there.get(key) for key in keys},
            }
        if not is_last:
            board.push(legal[here["action"]])
    return None


def main():
    reported = {"games": 0, "steps": 0, "differing": 0, "first": []}
    for line in sys.stdin:
        game = json.loads(line)
        reported["games"] += 1
        reported["steps"] += len(game["steps"])
        differs = difference(game)
        if differs is not None:
            reported["differing"] += 1
            if len(reported["first"]) < FIRST_MAX:
                reported["first"].append(differs)
    print(json.dumps(reported))


main()
