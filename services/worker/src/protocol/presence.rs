//! Being joined, or trying to join.

use std::{rc::Rc, time::Duration};

use arena_engine::AgentRng;

use super::{Ending, Refusal, Stay, StayNo, backoff::Backoff};

/// First pause after a lost connection.
const WAIT_FIRST: Duration = Duration::from_millis(50);
/// Timeout of one attempt to join.
const ATTEMPT: Duration = Duration::from_secs(10);

#[derive(Debug)]
enum State {
    /// Tries again at this time.
    Away { until: Duration },
    /// Has asked, and was not welcomed yet.
    Joining(StayNo),
    Here {
        stay: Rc<Stay>,
        /// The coordinator stops: it grants no more leases.
        stopping: bool,
    },
}

/// The worker's presence at a coordinator.
#[derive(Debug)]
pub(super) struct Presence {
    state: State,
    stays: StayNo,
    backoff: Backoff,
    /// How long the coordinator may be out of reach before the first contact; after that there is
    /// no limit.
    limit: Option<Duration>,
    /// Time since which it is out of reach.
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

    /// The stay in which games are requested and progress is reported.
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

    /// True if this is the current stay or attempt.
    pub(super) fn is_current(&self, number: StayNo) -> bool {
        match &self.state {
            State::Away { .. } => false,
            State::Joining(joining) => *joining == number,
            State::Here { stay, .. } => stay.number == number,
        }
    }

    /// Starts a due attempt. Returns its number and timeout.
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

    /// Handles the first welcome of the current attempt.
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

    /// The stay ended, or the attempt failed. Returns the end of the worker if the coordinator was
    /// out of reach for too long, or does not accept the worker any more.
    pub(super) fn part(
        &mut self,
        now: Duration,
        refusal: Refusal,
        problem: &str,
        jitter: &mut AgentRng,
    ) -> Option<Ending> {
        let no_access = refusal == Refusal::NoAccess;
        let ending = |waited| match no_access {
            true => Ending::NoAccess {
                problem: problem.to_owned(),
            },
            false => Ending::Unreachable {
                waited,
                last: problem.to_owned(),
            },
        };
        if no_access && self.limit.is_none() {
            // It had access. Before the first contact, a coordinator that starts may write its token
            // later.
            return Some(ending(Duration::ZERO));
        }
        // A coordinator that reports overload is not out of reach, however long the pause.
        let busy = matches!(refusal, Refusal::Busy { .. });
        let wait = self.backoff.next(jitter, refusal);
        self.state = State::Away { until: now + wait };
        if busy {
            self.lost = Some(now + wait);
            return None;
        }
        let waited = now.saturating_sub(*self.lost.get_or_insert(now));
        let limit = self.limit?;
        (waited + wait >= limit).then(|| ending(waited))
    }

    /// Time of the next attempt.
    pub(super) fn wake(&self) -> Option<Duration> {
        match self.state {
            State::Away { until } => Some(until),
            _ => None,
        }
    }
}
