//! Why a worker stops.

use std::{io, path::PathBuf, time::Duration};

use arena_telemetry::{MetricsError, ServeError};

use crate::supervise::SOCKET_PATH_BYTES;

/// Why a worker did not start, or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The coordinator's address is invalid.
    #[error("\"{0}\" is no address of a coordinator: it is http://HOST:PORT")]
    Url(String),
    /// Metrics cannot be served.
    #[error(transparent)]
    Metrics(#[from] ServeError),
    /// Metrics cannot be registered.
    #[error(transparent)]
    Registry(#[from] MetricsError),
    /// The folder for sockets and binaries cannot be made.
    #[error("no folder can be made at {}: {source}", path.display())]
    Folder {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Paths of agents' sockets would be too long.
    #[error(
        "the sockets of agents in {} would have paths of {bytes} bytes, and a unix socket may \
         have {SOCKET_PATH_BYTES}; name a shorter folder for temporary files (TMPDIR)",
        path.display()
    )]
    LongPath {
        /// The worker's own folder.
        path: PathBuf,
        /// Length of such a path.
        bytes: usize,
    },
    /// A thread or runtime cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] io::Error),
    /// The coordinator did not answer for too long.
    #[error(
        "the coordinator at {url} could not be reached for {}: {last}",
        seconds(*.waited)
    )]
    Unreachable {
        /// The coordinator's address.
        url: String,
        /// Time waited.
        waited: Duration,
        /// The last error.
        last: String,
    },
}

fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 10.0).round() / 10.0)
}
