//! Bodies of requests and answers that end when they have to.

use std::{
    future::pending,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{
    Status,
    body::Body,
    codegen::{Bytes, http},
};

use super::waiting::{Place, REQUEST_BYTES, Waiting};
use crate::{door::StreamPlace, error::Error, usage::OpenRequest};

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
    pub(super) _open: Option<OpenRequest>,
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
    messages: Messages,
    caller: Arc<str>,
    waiting: Arc<Waiting>,
    /// Its place once it waits. A request that is there at once never waits.
    place: Option<Place>,
    /// Bytes for which it has taken room.
    taken: u64,
    deadline: Pin<Box<Sleep>>,
}

impl Bounded {
    /// A request of at most so many bytes, one of those that are limited together.
    pub(super) fn new(body: Body, bytes_max: u64, caller: Arc<str>, waiting: Arc<Waiting>) -> Self {
        Self {
            body,
            left: bytes_max,
            messages: Messages::default(),
            caller,
            waiting,
            place: None,
            taken: 0,
            deadline: Box::pin(sleep_until(Instant::now() + READ_MAX)),
        }
    }

    /// Waits for more. Returns false if it was given up.
    fn wait(&mut self, waker: &Waker) -> bool {
        if let Some(place) = &self.place {
            return place.wait(waker);
        }
        self.place = Some(self.waiting.enter(Arc::clone(&self.caller), waker));
        self.take_room()
    }

    /// Takes the room that it needs by now, if it waits. Returns false if it was given up.
    fn take_room(&mut self) -> bool {
        let Some(place) = &self.place else {
            return true;
        };
        // A larger message is refused.
        let announced = self.messages.left.min(self.left);
        let needed = REQUEST_BYTES + self.messages.read + announced;
        let more = needed.saturating_sub(self.taken);
        self.taken += more;
        place.take(more)
    }
}

/// What was read of the messages of a request. A reader takes room for a message when it knows its length.
#[derive(Default)]
struct Messages {
    read: u64,
    /// Bytes of the current message that are still to come.
    left: u64,
    /// The beginning of a message: whether it is compressed, and its length.
    prefix: [u8; 5],
    prefix_bytes: usize,
}

impl Messages {
    fn read(&mut self, mut data: &[u8]) {
        self.read += data.len() as u64;
        while !data.is_empty() {
            let is_message = self.left > 0;
            let wanted = match is_message {
                true => usize::try_from(self.left).unwrap_or(usize::MAX),
                false => self.prefix.len() - self.prefix_bytes,
            };
            let (taken, rest) = data.split_at(wanted.min(data.len()));
            data = rest;
            if is_message {
                self.left -= taken.len() as u64;
                continue;
            }
            let end = self.prefix_bytes + taken.len();
            self.prefix[self.prefix_bytes..end].copy_from_slice(taken);
            self.prefix_bytes = end;
            if end == self.prefix.len() {
                let [_, length @ ..] = self.prefix;
                self.left = u32::from_be_bytes(length).into();
                self.prefix_bytes = 0;
            }
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
        let full = || Poll::Ready(Some(Err(Error::Overloaded { wait: FULL_WAIT }.into())));
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            if !self.wait(context.waker()) {
                return full();
            }
            ready!(self.deadline.as_mut().poll(context));
            let late = Status::deadline_exceeded("the request did not arrive in time");
            return Poll::Ready(Some(Err(late)));
        };
        let data = frame
            .as_ref()
            .and_then(|frame| frame.as_ref().ok()?.data_ref());
        let data = data.map_or(&[][..], |data| data);
        match self.left.checked_sub(data.len() as u64) {
            Some(left) => self.left = left,
            None => {
                let most = self.messages.read + self.left;
                let large =
                    format!("a request of this method has at most {most} bytes: send less at once");
                return Poll::Ready(Some(Err(Status::out_of_range(large))));
            }
        }
        self.messages.read(data);
        if !self.take_room() {
            return full();
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

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Poll};

    use tokio::sync::mpsc;
    use tonic::Code;

    use super::*;

    /// A body whose frames come from a channel.
    struct Dripping(mpsc::Receiver<Frame<Bytes>>);

    impl http_body::Body for Dripping {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            self.0.poll_recv(context).map(|frame| frame.map(Ok))
        }
    }

    struct Sent {
        body: Bounded,
        sender: mpsc::Sender<Frame<Bytes>>,
    }

    impl Sent {
        fn new(waiting: &Arc<Waiting>, bytes_max: u64) -> Self {
            let (sender, frames) = mpsc::channel(1);
            let body = Body::new(Dripping(frames));
            let body = Bounded::new(body, bytes_max, "a".into(), Arc::clone(waiting));
            Self { body, sender }
        }

        /// Reads what is there.
        async fn poll(&mut self) -> Poll<Result<(), Code>> {
            poll_fn(|context| {
                let frame = http_body::Body::poll_frame(Pin::new(&mut self.body), context);
                Poll::Ready(frame.map(|frame| {
                    let frame = frame.expect("no end");
                    frame.map(drop).map_err(|status| status.code())
                }))
            })
            .await
        }

        async fn send(&mut self, bytes: usize) -> Poll<Result<(), Code>> {
            // Zeros are empty messages.
            self.send_bytes(vec![0; bytes]).await
        }

        async fn send_bytes(&mut self, bytes: Vec<u8>) -> Poll<Result<(), Code>> {
            let frame = Frame::data(Bytes::from(bytes));
            self.sender.send(frame).await.expect("it is read");
            self.poll().await
        }
    }

    const READ: Poll<Result<(), Code>> = Poll::Ready(Ok(()));
    const GIVEN_UP: Poll<Result<(), Code>> = Poll::Ready(Err(Code::ResourceExhausted));

    #[tokio::test]
    async fn oldest_waiting_request_is_given_up() {
        let waiting = Waiting::new(3 * REQUEST_BYTES);
        let whole = REQUEST_BYTES as usize;
        let mut first = Sent::new(&waiting, 1 << 20);
        assert_eq!(first.send(whole / 2).await, READ);
        assert_eq!(first.poll().await, Poll::Pending);
        let mut second = Sent::new(&waiting, 1 << 20);
        assert_eq!(second.poll().await, Poll::Pending);
        // A request that is there at once needs no room.
        let mut third = Sent::new(&waiting, 1 << 20);
        assert_eq!(third.send(4 * whole).await, READ);
        assert_eq!(first.poll().await, Poll::Pending);
        assert_eq!(second.send(whole / 2).await, READ);
        assert_eq!(second.send(1).await, READ);
        assert_eq!(first.poll().await, GIVEN_UP);
        let mut fourth = Sent::new(&waiting, 1 << 20);
        assert_eq!(fourth.poll().await, Poll::Pending);
        assert_eq!(second.poll().await, Poll::Pending);
        // One that is larger than all room is given up, and leaves it.
        assert_eq!(second.send(3 * whole).await, GIVEN_UP);
        assert_eq!(fourth.send(whole).await, READ);
        drop((first, second, third, fourth));
        assert_eq!(waiting.bytes(), 0);
    }

    #[tokio::test]
    async fn announced_message_takes_room() {
        let waiting = Waiting::new(4 * REQUEST_BYTES);
        let mut first = Sent::new(&waiting, 1 << 20);
        assert_eq!(first.poll().await, Poll::Pending);
        let mut second = Sent::new(&waiting, 1 << 20);
        assert_eq!(second.poll().await, Poll::Pending);
        // 5 and 32,768 bytes, byte by byte.
        for byte in [0, 0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 128, 0] {
            assert_eq!(first.poll().await, Poll::Pending);
            assert_eq!(second.send_bytes(vec![byte]).await, READ);
        }
        assert_eq!(first.poll().await, GIVEN_UP);
        let all = 3 * REQUEST_BYTES + 15;
        assert_eq!(waiting.bytes(), all);
        assert_eq!(second.send(1000).await, READ);
        assert_eq!(waiting.bytes(), all, "it was announced");
        // A longer message than the method allows is refused.
        drop((first, second));
        let mut third = Sent::new(&waiting, 1000);
        assert_eq!(third.poll().await, Poll::Pending);
        assert_eq!(third.send_bytes(vec![0, 255, 0, 0, 0]).await, READ);
        assert_eq!(waiting.bytes(), REQUEST_BYTES + 1000);
    }

    #[tokio::test]
    async fn given_up_request_is_woken() {
        let waiting = Waiting::new(REQUEST_BYTES);
        let mut first = Sent::new(&waiting, 7);
        let reading = tokio::spawn(async move {
            poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut first.body), context)).await
        });
        tokio::task::yield_now().await;
        let mut second = Sent::new(&waiting, 7);
        assert_eq!(second.poll().await, Poll::Pending);
        let frame = reading.await.expect("no panic").expect("no end");
        let status = frame.expect_err("it was given up");
        assert_eq!(status.code(), Code::ResourceExhausted);
    }

    #[tokio::test]
    async fn half_sent_request_ends_in_time() {
        let waiting = Waiting::new(4 * REQUEST_BYTES);
        let mut body = Sent::new(&waiting, 1000);
        assert_eq!(body.send(10).await, READ);
        assert_eq!(body.poll().await, Poll::Pending);
        // As if it had waited for so long.
        body.body.deadline.as_mut().reset(Instant::now());
        let frame =
            poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut body.body), context));
        let frame = tokio::time::timeout(READ_MAX, frame).await;
        let status = frame
            .expect("it ends")
            .expect("no end")
            .expect_err("no frame");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        drop(body);
        assert_eq!(waiting.bytes(), 0);
    }

    #[tokio::test]
    async fn request_larger_than_its_method_allows_is_refused() {
        let waiting = Waiting::new(REQUEST_BYTES);
        let mut body = Sent::new(&waiting, 7);
        assert_eq!(body.send(7).await, READ);
        assert_eq!(body.send(1).await, Poll::Ready(Err(Code::OutOfRange)));
    }
}
