//! Large answers that wait for their clients to read them. Their memory is limited.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use arena_telemetry::{PART_BYTES, UnreadAnswer, UnreadAnswers};
use http_body::{Body as _, Frame, SizeHint};
use tonic::{
    Status,
    body::Body,
    codegen::{Bytes, http},
};

/// The large answers that are not sent yet.
#[derive(Default)]
pub(super) struct Answers {
    unread: Arc<UnreadAnswers>,
}

impl Answers {
    /// Counts an answer with one message, if it is large.
    pub(super) async fn count(&self, answer: http::Response<Body>) -> http::Response<Body> {
        let (head, mut body) = answer.into_parts();
        // The message is there already; it is encoded now, so that its size is known.
        let mut frames = VecDeque::new();
        let mut kept = None;
        while let Some(frame) = next(&mut body).await {
            let size = frame
                .as_ref()
                .ok()
                .and_then(Frame::data_ref)
                .map(Bytes::len);
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) if size > Some(PART_BYTES) && kept.is_none() => {
                    // A copy, because a buffer may be larger than its content.
                    kept = Some(self.unread.add(Bytes::copy_from_slice(&data)));
                    // All of the body is taken, because its buffer is as large as the message.
                    continue;
                }
                Ok(Ok(data)) => frames.push_back(Ok(Frame::data(data))),
                Ok(Err(other)) => frames.push_back(Ok(other)),
                Err(status) => frames.push_back(Err(status)),
            }
            if kept.is_none() {
                break;
            }
        }
        let counted = Counted {
            rest: if kept.is_some() { Body::empty() } else { body },
            kept,
            frames,
        };
        http::Response::from_parts(head, Body::new(counted))
    }
}

/// An answer whose message was encoded.
struct Counted {
    /// A large message,
    kept: Option<UnreadAnswer>,
    /// other frames that were taken from the body,
    frames: VecDeque<Result<Frame<Bytes>, Status>>,
    /// and all others.
    rest: Body,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(kept) = &mut self.kept {
            let Some((part, is_last)) = kept.next_part() else {
                self.kept = None;
                self.frames.clear();
                return Poll::Ready(Some(Err(Status::resource_exhausted(
                    "the answer was not read in time, and too many others wait",
                ))));
            };
            if is_last {
                self.kept = None;
            }
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        match self.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(frame)),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.kept.is_none() && self.frames.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// The next frame of a body.
async fn next(body: &mut Body) -> Option<Result<Frame<Bytes>, Status>> {
    if body.is_end_stream() {
        return None;
    }
    poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
}

#[cfg(test)]
mod tests {
    use arena_telemetry::UNREAD_BYTES_MAX;

    use super::*;

    async fn answer(answers: &Answers, bytes: usize) -> Body {
        let data = Bytes::from(vec![7; bytes]);
        let buffer = Arc::new(());
        let whole = Whole(Some(data), Arc::clone(&buffer));
        let answer = http::Response::new(Body::new(whole));
        let body = answers.count(answer).await.into_body();
        let is_dropped = Arc::strong_count(&buffer) == 1;
        assert_eq!(
            is_dropped,
            bytes > PART_BYTES,
            "the buffer of {bytes} bytes"
        );
        body
    }

    /// A body of one frame, and a part of its buffer.
    struct Whole(Option<Bytes>, #[expect(dead_code)] Arc<()>);

    impl http_body::Body for Whole {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            Poll::Ready(self.0.take().map(|data| Ok(Frame::data(data))))
        }
    }

    async fn read(mut body: Body) -> Result<usize, Status> {
        let mut bytes = 0;
        while let Some(frame) = next(&mut body).await {
            bytes += frame?.data_ref().map_or(0, Bytes::len);
        }
        Ok(bytes)
    }

    #[tokio::test]
    async fn oldest_unread_answer_is_given_up() {
        let answers = Answers::default();
        let size = UNREAD_BYTES_MAX / 4;
        let small = answer(&answers, PART_BYTES).await;
        let first = answer(&answers, size).await;
        let second = answer(&answers, size).await;
        let rest: Vec<_> = [size; 3].map(|size| answer(&answers, size)).into();
        for body in rest {
            assert_eq!(read(body.await).await.expect("all of it"), size);
        }
        assert_eq!(read(second).await.expect("all of it"), size);
        assert_eq!(read(small).await.expect("all of it"), PART_BYTES);
        let huge = answer(&answers, 2 * UNREAD_BYTES_MAX).await;
        let status = read(first).await.expect_err("too many others");
        assert_eq!(status.code(), tonic::Code::ResourceExhausted);
        assert_eq!(read(huge).await.expect("alone"), 2 * UNREAD_BYTES_MAX);
        assert_eq!(answers.unread.size(), (0, 0));
    }
}
