//! Being joined, or on the way there.

use std::{rc::Rc, time::Duration};

use super::{
    Ending, Refusal, Stay, StayNo,
    backoff::{Backoff, Jitter},
};

/// After a lost connection: the first wait.
const WAIT_FIRST: Duration = Duration::from_millis(50);
/// The longest a single attempt to join is waited for.
const ATTEMPT: Duration = Duration::from_secs(10);

#[derive(Debug)]
enum State {
    /// To be tried again then.
    Away { until: Duration },
    /// Asked, and no welcome yet.
    Joining(StayNo),
    Here {
        stay: Rc<Stay>,
        /// The coordinator stops: it assigns nothing more.
        stopping: bool,
    },
}

/// The worker's presence at a coordinator.
#[derive(Debug)]
pub(super) struct Presence {
    state: State,
    stays: StayNo,
    backoff: Backoff,
    /// How long it may be out of reach before it was reached once; after that, as long
    /// as it takes.
    limit: Option<Duration>,
    /// Since when it is.
    lost: Option<Duration>,
}

impl Presence {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            state: State::Away {
                until: Duration::ZERO,
            },
            stays: 0,
            backoff: Backoff::new(WAIT_FIRST),
            limit: Some(limit),
            lost: None,
        }
    }

    /// The stay at which games are asked for and progress is reported.
    pub(super) fn stay(&self) -> Option<&Rc<Stay>> {
        match &self.state {
            State::Here {
                stay,
                stopping: false,
            } => Some(stay),
            _ => None,
        }
    }

    pub(super) fn joined(&self) -> bool {
        matches!(self.state, State::Here { .. })
    }

    /// Whether this is the stay, or the attempt at one, that counts.
    pub(super) fn is_current(&self, number: StayNo) -> bool {
        match &self.state {
            State::Away { .. } => false,
            State::Joining(joining) => *joining == number,
            State::Here { stay, .. } => stay.number == number,
        }
    }

    /// Begins an attempt that is due: its number, and how long it may take.
    pub(super) fn join(&mut self, now: Duration) -> Option<(StayNo, Duration)> {
        match self.state {
            State::Away { until } if until <= now => {}
            _ => return None,
        }
        let lost = *self.lost.get_or_insert(now);
        self.stays += 1;
        self.state = State::Joining(self.stays);
        let left = |limit: Duration| limit.saturating_sub(now.saturating_sub(lost));
        let left = self.limit.map_or(ATTEMPT, left);
        Some((self.stays, left.min(ATTEMPT)))
    }

    /// Takes the first welcome of the attempt that counts.
    pub(super) fn welcome(&mut self, stay: Stay) {
        if !matches!(self.state, State::Joining(joining) if joining == stay.number) {
            return;
        }
        self.backoff.reset();
        (self.limit, self.lost) = (None, None);
        self.state = State::Here {
            stay: Rc::new(stay),
            stopping: false,
        };
    }

    pub(super) fn stops(&mut self) {
        if let State::Here { stopping, .. } = &mut self.state {
            *stopping = true;
        }
    }

    /// The stay is over, or did not come about; tells where it has been out of
    /// reach for too long.
    pub(super) fn part(
        &mut self,
        now: Duration,
        refusal: Refusal,
        problem: &str,
        jitter: &mut Jitter,
    ) -> Option<Ending> {
        // A coordinator that says it is busy is not out of reach, however long
        // it is to be left alone.
        let busy = matches!(refusal, Refusal::Busy { .. });
        let wait = self.backoff.next(jitter, refusal);
        self.state = State::Away { until: now + wait };
        if busy {
            self.lost = Some(now + wait);
            return None;
        }
        let waited = now.saturating_sub(*self.lost.get_or_insert(now));
        let limit = self.limit?;
        (waited + wait >= limit).then(|| Ending::Unreachable {
            waited,
            last: problem.to_owned(),
        })
    }

    /// When an attempt is due.
    pub(super) fn wake(&self) -> Option<Duration> {
        match self.state {
            State::Away { until } => Some(until),
            _ => None,
        }
    }
}
