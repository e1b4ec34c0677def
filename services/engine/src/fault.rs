//! What goes wrong in a game, and how games end.

use crate::game::{Ending, Seat};

/// What an agent did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// Answered an action that is not legal.
    IllegalMove,
    /// Did not answer in time.
    Timeout,
    /// Died, or answered with an error.
    Crash,
    /// Never became ready.
    NotReady,
    /// Could not be reached.
    Disconnected,
    /// Answered what cannot be read.
    Garbled,
    /// Wrote more output than it may.
    OutputLimit,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::IllegalMove,
        Self::Timeout,
        Self::Crash,
        Self::NotReady,
        Self::Disconnected,
        Self::Garbled,
        Self::OutputLimit,
    ];

    /// The name in records, standings and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IllegalMove => "illegal_move",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::NotReady => "not_ready",
            Self::Disconnected => "disconnected",
            Self::Garbled => "garbled",
            Self::OutputLimit => "output_limit",
        }
    }
}

/// A fault in its game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeatFault {
    /// The ply that was to be played, from 0.
    pub ply: u32,
    /// Whose fault it is.
    pub seat: Seat,
    /// What it is.
    pub kind: FaultKind,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Termination {
    /// By its rules.
    Normal,
    /// A seat forfeited.
    Forfeit,
    /// It could not be played; nobody's result.
    Void,
    /// Nobody could ever move again.
    Deadlock,
    /// A position came back.
    Repetition,
    /// It grew too long.
    Cap,
}

impl Termination {
    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Forfeit => "forfeit",
            Self::Void => "void",
            Self::Deadlock => "deadlock",
            Self::Repetition => "repetition",
            Self::Cap => "cap",
        }
    }
}

impl From<Ending> for Termination {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Normal => Self::Normal,
            Ending::Deadlock => Self::Deadlock,
            Ending::Repetition => Self::Repetition,
            Ending::Cap => Self::Cap,
        }
    }
}
