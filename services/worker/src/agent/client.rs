//! The client of one agent of a tournament on one driver: the waiting questions, and the tasks that
//! send them to the agent, restart the agent, and give it up. Each task serves one replica: a
//! process of the agent, or a connection to its endpoint. Any replica answers any question.

use std::{
    cell::{Cell, RefCell},
    future::Future,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_engine::{AnyMatch, Question};
use tokio::{sync::mpsc::UnboundedSender, time};

use super::{
    DecisionResult, Event, FaultReport, Token,
    connection::{AgentConnection, Down, Source},
    load::CpuLoad,
    question::{Asking, Inbox, Writer},
    replicas::Replicas,
    window::Window,
};
use crate::{
    clock::{Spent, TimeControl},
    environment::Environment,
    meter::Meter,
    supervise::Output,
};

/// Default number of decisions of a batch.
const BATCH: usize = 256;
/// Maximum number of decisions of a batch, even if the agent asks for more.
const BATCH_MAX: usize = 4096;
/// Pause before an agent that counts as not started is started again.
const UNREADY_REST: Duration = Duration::from_secs(5);
/// Pause after this worker could not start a process.
const REST: Duration = Duration::from_millis(500);

/// Properties of a client, for one of its replicas.
pub(crate) struct AgentClientSetup {
    pub(crate) name: String,
    /// Label in metrics.
    pub(crate) label: String,
    pub(crate) meter: Meter,
    pub(crate) source: Source,
    /// Number of cores that a process has to itself while it thinks; none: it shares all cores.
    pub(crate) own_cores: Option<usize>,
    /// Number of games at a time if the agent thinks on this machine's cores; none if it does not,
    /// or does so about several questions at the same time.
    pub(crate) games_by_cores: Option<usize>,
    /// 0: the default.
    pub(crate) batch_size: usize,
    pub(crate) time_control: TimeControl,
}

/// The client of an agent.
pub(crate) struct AgentClient {
    pub(super) inbox: RefCell<Inbox>,
    pub(super) replicas: Replicas,
    /// Number of events sent to the driver.
    event_count: Cell<u64>,
    /// Number of open questions.
    open: Cell<usize>,
    /// Number of questions at a time. It has no effect while all questions are asked alone.
    pub(super) window: RefCell<Window>,
    games_by_cores: Option<usize>,
    /// Whether its answers are thought out on the CPU, if that is known.
    pub(super) is_thinking: Cell<Option<bool>>,
    closed: Cell<bool>,
    /// True if all questions are asked alone: after a failed batch, until a question that was asked
    /// alone is answered.
    pub(super) asks_alone: Cell<bool>,
    /// The fault of an agent that is given up because of its floods.
    pub(super) broken: RefCell<Option<FaultReport>>,
    /// Reason why no replica of the agent started, and the time.
    pub(super) unready: RefCell<Option<(FaultReport, Instant)>>,
}

impl AgentClient {
    /// Waits until questions were added for a replica.
    pub(super) async fn woken(&self, replica: usize) {
        self.replicas.get(replica).woken().await;
    }

    /// Creates a client with a replica for each setup, and the tasks that serve the client until it
    /// is closed.
    pub(crate) fn open(
        setups: Vec<AgentClientSetup>,
        writer: Writer,
        environment: &Rc<Environment>,
        events: &UnboundedSender<Event>,
    ) -> (Rc<Self>, Vec<impl Future<Output = ()> + use<>>) {
        let games_by_cores = setups.first().and_then(|setup| setup.games_by_cores);
        let is_strict = setups.iter().any(|setup| setup.own_cores.is_some());
        let batch_max = match setups.first().map_or(0, |setup| setup.batch_size) {
            0 => BATCH,
            size => size.min(BATCH_MAX),
        };
        let client = Rc::new(Self {
            inbox: RefCell::new(Inbox::new(writer, 1)),
            replicas: Replicas::new(setups.len()),
            event_count: Cell::new(0),
            open: Cell::new(0),
            window: RefCell::new(Window::new(batch_max)),
            games_by_cores,
            is_thinking: Cell::new(is_strict.then_some(true)),
            closed: Cell::new(false),
            asks_alone: Cell::new(false),
            broken: RefCell::default(),
            unready: RefCell::default(),
        });
        let task = |(replica, setup): (usize, AgentClientSetup)| {
            environment.metrics.add_agent_processes(&setup.label, 0);
            let task = AgentTask {
                client: client.clone(),
                replica,
                environment: environment.clone(),
                events: events.clone(),
                flushed: Instant::now(),
                last_answer: Instant::now(),
                batch_max,
                served: Instant::now(),
                setup,
                connection: None,
                load: None,
                up_since: Instant::now(),
                has_run: false,
                floods: 0,
                errors: 0,
                rests_until: None,
                worker_problem: (String::new(), 0),
                batches: 0,
                batches_failed: 0,
                batches_again: None,
            };
            task.run()
        };
        let tasks = setups.into_iter().enumerate().map(task).collect();
        (client, tasks)
    }

    /// Adds a question, which is sent after the next [`AgentClient::flush`]: in a batch, or
    /// `alone`, while no other question is open.
    pub(crate) fn ask(&self, token: Token, game: &dyn AnyMatch, question: Question, how: Asking) {
        self.open.update(|open| open + 1);
        let mut inbox = self.inbox.borrow_mut();
        inbox.push(token, game, question, how);
    }

    /// Wakes the tasks, because no more questions are added for now.
    pub(crate) fn flush(&self) {
        self.inbox.borrow_mut().flush();
        self.replicas.wake();
    }

    /// True if a game of this agent may start while this many are played.
    pub(crate) fn has_room(&self, active: usize) -> bool {
        // One game shows how the agent answers.
        let is_thinking = self.is_thinking.get() != Some(false);
        if let Some(most) = self.games_by_cores.filter(|_| is_thinking) {
            return active < most;
        }
        let (window, replicas) = (self.window.borrow(), self.replicas.used());
        window.has_room(active, self.open.get(), replicas)
    }

    /// Number of games at a time for which there are cores, if the agent is known to need them.
    pub(crate) fn games_by_cores(&self) -> Option<usize> {
        self.games_by_cores
            .filter(|_| self.is_thinking.get() == Some(true))
    }

    /// Number of events sent to the driver. It grows while the agent answers questions of any game.
    pub(crate) fn event_count(&self) -> u64 {
        self.event_count.get()
    }

    pub(crate) fn count_event(&self) {
        self.event_count.update(|count| count + 1);
    }

    /// Output of the agent's current or last process; none before the first process, for an
    /// endpoint, and if several replicas share the questions.
    pub(crate) fn output(&self) -> Option<Arc<Output>> {
        self.replicas.output()
    }

    /// Ends the agent's processes and the tasks.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.replicas.close();
    }
}

/// The task that serves a client with one replica of its agent.
pub(super) struct AgentTask {
    pub(super) client: Rc<AgentClient>,
    /// Number of the replica.
    pub(super) replica: usize,
    pub(super) environment: Rc<Environment>,
    events: UnboundedSender<Event>,
    pub(super) setup: AgentClientSetup,
    flushed: Instant,
    /// Time of the newest answer. Before this time, the agent worked on earlier questions.
    pub(super) last_answer: Instant,
    pub(super) batch_max: usize,
    /// Time at which a batch was last answered completely.
    pub(super) served: Instant,
    pub(super) connection: Option<AgentConnection>,
    pub(super) load: Option<CpuLoad>,
    pub(super) up_since: Instant,
    /// True once the agent was connected.
    pub(super) has_run: bool,
    /// Floods in a row: processes that exceeded the output limit.
    pub(super) floods: u32,
    /// Errors that the agent answered with since its last move.
    pub(super) errors: u32,
    /// Until then, other replicas answer the questions, because this one did not start.
    rests_until: Option<Instant>,
    /// Reason why this worker could not start the agent, and the number of times in a row.
    worker_problem: (String, u64),
    pub(super) batches: u64,
    /// Failed batches in a row.
    pub(super) batches_failed: u32,
    /// Time from which batches are tried again.
    pub(super) batches_again: Option<Instant>,
}

impl AgentTask {
    async fn run(mut self) {
        let client = self.client.clone();
        while !client.closed.get() {
            let alone = client.inbox.borrow().has_alone();
            let replica = client.replicas.get(self.replica);
            if !client.replicas.is_used(self.replica)
                || !alone && !client.inbox.borrow().has_batch()
            {
                replica.set_busy(false);
                self.flush_metrics(Duration::ZERO);
                replica.woken().await;
                continue;
            }
            if let Some(until) = self.rests_until.filter(|&until| until > Instant::now()) {
                tokio::select! {
                    () = replica.closed() => break,
                    () = time::sleep_until(until.into()) => continue,
                }
            }
            let broken = client.broken.borrow().clone();
            if let Some(fault_report) = broken {
                self.answer_all(&DecisionResult::Fault(fault_report, Spent::default()));
                continue;
            }
            let unready = client.unready.borrow().clone();
            if let Some((fault_report, _)) = unready.filter(|(_, at)| at.elapsed() < UNREADY_REST) {
                self.answer_all(&DecisionResult::Unready(fault_report));
                continue;
            }
            replica.set_busy(true);
            tokio::select! {
                () = replica.closed() => break,
                () = self.serve(alone) => {}
            }
        }
        self.disconnect().await;
    }

    async fn serve(&mut self, alone: bool) {
        match self.ensure_connected().await {
            Ok(()) => {}
            Err(down) if self.client.replicas.has_other(self.replica) => {
                self.rest(&down);
                return;
            }
            Err(Down::Agent(fault_report)) => {
                let message = &fault_report.message;
                tracing::warn!(agent = self.setup.name, "does not start: {message}");
                let unready = (fault_report, Instant::now());
                self.client.unready.replace(Some(unready));
                return;
            }
            Err(Down::Worker(reason)) => {
                self.log_worker_problem(&reason);
                self.answer_all(&DecisionResult::Void(reason));
                time::sleep(REST).await;
                return;
            }
        }
        if !alone {
            return self.ask_batches().await;
        }
        let cores = match &self.connection {
            Some(connection) => connection.take_cores().await,
            None => Vec::new(),
        };
        // Another replica may have taken the question meanwhile.
        let batch = self.client.inbox.borrow_mut().take_alone();
        if let Some(batch) = batch {
            self.ask_alone(batch, cores).await;
        }
    }

    /// Leaves the questions to other replicas for some time, because this one did not start.
    pub(super) fn rest(&mut self, down: &Down) {
        let (Down::Agent(FaultReport { message, .. }) | Down::Worker(message)) = down;
        let (agent, replica) = (&self.setup.name, self.replica);
        tracing::warn!(
            agent,
            replica,
            "a further process does not start: {message}"
        );
        self.rests_until = Some(Instant::now() + UNREADY_REST);
    }

    /// Logs the reason why this worker could not start the agent. Logs a repeated reason less and
    /// less often, with its count.
    fn log_worker_problem(&mut self, reason: &str) {
        let (before, times) = &mut self.worker_problem;
        if before != reason {
            (*before, *times) = (reason.to_owned(), 0);
        }
        *times += 1;
        if times.is_power_of_two() && times.trailing_zeros().is_multiple_of(3) {
            tracing::error!(agent = self.setup.name, times, "{reason}");
        }
    }

    /// Sends an event to the driver.
    pub(super) fn send_event(&mut self, event: Event) {
        self.client.count_event();
        if let Event::Moves(_) = event {
            self.errors = 0;
        }
        let answered = match &event {
            Event::Moves(moves) => moves.len(),
            Event::Unanswered(tokens) => tokens.len(),
            Event::Answers(answers) => answers.len(),
            Event::Games { .. } | Event::Panicked(_) => 0,
        };
        let open = &self.client.open;
        open.update(|open| open.saturating_sub(answered));
        // If the driver is gone, no game waits for the answer.
        let _ = self.events.send(event);
    }

    /// Gives all waiting questions the same result.
    fn answer_all(&mut self, result: &DecisionResult) {
        let tokens = self.client.inbox.borrow_mut().take_all();
        let answers = tokens.into_iter().map(|token| (token, result.clone()));
        self.send_event(Event::Answers(answers.collect()));
    }

    /// Updates the metrics, at most once per interval.
    pub(super) fn flush_metrics(&mut self, every: Duration) {
        if self.flushed.elapsed() >= every {
            self.setup.meter.flush();
            self.flushed = Instant::now();
        }
    }

    /// Records that `decisions` were asked together and answered after `took`.
    pub(super) fn answered(&mut self, decisions: usize, took: Duration) {
        self.client.window.borrow_mut().answered(decisions, took);
        self.set_room();
        self.measure_load(decisions, took);
    }

    pub(super) fn set_room(&mut self) {
        let room = self.client.window.borrow().size();
        let mut inbox = self.client.inbox.borrow_mut();
        inbox.set_room(room, self.client.asks_alone.get());
    }

    pub(super) fn count_batch(&self, decisions: usize) {
        let count = u32::try_from(decisions).unwrap_or(u32::MAX);
        self.environment.metrics.batch_size.observe(count.into());
    }
}
