//! Types of the protocol.

use std::{rc::Rc, time::Duration};

/// Number of an attempt to join, and of the resulting stay.
pub type StayNo = u64;
/// Number of a request for games.
pub type CallNo = u64;
/// The worker's own number of a lease; the coordinator's numbers start anew with each of its
/// starts.
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

/// A stay at a coordinator. Leases belong to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Its number here.
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
    /// The coordinator's number of it.
    pub lease_id: u64,
    /// The tournament of its games.
    pub tournament: String,
    /// The proof that its games were leased.
    pub ticket: Vec<u8>,
}

/// A failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No answer, or a temporary error: it may be sent again.
    Failed,
    /// The coordinator is overloaded (`RESOURCE_EXHAUSTED`), and may have requested a pause.
    Busy {
        /// The `RetryInfo`.
        after: Option<Duration>,
    },
    /// The coordinator does not know the worker: join again first.
    UnknownWorker,
    /// Its content is invalid or too large (`INVALID_ARGUMENT`, `OUT_OF_RANGE`): without that
    /// content it may be accepted.
    Contents,
    /// It will never be accepted.
    Never,
    /// The coordinator does not accept what the worker shows: its token or its certificate.
    NoAccess,
}

/// What happens to a refused report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedReport {
    /// It is sent again.
    Again,
    /// It becomes two reports, which are sent with [`Action::ReportAgain`]: one with the first
    /// games, the other with the rest.
    Split {
        /// Number of games in the first half.
        first: usize,
        /// The numbers of the halves.
        halves: [ReportNo; 2],
    },
    /// Its only game is refused: a failed attempt is reported in its place under the same number,
    /// so that the game is leased again, or is void after its cap of attempts. It is sent with
    /// [`Action::ReportAgain`].
    Replaced,
    /// It is not wanted.
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
    /// Close the connection of a stay: it is over.
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
    /// Tell the coordinator that the worker leaves in order; then call
    /// [`Protocol::took_leave`](super::Protocol::took_leave), whatever the result.
    TakeLeave {
        /// The stay that ends.
        stay: Rc<Stay>,
        /// Timeout of the answer.
        timeout: Duration,
    },
    /// The open request for games is not wanted any more.
    AskNoMore,
    /// Drop games that did not start.
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
        /// Requests for games up to this one are settled: their leases are in this list, or not
        /// here.
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
    /// It was asked to, and is done.
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
        /// Why.
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
    /// Plies and signs of life, for the coordinator.
    pub reported: u64,
    /// Plies that were played.
    pub plies: u64,
    /// True if nothing works on its games at present.
    pub waits: bool,
}
