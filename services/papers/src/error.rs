//! Why a table cannot be run.

use std::fmt::Display;

/// A published table that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaperError {
    /// No table has the requested name.
    #[error("{0}")]
    Usage(String),
    /// A data file, a ruleset, a bot or a thread failed.
    #[error("{0}")]
    Failed(String),
    /// The caller stopped the run.
    #[error("stopped")]
    Interrupted,
}

impl PaperError {
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }
}

/// A result of this crate.
pub(crate) type Result<T = (), E = PaperError> = std::result::Result<T, E>;
