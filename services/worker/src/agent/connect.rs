//! Connections to agents.

use std::time::Duration;

use tonic::{
    Status,
    transport::{Channel, Endpoint, Error},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// Timeout of one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Window of HTTP/2 flow control, large enough for any batch.
const WINDOW_BYTES: u32 = 4 << 20;

/// The endpoint of `http://host:port` or `unix:/path`.
pub(crate) fn endpoint(url: &str) -> Result<Endpoint, Error> {
    Ok(Endpoint::from_shared(url.to_owned())?
        .connect_timeout(CONNECT_TIMEOUT)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES))
}

/// The answer to a health check.
pub(crate) async fn health(channel: &Channel) -> Result<ServingStatus, Status> {
    let mut client = HealthClient::new(channel.clone());
    let answer = client.check(HealthCheckRequest::default()).await?;
    Ok(answer.get_ref().status())
}
