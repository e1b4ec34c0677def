//! How RPC handlers talk to the task that owns the state.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use arena_model::result::GameResult;
use arena_store::{Position, Store, StoreError, StoredGame};
use arena_tournament::Evidence;
use arena_wire::v1;
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot, watch,
};

use crate::{
    core::AuditStatus,
    error::Error,
    ledger::{LeaseId, WorkerId},
    results::{Info, Results},
};

/// How many requests may wait for the state.
pub(crate) const COMMANDS_MAX: usize = 1024;
/// How long a request other than a report may wait for room among them.
const ROOM_WAIT: Duration = Duration::from_secs(2);
/// How long a request that found no room is to stay away.
const ROOM_RETRY: Duration = Duration::from_millis(500);

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// A game as it was reported.
pub(crate) struct ReportedGame {
    pub(crate) result: GameResult,
    pub(crate) stored: StoredGame,
    /// The report without its record.
    pub(crate) side: v1::GameReport,
    /// Where a seat forfeited: seats whose agents answered.
    pub(crate) answered: Vec<u32>,
}

/// Games reported together.
pub(crate) struct Report {
    pub(crate) worker: String,
    pub(crate) boot_epoch: u64,
    pub(crate) lease: LeaseId,
    pub(crate) info: Arc<Info>,
    pub(crate) games: Vec<ReportedGame>,
    pub(crate) failed: Vec<FailedGame>,
}

/// A game that could not be played, and why.
pub(crate) struct FailedGame {
    pub(crate) index: u64,
    pub(crate) reason: String,
    /// The agent that did not start, where that was why.
    pub(crate) unready: Option<v1::UnreadyAgent>,
}

/// Games that were compared with their durable records.
pub(crate) struct Compared {
    pub(crate) info: Arc<Info>,
    /// Who brought them.
    pub(crate) worker: String,
    pub(crate) boot_epoch: u64,
    /// With whether they differ.
    pub(crate) games: Vec<(u64, bool)>,
    /// How they do.
    pub(crate) differences: Vec<v1::Difference>,
    /// Games that cannot be compared: the durable record cannot be read, or what
    /// differs hangs on time or host.
    pub(crate) unread: Vec<u64>,
}

impl Compared {
    /// Of a tournament, before the first is compared.
    pub(crate) fn new(info: Arc<Info>) -> Self {
        Self {
            info,
            worker: String::new(),
            boot_epoch: 0,
            games: Vec::new(),
            differences: Vec::new(),
            unread: Vec::new(),
        }
    }
}

/// What a user wants of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Pause,
    Resume,
    Cancel,
}

/// How often a tournament changed, for those who watch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Version {
    pub(crate) changes: u64,
    /// Nothing will change any more.
    pub(crate) over: bool,
}

/// A tournament as it stands.
pub(crate) enum Standing {
    Known(Box<v1::WatchTournamentResponse>),
    /// With what agents are compared by.
    Compared(Box<v1::WatchTournamentResponse>, Box<Evidence>),
    /// Its results have to be added up first.
    Unloaded(Arc<Info>),
}

/// A tournament that metrics show.
pub(crate) struct Listed {
    pub(crate) info: Arc<Info>,
    pub(crate) state: v1::TournamentState,
    /// Grows with each change that shows in its standings.
    pub(crate) changes: u64,
    pub(crate) created_unix_us: u64,
    /// 0 while it goes on.
    pub(crate) finished_unix_us: u64,
    /// Games that are durable, are assigned, and wait.
    pub(crate) games: [u64; 3],
}

/// A worker's presence, and what it is reported. When it is dropped, the worker is gone.
pub(crate) struct Presence {
    pub(crate) worker: WorkerId,
    pub(crate) notices: mpsc::Receiver<v1::JoinResponse>,
    pub(crate) signals: mpsc::UnboundedSender<Signal>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Without a receiver the coordinator is gone as well.
        let _ = self.signals.send(Signal::Left(self.worker));
    }
}

/// What the state is asked.
pub(crate) enum Command {
    Register(Box<v1::RegisterAgentRequest>, Reply<v1::Agent>),
    Remove(v1::RemoveAgentRequest, Reply<()>),
    Agent(String, Reply<v1::Agent>),
    Agents(Reply<Vec<v1::Agent>>),
    Plan(v1::PlanTournamentRequest, Reply<v1::PlanTournamentResponse>),
    Start(
        v1::StartTournamentRequest,
        Reply<v1::StartTournamentResponse>,
    ),
    Change {
        change: Change,
        request_id: String,
        tournament: String,
        reply: Reply<v1::Tournament>,
    },
    Retry(v1::RetryTournamentRequest, Reply<v1::Tournament>),
    Tournament(String, Reply<v1::Tournament>),
    Tournaments(Reply<Vec<v1::Tournament>>),
    Info(String, Reply<Arc<Info>>),
    /// Answered with what agents are compared by.
    Standing(String, Reply<Standing>),
    /// The tournaments that metrics show.
    Listed(Reply<Vec<Listed>>),
    /// For those who watch: may be a moment old.
    Shown(String, Reply<Standing>),
    Watch(String, Reply<watch::Receiver<Version>>),
    Loaded(Arc<Info>, Box<Results>),
    Join(v1::JoinRequest, Reply<Presence>),
    Lease(v1::LeaseRequest, Reply<v1::LeaseResponse>),
    Heartbeat(v1::HeartbeatRequest, Reply<Vec<LeaseId>>),
    Leave(v1::LeaveRequest, Reply<()>),
    /// The name of the worker of an id and boot epoch; its id where it is gone.
    WorkerName(String, u64, Reply<String>),
    /// Answers with the games that had a record before, to be compared.
    Report(Report, Reply<Vec<u64>>),
    Compared(Compared, Reply<()>),
    /// How many games of a tournament differ beside those that are listed.
    Unlisted(String, Reply<u64>),
    Workers(Reply<v1::ListWorkersResponse>),
}

/// What happened by itself. Never lost: as many can wait as there are workers
/// and batches in the store's bounded queue.
pub(crate) enum Signal {
    /// A batch is durable, or never will be; how far the chain of results was
    /// with it, where the store tells.
    Written(u64, Result<(), StoreError>, Option<Position>),
    /// A worker's stream ended.
    Left(WorkerId),
    /// What came of comparisons is durable: what may be informed of a tournament.
    Kept(String, AuditStatus),
    /// Sums over results could not be written.
    Unkept(StoreError),
}

/// What waits for the state. Reports are in a queue of their own, so that
/// however many there are, nothing else waits behind them.
pub(crate) struct Inbox {
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) reports: mpsc::Receiver<Command>,
}

/// What never changes about the tournaments there are: read without asking.
#[derive(Default)]
pub(crate) struct Directory(RwLock<HashMap<String, Arc<Info>>>);

impl Directory {
    /// Of a tournament that is known.
    pub(crate) fn find(&self, tournament: &str) -> Option<Arc<Info>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tournament).cloned()
    }

    /// Adds one.
    pub(crate) fn add(&self, info: &Arc<Info>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(info.id.to_string(), Arc::clone(info));
    }
}

/// A way to the state.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) reports: mpsc::Sender<Command>,
    pub(crate) directory: Arc<Directory>,
    pub(crate) store: Arc<dyn Store>,
    /// True from the moment on at which the coordinator stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Handle {
    /// Asks the state and waits for its answer.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.tell(command(reply)).await?;
        answer.await.unwrap_or(Err(Error::Draining))
    }

    /// Tells the state; waits a while where there is no room.
    pub(crate) async fn tell(&self, command: Command) -> Result<(), Error> {
        let command = match self.commands.try_send(command) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(Error::Draining),
            Err(TrySendError::Full(command)) => command,
        };
        match tokio::time::timeout(ROOM_WAIT, self.commands.send(command)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Error::Draining),
            Err(_) => Err(Error::Overloaded { wait: ROOM_RETRY }),
        }
    }

    /// Reports to the state; answered when all of it is durable, with the
    /// games that had a record before.
    pub(crate) async fn report(&self, report: Report) -> Result<Vec<u64>, Error> {
        let (reply, answer) = oneshot::channel();
        self.reports
            .try_send(Command::Report(report, reply))
            .map_err(|error| match error {
                TrySendError::Full(_) => Error::Overloaded { wait: ROOM_RETRY },
                TrySendError::Closed(_) => Error::Draining,
            })?;
        answer.await.unwrap_or(Err(Error::Draining))
    }

    /// What never changes about a tournament.
    pub(crate) async fn info(&self, tournament: &str) -> Result<Arc<Info>, Error> {
        match self.directory.find(tournament) {
            Some(info) => Ok(info),
            // The state knows which name is near to it.
            None => {
                self.ask(|reply| Command::Info(tournament.to_owned(), reply))
                    .await
            }
        }
    }

    /// Does something with the store where that may block.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        with_store(Arc::clone(&self.store), work)
            .await
            .unwrap_or_else(|| {
                Err(match *self.stopping.borrow() {
                    true => Error::Draining,
                    false => Error::Defect,
                })
            })
    }
}

/// Does something with a store: on another thread where its calls block. None
/// where the program ends before it is done.
pub(crate) async fn with_store<T: Send + 'static>(
    store: Arc<dyn Store>,
    work: impl FnOnce(&dyn Store) -> T + Send + 'static,
) -> Option<T> {
    if !store.blocks() {
        return Some(work(store.as_ref()));
    }
    let work = tokio::task::spawn_blocking(move || work(store.as_ref()));
    work.await.ok()
}
