//! Types of the ledger's calls.

use std::{sync::Arc, time::Duration};

use sha2::{Digest, Sha256};

/// Number of a tournament, in the order of [`Ledger::add`](super::Ledger::add).
pub type TournamentNo = u32;
/// Number of a worker, in the order of joining.
pub type WorkerId = u64;
/// A worker process. An audit has to run on another process than the game it replays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerProcess {
    /// Unknown, because the game was played before this start of the coordinator, or long ago.
    #[default]
    Unknown,
    /// A process, by a number that it drew at its start and sends each time it joins. Names do not
    /// identify processes, because all processes of a host may have the same name.
    Process(u64),
    /// A process that sends no such number. Each join counts as another process.
    Join(WorkerId),
}

impl WorkerProcess {
    /// The process with this number of an owner. The result shows whose it is: so the processes of one owner are
    /// known as such after they left, and after a restart.
    #[must_use]
    pub fn of_owner(number: u64, owner: &str) -> Self {
        let first = |bytes: &[u8]| {
            let digest: [u8; 32] = Sha256::digest(bytes).into();
            u32::from_le_bytes(*digest.first_chunk().expect("4 of 32 bytes"))
        };
        let mark = u64::from(first(owner.as_bytes()).max(1));
        let own = first(&[&number.to_le_bytes(), owner.as_bytes()].concat());
        Self::Process(mark << 32 | u64::from(own))
    }

    /// What its number shows of its owner.
    pub(super) fn owner_mark(self) -> Option<u32> {
        match self {
            Self::Process(number) => Some((number >> 32) as u32).filter(|&mark| mark > 0),
            Self::Unknown | Self::Join(_) => None,
        }
    }
}

/// Who runs a worker process: the id of its token, or another owner. Processes of one owner prove
/// little about each other.
pub type Owner = Arc<str>;

/// Number of a lease, from 1.
pub type LeaseId = u64;

/// Settings of the ledger.
#[derive(Clone, Copy, Debug)]
pub struct LedgerSettings {
    /// A lease without progress for this long is taken back. Each tournament may add time, see
    /// [`ProgressTimeouts`].
    pub lease_deadline: Duration,
    /// Share of games that another worker replays, in parts per million.
    pub audit_ppm: u32,
    /// True if new and doubtful processes are audited more.
    pub doubts_workers: bool,
    /// Time to wait for a lost worker to return before its agents are given up, and for a
    /// connected worker to try an agent. A failed game rests for at most a tenth of this time.
    pub host_grace_period: Duration,
}

/// Whether more games can follow the known ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// There are no other games.
    Last,
    /// Later games depend on the results of the known ones; see
    /// [`Ledger::extend`](super::Ledger::extend).
    More,
}

/// State of a tournament after a game became durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterGame {
    /// Other games are still open.
    Nothing,
    /// All known games are durable, and the next stage has to be decided.
    Due,
    /// The tournament is finished.
    Finished,
}

/// State of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Games are leased.
    Running,
    /// No games are leased; results are still taken.
    Paused,
    /// The tournament paused itself, and a user has to resume it. It does not finish before that,
    /// even if every game is done.
    Held,
    /// Every game is done.
    Finished,
    /// No games are leased and no results are taken.
    Cancelled,
}

/// Additional time without progress for the leases of a tournament.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgressTimeouts {
    /// Before the first progress, while agents start.
    pub first: Duration,
    /// Between two signs of progress, while agents think.
    pub between: Duration,
}

/// A request for games.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The worker that requests games.
    pub worker: WorkerId,
    /// Maximum number of games.
    pub wanted: usize,
    /// The number that the worker gave this request, increasing from 1; 0 if it sends none.
    pub call: u64,
    /// Tournaments whose agents have no time for more games on this worker.
    pub sated: Vec<TournamentNo>,
}

/// A game that could not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Position in the schedule.
    pub index: u64,
    /// The agent that did not start, if that was the reason.
    pub unready: Option<u16>,
}

/// A game of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Position in the schedule.
    pub index: u64,
    /// Failed attempts so far. If there are [`arena_wire::ATTEMPTS_MAX`] or more, the worker does
    /// not play the game, but reports it as void.
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
    /// True if the games are replayed for comparison.
    pub audit: bool,
    /// Agents that are given up and that the worker has tried to start. The worker charges them
    /// without a question.
    pub given_up: Vec<u16>,
}

/// A lease that was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The worker that had it.
    pub worker: WorkerId,
    /// The lease.
    pub lease: LeaseId,
}

/// Classification of a reported record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStatus {
    /// The first record of its game: it has to be made durable and then passed to
    /// [`Ledger::durable`](super::Ledger::durable).
    New,
    /// Another record of the game, with this hash, is being written.
    Pending([u8; 32]),
    /// The game is done. To find out whether this record differs, compare it with the durable one.
    Done,
    /// The tournament was cancelled.
    Unwanted,
    /// The tournament has no such game.
    Outside,
}

/// Progress of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its state.
    pub state: State,
    /// Known games of the schedule.
    pub games: u64,
    /// Durable games.
    pub done: u64,
    /// Leased games.
    pub leased: u64,
    /// Games that are queued or resting.
    pub waiting: u64,
}

/// Leases of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLoad {
    /// Number of its leases.
    pub leases: u32,
    /// Number of games in them.
    pub games: u64,
}

/// A failed attempt at a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) by: WorkerProcess,
    /// The agent that did not start there, if that was the reason.
    pub(super) unready: Option<u16>,
}
