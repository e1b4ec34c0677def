//! Bodies of answers that wait for their readers.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use arena_telemetry::UnreadAnswer;
use axum::body::Bytes;
use tokio_stream::Stream;

/// A large body in parts. It breaks off if too many others are not read.
pub(crate) struct Unread(Option<UnreadAnswer>);

impl Unread {
    pub(crate) fn new(answer: UnreadAnswer) -> Self {
        Self(Some(answer))
    }
}

impl Stream for Unread {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(answer) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let part = answer.next_part();
        if part.as_ref().is_none_or(|(_, is_last)| *is_last) {
            self.0 = None;
        }
        let given_up = || io::Error::other("too many answers are not read");
        Poll::Ready(Some(part.map(|(part, _)| part).ok_or_else(given_up)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arena_telemetry::{UNREAD_BYTES_MAX, UnreadAnswers};
    use axum::{body::to_bytes, response::Response};

    use crate::answer::Answer;

    async fn read(response: Response) -> Option<usize> {
        let bytes = to_bytes(response.into_body(), usize::MAX).await;
        bytes.ok().map(|bytes| bytes.len())
    }

    #[tokio::test]
    async fn unread_pages_are_limited_and_kept_ones_shared() {
        let unread = Arc::<UnreadAnswers>::default();
        let large = "a".repeat(UNREAD_BYTES_MAX / 4);
        let page = || Answer::page(&large).response(true, None, &unread);
        let first = page();
        let rest = [(); 4].map(|()| page());
        assert_eq!(read(first).await, None, "the oldest is given up");
        for response in rest {
            assert_eq!(read(response).await, Some(large.len()));
        }
        assert_eq!(unread.size(), (0, 0));
        let kept = Answer::page(&large).kept();
        let (before, all) = (kept.body.clone(), [(); 9]);
        let all = all.map(|()| kept.clone().response(true, None, &unread));
        assert_eq!(unread.size(), (0, 0), "one body for all");
        for response in all {
            let body = to_bytes(response.into_body(), usize::MAX).await;
            assert_eq!(body.expect("a body").as_ptr(), before.as_ptr());
        }
    }
}
