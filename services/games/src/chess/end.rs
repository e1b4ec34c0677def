//! How games of chess end.

use arena_wire::games::ChessPhase;
use cozy_chess::{BitBoard, Board, Piece};

use super::{Chess, State};

/// Half-moves without a capture or a move of a pawn that end a game.
pub(super) const QUIET_MAX: u8 = 100;

impl Chess {
    /// What has to happen in a position.
    #[inline]
    pub(super) fn phase_of(&self, state: &State) -> ChessPhase {
        let board = &state.board;
        if !board.generate_moves(|_| true) {
            match board.checkers().is_empty() {
                true => ChessPhase::Stalemate,
                false => ChessPhase::Checkmate,
            }
        } else if is_material_insufficient(board) {
            ChessPhase::InsufficientMaterial
        } else if is_repeated(state) {
            ChessPhase::Repetition
        } else if board.halfmove_clock() >= QUIET_MAX {
            ChessPhase::FiftyMoves
        } else if state.plies >= self.plies_max {
            ChessPhase::Cap
        } else {
            ChessPhase::Move
        }
    }
}

/// True if the position occurred twice before. Two plies lie between positions with the same seat
/// to move.
#[inline]
fn is_repeated(state: &State) -> bool {
    let hash = state.board.hash();
    let same_mover = state.since.iter().rev().skip(1).step_by(2);
    same_mover.filter(|past| past.hash == hash).count() >= 2
}

/// True if no sequence of moves mates either king: the kings are alone, or with one knight, or with
/// bishops on squares of one colour.
#[inline]
pub(super) fn is_material_insufficient(board: &Board) -> bool {
    let strong = [Piece::Pawn, Piece::Rook, Piece::Queen].map(|piece| board.pieces(piece));
    if strong.iter().any(|pieces| !pieces.is_empty()) {
        return false;
    }
    let bishops = board.pieces(Piece::Bishop);
    if board.pieces(Piece::Knight).is_empty() {
        bishops.is_subset(BitBoard::DARK_SQUARES) || bishops.is_subset(BitBoard::LIGHT_SQUARES)
    } else {
        board.occupied().len() == 3
    }
}
