//! Connections that carry a token.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http_body::{Body as HttpBody, Frame};
use tokio::time::{Instant, sleep};
use tonic::{
    Code, Status,
    body::Body,
    codegen::{BoxFuture, Bytes, Service, http},
    transport::{self, Channel},
};
use tonic_types::StatusExt;

use crate::bearer::Bearer;

/// Maximum time that one call waits for a coordinator that names delays.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// The only method whose request is a stream, which cannot be sent twice.
const UPLOAD: &str = "/arena.v1.CoordinatorService/UploadBinary";

/// A connection to a coordinator.
#[derive(Clone, Debug)]
pub struct Connection {
    channel: Channel,
    bearer: Bearer,
    /// True if calls are sent again when a coordinator names a delay.
    is_patient: bool,
}

impl Connection {
    /// Adds a token to every call.
    #[must_use]
    pub fn new(channel: Channel, bearer: Bearer) -> Self {
        Self {
            channel,
            bearer,
            is_patient: false,
        }
    }

    /// Sends a call again, after the delay that the coordinator names, if it was refused because
    /// there were too many. Uploads are not sent again.
    #[must_use]
    pub fn patient(self) -> Self {
        Self {
            is_patient: true,
            ..self
        }
    }
}

impl Service<http::Request<Body>> for Connection {
    type Response = http::Response<Body>;
    type Error = transport::Error;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.channel.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        if let Some(value) = self.bearer.value() {
            request
                .headers_mut()
                .insert(http::header::AUTHORIZATION, value);
        }
        if !self.is_patient || request.uri().path() == UPLOAD {
            return Box::pin(self.channel.call(request));
        }
        // The one that is ready; the clone may not be.
        let clone = self.channel.clone();
        let channel = mem::replace(&mut self.channel, clone);
        Box::pin(call(channel, request))
    }
}

/// Sends a request until it is not refused with a delay.
async fn call(
    mut channel: Channel,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, transport::Error> {
    let (parts, body) = request.into_parts();
    let bytes = match read(body).await {
        Ok(bytes) => bytes,
        Err(status) => return Ok(status.into_http()),
    };
    let end = Instant::now() + WAIT_MAX;
    loop {
        let body = Body::new(Whole(Some(bytes.clone())));
        let request = http::Request::from_parts(parts.clone(), body);
        let response = channel.call(request).await?;
        let status = Status::from_header_map(response.headers());
        let delay = status.as_ref().and_then(retry_delay);
        match delay.filter(|delay| Instant::now() + *delay < end) {
            Some(delay) => sleep(delay).await,
            None => return Ok(response),
        }
        poll_fn(|context| channel.poll_ready(context)).await?;
    }
}

/// The delay after which a refused call may be sent again.
#[must_use]
pub fn retry_delay(status: &Status) -> Option<Duration> {
    if status.code() != Code::ResourceExhausted {
        return None;
    }
    status.get_details_retry_info()?.retry_delay
}

/// All bytes of a message.
async fn read(mut body: Body) -> Result<Bytes, Status> {
    let mut all = Vec::new();
    loop {
        let next = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = next.transpose()? else {
            return Ok(all.into());
        };
        if let Ok(bytes) = frame.into_data() {
            all.extend_from_slice(&bytes);
        }
    }
}

/// A body of one frame.
struct Whole(Option<Bytes>);

impl HttpBody for Whole {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }
}
