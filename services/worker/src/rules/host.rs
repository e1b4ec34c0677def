//! The processes of a package, shared by all threads that play its games.

mod compare;
mod draw;
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
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, ThreadId},
    time::Duration,
};

use arena_engine::options::Options;
use arena_model::rules::RulesDescription;
use arena_wire::v1;
use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc::UnboundedSender,
    task::LocalSet,
    time,
};

use super::{
    OpenGame, PackageGame, RulesCause, RulesFailure, RulesService,
    failure::ProcessError,
    messages::{Answer, Ask},
    output::{end_of, place_of, with_last_line},
    process::RulesProcess,
    question::{excuse, excuse_error},
};
use crate::{
    environment::AgentOptions,
    lock,
    supervise::{Launch, Listen, StartError, Supervisor},
};

/// One of so many calls is asked again of another process while games are played.
const COMPARED: u64 = 100;
/// Maximum number of idle processes for each one that may answer: those that are only compared are kept,
/// since a start takes as long as hundreds of answers.
const KEPT: usize = 2;
/// Processes in a row that may be killed, by the system or an operator, before the package counts as failed.
const KILLED_MAX: u32 = 5;
/// Additional time for the start of a process to be reported.
const START_SLACK: Duration = Duration::from_secs(5);
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

#[derive(Default)]
struct Processes {
    idle: Vec<RulesProcess>,
    count: usize,
    most: usize,
}

impl Processes {
    /// Takes an idle process. Rules may keep what they found for a state, so a thread goes on with the
    /// process that it asked last. Without a thread, the process is for a single question.
    fn take(&mut self, thread: Option<ThreadId>) -> Option<RulesProcess> {
        let users: Vec<_> = self.idle.iter().map(RulesProcess::user).collect();
        let mut process = self.idle.remove(choose(&users, thread)?);
        if thread.is_some() {
            process.set_user(thread);
        }
        Some(process)
    }
}

/// The place of the process that a thread asked last. Else that of one that no other thread goes on with, if
/// there is one.
fn choose(users: &[Option<ThreadId>], thread: Option<ThreadId>) -> Option<usize> {
    let last = |user| users.iter().rposition(|&it| it == user);
    let own = thread.and_then(|_| last(thread));
    own.or_else(|| last(None))
        .or_else(|| users.len().checked_sub(1))
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
            processes: Mutex::new(Processes {
                most: cores.max(1),
                ..Processes::default()
            }),
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

    /// Takes an idle process, starts one, or waits for one. A caller that has another process, or is
    /// to replace one, does not wait.
    fn take(&self, is_extra: bool) -> Result<RulesProcess, RulesFailure> {
        let thread = (!is_extra).then(|| thread::current().id());
        let mut processes = lock(&self.processes);
        loop {
            if let Some(process) = processes.take(thread) {
                return Ok(process);
            }
            if is_extra || processes.count < processes.most {
                processes.count += 1;
                break;
            }
            let waited = excuse(|| self.freed.wait(processes));
            processes = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        drop(processes);
        let mut process = self.start_counted()?;
        process.set_user(thread);
        Ok(process)
    }

    /// A process that has answered nothing: it cannot remember games as the others do. It replaces an
    /// idle one.
    fn fresh(&self) -> Started {
        let idle = lock(&self.processes).take(None);
        if let Some(idle) = idle {
            self.end(idle);
        }
        lock(&self.processes).count += 1;
        self.start_counted()
    }

    /// Starts a process that is counted already.
    fn start_counted(&self) -> Started {
        let started = excuse(|| self.start());
        if started.is_err() {
            lock(&self.processes).count -= 1;
            self.freed.notify_one();
        }
        started
    }

    /// Starts a process, and others if they are killed before they describe themselves.
    fn start(&self) -> Started {
        for _ in 1..KILLED_MAX {
            match self.start_once()? {
                Ok(process) => return Ok(process),
                Err(failure) => self.log_retry(&failure, ASK_ANOTHER),
            }
        }
        self.start_once()?
    }

    /// Starts a process and waits for its description, which is the same for each. The inner failure is
    /// that of a process that was killed.
    fn start_once(&self) -> Result<Started, RulesFailure> {
        let (sender, receiver) = mpsc::channel();
        let ended =
            || RulesFailure::new(RulesCause::Host, "the thread that starts rules has ended");
        self.starts.send(sender).map_err(|_| ended())?;
        let mut process = match receiver.recv_timeout(self.start_timeout + START_SLACK) {
            Ok(started) => started?,
            Err(RecvTimeoutError::Timeout) => {
                return Err(RulesFailure::new(
                    RulesCause::Host,
                    "the rules were not started in time",
                ));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
        };
        match process.describe(self.start_timeout) {
            Ok(text) => {
                self.check_registered(&text, &process)?;
                match *self.description.get_or_init(|| text.clone()) == text {
                    true => Ok(Ok(process)),
                    false => Err(RulesFailure::new(
                        RulesCause::Purity,
                        "two processes describe themselves differently",
                    )),
                }
            }
            Err(error) => {
                let failure = self.failure_of(&error, &process);
                let failure = RulesFailure {
                    cause: RulesCause::Start,
                    message: format!("the package did not describe itself: {}", failure.message),
                    ..failure
                };
                match process.was_killed() {
                    true => Ok(Err(failure)),
                    false => Err(failure),
                }
            }
        }
    }

    /// True if every call is asked of two processes.
    fn compares_all(&self) -> bool {
        self.compared.load(Ordering::Relaxed) == 1
    }

    fn put_back(&self, process: RulesProcess) {
        let mut processes = lock(&self.processes);
        if processes.count > KEPT * processes.most {
            processes.count -= 1;
            drop(processes);
            drop(process);
        } else {
            processes.idle.push(process);
        }
        self.freed.notify_one();
    }

    /// Ends a process that failed.
    fn end(&self, process: RulesProcess) {
        drop(process);
        lock(&self.processes).count -= 1;
        self.freed.notify_one();
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

async fn start(supervisor: &Supervisor, launch: &Launch) -> Started {
    let started = supervisor.start_rules(launch).await;
    started
        .map(|started| RulesProcess::new(started, &Handle::current()))
        .map_err(|(error, tail)| match error {
            StartError::Ours { .. } => RulesFailure::new(RulesCause::Host, error.to_string()),
            _ => RulesFailure {
                output: end_of(&tail),
                ..RulesFailure::new(RulesCause::Start, with_last_line(error.to_string(), &tail))
            },
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_leave_each_thread_its_process() {
        let own = Some(thread::current().id());
        let other = thread::spawn(|| thread::current().id()).join().ok();
        assert_eq!(choose(&[None, own, other], own), Some(1));
        assert_eq!(choose(&[own, None, other], None), Some(1));
        assert_eq!(choose(&[other, None, other], own), Some(1));
        // Without another one, it is better than a start.
        assert_eq!(choose(&[other], None), Some(0));
        assert_eq!(choose(&[other], own), Some(0));
        assert_eq!(choose(&[], own), None);
    }
}
