//! Draws the board of Kalah as text.

use std::fmt::{self, Write};

use super::{Kalah, State};

impl Kalah {
    /// Draws the board. The row of seat 1 is at the top, from right to left, the row of seat 0 at the
    /// bottom, and the stores at both ends. The offsets of the pits are above and below the rows.
    pub(super) fn draw_board(&self, state: &State, out: &mut dyn Write) -> fmt::Result {
        let pits = self.rules.pits;
        let mark = |seat| match (state.over, usize::from(state.to_move) == seat) {
            (false, true) => '>',
            _ => ' ',
        };
        write!(out, "           ")?;
        for offset in (0..pits).rev() {
            write!(out, "{:>4}", format!("({offset})"))?;
        }
        write!(out, "\n{} seat 1   ", mark(1))?;
        for &stones in self.row(state, 1).iter().rev() {
            write!(out, "{stones:>4}")?;
        }
        let (first, second) = (state.board[self.store(0)], state.board[self.store(1)]);
        let width = 4 * pits + 4;
        write!(out, "\n       {second:>4}{first:>width$}")?;
        write!(out, "\n{} seat 0   ", mark(0))?;
        for &stones in self.row(state, 0) {
            write!(out, "{stones:>4}")?;
        }
        write!(out, "\n           ")?;
        for offset in 0..pits {
            write!(out, "{:>4}", format!("({offset})"))?;
        }
        writeln!(out)
    }
}
