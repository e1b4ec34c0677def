//! Notation and board of cowry.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use arena_engine::{ActionId, OutcomeId};

use super::{
    Cowry,
    options::VALUES,
    state::{Phase, State},
};

/// One letter per seat, after the sides of the board.
const LETTERS: [&[u8]; 3] = [b"SN", b"SEN", b"SENW"];
const SIDES: [(u8, &str); 4] = [
    (b'S', "South"),
    (b'E', "East"),
    (b'N', "North"),
    (b'W', "West"),
];

/// Names of throws, by outcome.
const THROWS: [&str; VALUES.len()] = ["1", "2", "3", "4", "8"];

/// Names of actions, by id: `3:p1` plays a 3 with piece 1, `8:p0+` takes a second piece along. The
/// last one is the pass.
pub(super) fn notations(pieces: usize) -> Arc<[String]> {
    let moves = VALUES.iter().flat_map(|value| {
        (0..pieces)
            .flat_map(move |piece| ["", "+"].map(|together| format!("{value}:p{piece}{together}")))
    });
    moves.chain(["pass".to_owned()]).collect()
}

impl Cowry {
    pub(super) fn name_action(&self, action: ActionId, out: &mut dyn Write) {
        let last = self.notations.len() - 1;
        // Writing fails only if the buffer does, which is the caller's.
        let _ = out.write_str(&self.notations[usize::from(action).min(last)]);
    }

    pub(super) fn name_outcome(&self, state: &State, outcome: OutcomeId, out: &mut dyn Write) {
        let _ = if state.phase == Phase::Start {
            write!(out, "seat{outcome}")
        } else {
            out.write_str(THROWS[usize::from(outcome)])
        };
    }

    /// A grid: `.` is a square, `x` a safe square; a piece is its side's letter and its number.
    /// Below it is a line for each seat.
    pub(super) fn draw_board(&self, state: &State, out: &mut dyn Write) -> fmt::Result {
        let size = usize::from(self.board.size);
        let letters = LETTERS[self.seats - 2];
        let mut cells = vec![vec![String::new(); size]; size];
        for index in 0..=self.board.goal {
            let (row, column) = self.board.square(0, index);
            let mark = if self.board.is_safe(index) { "x" } else { "." };
            cells[usize::from(row)][usize::from(column)].push_str(mark);
        }
        for (seat, &letter) in letters.iter().enumerate() {
            for (piece, &index) in state.pieces[seat][..self.rules.pieces].iter().enumerate() {
                // Pieces at the start and at home are in the seat's line.
                if index > 0 && index < self.board.goal {
                    let (row, column) = self.board.square(seat, index);
                    let cell = &mut cells[usize::from(row)][usize::from(column)];
                    write!(cell, "{}{piece}", char::from(letter))?;
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
        for (seat, &letter) in letters.iter().enumerate() {
            self.draw_seat(state, seat, letter, out)?;
        }
        Ok(())
    }

    fn draw_seat(
        &self,
        state: &State,
        seat: usize,
        letter: u8,
        out: &mut dyn Write,
    ) -> fmt::Result {
        let pieces = &state.pieces[seat][..self.rules.pieces];
        let count = |index| pieces.iter().filter(|&&piece| piece == index).count();
        let side = SIDES.iter().find(|(known, _)| *known == letter);
        let mark = match state.phase {
            Phase::Throw | Phase::Move if usize::from(state.to_move) == seat => '>',
            _ => ' ',
        };
        write!(
            out,
            "{mark} seat {seat} {:<5}  start {}, home {}, at",
            side.map_or("", |(_, name)| name),
            count(0),
            count(self.board.goal),
        )?;
        for index in pieces {
            write!(out, " {index}")?;
        }
        if self.rules.gate && !state.has_hit(seat) {
            write!(out, ", no capture yet")?;
        }
        if mark == '>' {
            let values = VALUES.iter().zip(state.pool);
            let thrown: Vec<String> = values
                .flat_map(|(value, count)| (0..count).map(move |_| value.to_string()))
                .collect();
            if !thrown.is_empty() {
                write!(out, ", to play {}", thrown.join(" "))?;
            }
            if state.pending_throws > 0 {
                write!(out, ", extra throws {}", state.pending_throws)?;
            }
        }
        if state.finished[seat] > 0 {
            write!(out, ", finished as {}", state.finished[seat])?;
        }
        writeln!(out)
    }
}
