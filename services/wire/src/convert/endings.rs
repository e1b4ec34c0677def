//! How games end, and the faults of agents.

use arena_model::engine::{FaultKind, Termination};

use crate::v1;

impl From<FaultKind> for v1::FaultKind {
    fn from(kind: FaultKind) -> Self {
        match kind {
            FaultKind::IllegalMove => Self::IllegalMove,
            FaultKind::Timeout => Self::Timeout,
            FaultKind::Crash => Self::Crash,
            FaultKind::NotReady => Self::NotReady,
            FaultKind::Disconnected => Self::Disconnected,
            FaultKind::Garbled => Self::Garbled,
            FaultKind::OutputLimit => Self::OutputLimit,
            FaultKind::MemoryLimit => Self::MemoryLimit,
            FaultKind::ProcessLimit => Self::ProcessLimit,
            FaultKind::DiskLimit => Self::DiskLimit,
            FaultKind::CpuLimit => Self::CpuLimit,
        }
    }
}

/// A kind of fault; none if it is unknown here.
#[must_use]
pub fn fault_kind(kind: v1::FaultKind) -> Option<FaultKind> {
    let mut known = FaultKind::ALL.iter().copied();
    known.find(|&known| v1::FaultKind::from(known) == kind)
}

impl From<Termination> for v1::Termination {
    fn from(termination: Termination) -> Self {
        match termination {
            Termination::Normal => Self::Normal,
            Termination::Forfeit => Self::Forfeit,
            Termination::Void => Self::Void,
            Termination::Deadlock => Self::Deadlock,
            Termination::Repetition => Self::Repetition,
            Termination::Cap => Self::Cap,
            Termination::Adjudication => Self::Adjudication,
        }
    }
}

pub(super) fn termination(value: v1::Termination) -> Option<Termination> {
    let mut known = Termination::ALL.iter().copied();
    known.find(|&known| v1::Termination::from(known) == value)
}
