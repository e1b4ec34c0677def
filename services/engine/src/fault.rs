//! Faults of agents, and how games end.

use strum::{IntoStaticStr, VariantArray};

use crate::seat::{Ending, Seat};

/// A fault of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FaultKind {
    /// It answered an illegal action.
    IllegalMove,
    /// It did not answer in time.
    Timeout,
    /// Its process ended, or it answered with an error.
    Crash,
    /// It never became ready.
    NotReady,
    /// It could not be reached.
    Disconnected,
    /// Its answer could not be read.
    Garbled,
    /// It wrote too much output.
    OutputLimit,
    /// Its processes together used too much memory.
    MemoryLimit,
    /// It started too many processes.
    ProcessLimit,
    /// It wrote too much to its scratch folder.
    DiskLimit,
    /// Its processes together used too much time of the processor.
    CpuLimit,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name in records, standings and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A fault with its place in the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeatFault {
    /// The ply that was to be played, from 0.
    pub ply: u32,
    /// The seat at fault.
    pub seat: Seat,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Termination {
    /// By its rules.
    Normal,
    /// A seat forfeited.
    Forfeit,
    /// It could not be played, and has no result.
    Void,
    /// No seat could ever move again.
    Deadlock,
    /// A position was repeated.
    Repetition,
    /// It reached the length limit.
    Cap,
    /// Both agents agreed about its result, see [`crate::Adjudicator`].
    Adjudication,
}

impl Termination {
    /// All of them.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
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

/// The placement after a forfeit. Seats that did not forfeit are ranked in the order of the rules;
/// seats that forfeited share the last rank. If every seat forfeited, all share the first rank,
/// which is a draw.
///
/// # Panics
/// If the two slices differ in length.
#[must_use]
pub fn forfeit_placement(forfeited: &[bool], placement: &[u8]) -> Vec<u8> {
    assert_eq!(forfeited.len(), placement.len(), "one value for each seat");
    let remaining = forfeited.iter().filter(|&&gone| !gone).count() as u8;
    let seats = || forfeited.iter().zip(placement);
    seats()
        .map(|(&gone, &rank)| {
            if gone {
                return remaining + 1;
            }
            let ahead = seats().filter(|&(&gone, &other)| !gone && other < rank);
            1 + ahead.count() as u8
        })
        .collect()
}
