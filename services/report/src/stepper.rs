//! A finished game, to be shown ply by ply.

use arena_model::GameRecord;
use serde_json::Value;

use crate::{
    board::{self, Board, Position, Step, draw},
    error::{ReportError, Result},
    records::TournamentRecords,
};

/// A finished game with its drawn positions.
pub struct Stepper {
    board: Board,
    seats: Vec<String>,
    start: Vec<Value>,
    steps: Vec<Step>,
    opening_plies: usize,
}

/// A ply of a game.
#[derive(Clone, Copy, Debug)]
pub struct Ply<'a> {
    /// The agent that acted; none if no seat did.
    pub agent: Option<&'a str>,
    /// Notation of its action.
    pub notation: &'a str,
    /// Outcomes that chance drew before it; empty without any.
    pub drawn: &'a str,
    /// True if it belongs to the opening, which no agent chose.
    pub is_opening: bool,
}

impl Stepper {
    /// Replays a record of a tournament.
    ///
    /// # Errors
    /// [`ReportError::Differs`] if it cannot be replayed.
    pub fn new(records: &TournamentRecords, record: &GameRecord) -> Result<Self> {
        let boards = board::boards(&records.header, records.game.seats());
        let replayed = records
            .game_of(record)
            .and_then(|game| boards.steps(&*game, &record.events));
        let (start, steps) = replayed.map_err(|error| {
            let id = &records.header.tournament_id;
            ReportError::differs(format!(
                "game {id}/{} cannot be replayed: {error}",
                record.index
            ))
        })?;
        let name = |&agent: &u16| records.header.agents.get(usize::from(agent)).cloned();
        Ok(Self {
            board: boards.board(),
            seats: record.seats.iter().filter_map(name).collect(),
            start: start.as_array().cloned().unwrap_or_default(),
            steps,
            opening_plies: record.opening_plies as usize,
        })
    }

    /// The agents by seat.
    #[must_use]
    pub fn seats(&self) -> &[String] {
        &self.seats
    }

    /// The name of a seat's side of the board, if it has one.
    #[must_use]
    pub fn side(&self, seat: usize) -> Option<&'static str> {
        match &self.board {
            Board::Pits { sides, .. } => sides.get(seat).copied(),
            Board::Pieces { .. } | Board::Text => None,
        }
    }

    /// Number of plies.
    #[must_use]
    pub fn plies(&self) -> usize {
        self.steps.len()
    }

    /// A ply, from 0; none after the last one.
    #[must_use]
    pub fn ply(&self, number: usize) -> Option<Ply<'_>> {
        let step = self.steps.get(number)?;
        let agent = step.seat.and_then(|seat| self.seats.get(usize::from(seat)));
        Some(Ply {
            agent: agent.map(String::as_str),
            notation: &step.notation,
            drawn: &step.drawn,
            is_opening: number < self.opening_plies,
        })
    }

    /// The seat of a ply, from 0.
    #[must_use]
    pub fn seat(&self, number: usize) -> Option<usize> {
        self.steps.get(number)?.seat.map(usize::from)
    }

    /// The board after a number of plies, as HTML. Names in it are escaped.
    #[must_use]
    pub fn drawing(&self, plies: usize) -> String {
        draw::html(&self.board, &self.position(plies), &self.seats)
    }

    fn position(&self, plies: usize) -> Position {
        let mut now = self.start.clone();
        let mut before = now.clone();
        let mut changed = Vec::new();
        for (number, step) in self.steps.iter().take(plies).enumerate() {
            if number + 1 == plies {
                before.clone_from(&now);
            }
            changed.clear();
            for (place, value) in &step.changes {
                match value {
                    // The position has become shorter.
                    Value::Null => now.truncate(*place),
                    value if *place < now.len() => now[*place] = value.clone(),
                    value => now.push(value.clone()),
                }
                changed.push(*place);
            }
        }
        Position {
            now,
            before,
            changed,
        }
    }
}
