//! Notation and board of both games.

use std::fmt::{self, Write};

use arena_engine::OutcomeId;

use super::core::{Core, Phase, ROW};

/// Names of the drawn starter.
pub(super) fn name_starter(outcome: OutcomeId, out: &mut dyn Write) {
    // Writing fails only if the buffer does, which is the caller's.
    let _ = write!(out, "seat{outcome}");
}

/// North's row above, from its right to its left, South's below, the offsets of
/// the pits beside the rows.
pub(super) fn draw(core: &Core, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "                  (5) (4) (3) (2) (1) (0)")?;
    for (seat, side) in [(1, "North"), (0, "South")] {
        let moves = core.phase == Phase::Move && usize::from(core.to_move) == seat;
        let mark = if moves { '>' } else { ' ' };
        write!(out, "{mark} seat {seat} {side}   ")?;
        let row = core.row(seat);
        for offset in 0..ROW {
            let offset = if seat == 1 { ROW - 1 - offset } else { offset };
            write!(out, "{:>4}", row[offset])?;
        }
        writeln!(out, "   banked {}", core.score[seat])?;
    }
    writeln!(out, "                  (0) (1) (2) (3) (4) (5)")
}
