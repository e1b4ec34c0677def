//! What the protocol speaks of.

use std::{rc::Rc, time::Duration};

/// Number of an attempt to join, and of the stay that came of it.
pub type StayNo = u64;
/// Number of a request for games.
pub type CallNo = u64;
/// The worker's own number of a lease: the coordinator's begin anew with each
/// of its starts.
pub type LeaseNo = u64;
/// Number of a report.
pub type ReportNo = u64;

/// What the protocol is reported once.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolSettings {
    /// Games at once.
    pub capacity: usize,
    /// How long the coordinator may be out of reach before it is reached once. One that
    /// goes away later is waited for as long as it takes.
    pub connect_timeout: Duration,
    /// How long games that began may still take after [`Protocol::drain`](super::Protocol::drain).
    pub drain_limit: Duration,
    /// Of the jitter.
    pub seed: u64,
}

/// A stay at a coordinator. Leases belong to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Its number here.
    pub number: StayNo,
    /// What the coordinator calls the worker.
    pub worker_id: String,
    /// Which start of the coordinator that was.
    pub boot_epoch: u64,
    /// How often it hears of the worker's progress.
    pub heartbeat: Duration,
}

/// A lease as the coordinator knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Where it came from.
    pub stay: Rc<Stay>,
    /// The coordinator's number of it.
    pub lease_id: u64,
    /// Whose games these are.
    pub tournament: String,
}

/// A request that was not answered as hoped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody answered, or something went wrong: it may be asked again.
    Failed,
    /// The coordinator has too much to do (`RESOURCE_EXHAUSTED`), and may have
    /// said for how long it wants to be left alone.
    Busy {
        /// Its `RetryInfo`.
        after: Option<Duration>,
    },
    /// It does not know the worker (any more): join again first.
    UnknownWorker,
    /// Something in it is not as it should be, or it is too large
    /// (`INVALID_ARGUMENT`, `OUT_OF_RANGE`): without that it may be granted.
    Contents,
    /// It will never be granted.
    Never,
}

/// What becomes of a report that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedReport {
    /// It is sent again.
    Again,
    /// It is two reports from now on, which are sent with
    /// [`Action::ReportAgain`]: one with the first games, the other with the
    /// rest.
    Split {
        /// How many games the first half has.
        first: usize,
        /// The numbers of the halves.
        halves: [ReportNo; 2],
    },
    /// Its one game is what is refused: in its place an attempt that failed is
    /// to be reported under the same number, so that the game is leased again, or
    /// is void after its cap of attempts. That is asked for with
    /// [`Action::ReportAgain`].
    Replaced,
    /// Nobody wants it.
    Dropped,
}

/// What to do next.
#[derive(Debug)]
pub enum Action<R> {
    /// Join, then tell [`Protocol::welcomed`](super::Protocol::welcomed), what
    /// else comes, and in the end [`Protocol::parted`](super::Protocol::parted).
    Join {
        /// The stay that is to come of it.
        stay: StayNo,
        /// Without a welcome for this long it failed.
        timeout: Duration,
    },
    /// Close the connection of a stay: it is over.
    Leave(StayNo),
    /// Ask for games; tell [`Protocol::leased`](super::Protocol::leased),
    /// [`Protocol::nothing_leased`](super::Protocol::nothing_leased) or
    /// [`Protocol::not_leased`](super::Protocol::not_leased).
    Ask {
        /// This request.
        call: CallNo,
        /// Who asks.
        stay: Rc<Stay>,
        /// The most games wanted.
        games: usize,
        /// How long the coordinator may wait for some.
        wait: Duration,
        /// Without an answer for this long it failed.
        timeout: Duration,
    },
    /// Tell that the worker goes away in order; then
    /// [`Protocol::took_leave`](super::Protocol::took_leave), whatever came of it.
    TakeLeave {
        /// Who goes.
        stay: Rc<Stay>,
        /// Nobody waits for the answer longer.
        timeout: Duration,
    },
    /// Nobody waits for games any more.
    AskNoMore,
    /// Forget games that did not begin.
    DropWaiting,
    /// Forget the games of a lease, also those that are played.
    Drop(LeaseNo),
    /// Report games, keep the request; tell
    /// [`Protocol::reported`](super::Protocol::reported) or
    /// [`Protocol::not_reported`](super::Protocol::not_reported).
    Report {
        /// This report.
        report: ReportNo,
        /// Under which lease.
        lease: Rc<Lease>,
        /// What became of the games.
        games: Vec<R>,
        /// Without an answer for this long it failed.
        timeout: Duration,
    },
    /// Send a report once more.
    ReportAgain {
        /// Which.
        report: ReportNo,
        /// Without an answer for this long it failed.
        timeout: Duration,
    },
    /// Tell how far leases are; what the answer says goes to
    /// [`Protocol::leases_ended`](super::Protocol::leases_ended).
    Beat {
        /// Who tells.
        stay: Rc<Stay>,
        /// The coordinator's numbers of leases, and plies played in them.
        leases: Vec<(u64, u64)>,
        /// Requests for games up to this one are not waited for any more: what
        /// came of them is among these leases, or is not here.
        settled: CallNo,
        /// Nobody waits for the answer longer.
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
        /// For how long.
        waited: Duration,
        /// The last problem.
        last: String,
    },
}

/// What the protocol asks of the games at hand.
pub trait Playing {
    /// Games that are not over, begun or not.
    fn unfinished(&self) -> usize;

    /// True where every lease is over.
    fn is_done(&self) -> bool;

    /// True where agents have no time for more games than there are.
    fn is_sated(&self) -> bool {
        false
    }

    /// The leases that are not over, and how far they are.
    fn progress(&mut self) -> Vec<Progress>;
}

/// How far a lease is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which.
    pub lease: LeaseNo,
    /// What the coordinator is reported: plies, and signs of life between them.
    pub reported: u64,
    /// Plies that were played.
    pub plies: u64,
    /// Nobody is at a game of it at present.
    pub waits: bool,
}
