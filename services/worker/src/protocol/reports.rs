//! Results on their way to the coordinator: in batches, again and again until
//! they are answered.
//!
//! A report that is refused for what is in it is cut in halves, and those again,
//! until the game is alone for which it was refused: that one is reported as an
//! attempt that failed, and costs the others nothing.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    time::Duration,
};

use super::{
    Lease, LeaseNo, Refusal, RefusedReport, ReportNo,
    backoff::{Backoff, Jitter},
};

/// Games of one report.
const GAMES: usize = 256;
/// Bytes of one report, unless a single game has more: a quarter of what the
/// coordinator reads at most (its `REPORT_BYTES_MAX`).
const BYTES: usize = 4 << 20;
/// How long a game waits for others of its lease.
const WAIT: Duration = Duration::from_millis(20);
/// Reports on their way at a time.
const IN_FLIGHT: usize = 4;
/// After a report that was not taken: the first wait.
const RETRY_FIRST: Duration = Duration::from_millis(10);

#[derive(Debug)]
struct Group<R> {
    lease: Rc<Lease>,
    /// With their sizes.
    games: VecDeque<(R, usize)>,
    bytes: usize,
    since: Duration,
}

impl<R> Group<R> {
    /// Whether it makes a report, however long it waited.
    fn is_enough(&self) -> bool {
        self.games.len() >= GAMES || self.bytes >= BYTES
    }

    /// Takes what one report may have, with its size.
    fn take(&mut self) -> (Vec<R>, usize) {
        let mut taken = Vec::with_capacity(self.games.len().min(GAMES));
        let mut bytes = 0;
        while taken.len() < GAMES
            && let Some((game, size)) = self
                .games
                .pop_front_if(|(_, size)| taken.is_empty() || bytes + *size <= BYTES)
        {
            bytes += size;
            taken.push(game);
        }
        self.bytes -= bytes;
        (taken, bytes)
    }
}

/// A report that is not answered.
#[derive(Debug)]
struct Call {
    lease: LeaseNo,
    games: usize,
    bytes: usize,
    /// It has an attempt that failed in the place of a game that was refused.
    replaced: bool,
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
pub(super) struct Reports<R> {
    groups: BTreeMap<LeaseNo, Group<R>>,
    calls: BTreeMap<ReportNo, Call>,
    ever: ReportNo,
    unanswered: usize,
    unanswered_bytes: usize,
    /// The coordinator wants no new reports before this.
    rest: Duration,
}

impl<R> Reports<R> {
    pub(super) fn new() -> Self {
        Self {
            groups: BTreeMap::new(),
            calls: BTreeMap::new(),
            ever: 0,
            unanswered: 0,
            unanswered_bytes: 0,
            rest: Duration::ZERO,
        }
    }

    /// Adds a result.
    pub(super) fn add(
        &mut self,
        now: Duration,
        (number, lease): (LeaseNo, &Rc<Lease>),
        result: R,
        bytes: usize,
    ) {
        self.unanswered += 1;
        self.unanswered_bytes += bytes;
        let group = self.groups.entry(number).or_insert_with(|| Group {
            lease: lease.clone(),
            games: VecDeque::new(),
            bytes: 0,
            since: now,
        });
        group.games.push_back((result, bytes));
        group.bytes += bytes;
    }

    /// Games that are not answered for.
    pub(super) fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// What they take in reports.
    pub(super) fn unanswered_bytes(&self) -> usize {
        self.unanswered_bytes
    }

    /// Whether a lease has games that are not answered for.
    pub(super) fn holds(&self, lease: LeaseNo) -> bool {
        self.groups.contains_key(&lease) || self.calls.values().any(|call| call.lease == lease)
    }

    /// Until when the coordinator, having too much to do, put reports off.
    pub(super) fn put_off(&self) -> Duration {
        self.rest
    }

    /// What is to be sent now: what was not taken before, and what is enough
    /// for a report or waited long; everything where `all` says so.
    pub(super) fn due(&mut self, now: Duration, all: bool) -> Option<Due<R>> {
        let may_call = self.may_call();
        let again = self
            .calls
            .iter_mut()
            .find(|(_, call)| may_call && call.again.is_some_and(|again| again <= now));
        if let Some((&report, call)) = again {
            call.again = None;
            return Some(Due::Again(report));
        }
        if self.calls.len() >= IN_FLIGHT || now < self.rest {
            return None;
        }
        let (&number, _) = self.groups.iter().find(|(_, group)| {
            all || group.is_enough() || now.saturating_sub(group.since) >= WAIT
        })?;
        let group = self.groups.get_mut(&number)?;
        let lease = group.lease.clone();
        let (games, bytes) = group.take();
        if group.games.is_empty() {
            self.groups.remove(&number);
        }
        let report = self.call(number, (games.len(), bytes), None);
        Some(Due::New(report, lease, games))
    }

    fn call(
        &mut self,
        lease: LeaseNo,
        (games, bytes): (usize, usize),
        again: Option<Duration>,
    ) -> ReportNo {
        self.ever += 1;
        let call = Call {
            lease,
            games,
            bytes,
            replaced: false,
            backoff: Backoff::new(RETRY_FIRST),
            again,
        };
        self.calls.insert(self.ever, call);
        self.ever
    }

    /// Whether one more may be on its way; halves of what was refused wait.
    fn may_call(&self) -> bool {
        let calls = self.calls.values();
        calls.filter(|call| call.again.is_none()).count() < IN_FLIGHT
    }

    /// A report was answered, or never will be granted.
    pub(super) fn settle(&mut self, report: ReportNo) {
        if let Some(call) = self.calls.remove(&report) {
            self.unanswered -= call.games;
            self.unanswered_bytes -= call.bytes;
        }
    }

    /// A report was not taken; tells what becomes of it.
    pub(super) fn failed(
        &mut self,
        now: Duration,
        report: ReportNo,
        refusal: Refusal,
        jitter: &mut Jitter,
    ) -> RefusedReport {
        let Some(call) = self.calls.get_mut(&report) else {
            return RefusedReport::Dropped;
        };
        match refusal {
            _ if is_injected(Defect::RetriesNothing) => {}
            Refusal::Never => {}
            Refusal::Contents if call.replaced || is_injected(Defect::DropsRefused) => {}
            Refusal::Contents if call.games > 1 => {
                let (lease, games, bytes) = (call.lease, call.games, call.bytes);
                self.calls.remove(&report);
                let first = games / 2;
                // Which of the bytes are whose is of no matter.
                let halves = [(first, bytes / 2), (games - first, bytes - bytes / 2)];
                return RefusedReport::Split {
                    first,
                    halves: halves.map(|half| self.call(lease, half, Some(now))),
                };
            }
            Refusal::Contents => {
                call.replaced = true;
                call.again = Some(now);
                return RefusedReport::Replaced;
            }
            Refusal::Failed | Refusal::Busy { .. } | Refusal::UnknownWorker => {
                let again = now + call.backoff.next(jitter, refusal);
                call.again = Some(again);
                if matches!(refusal, Refusal::Busy { .. }) {
                    self.rest = self.rest.max(again);
                }
                return RefusedReport::Again;
            }
        }
        self.settle(report);
        RefusedReport::Dropped
    }

    /// When something is due next.
    pub(super) fn wake(&self) -> Option<Duration> {
        let again = self.calls.values().filter_map(|call| call.again).min();
        let again = again.filter(|_| self.may_call());
        let fresh = (self.calls.len() < IN_FLIGHT)
            .then(|| self.groups.values().map(|group| group.since + WAIT).min())
            .flatten()
            .map(|due| due.max(self.rest));
        again.into_iter().chain(fresh).min()
    }
}
