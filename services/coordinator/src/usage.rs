//! The end of connections without requests, or whose token ended.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::AsyncWrite,
    time::{Instant, Sleep, sleep_until},
};

use crate::{error::Error, principal::Principal};

/// Time for a client to leave by itself: for the rest of the answers, and for a request that was on its way.
const LEAVE_MAX: Duration = Duration::from_secs(5);
/// GOAWAY of HTTP/2 with the highest stream and no error: the client sends further requests over a new connection.
const GOAWAY: [u8; 17] = [
    0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0,
];

/// The end of a permission.
type Ended = Pin<Box<dyn Future<Output = Error> + Send>>;

/// What the requests of a connection say about its use.
#[derive(Clone, Debug)]
pub(crate) struct Usage(Arc<Mutex<State>>);

struct State {
    open: usize,
    /// When the last request ended.
    since: Instant,
    /// The end of the permission of the first caller, until the connection takes it.
    ended: Option<Ended>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} open", self.open)
    }
}

impl Usage {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            open: 0,
            since: Instant::now(),
            ended: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection ends with the permission of this caller.
    pub(crate) fn end_with(&self, by: &Principal) {
        self.lock().ended = Some(Box::pin(by.clone().ended()));
    }

    /// A request is open until this is dropped.
    pub(crate) fn open(&self) -> OpenRequest {
        self.lock().open += 1;
        OpenRequest(self.clone())
    }
}

/// An open request.
#[derive(Debug)]
pub(crate) struct OpenRequest(Usage);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.open -= 1;
        state.since = Instant::now();
    }
}

/// The end of a connection, as its task sees it.
pub(crate) struct End {
    usage: Usage,
    idle_max: Duration,
    ended: Option<Ended>,
    /// When to look again.
    look: Pin<Box<Sleep>>,
    /// The client was asked to leave.
    is_leaving: bool,
    /// The permission ended.
    is_ended: bool,
}

impl End {
    pub(crate) fn new(usage: Usage, idle_max: Duration) -> Self {
        Self {
            usage,
            idle_max,
            ended: None,
            look: Box::pin(sleep_until(Instant::now() + idle_max)),
            is_leaving: false,
            is_ended: false,
        }
    }

    /// Ready if the connection has to be closed. Before, `io` sends the client a notice, unless it `is_stalled`.
    pub(crate) fn poll<T: AsyncWrite + ?Sized>(
        &mut self,
        context: &mut Context<'_>,
        mut io: Pin<&mut T>,
        is_stalled: bool,
    ) -> Poll<()> {
        let now = Instant::now();
        let (open, idle_until) = {
            let mut state = self.usage.lock();
            if let Some(ended) = state.ended.take() {
                self.ended = Some(ended);
            }
            (state.open, state.since + self.idle_max)
        };
        if let Some(ended) = &mut self.ended
            && ended.as_mut().poll(context).is_ready()
        {
            (self.ended, self.is_ended) = (None, true);
            // Its open answers name the reason.
            let rest = if open > 0 { LEAVE_MAX } else { Duration::ZERO };
            self.look.as_mut().reset(now + rest);
            self.leave(context, io.as_mut(), is_stalled);
        }
        loop {
            ready!(self.look.as_mut().poll(context));
            if self.is_ended || self.is_leaving && open == 0 {
                return Poll::Ready(());
            }
            let next = match open {
                0 if idle_until > now => idle_until,
                0 => {
                    self.leave(context, io.as_mut(), is_stalled);
                    now + LEAVE_MAX
                }
                _ if self.is_leaving => now + LEAVE_MAX,
                _ => now + self.idle_max,
            };
            self.look.as_mut().reset(next);
        }
    }

    /// Asks the client to leave. Between two polls of the server, a connection that takes what it is sent is
    /// between two frames.
    fn leave<T: AsyncWrite + ?Sized>(
        &mut self,
        context: &mut Context<'_>,
        mut io: Pin<&mut T>,
        is_stalled: bool,
    ) {
        if std::mem::replace(&mut self.is_leaving, true) || is_stalled {
            return;
        }
        match io.as_mut().poll_write(context, &GOAWAY) {
            Poll::Ready(Ok(sent)) if sent == GOAWAY.len() => {
                let _ = io.poll_flush(context);
            }
            Poll::Pending => {}
            // A part of a frame, or a failure: nothing else can be sent.
            Poll::Ready(_) => {
                self.is_ended = true;
                self.look.as_mut().reset(Instant::now());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{poll_fn, ready};

    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn connection_of_ended_token_is_closed_after_a_notice() {
        let usage = Usage::new();
        let mut end = End::new(usage.clone(), Duration::from_secs(3600));
        let (mut server, mut client) = tokio::io::duplex(64);
        let mut poll = |context: &mut Context<'_>| end.poll(context, Pin::new(&mut server), false);
        let open = usage.open();
        poll_fn(|context| {
            assert!(poll(context).is_pending(), "a request is open");
            Poll::Ready(())
        })
        .await;
        drop(open);
        usage.lock().ended = Some(Box::pin(ready(Error::TokenRevoked)));
        poll_fn(poll).await;
        let mut notice = [0; GOAWAY.len()];
        client.read_exact(&mut notice).await.expect("a notice");
        assert_eq!(notice, GOAWAY);
    }
}
