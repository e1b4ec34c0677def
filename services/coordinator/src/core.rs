//! The task that owns all state. It never blocks: whatever may wait for the disk runs on other
//! threads, in order.

mod agents;
mod answers;
mod audit_status;
mod audits;
mod binaries;
mod bits;
mod books;
mod checkpoints;
mod connected;
mod differences;
pub(crate) mod disputes;
mod entry;
mod heartbeats;
mod holds;
mod kept;
mod levels;
pub(crate) mod removal;
pub(crate) mod replays;
mod reports;
mod retry;
mod rulesets;
pub(crate) mod sealed;
mod sealed_spec;
mod season;
mod stages;
mod standings;
mod start;
mod tournaments;
mod worker_list;
mod workers;
mod writer;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_model::SandboxLevel;
use arena_store::{Change, Collection, Position, Positions, Store, StoreError};
use arena_telemetry::CoordinatorMetrics;
use arena_wire::v1;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::Instant,
};

use crate::{
    agents::Agents,
    binaries::Uploads,
    blocking::with_store,
    directory::Directory,
    error::{Error, RunError},
    ledger::{Ledger, ReportId, Reports, TournamentNo, WorkerId},
    messages::{Reply, Request, RunSummary},
    rulesets::Rulesets,
    tickets::Tickets,
};
use answers::Answers;
use books::Books;

use connected::ConnectedWorker;
use entry::TournamentEntry;
pub(crate) use entry::{is_over, state_name};
use replays::Replays;
use reports::Batch;
pub(crate) use standings::ComparedStandings;
pub(crate) use start::load;
use workers::Parked;
use writer::Writer;

/// Interval at which leases are checked while there are any.
const TICK: Duration = Duration::from_millis(100);
/// Interval at which metrics are updated while nothing happens.
const IDLE_TICK: Duration = Duration::from_secs(1);
/// If this process was stopped for longer than this, or waited for its disk, its clock stands
/// still meanwhile, so that no worker is charged for the pause.
const STOPPED: Duration = Duration::from_secs(3);
/// Maximum number of other requests that are served before a waiting report.
const COMMANDS_IN_A_ROW: u32 = 16;
/// A stop waits for workers with leases until none has reported for this time.
const QUIET: Duration = Duration::from_secs(1);

/// A request to the core.
pub(crate) type Command = Request<Core>;

/// The queues of the core. Reports have a queue of their own, so that no other request
/// waits behind them.
pub(crate) struct Inbox {
    /// Work that no request caused. None is lost: at most one for each worker and for each batch
    /// in the store's bounded queue can wait.
    pub(crate) signals: mpsc::UnboundedReceiver<Command>,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) reports: mpsc::Receiver<Command>,
}

/// The next input of the core.
enum Turn {
    Drain,
    Command(Command),
    Tick,
}

/// All state of a coordinator.
pub(crate) struct Core {
    store: Arc<dyn Store>,
    metrics: Arc<CoordinatorMetrics>,
    /// The properties of tournaments that other tasks may read without a request.
    directory: Arc<Directory>,
    signals: mpsc::UnboundedSender<Command>,
    writer: Writer,
    positions: Option<Positions>,
    /// Position up to which the chain of durable results is summed.
    position: Option<Position>,
    /// Number of games after which a checkpoint is written.
    checkpoint_games: u64,
    /// Checkpoints that are being written.
    keeping: Option<JoinHandle<Option<()>>>,
    stopping: watch::Sender<bool>,
    /// True while there is work for workers.
    pub(crate) active: watch::Sender<bool>,
    boot_epoch: u64,
    pub(crate) tickets: Tickets,
    /// What owners have uploaded.
    pub(crate) uploads: Uploads,
    /// Decides which games are audited.
    audit_key: [u8; 32],
    audit_ppm: u32,
    /// Least level of the sandbox of tournaments that ask for none.
    sandbox: SandboxLevel,
    lease_deadline: Duration,
    started: Instant,
    /// Time of the newest action.
    turned: Instant,

    books: Books,
    agents: Arc<Agents>,
    rulesets: Arc<Rulesets>,
    answers: Answers,
    ledger: Ledger,
    tournaments: BTreeMap<String, TournamentEntry>,
    removed: removal::Removed,
    /// Ids by their number in the ledger.
    numbers: BTreeMap<TournamentNo, String>,

    /// Tournaments with an agent that did not start somewhere.
    failing: BTreeSet<String>,
    /// Tournaments whose package of rules failed, with the reason and the worker.
    broken: BTreeMap<String, (String, String)>,
    /// Tournaments with a record on which two workers disagree: the problem, and both workers.
    disputed: BTreeMap<String, (String, [String; 2])>,
    /// Tournaments with faults that another owner confirmed.
    confirmed: BTreeSet<String>,

    workers: BTreeMap<WorkerId, ConnectedWorker>,
    /// Waiting requests for games, in the order of arrival; at most one for each worker.
    parked: BTreeMap<u64, Parked>,
    parked_ever: u64,
    /// Records that other workers replay.
    replays: Replays,
    drawings: replays::drawings::Drawings,
    /// True if games may have become free.
    unpark: bool,
    /// The request that is served next, if the last round took too long.
    behind: Option<u64>,
    looked_after: Duration,
    /// Time of the next search for binaries that are not needed.
    binaries_due: Duration,

    reports: Reports,
    /// Callers that wait for a report to be acknowledged.
    replies: HashMap<ReportId, Reply<Vec<u64>>>,
    batches: HashMap<ReportId, Batch>,
    /// Callers that wait for the last games of a cancelled tournament to become durable.
    cancels: Vec<(String, Reply<v1::Tournament>)>,
    last_report: Duration,

    failed: Option<StoreError>,
    games_written: u64,
}

impl Core {
    /// Serves until `drain` has completed and all open work is done, at most `drain_limit` later,
    /// or until the store fails.
    pub(crate) async fn run(
        mut self,
        inbox: Inbox,
        drain: oneshot::Receiver<()>,
        drain_limit: Duration,
    ) -> Result<RunSummary, RunError> {
        let summary = self.serve(inbox, drain, drain_limit).await;
        self.writer.close().await;
        summary
    }

    async fn serve(
        &mut self,
        mut inbox: Inbox,
        mut drain: oneshot::Receiver<()>,
        drain_limit: Duration,
    ) -> Result<RunSummary, RunError> {
        let mut deadline = None;
        let mut in_a_row = 0;
        // Loading may have taken a long time.
        self.turned = Instant::now();
        loop {
            let busy = !self.parked.is_empty()
                || !self.replays.is_empty()
                || self.ledger.leases() > 0
                || deadline.is_some();
            let tick = if busy { TICK } else { IDLE_TICK };
            // Reports may wait, but not forever.
            let commands_first = in_a_row < COMMANDS_IN_A_ROW || inbox.reports.is_empty();
            let turn = tokio::select! {
                biased;
                Some(signal) = inbox.signals.recv() => Turn::Command(signal),
                // A dropped sender ends the service, too.
                _ = &mut drain, if deadline.is_none() => Turn::Drain,
                Some(command) = inbox.commands.recv(), if commands_first => {
                    in_a_row += 1;
                    Turn::Command(command)
                }
                Some(report) = inbox.reports.recv() => {
                    in_a_row = 0;
                    Turn::Command(report)
                }
                () = tokio::time::sleep(tick) => Turn::Tick,
            };
            // Once before the work sees the time, and once after it.
            self.stand_still();
            // Before anything is leased.
            self.hold_unstartable().await;
            self.hold_broken().await;
            match turn {
                Turn::Drain => {
                    deadline = Some(self.now() + drain_limit);
                    self.begin_drain();
                }
                Turn::Command(command) => command(self).await,
                Turn::Tick => {}
            }
            self.metrics
                .command_queue
                .set((inbox.commands.len() + inbox.reports.len()) as i64);
            self.stand_still();
            self.hold_unstartable().await;
            self.hold_broken().await;
            self.hold_disputed().await;
            self.hold_confirmed().await;
            self.remove_binaries().await;
            self.look_after();
            if let Some(error) = self.failed.take() {
                self.stopping.send_replace(true);
                return Err(error.into());
            }
            if let Some(deadline) = deadline
                && (!self.open() || self.now() >= deadline)
            {
                return Ok(self.summary());
            }
        }
    }

    /// True if a stop still has to wait.
    fn open(&self) -> bool {
        let expected = self.ledger.leases() > 0 && self.now() < self.last_report + QUIET;
        !self.replies.is_empty() || self.replays.owes() || expected
    }

    fn summary(&self) -> RunSummary {
        let states = self
            .tournaments
            .values()
            .map(|entry| entry.document.state());
        let open = states.filter(|&state| state == v1::TournamentState::Running);
        RunSummary {
            games: self.games_written,
            tournaments_open: open.count(),
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Removes from the clock the time in which no message could be received.
    fn stand_still(&mut self) {
        let now = Instant::now();
        let took = now - std::mem::replace(&mut self.turned, now);
        if took > STOPPED {
            if self.ledger.leases() > 0 {
                tracing::warn!(
                    seconds = took.as_secs(),
                    "the coordinator was stopped or waited long for the disk; leases are extended \
                     by that time"
                );
            }
            self.started += took;
        }
    }

    /// Notifies autoscalers if there is work now, or none.
    fn update_active(&self) {
        let has_work = self.ledger.has_work();
        self.active
            .send_if_modified(|active| std::mem::replace(active, has_work) != has_work);
    }

    /// Estimated seconds of work that is left, for workers with so many seconds each.
    pub(crate) fn work_seconds(&self, per_worker: f64) -> f64 {
        self.ledger.work_seconds(per_worker)
    }

    /// Periodic work.
    fn look_after(&mut self) {
        self.update_active();
        let now = self.now();
        let due = now >= self.looked_after + TICK;
        if due {
            self.looked_after = now;
            self.expire();
            self.mark_overdue();
            self.look_after_replays();
            self.look_after_drawings();
            self.update_gauges();
        }
        if due || self.unpark && self.behind.is_none() {
            self.unpark = false;
            self.serve_parked();
        }
    }

    /// Makes changes durable. An error of the disk ends the coordinator.
    async fn persist(&mut self, changes: Vec<Change>) -> Result<(), Error> {
        let store = Arc::clone(&self.store);
        let put = with_store(store, move |store| store.put_many(changes)).await;
        let result = put.unwrap_or(Err(StoreError::Closed));
        if let Err(error) = &result {
            self.store_failed(error);
        }
        Ok(result?)
    }

    /// Remembers an error of a write. After any error that does not refuse only one request, the
    /// store accepts nothing more.
    fn store_failed(&mut self, error: &StoreError) {
        if !matches!(error, StoreError::Busy { .. } | StoreError::TooLarge { .. }) {
            tracing::error!(%error, "the store failed; stopping the coordinator");
            self.failed.get_or_insert_with(|| error.clone());
        }
    }

    fn begin_drain(&mut self) {
        tracing::info!(
            workers = self.workers.len(),
            reports = self.replies.len(),
            "draining"
        );
        self.stopping.send_replace(true);
        self.last_report = self.now();
        for parked in std::mem::take(&mut self.parked).into_values() {
            parked.answer_none();
        }
        for worker in self.workers.values() {
            worker.notify(v1::join_response::Notice::Drain(v1::Drain {}));
        }
    }

    fn draining(&self) -> bool {
        *self.stopping.borrow()
    }

    fn update_gauges(&mut self) {
        let metrics = &self.metrics;
        let numbers = self.tournaments.values().filter_map(|entry| entry.number);
        let progress = numbers.filter_map(|number| self.ledger.progress(number));
        let leased: u64 = progress.map(|progress| progress.leased).sum();
        let pending: usize = self.batches.values().map(|batch| batch.games.len()).sum();
        metrics.queue_depth.set(self.ledger.waiting() as i64);
        metrics.games_in_flight.set(leased as i64 + pending as i64);
        metrics.workers.set(self.workers.len() as i64);
        metrics.quarantined.set(self.ledger.quarantined() as i64);
        metrics.leases.set(self.ledger.leases() as i64);
        let audits = self.tournaments.values();
        let waiting = audits.filter_map(|entry| self.audits(entry));
        let waiting: u64 = waiting.map(|audits| audits.waiting).sum();
        metrics.audits_waiting.set(waiting as i64);
        for (state, name) in entry::STATES {
            let in_state = |entry: &&TournamentEntry| entry.document.state() == state;
            let count = self.tournaments.values().filter(in_state).count();
            metrics.set_tournaments(name, count as i64);
        }
        let paused = self.tournaments.values().map(|entry| &entry.document);
        let paused = paused.filter(|it| it.state() == v1::TournamentState::Paused);
        metrics.set_paused(paused.map(|it| it.pause.as_ref().map_or("user", |why| &why.kind)));
        let stats = self.store.stats();
        metrics.store_bytes.set(stats.bytes_on_disk as i64);
        metrics.store_queue_depth.set(stats.queued as i64);
    }
}

/// A change of a document; without a value it is removed.
fn change(collection: Collection, key: impl Into<String>, value: Option<Vec<u8>>) -> Change {
    Change {
        collection,
        key: key.into(),
        value,
    }
}

/// Unix time in microseconds.
fn unix_us() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_micros() as u64)
}
