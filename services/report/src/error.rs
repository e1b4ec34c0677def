//! Errors of reports and exports.

use std::{fmt::Display, io};

use tonic::Status;

/// A report or export that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The user's input is wrong.
    #[error("{0}")]
    Usage(String),
    /// Something failed.
    #[error("{0}")]
    Failed(String),
    /// A record differs from its rules or its seed.
    #[error("{0}")]
    Differs(String),
    /// The coordinator refused a request.
    #[error("{}", .0.message())]
    Status(#[from] Status),
    /// The reader of stdout has closed it.
    #[error("stdout is closed")]
    Closed,
}

impl ReportError {
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    pub(crate) fn differs(message: impl Display) -> Self {
        Self::Differs(message.to_string())
    }
}

impl From<io::Error> for ReportError {
    fn from(error: io::Error) -> Self {
        Self::failed(error)
    }
}

/// A result of this crate.
pub(crate) type Result<T = (), E = ReportError> = std::result::Result<T, E>;
