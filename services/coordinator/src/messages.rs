//! Messages to the core, the task that owns all state.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::ready,
    pin::Pin,
    sync::Arc,
};

use arena_model::result::GameResult;
use arena_store::StoredGame;
use arena_wire::v1;
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};

use crate::{
    error::Error,
    info::Info,
    ledger::{AuditRecord, LeaseId, Owner, WorkerProcess},
};

/// Where the core sends its answer.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// Work that may wait for the disk.
pub(crate) type Working<'a, T = ()> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request to the task that owns a state, as the work that it asks for.
pub(crate) type Request<S> = Box<dyn for<'a> FnOnce(&'a mut S) -> Working<'a> + Send>;

/// A reported game.
pub(crate) struct ReportedGame {
    pub(crate) result: GameResult,
    pub(crate) stored: StoredGame,
    /// The report without its record.
    pub(crate) side: v1::GameReport,
    /// If a seat forfeited: the seats whose agents answered.
    pub(crate) answered: Vec<u32>,
    /// Decisions of all seats.
    pub(crate) decisions: u64,
}

/// How a call names the worker that makes it.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    pub(crate) worker_id: String,
    pub(crate) boot_epoch: u64,
    /// Its session, bound to the owner of the token that came with the call.
    pub(crate) session: Vec<u8>,
}

/// A session together with the owner that shows it: with the token of another owner, it is another one.
pub(crate) fn session_of(session: &[u8], owner: &str) -> [u8; 32] {
    let digest = Sha256::new_with_prefix(Sha256::digest(session));
    digest.chain_update(owner).finalize().into()
}

/// Games reported together.
pub(crate) struct GamesReport {
    pub(crate) by: Caller,
    /// The process that the games were leased to, and the name of its worker.
    pub(crate) process: WorkerProcess,
    pub(crate) worker: String,
    /// The owner of its token.
    pub(crate) owner: Owner,
    pub(crate) lease: LeaseId,
    pub(crate) info: Arc<Info>,
    pub(crate) games: Vec<ReportedGame>,
    pub(crate) failed: Vec<FailedGame>,
}

/// A game that could not be played, and why.
pub(crate) struct FailedGame {
    pub(crate) index: u64,
    pub(crate) reason: String,
    /// The agent that did not start, if that was the reason.
    pub(crate) unready: Option<v1::UnreadyAgent>,
    /// True if the package of the rules is at fault.
    pub(crate) rules_failed: bool,
}

/// A game of which only one record has a fault that may be that of a host.
pub(crate) struct OneSided {
    pub(crate) index: u64,
    /// The agents with such faults.
    pub(crate) agents: Vec<u16>,
    /// True if it is the new record.
    pub(crate) is_new: bool,
}

/// Games compared with their durable records.
pub(crate) struct Comparison {
    pub(crate) info: Arc<Info>,
    /// The worker that reported them.
    pub(crate) by: Caller,
    /// The process that their ticket names, also if its stay has ended.
    pub(crate) process: WorkerProcess,
    /// Its owner.
    pub(crate) owner: Owner,
    /// For differing games, the process of the durable record.
    pub(crate) players: BTreeMap<u64, WorkerProcess>,
    /// Each with what its record showed.
    pub(crate) games: Vec<(u64, AuditRecord)>,
    /// The differences, each with its game.
    pub(crate) differences: Vec<(u64, v1::Difference)>,
    /// Results of games for which a replay proves nothing.
    pub(crate) samples: Vec<GameResult>,
    /// Name of the worker.
    pub(crate) worker: String,
    /// Games that cannot be compared: the durable record cannot be read, or the difference
    /// depends on time or host.
    pub(crate) unread: Vec<u64>,
    /// Games of which only one record has a fault that may be that of a host.
    pub(crate) contradicted: Vec<OneSided>,
    /// Games whose durable record has no such fault: their agents, and those that have one in the new record.
    pub(crate) again: Vec<(u64, Vec<u16>, Vec<u16>)>,
    /// Games of which both records have such a fault, with these agents.
    pub(crate) confirmed: Vec<(u64, Vec<u16>)>,
}

/// Work that is done already.
pub(crate) fn done<'a>() -> Working<'a> {
    Box::pin(ready(()))
}

/// Work that does not wait.
pub(crate) fn at_once<S>(work: impl FnOnce(&mut S) + Send + 'static) -> Request<S> {
    Box::new(|state| {
        work(state);
        done()
    })
}

/// Number of changes of a tournament, for watchers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Version {
    pub(crate) changes: u64,
    /// The tournament is over; nothing will change.
    pub(crate) over: bool,
}

/// A tournament that metrics show.
pub(crate) struct ListedTournament {
    pub(crate) info: Arc<Info>,
    pub(crate) state: v1::TournamentState,
    /// Grows with each change of its standings.
    pub(crate) changes: u64,
    pub(crate) created_unix_us: u64,
    /// 0 until it is finished.
    pub(crate) finished_unix_us: u64,
    /// Games that are durable, leased and queued.
    pub(crate) games: [u64; 3],
}

/// A worker's connection with its notices.
pub(crate) struct Presence {
    pub(crate) notices: mpsc::Receiver<v1::JoinResponse>,
    /// Reports that the worker left.
    pub(crate) leave: Option<Box<dyn FnOnce() + Send>>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave();
        }
    }
}

/// State of a tournament's audits and differences, as far as it is durable. The core may
/// know of more that is being written.
#[derive(Debug, Default)]
pub(crate) struct AuditStatus {
    /// Grows with each state of the tournament: those that are written late replace no newer one.
    pub(crate) number: u64,
    pub(crate) agreed: u64,
    pub(crate) differing: u64,
    pub(crate) sampled: u64,
    pub(crate) disputed: u64,
    pub(crate) refuted: u64,
    pub(crate) own: u64,
    pub(crate) contradicted: u64,
    /// Games that differ and are not listed.
    pub(crate) unlisted: u64,
    /// Non-deterministic agents, by number.
    pub(crate) flagged: BTreeSet<usize>,
}

/// Results of a run of the coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Games made durable.
    pub games: u64,
    /// Running tournaments, which continue at the next start.
    pub tournaments_open: usize,
}
