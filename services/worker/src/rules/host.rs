//! The processes of a package, shared by all threads that play its games.

mod compare;
mod draw;
mod processes;
mod source;
mod together;
mod unknown;

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use arena_engine::options::Options;
use arena_model::rules::RulesDescription;
use arena_wire::v1;
use tokio::{runtime::Builder, sync::mpsc::UnboundedSender, task::LocalSet, time};

use super::{
    OpenGame, PackageGame, RulesCause, RulesFailure, RulesService,
    failure::ProcessError,
    messages::{Answer, Ask},
    output::{end_of, place_of, with_last_line},
    process::RulesProcess,
    question::excuse_error,
};
use crate::{
    environment::AgentOptions,
    lock,
    supervise::{Launch, Listen, Supervisor},
};
use processes::{Processes, start};

/// One of so many calls is asked again of another process while games are played.
const COMPARED: u64 = 100;
/// Processes in a row that may be killed, by the system or an operator, before the package counts as failed.
const KILLED_MAX: u32 = 5;
/// What happens after a failure.
const ASK_ANOTHER: &str = "asking another process";
/// Time for processes to end when their host does.
const CLOSE: Duration = Duration::from_secs(8);

pub use source::RulesSource;

type Started = Result<RulesProcess, RulesFailure>;

/// The processes of one package.
pub struct RulesHost {
    /// Name of the ruleset, for messages.
    name: String,
    starts: UnboundedSender<mpsc::Sender<Started>>,
    start_timeout: Duration,
    /// As the first process gave it.
    description: OnceLock<String>,
    /// What the first process had loaded then, or why this is unknown.
    loaded: OnceLock<Result<Vec<v1::LoadedFile>, String>>,
    registered: Option<v1::RulesPackage>,
    guard: PathBuf,
    memory_limit: u64,
    processes: Mutex<Processes>,
    freed: Condvar,
    /// Whether its user sees a failure anyway, and not only its log.
    is_check: bool,
    calls: AtomicU64,
    /// One of so many calls is asked again of another process.
    compared: AtomicU64,
    comparisons: AtomicU64,
    failure: Mutex<Option<RulesFailure>>,
    boards: draw::Boards,
    together: together::Together,
}

impl RulesHost {
    /// A host that starts processes as they are needed, one for each core.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn new(name: &str, source: RulesSource, options: &AgentOptions) -> io::Result<Arc<Self>> {
        Self::of_options(name, source, options, COMPARED)
    }

    /// As [`Self::new`], for a check: every call is asked of two processes.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn for_check(
        name: &str,
        source: RulesSource,
        options: &AgentOptions,
    ) -> io::Result<Arc<Self>> {
        Self::of_options(name, source, options, 1)
    }

    fn of_options(
        name: &str,
        source: RulesSource,
        options: &AgentOptions,
        compared: u64,
    ) -> io::Result<Arc<Self>> {
        let mut supervisor = Supervisor::new(options.guard.clone(), options.temp.clone());
        supervisor.folder = options.output_folder.clone();
        supervisor.sandbox = options.sandbox.clone();
        let cores = options.machine.core_count();
        Self::comparing(name, source, supervisor, options.listen, cores, compared)
    }

    /// As [`Self::new`], with a supervisor whose end waits for the processes.
    pub(crate) fn within(
        name: &str,
        source: RulesSource,
        supervisor: Supervisor,
        listen: Listen,
        cores: usize,
    ) -> io::Result<Arc<Self>> {
        Self::comparing(name, source, supervisor, listen, cores, COMPARED)
    }

    fn comparing(
        name: &str,
        source: RulesSource,
        supervisor: Supervisor,
        listen: Listen,
        cores: usize,
        compared: u64,
    ) -> io::Result<Arc<Self>> {
        let (starts, mut requests) =
            tokio::sync::mpsc::unbounded_channel::<mpsc::Sender<Started>>();
        let start_timeout = source.limits.start;
        let launch = Launch {
            name: format!("rules-{name}"),
            program: source.program,
            args: source.args.iter().map(OsString::from).collect(),
            limits: source.limits,
            listen,
            cores: None,
            is_trusted: false,
        };
        let (registered, guard) = (source.registered, supervisor.guard_program());
        let memory_limit = source.limits.memory_bytes;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new()
            .name("rules".to_owned())
            .spawn(move || {
                LocalSet::new().block_on(&runtime, async {
                    while let Some(reply) = requests.recv().await {
                        let (supervisor, launch) = (supervisor.clone(), launch.clone());
                        tokio::task::spawn_local(async move {
                            let started = start(&supervisor, &launch).await;
                            // The caller may have gone; then it ends.
                            drop(reply.send(started));
                        });
                    }
                    // The tasks that end the processes run here.
                    let _ = time::timeout(CLOSE, supervisor.all_gone()).await;
                });
            })?;
        Ok(Arc::new(Self {
            name: name.to_owned(),
            starts,
            start_timeout,
            description: OnceLock::new(),
            loaded: OnceLock::new(),
            registered,
            guard,
            memory_limit,
            processes: Mutex::new(Processes::new(cores.max(1))),
            freed: Condvar::new(),
            is_check: compared == 1,
            calls: AtomicU64::new(0),
            compared: AtomicU64::new(compared),
            comparisons: AtomicU64::new(0),
            failure: Mutex::default(),
            boards: draw::Boards::default(),
            together: together::Together::default(),
        }))
    }

    /// What the package says of itself.
    ///
    /// # Errors
    /// [`RulesFailure`].
    pub fn describe(&self) -> Result<RulesDescription, RulesFailure> {
        if self.description.get().is_none() {
            let process = self.take(false).map_err(|failure| self.fail(failure))?;
            self.put_back(process);
        }
        let text = self.description.get().map_or("", String::as_str);
        RulesDescription::parse(text)
            .map_err(|error| self.fail(RulesFailure::new(RulesCause::Start, error.to_string())))
    }

    /// The game of a ruleset with resolved options.
    #[must_use]
    pub fn game(
        self: &Arc<Self>,
        rules: &RulesDescription,
        options: &Options,
        seats: usize,
    ) -> PackageGame {
        PackageGame::new(&self.name, rules.clone(), options, seats, self.clone())
    }

    /// As [`Self::game`], as it is played: each question goes to a process, and one of 100 to two.
    #[must_use]
    pub fn game_to_measure(
        self: &Arc<Self>,
        rules: &RulesDescription,
        options: &Options,
        seats: usize,
    ) -> PackageGame {
        self.compare_seldom();
        self.game(rules, options, seats).without_cache()
    }

    /// From now on, one of 100 calls is asked of two processes.
    pub fn compare_seldom(&self) {
        self.compared.store(COMPARED, Ordering::Relaxed);
    }

    /// The first failure of the package, if any.
    #[must_use]
    pub fn failed(&self) -> Option<RulesFailure> {
        self.failure()
    }

    /// Keeps the first failure of the package, and returns it.
    fn fail(&self, failure: RulesFailure) -> RulesFailure {
        if failure.cause == RulesCause::Host {
            return failure;
        }
        let named = RulesFailure {
            message: format!("ruleset {}: {}", self.name, failure.message),
            ..failure
        };
        lock(&self.failure).get_or_insert(named).clone()
    }

    /// True if every call is asked of two processes.
    fn compares_all(&self) -> bool {
        self.compared.load(Ordering::Relaxed) == 1
    }

    fn failure_of(&self, error: &ProcessError, process: &RulesProcess) -> RulesFailure {
        let message = match (error, process.exit()) {
            (ProcessError::Closed, Some(exit)) => exit.to_string(),
            _ => error.to_string(),
        };
        let tail = process.tail(error);
        let message = match (error, place_of(&tail)) {
            (ProcessError::Reported(_), Some(place)) => format!("{message} ({place})"),
            _ => with_last_line(message, &tail),
        };
        RulesFailure {
            output: end_of(&tail),
            ..RulesFailure::new(RulesCause::Answer, message)
        }
    }

    fn log_retry(&self, failure: &RulesFailure, then: &str) {
        match self.is_check {
            // The check prints the failure.
            true => tracing::debug!(ruleset = self.name, "{failure}; {then}"),
            false => tracing::warn!(ruleset = self.name, "{failure}; {then}"),
        }
    }

    /// Asks a process, another one if it does not answer or ends, and further ones if they are killed. Also
    /// returns the process.
    fn ask_one(
        &self,
        mut process: RulesProcess,
        game: &OpenGame,
        ask: &Ask<'_>,
    ) -> Result<(Answer, RulesProcess), RulesFailure> {
        let (mut failed, mut killed) = (0, 0);
        loop {
            let error = match excuse_error(|| process.ask(game, ask)) {
                Ok(answer) => return Ok((answer, process)),
                Err(error) => error,
            };
            let failure = self.failure_of(&error, &process).asked(ask);
            match process.was_killed() {
                true => killed += 1,
                false => failed += 1,
            }
            self.end(process);
            if failed > 1 || killed >= KILLED_MAX || self.failure().is_some() {
                return Err(failure);
            }
            self.log_retry(&failure, ASK_ANOTHER);
            // What ended it may have ended the idle ones, too.
            process = match error.is_end() {
                true => self.fresh()?,
                false => self.take(true)?,
            };
        }
    }

    fn try_ask(&self, game: &OpenGame, ask: &Ask<'_>) -> Result<Answer, RulesFailure> {
        let is_compared = self.count_calls(1).next().is_some();
        let (answer, process) = self.ask_one(self.take(false)?, game, ask)?;
        let compared = match is_compared {
            true => self.compare(game, ask, &answer),
            false => Ok(()),
        };
        self.put_back(process);
        compared?;
        if self.compares_all() {
            self.together.keep(game, ask, &answer);
        }
        Ok(answer)
    }
}

impl RulesService for RulesHost {
    fn ask(&self, game: &OpenGame, ask: &Ask<'_>) -> Result<Answer, RulesFailure> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        if let Ask::Draw { .. } = ask {
            return self.draw(game, ask);
        }
        self.try_ask(game, ask)
            .map_err(|failure| self.fail(failure))
    }

    fn apply_all(
        &self,
        game: &OpenGame,
        events: &[(&str, u32)],
    ) -> Vec<Result<Answer, RulesFailure>> {
        self.ask_together(game, events)
    }

    fn together(&self) -> usize {
        self.together.most()
    }

    fn failure(&self) -> Option<RulesFailure> {
        lock(&self.failure).clone()
    }

    fn refuse(&self, failure: RulesFailure) -> RulesFailure {
        self.fail(failure)
    }

    fn report_undrawn(&self, problem: &str) {
        self.boards.report(problem);
    }
}
