//! A position of cowry.

use arena_engine::Ending;

use super::options::{PIECES_MAX, SEATS_MAX, VALUES};

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The starter is drawn.
    Start,
    /// The seat to move throws.
    Throw,
    /// The seat to move plays a value of its pool.
    Move,
    /// The game is over.
    Over(Ending),
}

/// A position: plain data of about 64 bytes. Code that changes it directly has to keep it valid;
/// the rules do not check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Path index of each piece of each seat; 0 for seats and pieces that the game does not have.
    pub pieces: [[u8; PIECES_MAX]; SEATS_MAX],
    /// For each seat, the pieces that were blocked once and may pass doubles.
    pub may_pass: [u16; SEATS_MAX],
    /// Pieces of the seat to move that were blocked in this turn.
    pub blocked_now: u16,
    /// Bit s is set if seat s has hit and may enter the inner rings.
    pub hit_mask: u8,
    /// Numbers of throws of each value that wait to be played.
    pub pool: [u8; VALUES.len()],
    /// Extra throws earned and not yet thrown.
    pub pending_throws: u8,
    /// Whose turn it is.
    pub to_move: u8,
    /// The next event.
    pub phase: Phase,
    /// For each seat, its place of finishing from 1; 0: not yet.
    pub finished: [u8; SEATS_MAX],
    /// Throws so far.
    pub throws: u32,
}

impl State {
    /// True if the seat may enter the inner rings, if there is a gate.
    #[must_use]
    pub fn has_hit(&self, seat: usize) -> bool {
        self.hit_mask >> seat & 1 == 1
    }

    /// Number of throws that wait to be played.
    #[must_use]
    pub fn pool_size(&self) -> u32 {
        self.pool.iter().map(|&count| u32::from(count)).sum()
    }
}
