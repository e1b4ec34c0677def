//! Connections to the coordinator.

use std::time::Duration;

use arena_access::Credentials;
use tonic::transport::Endpoint;

use crate::WorkerError;

/// Interval and timeout of keep-alive pings.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// The endpoint of a coordinator's URL, with keep-alive.
pub(crate) fn endpoint(url: &str, credentials: &Credentials) -> Result<Endpoint, WorkerError> {
    Ok(credentials
        .endpoint(url)?
        .connect_timeout(KEEP_ALIVE)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true))
}
