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
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Window of HTTP/2 flow control, large enough for any batch.
const WINDOW_BYTES: u32 = 4 << 20;

/// Connects to `http://host:port` or `unix:/path`.
pub(crate) async fn open(url: &str, limit: Duration) -> Result<Channel, Error> {
    Endpoint::from_shared(url.to_owned())?
        .connect_timeout(limit)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .connect()
        .await
}

/// The answer to a health check.
pub(crate) async fn health(channel: &Channel) -> Result<ServingStatus, Status> {
    let mut client = HealthClient::new(channel.clone());
    let answer = client.check(HealthCheckRequest::default()).await?;
    Ok(answer.get_ref().status())
}

/// The text of an error with all its causes; tonic's own text is only "transport error".
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
