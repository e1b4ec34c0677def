//! Ids and notations of moves.

use std::fmt::{self, Display, Write};

use arena_engine::ActionId;
use cozy_chess::{Board, File, Move, Piece, Square, util::display_san_move};

use super::Chess;

/// What a pawn becomes, by the number in an id.
const PROMOTIONS: [Option<Piece>; 5] = [
    None,
    Some(Piece::Knight),
    Some(Piece::Bishop),
    Some(Piece::Rook),
    Some(Piece::Queen),
];

/// Value of the target square in an id.
const TO: ActionId = 64;
/// Value of the promotion in an id.
const PROMOTION: ActionId = 64 * 64;

impl Chess {
    /// Replaces `out` by the ids of the legal moves, in ascending order.
    #[inline]
    pub(super) fn list_moves(&self, board: &Board, out: &mut Vec<ActionId>) {
        out.clear();
        board.generate_moves(|moves| {
            out.extend(moves.into_iter().map(|step| self.id_of(board, step)));
            false
        });
        out.sort_unstable();
    }

    /// The id of a legal move. `cozy-chess` castles by taking the own rook.
    #[inline]
    pub(super) fn id_of(&self, board: &Board, step: Move) -> ActionId {
        let castles = board.colors(board.side_to_move()).has(step.to);
        let to = if castles && !self.chess960 {
            let short = step.from.file() < step.to.file();
            Square::new(if short { File::G } else { File::C }, step.to.rank())
        } else {
            step.to
        };
        id(Move { to, ..step })
    }

    /// The legal move of an id.
    #[inline]
    pub(super) fn move_of(&self, board: &Board, action: ActionId) -> Move {
        let (from, mut to, promotion) = parts(action);
        let king = board.king(board.side_to_move()) == from;
        if king && !self.chess960 {
            let (start, end) = (from.file() as i8, to.file() as i8);
            match end - start {
                2 => to = Square::new(File::H, to.rank()),
                -2 => to = Square::new(File::A, to.rank()),
                _ => {}
            }
        }
        Move {
            from,
            to,
            promotion,
        }
    }

    /// Writes a legal move in Standard Algebraic Notation.
    pub(super) fn write_san(
        &self,
        board: &Board,
        action: ActionId,
        out: &mut dyn Write,
    ) -> fmt::Result {
        let step = self.move_of(board, action);
        write!(out, "{}", display_san_move(board, step))
    }

    /// The id of a legal move in UCI's notation; none if it is not legal.
    pub(super) fn action_of(&self, board: &Board, uci: &str) -> Option<ActionId> {
        let action = id(uci.parse().ok()?);
        let mut legal = Vec::new();
        self.list_moves(board, &mut legal);
        let is_legal = legal.binary_search(&action).is_ok();
        (is_legal && display_uci(action).to_string() == uci).then_some(action)
    }
}

/// The id of a move in UCI's notation.
#[inline]
fn id(step: Move) -> ActionId {
    let promotion = step.promotion.map_or(0, |piece| piece as ActionId);
    step.from as ActionId + TO * step.to as ActionId + PROMOTION * promotion
}

/// The squares and the promotion of an id.
#[inline]
fn parts(action: ActionId) -> (Square, Square, Option<Piece>) {
    let square = |number: ActionId| Square::index(usize::from(number % 64));
    let promotion = PROMOTIONS[usize::from(action / PROMOTION)];
    (square(action), square(action / TO), promotion)
}

/// A move in UCI's notation.
pub(super) fn display_uci(action: ActionId) -> impl Display {
    let (from, to, promotion) = parts(action);
    Move {
        from,
        to,
        promotion,
    }
}

const _: () = assert!(Piece::Knight as usize == 1 && Piece::Queen as usize == 4);
