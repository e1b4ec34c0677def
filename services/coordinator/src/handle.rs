//! How RPC handlers talk to the task that owns the state.

use std::sync::Arc;

use arena_model::result::GameResult;
use arena_store::{Store, StoreError, StoredGame};
use arena_wire::v1;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    error::Error,
    ledger::{LeaseId, WorkerId},
    results::{Info, Results},
};

/// How many requests may wait for the state.
pub(crate) const COMMANDS_MAX: usize = 1024;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// A game as it was reported.
pub(crate) struct ReportedGame {
    pub(crate) result: GameResult,
    pub(crate) stored: StoredGame,
    /// The report without its record.
    pub(crate) side: v1::GameReport,
}

/// Games reported together.
pub(crate) struct Report {
    pub(crate) worker: String,
    pub(crate) boot_epoch: u64,
    pub(crate) lease: LeaseId,
    pub(crate) info: Arc<Info>,
    pub(crate) games: Vec<ReportedGame>,
    /// Games that could not be played, and why.
    pub(crate) failed: Vec<(u64, String)>,
}

/// What a user wants of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Pause,
    Resume,
    Cancel,
}

/// A tournament as it stands.
pub(crate) enum Standing {
    Known(Box<v1::WatchTournamentResponse>),
    /// Its results have to be added up first.
    Unloaded(Arc<Info>),
}

/// A worker's presence.
pub(crate) struct Joined {
    pub(crate) worker: WorkerId,
    pub(crate) notices: mpsc::Receiver<v1::JoinResponse>,
}

/// What the state is asked.
pub(crate) enum Command {
    Register(v1::RegisterAgentRequest, Reply<v1::Agent>),
    Remove(v1::RemoveAgentRequest, Reply<()>),
    Agent(String, Reply<v1::Agent>),
    Agents(Reply<Vec<v1::Agent>>),
    Plan(v1::PlanTournamentRequest, Reply<v1::Tournament>),
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
    Tournament(String, Reply<v1::Tournament>),
    Tournaments(Reply<Vec<v1::Tournament>>),
    Info(String, Reply<Arc<Info>>),
    Standing(String, Reply<Standing>),
    Watch(String, Reply<watch::Receiver<u64>>),
    Loaded(Arc<Info>, Box<Results>),
    Join(v1::JoinRequest, Reply<Joined>),
    Lease(v1::LeaseRequest, Reply<v1::LeaseResponse>),
    Heartbeat(v1::HeartbeatRequest, Reply<Vec<LeaseId>>),
    /// The name of the worker of an id and boot epoch; its id where it is gone.
    WorkerName(String, u64, Reply<String>),
    /// Answers with the games that had a record before, to be compared.
    Report(Report, Reply<Vec<u64>>),
    Differs(v1::Difference, Reply<()>),
    Workers(Reply<v1::ListWorkersResponse>),
}

/// What happened by itself. Never lost: as many can wait as there are workers
/// and batches in the store's bounded queue.
pub(crate) enum Signal {
    /// A batch is durable, or never will be.
    Written(u64, Result<(), StoreError>),
    /// A worker's stream ended.
    Left(WorkerId),
}

/// A way to the state.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) signals: mpsc::UnboundedSender<Signal>,
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
        self.send(command(reply))?;
        answer.await.unwrap_or(Err(Error::Draining))
    }

    /// Tells the state.
    pub(crate) fn send(&self, command: Command) -> Result<(), Error> {
        self.commands
            .try_send(command)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => Error::Overloaded,
                mpsc::error::TrySendError::Closed(_) => Error::Draining,
            })
    }

    /// Does something with the store where that may block.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        with_store(Arc::clone(&self.store), work)
            .await
            .unwrap_or(Err(Error::Draining))
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
