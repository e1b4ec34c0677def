//! The part of a finished game that statistics need.

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
    /// The ruleset's own score of each seat.
    pub scores: Vec<i64>,
    /// The effect of chance on each seat, in millionths of a game's score; empty if unknown or
    /// without chance.
    pub luck: Vec<i32>,
    /// Actions played.
    pub plies: u32,
    /// How it ended.
    pub termination: Termination,
    /// Faults of agents.
    pub faults: Vec<SeatFault>,
    /// Fingerprint of the events; 0 if unknown.
    pub course: u64,
    /// Fingerprint of its first moves, up to its first fault; empty if unknown.
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
