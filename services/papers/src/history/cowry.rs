//! The history of a game of cowry, as paper 000 counts it.

use arena_engine::{Event, Game, ReplayError, replay};
use arena_games::{
    Cowry,
    cowry::{Landing, VALUES},
};

/// The starting seat and the counts of each seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CowryHistory {
    /// The seat that threw first.
    pub(crate) starter: Option<usize>,
    /// Counts by seat.
    pub(crate) seats: Vec<CowrySeatHistory>,
}

/// Throws and moves of one seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CowrySeatHistory {
    /// Throws of each value.
    pub(crate) throws: [u64; VALUES.len()],
    /// Throws that moved a piece.
    pub(crate) moves: u64,
    /// Sum of the values played.
    pub(crate) squares: u64,
    /// Moves that sent opponents back.
    pub(crate) hits: u64,
    /// Decisions at which a hit was possible and something else was played.
    pub(crate) hits_missed: u64,
}

impl CowrySeatHistory {
    /// Number of throws.
    pub(crate) fn thrown(&self) -> u64 {
        self.throws.iter().sum()
    }

    /// Sum of the values thrown.
    pub(crate) fn pips(&self) -> u64 {
        let each = self.throws.iter().zip(VALUES);
        each.map(|(count, value)| count * u64::from(value)).sum()
    }
}

/// Reads the history of a game.
pub(crate) fn follow(cowry: &Cowry, events: &[Event]) -> Result<CowryHistory, ReplayError> {
    let mut history = CowryHistory {
        starter: None,
        seats: vec![CowrySeatHistory::default(); cowry.seats()],
    };
    let mut legal = Vec::new();
    replay(cowry, events, |state, described| {
        let Some(seat) = described.seat.map(usize::from) else {
            return;
        };
        history.starter.get_or_insert(seat);
        let mine = &mut history.seats[seat];
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
    Ok(history)
}
