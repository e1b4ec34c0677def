//! Seats, the ids of their events, and how a game ends.

/// A place at the board, from 0. Seat 0 moves first unless the ruleset draws the starter.
pub type Seat = u8;

/// The ruleset's id of an action, below 32768.
pub type ActionId = u16;

/// The ruleset's id of a chance outcome, below 32768: an index into [`crate::Game::weights`].
pub type OutcomeId = u16;

/// Maximum number of seats.
pub const MAX_SEATS: usize = 10;

/// One value for each seat; entries beyond the game's seats are unused.
pub type PerSeat<T> = [T; MAX_SEATS];

/// These values of the first seats, for a [`PerSeat`].
#[inline]
#[must_use]
pub fn per_seat<T: Copy + Default, const N: usize>(values: [T; N]) -> PerSeat<T> {
    let mut all = PerSeat::default();
    all[..N].copy_from_slice(&values);
    all
}

/// How the rules end a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// In the normal way.
    Normal,
    /// No seat can ever move again.
    Deadlock,
    /// A position was repeated.
    Repetition,
    /// The game reached its length limit.
    Cap,
}
