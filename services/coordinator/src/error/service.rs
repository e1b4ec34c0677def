//! Why a coordinator does not start, or stops by itself.

use std::{io, net::SocketAddr, path::PathBuf};

use arena_store::StoreError;

/// Why a coordinator does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another program listens on the address.
    #[error("{address} is in use: choose another address with --listen; port 0 selects a free one")]
    InUse {
        /// The requested address.
        address: SocketAddr,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The audit trail cannot be written.
    #[error("cannot write the audit trail: {0}")]
    Trail(#[from] io::Error),
    /// The Unix socket cannot be used.
    #[error("cannot listen on {}: {source}", .path.display())]
    Socket {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] arena_access::TlsError),
    /// The metrics' address cannot be used.
    #[error(transparent)]
    Metrics(#[from] arena_telemetry::ServeError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A document of the store is not as this release writes it.
    #[error(
        "cannot read {what} from the store: {problem}; use the release that wrote it, or restore \
         a backup with `arena store restore`"
    )]
    Document {
        /// The document.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The system provided no random numbers.
    #[error("the system provides no random numbers: {0}")]
    Random(String),
    /// The metrics could not be created.
    #[error("cannot register the metrics: {0}")]
    Registry(#[from] arena_telemetry::MetricsError),
    /// The share of games to audit is invalid.
    #[error("audit share {0} is out of range: must be from 0 to 1")]
    AuditShare(f64),
}

impl StartError {
    /// The error of a document that cannot be read.
    pub(crate) fn unreadable(what: impl Into<String>, problem: impl ToString) -> Self {
        Self::Document {
            what: what.into(),
            problem: problem.to_string(),
        }
    }
}

/// Why a coordinator stopped by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed. Acknowledged results are kept, and a restart continues.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server failed.
    #[error("the server stopped: {0}")]
    Serve(#[from] tonic::transport::Error),
    /// The metrics' server failed.
    #[error(transparent)]
    Metrics(#[from] arena_telemetry::ServeError),
    /// The task that owns the state ended.
    #[error("the coordinator lost its state: this is a bug, please report it")]
    State,
}
