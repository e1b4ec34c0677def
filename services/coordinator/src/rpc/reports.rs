//! Limits the results that wait for the disk. Further reports are refused before they are read,
//! so that a refusal costs almost nothing.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use arena_telemetry::CoordinatorMetrics;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{Status, body::Body, codegen::Bytes};

use super::{
    bodies::{Bounded, READ_MAX},
    waiting::Waiting,
};
use crate::{error::Error, handle::COMMANDS_MAX};

/// Maximum encoded bytes of a report: several hundred games.
pub(crate) const REPORT_BYTES_MAX: usize = 16 << 20;
/// The prefix of a message.
const PREFIX_BYTES: usize = 5;
/// Maximum encoded bytes of all open reports; decoded, they need several times as much.
const BYTES_MAX: u64 = 32 << 20;
/// A report is aborted while it is read if all of them exceed this.
const BYTES_HARD_MAX: u64 = 2 * BYTES_MAX;
/// Maximum bytes of the reports that wait for the rest of their messages. The rest of the room is for those
/// that have arrived.
const WAITING_BYTES_MAX: u64 = BYTES_MAX / 4 * 3;
/// Maximum bytes of the reports whose games other workers replay, and of those of one caller. They are not
/// counted among the rest, which would wait for those workers too.
const ASIDE_BYTES_MAX: u64 = BYTES_MAX;
const ASIDE_CALLER_BYTES_MAX: u64 = ASIDE_BYTES_MAX / 2;
/// Suggested delay if there is no room for them.
const ASIDE_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of reports that are not read yet. They take at most one in so many places of games.
const UNREAD_MAX: u64 = 2048;
const UNREAD_PART: u64 = 2;
/// Maximum silence while a report is read, which takes at most [`READ_MAX`] in all: a stalled report
/// must not occupy room.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Minimum and maximum delay for a refused worker.
const WAIT: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// A new measurement has one part in this many of the weight in the average.
const SMOOTHING: u32 = 8;

/// The open reports.
pub(super) struct Reports {
    games_max: u64,
    held: Mutex<Held>,
    /// Reports that wait for the rest of their messages.
    waiting: Arc<Waiting>,
    metrics: Arc<CoordinatorMetrics>,
}

#[derive(Default)]
struct Held {
    /// Reports that are not read yet.
    unread: u64,
    /// Reports that are read, and their games.
    read: usize,
    games: u64,
    /// Bytes of all of them, as far as they are read.
    bytes: u64,
    /// Bytes of the reports that are set aside, by caller.
    aside: HashMap<Arc<str>, u64>,
    /// Recent average of the games of a report.
    games_usual: u64,
    /// Recent average of the time from the start of a report to its answer.
    time_usual: Duration,
}

impl Held {
    /// The games, with an estimate for reports that are not read yet.
    fn games(&self, games_max: u64) -> u64 {
        let unread = self.unread.saturating_mul(self.games_usual);
        self.games + unread.min(games_max / UNREAD_PART)
    }
}

impl Reports {
    /// Limit for the games of all open reports.
    pub(super) fn new(games_max: u64, metrics: Arc<CoordinatorMetrics>) -> Arc<Self> {
        Arc::new(Self {
            games_max,
            held: Mutex::default(),
            waiting: Waiting::new(WAITING_BYTES_MAX),
            metrics,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a report of a caller, or returns the delay.
    pub(super) fn admit(self: &Arc<Self>, caller: &Arc<str>) -> Result<Arc<Admitted>, Duration> {
        let is_crowd = self.waiting.is_crowded_by(caller);
        let mut held = self.lock();
        // A report larger than the whole limit is admitted if it is the only one.
        let full = held.read >= COMMANDS_MAX
            || held.unread >= UNREAD_MAX
            || held.games(self.games_max) >= self.games_max
            || held.bytes >= BYTES_MAX;
        if is_crowd || full && (held.read > 0 || held.unread > 0) {
            return Err(held.time_usual.clamp(WAIT.0, WAIT.1));
        }
        held.unread += 1;
        self.show(&held);
        drop(held);
        Ok(Arc::new(Admitted {
            reports: Arc::clone(self),
            since: Instant::now(),
            part: Mutex::default(),
        }))
    }

    fn show(&self, held: &Held) {
        let games = held.games(self.games_max);
        self.metrics.report_queue_games.set(games as i64);
    }
}

/// An admitted report; its room is free again when it is dropped.
pub(crate) struct Admitted {
    reports: Arc<Reports>,
    since: Instant,
    part: Mutex<Part>,
}

#[derive(Default)]
struct Part {
    /// Its games, once it is read.
    games: Option<u64>,
    bytes: u64,
    /// Time for which it was set aside.
    aside: Duration,
}

impl Admitted {
    /// Its body, which is counted as it is read and limited together with others of a caller.
    pub(super) fn metered(self: &Arc<Self>, body: Body, caller: &Arc<str>) -> Body {
        let (caller, waiting) = (Arc::clone(caller), Arc::clone(&self.reports.waiting));
        let metered = Body::new(Metered::new(body, Arc::clone(self)));
        let bytes_max = (REPORT_BYTES_MAX + PREFIX_BYTES) as u64;
        Body::new(Bounded::new(metered, bytes_max, caller, waiting))
    }

    fn lock(&self) -> MutexGuard<'_, Part> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the number of games of the report, which is read.
    pub(crate) fn has(&self, games: u64) {
        let mut part = self.lock();
        let mut held = self.reports.lock();
        match part.games.replace(games) {
            Some(before) => held.games -= before,
            None => {
                held.unread -= 1;
                held.read += 1;
            }
        }
        held.games += games;
        held.games_usual = smooth(held.games_usual, games);
        self.reports.show(&held);
    }

    /// Leaves the room of the reports that are read while other workers replay its games.
    ///
    /// # Errors
    /// [`Error::Overloaded`] if too many do.
    pub(super) fn set_aside(&self, caller: &Arc<str>) -> Result<Aside<'_>, Error> {
        let part = self.lock();
        let games = part.games.unwrap_or(0);
        let mut held = self.reports.lock();
        let own = held.aside.get(caller).copied().unwrap_or(0);
        let all: u64 = held.aside.values().sum();
        // One report is always taken.
        if own >= ASIDE_CALLER_BYTES_MAX || all >= ASIDE_BYTES_MAX {
            return Err(Error::Overloaded { wait: ASIDE_WAIT });
        }
        *held.aside.entry(Arc::clone(caller)).or_default() += part.bytes;
        held.read -= 1;
        held.games -= games;
        held.bytes -= part.bytes;
        self.reports.show(&held);
        Ok(Aside {
            admitted: self,
            caller: Arc::clone(caller),
            since: Instant::now(),
        })
    }

    /// More of the report was read. Returns false if that is too much.
    fn read(&self, bytes: u64) -> bool {
        self.lock().bytes += bytes;
        let mut held = self.reports.lock();
        held.bytes += bytes;
        held.bytes < BYTES_HARD_MAX
    }
}

/// A report that is set aside, until this is dropped.
pub(super) struct Aside<'a> {
    admitted: &'a Admitted,
    caller: Arc<str>,
    since: Instant,
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        let mut part = self.admitted.lock();
        part.aside += self.since.elapsed();
        let mut held = self.admitted.reports.lock();
        if let Some(bytes) = held.aside.get_mut(&self.caller) {
            *bytes -= part.bytes;
            if *bytes == 0 {
                held.aside.remove(&self.caller);
            }
        }
        held.read += 1;
        held.games += part.games.unwrap_or(0);
        held.bytes += part.bytes;
        self.admitted.reports.show(&held);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let part = self.part.get_mut().unwrap_or_else(PoisonError::into_inner);
        let took = self.since.elapsed();
        let mut held = self.reports.lock();
        held.bytes -= part.bytes;
        match part.games {
            Some(games) => {
                held.read -= 1;
                held.games -= games;
                // So long a refused worker waits for room.
                let occupied = took.saturating_sub(part.aside).min(WAIT.1);
                held.time_usual = (held.time_usual * (SMOOTHING - 1) + occupied) / SMOOTHING;
                self.reports.metrics.report_answered(took);
            }
            None => held.unread -= 1,
        }
        self.reports.show(&held);
    }
}

/// Moves a part of the way towards a target, and finally reaches it.
fn smooth(usual: u64, now: u64) -> u64 {
    (usual * u64::from(SMOOTHING - 1) + now).div_ceil(u64::from(SMOOTHING))
}

/// A body whose bytes are counted as they are read, and that must make progress.
struct Metered {
    body: Body,
    admitted: Arc<Admitted>,
    deadline: Pin<Box<Sleep>>,
}

impl Metered {
    fn new(body: Body, admitted: Arc<Admitted>) -> Self {
        Self {
            body,
            deadline: Box::pin(sleep_until(admitted.since + PAUSE_MAX)),
            admitted,
        }
    }
}

impl http_body::Body for Metered {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            ready!(self.deadline.as_mut().poll(context));
            let late = "the report stopped arriving, or arrived too slowly";
            return Poll::Ready(Some(Err(Status::deadline_exceeded(late))));
        };
        let last = self.admitted.since + READ_MAX;
        self.deadline
            .as_mut()
            .reset(last.min(Instant::now() + PAUSE_MAX));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
            && !self.admitted.read(data.len() as u64)
        {
            return Poll::Ready(Some(Err(Error::Overloaded { wait: WAIT.1 }.into())));
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
mod tests;
