//! The answering side of one stream of batches.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use prost::bytes::Bytes;
use tokio_stream::Stream;
use tonic::{Status, Streaming};

use crate::{agent::Process, chooser::Answered, choosers::SharedChoosers};

type Thinking = Pin<Box<dyn Future<Output = Result<Answered, Status>> + Send>>;

/// Answers each message of a stream with one message, in order.
pub(crate) struct Answers<P> {
    shared: Arc<SharedChoosers<P>>,
    questions: Streaming<Bytes>,
    /// Ready once the process must end.
    ending: Pin<Box<dyn Future<Output = ()> + Send>>,
    state: State,
}

enum State {
    Reading,
    Thinking(Thinking),
    Failing(Status),
    Ended,
}

impl<P: Process> Answers<P> {
    pub(crate) fn new(shared: Arc<SharedChoosers<P>>, questions: Streaming<Bytes>) -> Self {
        let ending = Box::pin(shared.ended());
        Self {
            shared,
            questions,
            ending,
            state: State::Reading,
        }
    }

    fn answered(&mut self, (response, failed): Answered) -> Option<Bytes> {
        self.state = match failed {
            None => State::Reading,
            Some(status) => State::Failing(status),
        };
        Some(response)
    }
}

impl<P: Process> Stream for Answers<P> {
    type Item = Result<Bytes, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Reading => match Pin::new(&mut this.questions).poll_next(cx) {
                    Poll::Ready(Some(Ok(request))) => match this.shared.answer_quickly(&request) {
                        Some(Ok(answered)) => {
                            return Poll::Ready(this.answered(answered).map(Ok));
                        }
                        Some(Err(status)) => this.state = State::Failing(status),
                        None => {
                            let shared = Arc::clone(&this.shared);
                            let thinking = async move { shared.answer_batch(request).await };
                            this.state = State::Thinking(Box::pin(thinking));
                        }
                    },
                    Poll::Ready(Some(Err(status))) => this.state = State::Failing(status),
                    Poll::Ready(None) => this.state = State::Ended,
                    Poll::Pending => {
                        ready!(this.ending.as_mut().poll(cx));
                        this.state = State::Ended;
                    }
                },
                State::Thinking(thinking) => match ready!(thinking.as_mut().poll(cx)) {
                    Ok(answered) => return Poll::Ready(this.answered(answered).map(Ok)),
                    Err(status) => this.state = State::Failing(status),
                },
                State::Failing(_) => {
                    if let State::Failing(status) = std::mem::replace(&mut this.state, State::Ended)
                    {
                        return Poll::Ready(Some(Err(status)));
                    }
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}
