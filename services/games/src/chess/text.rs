//! Draws the board of chess as text.

use std::fmt::{self, Write};

use arena_wire::games::ChessPhase;
use cozy_chess::{Color, File, Rank, Square};

use super::{Chess, State, fen};

impl Chess {
    /// Draws the board with White at the bottom: White's pieces are capital letters. Below are the
    /// position in FEN and what has to happen.
    pub(super) fn draw_board(&self, state: &State, out: &mut dyn Write) -> fmt::Result {
        let board = &state.board;
        for &rank in Rank::ALL.iter().rev() {
            write!(out, "  {rank} ")?;
            for &file in &File::ALL {
                let square = Square::new(file, rank);
                let drawn =
                    state.phase == ChessPhase::Start && matches!(rank, Rank::First | Rank::Eighth);
                let piece = match (board.piece_on(square), board.color_on(square)) {
                    (Some(_), _) if drawn => '?',
                    (Some(piece), Some(Color::White)) => char::from(piece).to_ascii_uppercase(),
                    (Some(piece), _) => piece.into(),
                    (None, _) => '.',
                };
                write!(out, " {piece}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "     a b c d e f g h")?;
        if state.phase != ChessPhase::Start {
            writeln!(out, "  {}", fen::text(board, self.chess960))?;
        }
        let mover = match board.side_to_move() {
            Color::White => "seat 0 (White)",
            Color::Black => "seat 1 (Black)",
        };
        match state.phase {
            ChessPhase::Move => writeln!(out, "  {mover} moves"),
            ChessPhase::Start => writeln!(out, "  the start position is drawn"),
            ChessPhase::Checkmate => writeln!(out, "  checkmate: {mover} has lost"),
            ChessPhase::Stalemate => writeln!(out, "  draw: stalemate"),
            ChessPhase::InsufficientMaterial => writeln!(out, "  draw: insufficient material"),
            ChessPhase::Repetition => writeln!(out, "  draw: threefold repetition"),
            ChessPhase::FiftyMoves => writeln!(out, "  draw: fifty moves"),
            _ => writeln!(out, "  draw: max_plies"),
        }
    }
}
