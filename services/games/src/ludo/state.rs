//! A position of Chinese Ludo.

use arena_engine::Ending;

use super::board::{HANGAR, PLANES};

/// The next event.
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
    /// How the game ended, if it did.
    #[inline]
    pub(super) fn ending(self) -> Option<Ending> {
        match self {
            Self::Start | Self::Roll | Self::Move => None,
            Self::Finished => Some(Ending::Normal),
            Self::Cap => Some(Ending::Cap),
        }
    }
}

/// A position: plain data of 14 bytes. Code that changes it directly has to keep it valid; the
/// rules do not check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Progress of each plane of each seat, from [`super::HANGAR`] to
    /// [`super::HOME`].
    pub r: [[i8; PLANES]; 2],
    /// The seat to move.
    pub to_move: u8,
    /// The roll; 0 if none is to be played.
    pub die: u8,
    /// Rolls so far.
    pub rolls: u16,
    /// Sixes in a row in this turn, if the rules use them.
    pub sixes: u8,
    /// The next event.
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

    /// Sum of the progress of a seat's planes: at most 224.
    #[must_use]
    pub fn progress(&self, seat: usize) -> i32 {
        self.r[seat].iter().map(|&plane| i32::from(plane)).sum()
    }
}
