//! What the accounting speaks of.

use std::time::Duration;

/// Number of a tournament, in order of its being added.
pub type TournamentNo = u32;
/// Number of a worker, in order of joining.
pub type WorkerId = u64;
/// Who plays, as far as audits go: a game is audited by another than played it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerProcess {
    /// Nobody knows: it was played before this start, or long ago.
    #[default]
    Unknown,
    /// A process, by the number that it drew at its start: the same in all its
    /// joins. Names do not tell processes apart, all those of a host may have
    /// one name.
    Process(u64),
    /// Of a process that tells no such number: each join counts for another.
    Join(WorkerId),
}

/// Number of a lease, from 1.
pub type LeaseId = u64;

/// What the accounting is reported once.
#[derive(Clone, Copy, Debug)]
pub struct LedgerSettings {
    /// A lease without progress for this long is taken back; each tournament
    /// may have some more.
    pub lease_deadline: Duration,
    /// Share of games played again on another worker, in parts of a million.
    pub audit_ppm: u32,
    /// How long hosts have to come back at which an agent ran; a tenth of it passes
    /// between attempts at a game where nothing else is played.
    pub host_grace_period: Duration,
}

/// Whether more games may follow those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// These are all.
    Last,
    /// What follows depends on what they come to: see
    /// [`Ledger::extend`](super::Ledger::extend).
    More,
}

/// What became of a tournament when a game of it was durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterGame {
    /// There is more to play.
    Nothing,
    /// All games that are known are durable: it is to be reported what follows.
    Due,
    /// It is finished.
    Finished,
}

/// What a tournament does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Games are leased.
    Running,
    /// No games are leased; results are still taken.
    Paused,
    /// The same, and it does not finish even where every game is done: it paused
    /// itself, and a user has to look at it.
    Held,
    /// Every game is done.
    Finished,
    /// No games are leased and no results taken.
    Cancelled,
}

/// How much longer than usual the leases of a tournament may go without
/// progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgressTimeouts {
    /// Until the first progress: agents have to start.
    pub first: Duration,
    /// Between two signs of progress: agents may think.
    pub between: Duration,
}

/// A request for games.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Who asks.
    pub worker: WorkerId,
    /// The most games wanted.
    pub wanted: usize,
    /// The worker's own number of it, growing from 1; 0 where it tells none.
    pub call: u64,
}

/// A game that could not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Position in the schedule.
    pub index: u64,
    /// The agent that did not start, where that was why.
    pub unready: Option<u16>,
}

/// A game of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Position in the schedule.
    pub index: u64,
    /// Failed attempts before; as many as [`arena_wire::ATTEMPTS_MAX`] where it is
    /// not to be played any more, but to be reported as void.
    pub attempts: u32,
}

/// Games leased to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The lease.
    pub lease: LeaseId,
    /// The tournament.
    pub tournament: TournamentNo,
    /// At least one game.
    pub games: Vec<Assigned>,
    /// Played again to compare.
    pub audit: bool,
    /// Agents that start nowhere and that it has tried: they are charged without
    /// being asked.
    pub given_up: Vec<u16>,
}

/// A lease that was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Who had it.
    pub worker: WorkerId,
    /// The lease.
    pub lease: LeaseId,
}

/// What a record is to the tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStatus {
    /// The first of its game: to be made durable, then
    /// [`Ledger::durable`](super::Ledger::durable) is to be called.
    New,
    /// The first of its game, with this hash, is on the way to the disk.
    Pending([u8; 32]),
    /// The game is done; the durable record says whether this is the same.
    Done,
    /// Nobody wants it: the tournament was cancelled.
    Unwanted,
    /// There is no such game.
    Outside,
}

/// How far a tournament is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it does.
    pub state: State,
    /// Games of the schedule.
    pub games: u64,
    /// Durable games.
    pub done: u64,
    /// Games leased now.
    pub leased: u64,
    /// Games that could be leased, now or after a rest.
    pub waiting: u64,
}

/// A worker's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLoad {
    /// Its leases.
    pub leases: u32,
    /// Games in them.
    pub games: u64,
}

/// A failed attempt at a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) by: WorkerProcess,
    /// The agent that did not start there, if that was the reason.
    pub(super) unready: Option<u16>,
}
