//! Results on their way to the coordinator: in batches, repeated until they are answered.
//!
//! A report that is refused because of its content is halved, and its halves again, until the
//! responsible game is alone. That game is reported as a failed attempt, and costs the others
//! nothing.

use super::defects::{Defect, is_injected};
use std::{
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    time::Duration,
};

use arena_engine::AgentRng;

use super::{Action, Lease, LeaseNo, Refusal, RefusedReport, ReportNo, backoff::Backoff};

/// Maximum games of one report.
const GAMES: usize = 256;
/// Maximum bytes of one report, unless a single game has more: a quarter of the coordinator's
/// limit (`REPORT_BYTES_MAX`).
const BYTES: usize = 4 << 20;
/// Timeout of a report; after it, the report is sent again.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time that a game waits for others of its lease.
const WAIT: Duration = Duration::from_millis(20);
/// Maximum reports in flight.
const IN_FLIGHT: usize = 4;
/// First pause after a refused report.
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
    /// True if it fills a report, or has waited long enough.
    fn is_enough(&self) -> bool {
        self.games.len() >= GAMES || self.bytes >= BYTES
    }

    /// Takes the games of one report, with its size.
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

/// A report without an answer.
#[derive(Debug)]
struct Call {
    lease: LeaseNo,
    games: usize,
    bytes: usize,
    /// True if it has a failed attempt in place of a refused game.
    replaced: bool,
    backoff: Backoff,
    /// Time at which it is sent again; none while it is in flight.
    again: Option<Duration>,
}

/// Unacknowledged results.
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

    /// Number of unacknowledged games.
    pub(super) fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// Their size in reports.
    pub(super) fn unanswered_bytes(&self) -> usize {
        self.unanswered_bytes
    }

    /// True if a lease has unacknowledged games.
    pub(super) fn holds(&self, lease: LeaseNo) -> bool {
        self.groups.contains_key(&lease) || self.calls.values().any(|call| call.lease == lease)
    }

    /// Time until which the overloaded coordinator has postponed reports.
    pub(super) fn put_off(&self) -> Duration {
        self.rest
    }

    /// The next reports: refused ones that are due, then full or old ones; all of them if `all` is
    /// set.
    pub(super) fn due(&mut self, now: Duration, all: bool) -> Option<Action<R>> {
        let timeout = REPORT_TIMEOUT;
        let may_call = self.may_call();
        let is_due = |call: &Call| may_call && call.again.is_some_and(|again| again <= now);
        if let Some((&report, call)) = self.calls.iter_mut().find(|(_, call)| is_due(call)) {
            call.again = None;
            return Some(Action::ReportAgain { report, timeout });
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
        Some(Action::Report {
            report,
            lease,
            games,
            timeout,
        })
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

    /// True if another report may be in flight; halves of a refused one wait.
    fn may_call(&self) -> bool {
        let calls = self.calls.values();
        calls.filter(|call| call.again.is_none()).count() < IN_FLIGHT
    }

    /// A report was answered, or is refused forever.
    pub(super) fn settle(&mut self, report: ReportNo) {
        if let Some(call) = self.calls.remove(&report) {
            self.unanswered -= call.games;
            self.unanswered_bytes -= call.bytes;
        }
    }

    /// A report was refused. Returns what happens to it.
    pub(super) fn failed(
        &mut self,
        now: Duration,
        report: ReportNo,
        refusal: Refusal,
        jitter: &mut AgentRng,
    ) -> RefusedReport {
        let Some(call) = self.calls.get_mut(&report) else {
            return RefusedReport::Dropped;
        };
        match refusal {
            _ if is_injected(Defect::RetriesNothing) => {}
            Refusal::Never | Refusal::NoAccess => {}
            Refusal::Contents if call.replaced || is_injected(Defect::DropsRefused) => {}
            Refusal::Contents if call.games > 1 => {
                let (lease, games, bytes) = (call.lease, call.games, call.bytes);
                self.calls.remove(&report);
                let first = games / 2;
                // The assignment of bytes to halves does not matter.
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

    /// Time at which something is due next.
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
