//! Why a worker stops.

use std::{io, path::PathBuf, time::Duration};

use arena_telemetry::{MetricsError, ServeError};

use crate::{
    machine::MachineError,
    supervise::{SOCKET_PATH_BYTES, SandboxError},
};

/// Why a worker did not start, or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The coordinator's URL, or what the worker shows to it, is of no use.
    #[error(transparent)]
    Dial(#[from] arena_access::DialError),
    /// It cannot use the cores that it was given.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Metrics cannot be served.
    #[error(transparent)]
    Metrics(#[from] ServeError),
    /// Metrics cannot be registered.
    #[error(transparent)]
    Registry(#[from] MetricsError),
    /// The folder for sockets and binaries cannot be made.
    #[error("cannot create a folder at {}: {source}", path.display())]
    Folder {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Paths of agents' sockets would be too long.
    #[error(
        "in {}, paths of agents' sockets would have {bytes} bytes, but the limit is \
         {SOCKET_PATH_BYTES}; choose a shorter folder for temporary files (TMPDIR)",
        path.display()
    )]
    LongPath {
        /// The worker's own folder.
        path: PathBuf,
        /// Length of such a path.
        bytes: usize,
    },
    /// The sandbox cannot be set up on this machine.
    #[error("{0}")]
    Sandbox(#[from] SandboxError),
    /// A thread or runtime cannot be started, or panicked.
    #[error("a thread of this worker failed: {0}")]
    Threads(#[from] io::Error),
    /// The coordinator did not answer for too long.
    #[error(
        "cannot reach the coordinator at {url} for {}: {last}",
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
    /// The coordinator does not accept the worker's token or certificate.
    #[error(
        "the coordinator at {url} does not let this worker join: {problem}; a worker needs a token \
         of the role worker (`arena token create --role worker`, `--token-file`) or a certificate \
         of it"
    )]
    NoAccess {
        /// The coordinator's address.
        url: String,
        /// Why.
        problem: String,
    },
}

fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 10.0).round() / 10.0)
}
