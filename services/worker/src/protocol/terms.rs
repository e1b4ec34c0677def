//! Types of the protocol.

use std::{rc::Rc, time::Duration};

/// Number of an attempt to join, and of the resulting stay.
pub type StayNo = u64;
/// Number of a request for games.
pub type CallNo = u64;
/// The worker's own number of a lease. The coordinator's numbers start from 1 again whenever the
/// coordinator starts.
pub type LeaseNo = u64;
/// Number of a report.
pub type ReportNo = u64;

/// Settings of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolSettings {
    /// Games played at once.
    pub capacity: usize,
    /// How long the coordinator may be out of reach before the first contact. Later, the worker
    /// waits without a limit.
    pub connect_timeout: Duration,
    /// Time for started games after [`Protocol::drain`](super::Protocol::drain).
    pub drain_limit: Duration,
    /// Seed of the jitter.
    pub seed: u64,
}

/// The time between joining a coordinator and leaving it. Every lease belongs to one stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The worker's own number of the stay.
    pub number: StayNo,
    /// The coordinator's id of the worker.
    pub worker_id: String,
    /// The boot epoch of the coordinator.
    pub boot_epoch: u64,
    /// The secret that each call has to carry.
    pub session: Vec<u8>,
    /// Interval of progress reports.
    pub heartbeat: Duration,
}

/// A lease as the coordinator knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The stay in which it was granted.
    pub stay: Rc<Stay>,
    /// The coordinator's number of the lease.
    pub lease_id: u64,
    /// The tournament of its games.
    pub tournament: String,
    /// The proof that its games were leased.
    pub ticket: Vec<u8>,
}

/// A failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There was no answer, or a temporary error. The request may be sent again.
    Failed,
    /// The coordinator is overloaded (`RESOURCE_EXHAUSTED`). It may name a delay.
    Busy {
        /// The delay in the `RetryInfo` of the answer.
        after: Option<Duration>,
    },
    /// The coordinator does not know the worker: join again first.
    UnknownWorker,
    /// The request has invalid or too large content (`INVALID_ARGUMENT`, `OUT_OF_RANGE`). A
    /// request without that content may be accepted.
    Contents,
    /// The request will never be accepted.
    Never,
    /// The coordinator does not accept the token or the certificate of the worker.
    NoAccess,
}

/// What happens to a refused report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedReport {
    /// The report is sent again.
    Again,
    /// The report becomes two reports, which are sent with [`Action::ReportAgain`]: one with the
    /// first games, the other with the rest.
    Split {
        /// Number of games in the first half.
        first: usize,
        /// The numbers of the halves.
        halves: [ReportNo; 2],
    },
    /// The only game of the report is refused. A report of a failed attempt replaces it, under the
    /// same number, and is sent with [`Action::ReportAgain`]. So the game is leased again, or is
    /// void after the maximum of attempts.
    Replaced,
    /// The report is dropped: it will never be accepted, or it is not needed any more.
    Dropped,
}

/// The next action.
#[derive(Debug)]
pub enum Action<R> {
    /// Join, then call [`Protocol::welcomed`](super::Protocol::welcomed), report further events,
    /// and finally call [`Protocol::parted`](super::Protocol::parted).
    Join {
        /// The stay that results.
        stay: StayNo,
        /// Timeout of the welcome.
        timeout: Duration,
    },
    /// Close the connection of a stay that is over.
    Leave(StayNo),
    /// Request games, then call [`Protocol::leased`](super::Protocol::leased),
    /// [`Protocol::nothing_leased`](super::Protocol::nothing_leased) or
    /// [`Protocol::not_leased`](super::Protocol::not_leased).
    Ask {
        /// This request.
        call: CallNo,
        /// The stay of the request.
        stay: Rc<Stay>,
        /// Maximum number of games.
        games: usize,
        /// Maximum time that the coordinator may wait for games.
        wait: Duration,
        /// Timeout of the answer.
        timeout: Duration,
    },
    /// Report to the coordinator that the worker leaves; then call
    /// [`Protocol::took_leave`](super::Protocol::took_leave), whatever the result.
    TakeLeave {
        /// The stay that ends.
        stay: Rc<Stay>,
        /// Timeout of the answer.
        timeout: Duration,
    },
    /// Cancel the open request for games.
    AskNoMore,
    /// Drop all games that have not started.
    DropWaiting,
    /// Drop the games of a lease, also those in play.
    Drop(LeaseNo),
    /// Report games and keep the request; call
    /// [`Protocol::reported`](super::Protocol::reported) or
    /// [`Protocol::not_reported`](super::Protocol::not_reported).
    Report {
        /// This report.
        report: ReportNo,
        /// The lease of the games.
        lease: Rc<Lease>,
        /// Reports of the games.
        games: Vec<R>,
        /// Timeout of the answer.
        timeout: Duration,
    },
    /// Send a report again.
    ReportAgain {
        /// The report.
        report: ReportNo,
        /// Timeout of the answer.
        timeout: Duration,
    },
    /// Report the progress of leases; pass the answer to
    /// [`Protocol::leases_ended`](super::Protocol::leases_ended).
    Beat {
        /// The stay of the leases.
        stay: Rc<Stay>,
        /// The coordinator's numbers of leases, with their plies.
        leases: Vec<(u64, u64)>,
        /// The worker knows the result of every request for games up to this one. A lease that such
        /// a request got and that is not in `leases` is not on this worker.
        settled: CallNo,
        /// Timeout of the answer.
        timeout: Duration,
    },
    /// Stop.
    End(Ending),
}

/// Why a worker stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The worker was asked to drain and has no game left.
    Drained,
    /// The coordinator was out of reach for too long.
    Unreachable {
        /// The time without contact.
        waited: Duration,
        /// The last problem.
        last: String,
    },
    /// The coordinator does not let the worker join.
    NoAccess {
        /// The reason, as the coordinator gives it.
        problem: String,
    },
}

/// What the protocol needs to know of the games.
pub trait Playing {
    /// Number of unfinished games, started or not.
    fn unfinished(&self) -> usize;

    /// True if every lease is over.
    fn is_done(&self) -> bool;

    /// Number of games that wait in tournaments whose agents have no time for more games. No more
    /// games of these tournaments are requested.
    fn sated(&self) -> usize {
        0
    }

    /// The open leases with their progress.
    fn progress(&mut self) -> Vec<Progress>;
}

/// Progress of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The lease.
    pub lease: LeaseNo,
    /// Plies that were played, plus signs of life while agents think. The coordinator gets this
    /// number.
    pub reported: u64,
    /// Plies that were played, without signs of life.
    pub plies: u64,
    /// True if nothing works on the games of the lease at present: they all wait behind others.
    pub waits: bool,
}
