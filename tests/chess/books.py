"""Reads an opening book with the package `chess`, and prints its openings as a list in JSON.

    books.py FILE PLIES standard|chess960

An opening is written as in the spec of a tournament: a start position in brackets unless it is the
standard one, and moves in SAN. Equal openings are printed once.
"""

import json
import pathlib
import sys

import chess
import chess.pgn


def fen(board):
    return board.shredder_fen() if board.chess960 else board.fen()


def positions(text, chess960):
    for line in text.splitlines():
        if line.strip() and not line.startswith(("#", ";")):
            board = chess.Board(None, chess960=chess960)
            board.set_epd(line.strip())
            yield board, []


def games(path, plies):
    with open(path, encoding="utf-8-sig", newline=None) as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors, game.errors
            yield game.board(), list(game.mainline_moves())[:plies]


def main():
    path, plies, variant = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    chess960 = variant == "chess960"
    if path.suffix == ".pgn":
        openings = games(path, plies)
    else:
        openings = positions(path.read_text(encoding="utf-8-sig"), chess960)
    found = {}
    for board, moves in openings:
        words = [] if board.fen() == chess.STARTING_FEN and not chess960 else [f"[{fen(board)}]"]
        for move in moves:
            words.append(board.san(move))
            board.push(move)
        found[" ".join(words)] = None
    print(json.dumps(list(found)))


main()
