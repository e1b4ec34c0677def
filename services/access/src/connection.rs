//! Connections that carry a token.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
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

/// A connection to a coordinator, or to the one of several that answers.
#[derive(Clone, Debug)]
pub struct Connection {
    nodes: Vec<Node>,
    /// The node that gets the next call: another one after a call found no connection.
    place: Arc<AtomicUsize>,
    /// The node that is ready for a call.
    ready: usize,
    /// True if calls are sent again when a coordinator names a delay.
    is_patient: bool,
}

/// One coordinator, with the token for it.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) channel: Channel,
    pub(crate) bearer: Bearer,
}

impl Connection {
    /// Adds a token to every call.
    #[must_use]
    pub fn new(channel: Channel, bearer: Bearer) -> Self {
        Self::to(vec![Node { channel, bearer }], 0)
    }

    /// To one of these coordinators, first to that at a place.
    pub(crate) fn to(nodes: Vec<Node>, place: usize) -> Self {
        Self {
            nodes,
            place: Arc::new(AtomicUsize::new(place)),
            ready: place,
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
        self.ready = self.place.load(Relaxed);
        self.nodes[self.ready].channel.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let (place, count) = (self.ready, self.nodes.len());
        let node = &mut self.nodes[place];
        let token = node.bearer.value();
        let anonymous = token.is_none().then(|| node.bearer.clone());
        if let Some(value) = token {
            request
                .headers_mut()
                .insert(http::header::AUTHORIZATION, value);
        }
        let answer: Self::Future = if !self.is_patient || request.uri().path() == UPLOAD {
            Box::pin(node.channel.call(request))
        } else {
            // The one that is ready; the clone may not be.
            let clone = node.channel.clone();
            let channel = mem::replace(&mut node.channel, clone);
            Box::pin(call(channel, request))
        };
        if count == 1 && anonymous.is_none() {
            return answer;
        }
        let current = Arc::clone(&self.place);
        Box::pin(async move {
            let mut answer = answer.await;
            let is_refused = answer.as_ref().is_ok_and(is_unauthenticated);
            if let Some(bearer) = anonymous.filter(|_| is_refused)
                && bearer.appears().await
            {
                // It wrote its token after this call.
                let starting = "the coordinator has just started: try again";
                answer = Ok(Status::unavailable(starting).into_http());
            }
            if count > 1 && answer.is_err() {
                // Another call may have found out before.
                let next = (place + 1) % count;
                let _ = current.compare_exchange(place, next, Relaxed, Relaxed);
            }
            answer
        })
    }
}

fn is_unauthenticated(response: &http::Response<Body>) -> bool {
    let status = Status::from_header_map(response.headers());
    status.is_some_and(|status| status.code() == Code::Unauthenticated)
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
