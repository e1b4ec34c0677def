//! Why an evolution cannot start.

use std::fmt::Display;

/// An evolution that cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvolutionError {
    /// The spec is wrong.
    #[error("{0}")]
    Usage(String),
    /// A name or value cannot be built.
    #[error("{0}")]
    Failed(String),
}

impl EvolutionError {
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }
}

/// A result of this crate.
pub(crate) type Result<T = (), E = EvolutionError> = std::result::Result<T, E>;
