"""Reads games in PGN with the package `chess`, and prints the start position and the moves of each."""

import json
import sys

import chess.pgn


def main():
    games = list(iter(lambda: chess.pgn.read_game(sys.stdin), None))
    read = []
    for game in games:
        assert not game.errors, game.errors
        board = game.board()
        fen, moves = board.fen(), []
        for move in game.mainline_moves():
            moves.append(board.san(move))
            board.push(move)
        read.append({"fen": fen, "moves": moves})
    print(json.dumps(read))


main()
