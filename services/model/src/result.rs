//! What statistics need of a finished game.

use arena_engine::{FaultKind, SeatFault, Termination};

use crate::Beginning;

/// The outcome of one game, without its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameResult {
    /// Position in the schedule.
    pub index: u64,
    /// Number of its block.
    pub block: u64,
    /// Indices into the tournament's agents, in seat order.
    pub seats: Vec<u16>,
    /// 1-based rank of each seat; empty when void.
    pub placement: Vec<u8>,
    /// What chance gave to each seat, in millionths of a game's score; empty
    /// where that is not known or there was no chance.
    pub luck: Vec<i32>,
    /// Actions played.
    pub plies: u32,
    /// How it ended.
    pub termination: Termination,
    /// What agents did wrong.
    pub faults: Vec<SeatFault>,
    /// The same for games with the same events; 0 where it is not known.
    pub course: u64,
    /// How it began, up to its first fault; empty where it is not known.
    pub beginning: Beginning,
}

impl GameResult {
    /// Faults of one seat, by kind.
    pub fn faults_of(&self, seat: usize) -> impl Iterator<Item = FaultKind> + '_ {
        self.faults
            .iter()
            .filter(move |fault| usize::from(fault.seat) == seat)
            .map(|fault| fault.kind)
    }
}
