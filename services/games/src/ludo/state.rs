//! A position of Chinese Ludo.

use arena_engine::Ending;

use super::board::{HANGAR, PLANES};

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Phase {
    /// The starter is drawn.
    Start,
    /// The seat to move rolls.
    Roll,
    /// The seat to move plays its roll.
    Move,
    /// A seat has all its planes home.
    Finished,
    /// Too many rolls.
    Cap,
}

impl Phase {
    /// How the game ended, if it has.
    #[inline]
    pub(super) fn ending(self) -> Option<Ending> {
        match self {
            Self::Start | Self::Roll | Self::Move => None,
            Self::Finished => Some(Ending::Normal),
            Self::Cap => Some(Ending::Cap),
        }
    }
}

/// A position: plain data, 14 bytes. Whoever changes it by hand sees to it
/// that it makes sense; the rules check nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Progress of each plane of each seat, from [`super::HANGAR`] to
    /// [`super::HOME`].
    pub r: [[i8; PLANES]; 2],
    /// The seat to move.
    pub to_move: u8,
    /// What was rolled; 0 where nothing is to be played.
    pub die: u8,
    /// Rolls so far.
    pub rolls: u16,
    /// Sixes in a row in this turn, where the rules care.
    pub sixes: u8,
    /// What is due.
    pub phase: Phase,
}

impl State {
    pub(super) fn start(phase: Phase) -> Self {
        Self {
            r: [[HANGAR; PLANES]; 2],
            to_move: 0,
            die: 0,
            rolls: 0,
            sixes: 0,
            phase,
        }
    }

    /// Progress of all planes of a seat, summed up: at most 224.
    #[must_use]
    pub fn progress(&self, seat: usize) -> i32 {
        self.r[seat].iter().map(|&plane| i32::from(plane)).sum()
    }
}
