//! Bodies of requests and answers that end when they have to.

use std::{
    future::pending,
    pin::Pin,
    sync::Arc,
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

use crate::{
    door::{Reading, StreamPlace},
    error::Error,
};

/// Maximum time until a request has arrived.
pub(super) const READ_MAX: Duration = Duration::from_secs(30);

/// Suggested delay after a request for which there was no room.
const FULL_WAIT: Duration = Duration::from_secs(1);

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
    /// Bytes of it that were read.
    read: u64,
    of: [Option<Arc<Reading>>; 2],
    deadline: Pin<Box<Sleep>>,
}

impl Bounded {
    /// A request of at most so many bytes, and one of those that each of these counts together.
    pub(super) fn new(body: Body, bytes_max: u64, of: [Option<Arc<Reading>>; 2]) -> Self {
        Self {
            body,
            left: bytes_max,
            read: 0,
            of,
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
        self.read += bytes;
        // Each of them counts it, also if another has no room.
        let refusing = self.of.iter().flatten().filter(|of| !of.add(bytes));
        if refusing.count() > 0 {
            let full = Error::Overloaded { wait: FULL_WAIT };
            return Poll::Ready(Some(Err(full.into())));
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

impl Drop for Bounded {
    fn drop(&mut self) {
        for of in self.of.iter().flatten() {
            of.release(self.read);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tonic::Code;

    use super::*;

    async fn read(body: &mut Bounded) -> Result<(), Code> {
        let frame = poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut *body), context));
        let frame = frame.await.expect("a frame");
        frame.map(drop).map_err(|status| status.code())
    }

    #[tokio::test]
    async fn requests_that_are_read_are_bounded_together() {
        let reading = Reading::new(10);
        let body = |text: &str, max| {
            let whole = Body::new(text.to_owned());
            Bounded::new(whole, max, [Some(Arc::clone(&reading)), None])
        };
        let mut first = body("seven..", 7);
        assert_eq!(read(&mut first).await, Ok(()));
        let refused = read(&mut body("four", 7)).await;
        assert_eq!(refused, Err(Code::ResourceExhausted));
        drop(first);
        assert_eq!(read(&mut body("four", 7)).await, Ok(()));
        let refused = read(&mut body("four", 3)).await;
        assert_eq!(refused, Err(Code::OutOfRange));
        assert_eq!(reading.bytes(), 0);
    }

    #[tokio::test]
    async fn one_owner_leaves_room_for_others() {
        let (all, first, second) = (Reading::new(20), Reading::new(10), Reading::new(10));
        let body = |text: &str, owner: &Arc<Reading>| {
            let of = [&all, owner].map(|of| Some(Arc::clone(of)));
            Bounded::new(Body::new(text.to_owned()), 20, of)
        };
        let mut held = body("nine.....", &first);
        assert_eq!(read(&mut held).await, Ok(()));
        let refused = read(&mut body("two", &first)).await;
        assert_eq!(refused, Err(Code::ResourceExhausted));
        assert_eq!(read(&mut body("nine.....", &second)).await, Ok(()));
        drop(held);
        assert_eq!(read(&mut body("nine.....", &first)).await, Ok(()));
        assert!([&all, &first, &second].iter().all(|of| of.bytes() == 0));
    }
}
