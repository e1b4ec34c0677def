//! A game of cowry as paper 000 counts it.

use arena_engine::{Event, Game, ReplayError, replay};
use arena_games::{
    Cowry,
    cowry::{Landing, VALUES},
};

/// Who began, and what each seat did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CowryHistory {
    /// Who threw first.
    pub(crate) starter: Option<usize>,
    /// By seat.
    pub(crate) seats: Vec<SeatHistory>,
}

/// What one seat threw and played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeatHistory {
    /// Throws of each value.
    pub(crate) throws: [u64; VALUES.len()],
    /// Throws played: moves of pieces. What could not be played is none.
    pub(crate) moves: u64,
    /// Sum of the values played.
    pub(crate) squares: u64,
    /// Moves that sent opponents back.
    pub(crate) hits: u64,
    /// Decisions at which a hit was possible and something else was played.
    pub(crate) hits_missed: u64,
}

impl SeatHistory {
    /// Throws in all.
    pub(crate) fn thrown(&self) -> u64 {
        self.throws.iter().sum()
    }

    /// Sum of the values thrown.
    pub(crate) fn pips(&self) -> u64 {
        let each = self.throws.iter().zip(VALUES);
        each.map(|(count, value)| count * u64::from(value)).sum()
    }
}

/// Follows a game.
pub(crate) fn follow(cowry: &Cowry, events: &[Event]) -> Result<CowryHistory, ReplayError> {
    let mut course = CowryHistory {
        starter: None,
        seats: vec![SeatHistory::default(); cowry.seats()],
    };
    let mut legal = Vec::new();
    replay(cowry, events, |state, described| {
        let Some(seat) = described.seat.map(usize::from) else {
            return;
        };
        course.starter.get_or_insert(seat);
        let mine = &mut course.seats[seat];
        let id = described.event.id();
        if !described.event.is_action() {
            mine.throws[usize::from(id)] += 1;
            return;
        }
        let Some(step) = cowry.parse(id) else {
            return;
        };
        let hits = |action| {
            let landing: Option<Landing> = cowry.landing(state, action);
            landing.is_some_and(|landing| landing.hits > 0)
        };
        mine.moves += 1;
        mine.squares += u64::from(step.value);
        if hits(id) {
            mine.hits += 1;
        } else {
            cowry.legal(state, &mut legal);
            mine.hits_missed += u64::from(legal.iter().any(|&action| hits(action)));
        }
    })?;
    Ok(course)
}
