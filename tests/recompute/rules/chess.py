"""services/games/docs/chess.md, with the moves of the package `chess`"""

import chess

from .common import CHANCE, DECISION, OVER, POINT, by_score

STARTS = 960


class Chess:
    PASS = None
    #: The outcomes of the draw that belongs to no seat.
    TABLE = [(str(number), 1) for number in range(STARTS)]

    def __init__(self, options, seats):
        self.is_960 = options["variant"] == "chess960"
        self.most = options["max_plies"]
        self.board, self.plies, self.ending = None, 0, None
        self.base, self.played = "", []
        if options["fen"]:
            self.begin(chess.Board(options["fen"], chess960=self.is_960))
        elif options["start"] >= 0:
            self.draw(options["start"])

    def __deepcopy__(self, _):
        other = object.__new__(Chess)
        other.__dict__ |= self.__dict__ | {"played": list(self.played)}
        other.board = self.board and self.board.copy()
        return other

    def begin(self, board):
        board.chess960 = self.is_960
        self.board = board
        self.base = self.fen()

    def node(self):
        if self.board is None:
            return CHANCE, None
        if self.ending:
            return OVER, self.ending
        return DECISION, int(not self.board.turn)

    def outcomes(self):
        return self.TABLE

    def values(self):
        return [[POINT // 2] * 2] * STARTS

    def draw(self, number):
        self.begin(chess.Board.from_chess960_pos(number))

    def fen(self):
        return self.board.shredder_fen() if self.is_960 else self.board.fen()

    def moves(self):
        promotion = lambda move: (move.promotion or 1) - 1
        return {
            move.from_square + 64 * move.to_square + 4096 * promotion(move): move
            for move in self.board.legal_moves
        }

    def legal(self):
        return sorted(self.moves())

    def name(self, action):
        return self.board.san(self.moves()[action])

    def apply(self, action):
        move = self.moves()[action]
        zeroing, uci = self.board.is_zeroing(move), self.board.uci(move)
        self.board.push(move)
        self.plies += 1
        self.played.append(uci)
        if zeroing:
            self.base, self.played = self.fen(), []
        self.end()

    def end(self):
        board = self.board
        if board.is_checkmate() or board.is_stalemate() or board.is_insufficient_material():
            self.ending = "normal"
        elif board.is_repetition(3):
            self.ending = "repetition"
        elif board.halfmove_clock >= 100:
            self.ending = "normal"
        elif self.plies >= self.most:
            self.ending = "cap"

    def scores(self):
        mated = self.board is not None and self.board.is_checkmate()
        loser = int(not self.board.turn) if mated else None
        return [int(mated and seat != loser) for seat in (0, 1)]

    def placement(self):
        return by_score(self.scores())
