//! Bodies of requests and answers that end when they have to.

use std::{
    future::pending,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{
    Status,
    body::Body,
    codegen::{Bytes, http},
};

use crate::{door::StreamPlace, error::Error};

/// Maximum time until a request has arrived.
pub(super) const READ_MAX: Duration = Duration::from_secs(30);

/// An answer that ends when the permission of its caller does.
pub(super) struct Permitted {
    pub(super) body: Body,
    pub(super) ended: Pin<Box<dyn Future<Output = Error> + Send>>,
    /// The place of the stream.
    pub(super) place: Option<StreamPlace>,
}

impl http_body::Body for Permitted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.body.is_end_stream() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(error) = self.ended.as_mut().poll(context) {
            // What the stream held ends with it.
            self.body = Body::empty();
            self.place = None;
            self.ended = Box::pin(pending());
            let mut trailers = http::HeaderMap::new();
            Status::from(error).add_header(&mut trailers)?;
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A request of limited size that must arrive in time.
pub(super) struct Bounded {
    body: Body,
    left: u64,
    deadline: Pin<Box<Sleep>>,
}

impl Bounded {
    pub(super) fn new(body: Body, bytes_max: u64) -> Self {
        Self {
            body,
            left: bytes_max,
            deadline: Box::pin(sleep_until(Instant::now() + READ_MAX)),
        }
    }
}

impl http_body::Body for Bounded {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            ready!(self.deadline.as_mut().poll(context));
            let late = Status::deadline_exceeded("the request did not arrive in time");
            return Poll::Ready(Some(Err(late)));
        };
        let bytes = frame
            .as_ref()
            .and_then(|frame| frame.as_ref().ok()?.data_ref());
        let bytes = bytes.map_or(0, |data| data.len() as u64);
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                let large = Status::out_of_range("the request exceeds the limit of its method");
                return Poll::Ready(Some(Err(large)));
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
