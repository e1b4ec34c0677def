//! Connections to the coordinator.

use std::time::Duration;

use arena_access::Credentials;
use tonic::transport::Endpoint;

use crate::WorkerError;

/// Interval and timeout of keep-alive pings.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// The endpoints of the coordinator's URLs, with keep-alive.
pub(crate) fn endpoints(
    urls: &str,
    credentials: &Credentials,
) -> Result<Vec<Endpoint>, WorkerError> {
    let endpoints = credentials.endpoints(urls)?.into_iter();
    let endpoints = endpoints.map(|endpoint| {
        endpoint
            .connect_timeout(KEEP_ALIVE)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
    });
    Ok(endpoints.collect())
}
