//! Results on their way to the coordinator: in batches, again and again until
//! they are answered.

use std::{collections::BTreeMap, marker::PhantomData, rc::Rc, time::Duration};

use super::{
    Lease, LeaseNo, Refusal, ReportNo,
    backoff::{Backoff, Jitter},
    defects::Defects,
};

/// Games of one report.
const GAMES: usize = 256;
/// How long a game waits for others of its lease.
const WAIT: Duration = Duration::from_millis(20);
/// Reports on their way at a time.
const IN_FLIGHT: usize = 4;
/// After a report that was not taken: the first wait.
const RETRY_FIRST: Duration = Duration::from_millis(10);

#[derive(Debug)]
struct Group<R> {
    lease: Rc<Lease>,
    games: Vec<R>,
    since: Duration,
}

/// A report that is not answered.
#[derive(Debug)]
struct Call {
    games: usize,
    backoff: Backoff,
    /// When it is sent again; none while it is on its way.
    again: Option<Duration>,
}

/// A report to be sent.
pub(super) enum Due<R> {
    New(ReportNo, Rc<Lease>, Vec<R>),
    Again(ReportNo),
}

/// What was not answered for.
#[derive(Debug)]
pub(super) struct Reports<R, D> {
    groups: BTreeMap<LeaseNo, Group<R>>,
    calls: BTreeMap<ReportNo, Call>,
    ever: ReportNo,
    unanswered: usize,
    /// The coordinator wants no new reports before this.
    rest: Duration,
    defects: PhantomData<D>,
}

impl<R, D: Defects> Reports<R, D> {
    pub(super) fn new() -> Self {
        Self {
            groups: BTreeMap::new(),
            calls: BTreeMap::new(),
            ever: 0,
            unanswered: 0,
            rest: Duration::ZERO,
            defects: PhantomData,
        }
    }

    /// Adds a result.
    pub(super) fn add(&mut self, now: Duration, number: LeaseNo, lease: &Rc<Lease>, result: R) {
        self.unanswered += 1;
        let group = self.groups.entry(number).or_insert_with(|| Group {
            lease: lease.clone(),
            games: Vec::new(),
            since: now,
        });
        group.games.push(result);
    }

    /// Games that are not answered for.
    pub(super) fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// What is to be sent now: what was not taken before, and what is enough
    /// for a report or waited long; everything where `all` says so.
    pub(super) fn due(&mut self, now: Duration, all: bool) -> Option<Due<R>> {
        let again = self
            .calls
            .iter_mut()
            .find(|(_, call)| call.again.is_some_and(|again| again <= now));
        if let Some((&report, call)) = again {
            call.again = None;
            return Some(Due::Again(report));
        }
        if self.calls.len() >= IN_FLIGHT || now < self.rest {
            return None;
        }
        let (&number, _) = self.groups.iter().find(|(_, group)| {
            all || group.games.len() >= GAMES || now.saturating_sub(group.since) >= WAIT
        })?;
        let group = self.groups.get_mut(&number)?;
        let lease = group.lease.clone();
        let games = if group.games.len() > GAMES {
            group.games.drain(..GAMES).collect()
        } else {
            self.groups.remove(&number)?.games
        };
        self.ever += 1;
        self.calls.insert(
            self.ever,
            Call {
                games: games.len(),
                backoff: Backoff::new(RETRY_FIRST),
                again: None,
            },
        );
        Some(Due::New(self.ever, lease, games))
    }

    /// A report was answered, or never will be granted.
    pub(super) fn settle(&mut self, report: ReportNo) {
        if let Some(call) = self.calls.remove(&report) {
            self.unanswered -= call.games;
        }
    }

    /// A report was not taken; tells whether it will be sent again.
    pub(super) fn failed(
        &mut self,
        now: Duration,
        report: ReportNo,
        refusal: Refusal,
        jitter: &mut Jitter,
    ) -> bool {
        if refusal == Refusal::Never || D::RETRIES_NOTHING {
            self.settle(report);
            return false;
        }
        if let Some(call) = self.calls.get_mut(&report) {
            let again = now + call.backoff.next(jitter, refusal);
            call.again = Some(again);
            if matches!(refusal, Refusal::Busy { .. }) {
                self.rest = self.rest.max(again);
            }
        }
        true
    }

    /// When something is due next.
    pub(super) fn wake(&self) -> Option<Duration> {
        let again = self.calls.values().filter_map(|call| call.again).min();
        let fresh = (self.calls.len() < IN_FLIGHT)
            .then(|| self.groups.values().map(|group| group.since + WAIT).min())
            .flatten()
            .map(|due| due.max(self.rest));
        again.into_iter().chain(fresh).min()
    }
}
