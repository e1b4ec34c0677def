//! Why a process does not answer.

use std::io;

use crate::supervise::{Exit, Guarded};

/// Maximum bytes of a message of a process.
pub(super) const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// Why a process did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProcessError {
    /// It ended, or closed its standard output.
    #[error("the process closed its standard output")]
    Closed,
    /// It never became ready.
    #[error("it did not answer SERVING to a health check in time: {0}")]
    NotReady(String),
    /// The connection to it broke, and it has not ended.
    #[error("the connection failed: {0}")]
    Lost(String),
    /// It took too long.
    #[error("it did not answer in time")]
    Late,
    /// Its answer is not what the protocol says.
    #[error("an answer does not follow the protocol: {0}")]
    Garbled(String),
    /// It answered with an error.
    #[error("the rules report an error: {0}")]
    Reported(String),
    /// The pipes of its lines failed.
    #[error("the pipe failed: {0}")]
    Io(#[from] io::Error),
}

impl ProcessError {
    /// True if the process is no more.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Self::Closed | Self::Lost(_) | Self::Io(_))
    }
}

/// True if a process has ended.
pub(super) fn has_ended(guarded: &Guarded) -> bool {
    exit_of(guarded).is_some()
}

/// How a process ended; none if it runs.
pub(super) fn exit_of(guarded: &Guarded) -> Option<Exit> {
    guarded.flood().or_else(|| guarded.exit())
}
