//! Values of positions of chess.

use arena_engine::{PerSeat, values};
use cozy_chess::{Board, Color, Piece, Square};

/// Worth of a pawn, a knight, a bishop, a rook and a queen, in hundredths of a pawn.
const WORTH: [i64; 5] = [100, 320, 330, 500, 900];

/// Worth of a rank that a pawn has advanced.
const ADVANCE: i64 = 5;

/// Worth of a step towards the centre, for knights and bishops.
const CENTRE: i64 = 5;

/// Thousandths of a logit for each hundredth of a pawn.
const SCALE: i64 = 3;

/// A logistic model of the pieces: their worths, how far pawns have advanced, and how close knights
/// and bishops are to the centre.
#[inline]
pub(super) fn of_board(board: &Board) -> PerSeat<i64> {
    let lead = strength(board, Color::White) - strength(board, Color::Black);
    values::pairwise(2, |_, _| values::logistic(SCALE * lead))
}

#[inline]
fn strength(board: &Board, color: Color) -> i64 {
    let mut sum = 0;
    for (&piece, worth) in Piece::ALL.iter().zip(WORTH) {
        for square in board.colored_pieces(color, piece) {
            sum += worth
                + match piece {
                    Piece::Pawn => ADVANCE * square.rank().relative_to(color) as i64,
                    Piece::Knight | Piece::Bishop => CENTRE * centrality(square),
                    _ => 0,
                };
        }
    }
    sum
}

/// Steps from the nearest edges, along the rank and along the file: 0 in a corner, 6 in the centre.
#[inline]
fn centrality(square: Square) -> i64 {
    let steps = |line: i64| line.min(7 - line);
    steps(square.file() as i64) + steps(square.rank() as i64)
}
