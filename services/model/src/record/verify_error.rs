//! Why a record is invalid.

use std::fmt::Debug;

use arena_engine::{CheckError, DiceError, ReplayError};

/// Why a record is invalid.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The content was changed.
    #[error("the record's hash is {stated}, but its content has the hash {computed}")]
    Hash {
        /// The hash in the record.
        stated: String,
        /// The hash of its content.
        computed: String,
    },
    /// There are no events to apply.
    #[error("the record has no moves (records = \"hash\")")]
    NoEvents,
    /// The rules do not allow these events.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// The seed draws other dice.
    #[error("{0}")]
    Dice(#[from] DiceError),
    /// The rules give another result.
    #[error("{key} is {stated} in the record, but {computed} by the rules")]
    Differs {
        /// Key of the record.
        key: &'static str,
        /// The value in the record.
        stated: String,
        /// The value by the rules.
        computed: String,
    },
    /// A fault that cannot have happened.
    #[error("fault {kind} of seat {seat} at ply {ply}: {problem}")]
    Fault {
        /// Name of its kind.
        kind: &'static str,
        /// The seat.
        seat: u8,
        /// Actions played before.
        ply: u32,
        /// Why it cannot have happened.
        problem: String,
    },
    /// An adjudication that does not follow from the record.
    #[error("adjudication: {0}")]
    Adjudication(String),
    /// Played by rules of another version.
    #[error("the record has {ruleset} version {stated}, but this program has version {known}")]
    Version {
        /// Name of the ruleset.
        ruleset: String,
        /// The record's version.
        stated: u32,
        /// This program's version.
        known: u32,
    },
}

impl VerifyError {
    pub(super) fn differs(
        key: &'static str,
        stated: impl ToString,
        computed: impl ToString,
    ) -> Self {
        Self::Differs {
            key,
            stated: stated.to_string(),
            computed: computed.to_string(),
        }
    }
}

impl From<CheckError> for VerifyError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Replay(error) => Self::Replay(error),
            CheckError::Dice(error) => Self::Dice(error),
        }
    }
}

/// Fails if a value of the record differs from that of the rules.
pub(super) fn same<T: PartialEq + Debug>(
    key: &'static str,
    stated: &T,
    computed: &T,
) -> Result<(), VerifyError> {
    if stated == computed {
        return Ok(());
    }
    let (stated, computed) = (format!("{stated:?}"), format!("{computed:?}"));
    Err(VerifyError::differs(key, stated, computed))
}
