//! Notation and board of Chinese Ludo.

use std::fmt::{self, Write};

use arena_engine::{ActionId, OutcomeId};

use super::{
    ChineseLudo, PASS, PLANES, SIX,
    board::{HANGAR, HOME, PAD, RING_LAST, is_own_colour},
    progress_bit,
    state::{Phase, State},
};

/// Squares along a side of the drawn ring.
const SIDE: usize = 14;
const LETTERS: [char; 2] = ['R', 'B'];
const COLOURS: [&str; 2] = ["Red", "Blue"];

impl ChineseLudo {
    /// `p1:5-12` moves plane 1 from progress 5 to 12, with an `x` after it if it hits; `p2:launch`;
    /// `pass`.
    pub(super) fn name_action(
        &self,
        state: &State,
        action: ActionId,
        out: &mut dyn Write,
    ) -> fmt::Result {
        let seat = usize::from(state.to_move & 1);
        let from = state.r[seat].get(usize::from(action)).copied();
        let landing = from.and_then(|from| self.landing(from, state.die.clamp(1, SIX)));
        let (Some(from), Some(landing)) = (from, landing) else {
            return out.write_str("pass");
        };
        if from == HANGAR {
            write!(out, "p{action}:launch")?;
        } else {
            write!(out, "p{action}:{from}-{}", landing.to)?;
        }
        let others = state.r[1 - seat].iter();
        let hits = others.fold(0, |seen, &other| seen | progress_bit(other)) & landing.hits;
        out.write_str(if hits == 0 { "" } else { "x" })
    }

    pub(super) fn name_outcome(&self, state: &State, outcome: OutcomeId, out: &mut dyn Write) {
        let _ = if state.phase == Phase::Start {
            write!(out, "seat{outcome}")
        } else {
            write!(out, "{}", outcome + 1)
        };
    }

    /// The ring clockwise from square 1 of seat 0 in the upper left corner, with the home columns
    /// inside: `.` is a square, `r` and `b` are squares of one colour; a plane is its seat's letter
    /// and its number. Below it is a line for each seat.
    pub(super) fn draw_board(&self, state: &State, out: &mut dyn Write) -> fmt::Result {
        let mut cells = vec![vec![String::new(); SIDE]; SIDE];
        for (seat, letter) in LETTERS.into_iter().enumerate() {
            for progress in 1..HOME {
                let (row, column) = place(seat, progress);
                let cell = &mut cells[row][column];
                if is_own_colour(progress) || progress > RING_LAST {
                    *cell = letter.to_ascii_lowercase().to_string();
                } else if cell.is_empty() {
                    cell.push('.');
                }
            }
        }
        for (seat, planes) in state.r.iter().enumerate() {
            for (plane, &progress) in planes.iter().enumerate() {
                if progress > PAD && progress < HOME {
                    let (row, column) = place(seat, progress);
                    let cell = &mut cells[row][column];
                    if !cell.starts_with(LETTERS[seat]) {
                        *cell = LETTERS[seat].to_string();
                    }
                    write!(cell, "{plane}")?;
                }
            }
        }
        let width = cells.iter().flatten().map(String::len).max().unwrap_or(0) + 1;
        for row in &cells {
            let mut line = String::new();
            for cell in row {
                write!(line, "{cell:width$}")?;
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        (0..2).try_for_each(|seat| draw_seat(state, seat, out))
    }
}

fn draw_seat(state: &State, seat: usize, out: &mut dyn Write) -> fmt::Result {
    let planes = &state.r[seat];
    let count = |progress| planes.iter().filter(|&&plane| plane == progress).count();
    let mark = match state.phase {
        Phase::Roll | Phase::Move if usize::from(state.to_move) == seat => '>',
        _ => ' ',
    };
    write!(
        out,
        "{mark} seat {seat} {:<4}  hangar {}, pad {}, home {}, at",
        COLOURS[seat],
        count(HANGAR),
        count(PAD),
        count(HOME),
    )?;
    for plane in planes {
        write!(out, " {plane}")?;
    }
    if mark == '>' && state.die > 0 {
        write!(out, ", rolled {}", state.die)?;
    }
    if planes == &[HOME; PLANES] {
        write!(out, ", has won")?;
    }
    writeln!(out)
}

/// Row and column of a square on a seat's way; the other seat's way is the same, turned by half.
/// The home column runs inwards from the last square of the ring.
fn place(seat: usize, progress: i8) -> (usize, usize) {
    let last = SIDE - 1;
    let inwards = (progress - RING_LAST).max(0) as usize;
    let step = (progress.min(RING_LAST) - 1) as usize;
    let (row, column) = match (step / last, step % last) {
        (0, along) => (0, along),
        (1, along) => (along, last),
        (2, along) => (last, last - along),
        (_, along) => (last - along, inwards),
    };
    if seat == 0 {
        (row, column)
    } else {
        (last - row, last - column)
    }
}

/// Only the pass is left if no plane has the id.
const _: () = assert!(PASS as usize == PLANES);
