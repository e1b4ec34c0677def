//! The client of one agent of a tournament: the waiting questions, and the task that asks,
//! restarts and gives up.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_engine::{AnyMatch, FaultKind, Question};
use tokio::{
    sync::{Notify, mpsc::UnboundedSender},
    time,
};
use tonic::Status;

use super::{
    DecisionResult, Event, FaultReport, Token,
    connection::{AgentConnection, Down, Source},
    question::{Inbox, Writer},
    window::Window,
};
use crate::{environment::Environment, meter::Meter, supervise::Output};

/// Failed starts in a row after which an agent is given up.
const STARTS: u32 = 3;
/// Pause after a failed start, doubled each time.
const BACK_OFF: Duration = Duration::from_millis(200);
/// The same for an endpoint, which its operator may be restarting.
const BACK_OFF_ENDPOINT: Duration = Duration::from_secs(1);
/// Default number of decisions of a batch.
const BATCH: usize = 256;
/// Maximum decisions of a batch, whatever the agent states.
const BATCH_MAX: usize = 4096;
/// Failed batches in a row after which questions are asked alone for a while: each failed batch
/// costs a restart.
const BATCHES_FAILED: u32 = 3;
/// Duration of that.
const BATCHES_REST: Duration = Duration::from_secs(30);
/// Ends because of too much output in a row after which an agent is given up, if no question
/// asked alone of a fresh process explains them.
const FLOODS: u32 = 3;
/// A process that lived this long before it wrote too much starts a new row.
const FLOOD_ROW: Duration = Duration::from_secs(60);
/// Pause before an agent that failed to start this often is tried again.
const UNREADY_REST: Duration = Duration::from_secs(5);
/// Pause after this worker could not start a process.
const REST: Duration = Duration::from_millis(500);

/// Properties of a client.
pub(crate) struct AgentClientSetup {
    pub(crate) name: String,
    /// Label in metrics.
    pub(crate) label: String,
    pub(crate) meter: Meter,
    pub(crate) source: Source,
    /// 0: the default.
    pub(crate) batch_size: usize,
    pub(crate) move_timeout: Duration,
}

/// The client of an agent.
pub(crate) struct AgentClient {
    pub(super) inbox: RefCell<Inbox>,
    pub(super) wake: Notify,
    /// What the driver was informed of so far.
    event_count: Cell<u64>,
    /// Number of open questions.
    open: Cell<usize>,
    /// Number of questions at a time. It has no effect while all are asked alone.
    pub(super) window: RefCell<Window>,
    closed: Cell<bool>,
    closing: Notify,
    /// Output of its process.
    output: RefCell<Option<Arc<Output>>>,
}

impl AgentClient {
    /// A client, and the task that serves it until it is closed.
    pub(crate) fn open(
        setup: AgentClientSetup,
        writer: Writer,
        environment: Rc<Environment>,
        events: UnboundedSender<Event>,
    ) -> (Rc<Self>, impl Future<Output = ()>) {
        let batch_max = match setup.batch_size {
            0 => BATCH,
            size => size.min(BATCH_MAX),
        };
        let line = Rc::new(Self {
            inbox: RefCell::new(Inbox::new(writer, 1)),
            wake: Notify::new(),
            event_count: Cell::new(0),
            open: Cell::new(0),
            window: RefCell::new(Window::new(batch_max)),
            closed: Cell::new(false),
            closing: Notify::new(),
            output: RefCell::default(),
        });
        environment.metrics.add_agent_processes(&setup.label, 0);
        let task = AgentTask {
            line: line.clone(),
            environment,
            events,
            flushed: Instant::now(),
            last_answer: Instant::now(),
            batch_max,
            asks_alone: false,
            served: Instant::now(),
            setup,
            connection: None,
            up_since: Instant::now(),
            has_run: false,
            floods: 0,
            errors: 0,
            broken: None,
            unready: None,
            ours: (String::new(), 0),
            batches: 0,
            batches_failed: 0,
            batches_again: None,
        };
        (line, task.attend())
    }

    /// Adds a question, which is sent with the next [`AgentClient::flush`]: in a batch, or `alone`
    /// while no other is open.
    pub(crate) fn ask(&self, token: Token, game: &dyn AnyMatch, question: Question, alone: bool) {
        self.open.update(|open| open + 1);
        let mut inbox = self.inbox.borrow_mut();
        inbox.push(token, game, question, alone);
    }

    /// No question can be added for now.
    pub(crate) fn flush(&self) {
        self.inbox.borrow_mut().flush();
        self.wake.notify_one();
    }

    /// True if a game of this agent may start while this many are played.
    pub(crate) fn has_room(&self, active: usize) -> bool {
        self.window.borrow().has_room(active, self.open.get())
    }

    /// Number of messages to the driver: it grows while the agent is served, whichever game is
    /// concerned.
    pub(crate) fn event_count(&self) -> u64 {
        self.event_count.get()
    }

    pub(crate) fn count_event(&self) {
        self.event_count.update(|count| count + 1);
    }

    /// Output of its process, or of the last one; none before the first process and for an
    /// endpoint.
    pub(crate) fn output(&self) -> Option<Arc<Output>> {
        self.output.borrow().clone()
    }

    /// Ends the agent's process and the task.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.closing.notify_one();
        self.wake.notify_one();
    }
}

/// The task that serves a client.
pub(super) struct AgentTask {
    pub(super) line: Rc<AgentClient>,
    environment: Rc<Environment>,
    events: UnboundedSender<Event>,
    pub(super) setup: AgentClientSetup,
    flushed: Instant,
    /// Time of the newest answer: until then the agent worked on earlier questions.
    pub(super) last_answer: Instant,
    pub(super) batch_max: usize,
    /// True after a failed batch, until a question was answered alone: all questions are asked
    /// alone.
    pub(super) asks_alone: bool,
    /// Time at which a batch was last answered completely.
    pub(super) served: Instant,
    pub(super) connection: Option<AgentConnection>,
    up_since: Instant,
    /// True once it was connected.
    has_run: bool,
    pub(super) floods: u32,
    /// Errors that it answered with since the last move.
    pub(super) errors: u32,
    /// Reason for giving it up: it answers and floods.
    broken: Option<FaultReport>,
    /// Reason why it did not start, and the time.
    pub(super) unready: Option<(FaultReport, Instant)>,
    /// Reason why this worker could not start it, and how often in a row.
    ours: (String, u64),
    pub(super) batches: u64,
    /// Failed batches in a row.
    pub(super) batches_failed: u32,
    /// Time at which batches are tried again.
    pub(super) batches_again: Option<Instant>,
}

impl AgentTask {
    async fn attend(mut self) {
        while !self.line.closed.get() {
            let alone = self.line.inbox.borrow().has_alone();
            if !alone && !self.line.inbox.borrow().has_batch() {
                self.show(Duration::ZERO);
                self.line.wake.notified().await;
                continue;
            }
            if let Some(fault_report) = self.broken.clone() {
                self.answer_all(&DecisionResult::Fault(fault_report, Duration::ZERO));
                continue;
            }
            let unready = self.unready.as_ref();
            if let Some((fault_report, _)) = unready.filter(|(_, at)| at.elapsed() < UNREADY_REST) {
                self.answer_all(&DecisionResult::Unready(fault_report.clone()));
                continue;
            }
            let line = self.line.clone();
            tokio::select! {
                () = line.closing.notified() => break,
                () = self.serve(alone) => {}
            }
        }
        self.disconnect().await;
    }

    async fn serve(&mut self, alone: bool) {
        match self.ensure_connected().await {
            Ok(()) => {}
            Err(Down::Agent(fault_report)) => {
                let message = &fault_report.message;
                tracing::warn!(agent = self.setup.name, "does not start: {message}");
                self.unready = Some((fault_report, Instant::now()));
                return;
            }
            Err(Down::Ours(reason)) => {
                self.tell_ours(&reason);
                self.answer_all(&DecisionResult::Void(reason));
                time::sleep(REST).await;
                return;
            }
        }
        if !alone {
            return self.ask_batches().await;
        }
        let batch = self.line.inbox.borrow_mut().take_alone();
        if let Some(batch) = batch {
            self.ask_alone(batch).await;
        }
    }

    /// Logs the reason why this worker could not start it: a repeated reason less and less often,
    /// with its count.
    fn tell_ours(&mut self, reason: &str) {
        let (before, times) = &mut self.ours;
        if before != reason {
            (*before, *times) = (reason.to_owned(), 0);
        }
        *times += 1;
        if times.is_power_of_two() && times.trailing_zeros().is_multiple_of(3) {
            tracing::error!(agent = self.setup.name, times, "{reason}");
        }
    }

    /// Informs the driver.
    pub(super) fn tell(&mut self, event: Event) {
        self.line.count_event();
        if let Event::Moves(_) = event {
            self.errors = 0;
        }
        let answered = match &event {
            Event::Moves(moves) => moves.len(),
            Event::Unanswered(tokens) => tokens.len(),
            Event::Answers(answers) => answers.len(),
            Event::Games { .. } | Event::Panicked(_) => 0,
        };
        let open = &self.line.open;
        open.update(|open| open.saturating_sub(answered));
        // Without a driver, nothing waits for the answer.
        let _ = self.events.send(event);
    }

    /// Gives all waiting questions the same result.
    fn answer_all(&mut self, result: &DecisionResult) {
        let tokens = self.line.inbox.borrow_mut().take_all();
        let answers = tokens.into_iter().map(|token| (token, result.clone()));
        self.tell(Event::Answers(answers.collect()));
    }

    /// Updates the metrics, at most once per interval.
    pub(super) fn show(&mut self, every: Duration) {
        if self.flushed.elapsed() >= every {
            self.setup.meter.flush();
            self.flushed = Instant::now();
        }
    }

    /// A running agent; without one, the last failure.
    pub(super) async fn ensure_connected(&mut self) -> Result<(), Down> {
        let connection = self.connection.as_ref();
        if connection.is_some_and(|connection| !connection.is_dead()) {
            return Ok(());
        }
        self.disconnect().await;
        let mut wait = match self.setup.source {
            Source::Endpoint(_) => BACK_OFF_ENDPOINT,
            Source::Program { .. } | Source::Binary(_) => BACK_OFF,
        };
        let mut attempt = 1;
        let connection = loop {
            match AgentConnection::up(&self.setup.name, &self.setup.source, &self.environment).await
            {
                Err(Down::Agent(fault_report)) if attempt < STARTS => {
                    tracing::info!(agent = self.setup.name, attempt, "{}", fault_report.message);
                    time::sleep(wait).await;
                    wait *= 2;
                    attempt += 1;
                }
                connected => break connected?,
            }
        };
        if connection.is_process() {
            let metrics = &self.environment.metrics;
            metrics.add_agent_processes(&self.setup.label, 1);
            if self.has_run {
                metrics.agent_restarted(&self.setup.label);
            }
        }
        self.line.output.replace(connection.output().cloned());
        self.has_run = true;
        self.up_since = Instant::now();
        self.connection = Some(connection);
        Ok(())
    }

    /// Ends the agent's process or the connection.
    pub(super) async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            if connection.is_process() {
                let metrics = &self.environment.metrics;
                metrics.add_agent_processes(&self.setup.label, -1);
            }
            connection.down().await;
        }
    }

    /// True if an agent that answers in time wrote too much so often that a restart does not help.
    pub(super) fn flooded_again(&mut self) -> bool {
        if self.up_since.elapsed() > FLOOD_ROW {
            self.floods = 0;
        }
        self.floods += 1;
        self.floods >= FLOODS
    }

    /// This many decisions were asked together and answered in this time.
    pub(super) fn answered(&mut self, decisions: usize, took: Duration) {
        self.line.window.borrow_mut().answered(decisions, took);
        self.set_room();
    }

    /// A batch failed.
    pub(super) fn count_failed(&mut self, why: &BatchFailure) {
        if matches!(why, BatchFailure::Single) {
            return;
        }
        self.batches_failed += 1;
        if self.batches_failed >= BATCHES_FAILED {
            tracing::info!(
                agent = self.setup.name,
                "{BATCHES_FAILED} batches in a row failed: asking single questions from now on"
            );
            self.batches_again = Some(Instant::now() + BATCHES_REST);
        }
    }

    /// The questions of a batch are unanswered: they are asked again alone, of a fresh process if
    /// `again` requires it, and so are the waiting ones.
    pub(super) async fn ask_again(&mut self, mut unanswered: Vec<Token>, why: BatchFailure) {
        match why {
            BatchFailure::Single => {
                if let Some(connection) = &mut self.connection {
                    connection.single = true;
                }
            }
            BatchFailure::Failed(status) => {
                if let Some(connection) = &self.connection {
                    let fault_report = connection.fault_report(&status).await;
                    if fault_report.kind == FaultKind::OutputLimit && self.flooded_again() {
                        self.broken = Some(fault_report);
                    } else {
                        tracing::info!(
                            agent = self.setup.name,
                            "a batch failed ({}): asking its questions alone",
                            fault_report.message
                        );
                    }
                }
                self.restart(&mut unanswered).await;
            }
            BatchFailure::Late(limit) => {
                tracing::info!(
                    agent = self.setup.name,
                    "no answer to a batch within {limit:?}: asking its questions alone"
                );
                self.restart(&mut unanswered).await;
            }
        }
        if !unanswered.is_empty() {
            self.tell(Event::Unanswered(unanswered));
        }
    }

    async fn restart(&mut self, unanswered: &mut Vec<Token>) {
        unanswered.extend(self.line.inbox.borrow_mut().take_batched());
        self.asks_alone = true;
        // An agent that hangs has to be found early.
        *self.line.window.borrow_mut() = Window::new(self.batch_max);
        self.set_room();
        self.disconnect().await;
    }

    pub(super) fn set_room(&mut self) {
        let room = self.line.window.borrow().size();
        let mut inbox = self.line.inbox.borrow_mut();
        inbox.set_room(room, self.asks_alone);
    }

    pub(super) fn count_batch(&self, decisions: usize) {
        let count = u32::try_from(decisions).unwrap_or(u32::MAX);
        self.environment.metrics.batch_size.observe(count.into());
    }
}

/// Why a batch is not awaited any longer.
#[derive(Debug)]
pub(super) enum BatchFailure {
    /// The agent has no `ChooseMoves`.
    Single,
    /// The call failed, or its answer was invalid.
    Failed(Status),
    /// It took too long.
    Late(Duration),
}
