//! A connection to a running agent: starts the agent's process or connects to its endpoint.

use std::{
    ffi::OsString,
    future::Future,
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use arena_engine::FaultKind;
use arena_model::error_line;
use arena_sandbox::TreeLimit;
use arena_telemetry::grpc_code;
use arena_wire::{
    networks::{AgentNetworks, causes, is_of_agent},
    v1::{self, agent_setup},
};
use nix::sys::signal::Signal;
use tokio::{sync::OwnedSemaphorePermit, time};
use tonic::{Code, Status, transport::Channel};
use tonic_health::pb::health_check_response::ServingStatus;

use super::{FaultReport, codec, connect, link::Link};
use crate::{
    environment::{AgentOptions, Environment},
    machine::{CoreSet, Home},
    supervise::{Exit, Launch, Limits, Output, Process, StartError},
};

/// Maximum time to wait for the end of a process after its connection broke.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time in which a guard notices that an agent exceeds a limit.
const MEASURED: Duration = Duration::from_millis(120);
/// Maximum length of the line that names an error.
const REASON_BYTES: usize = 300;
/// Processes of an agent are listed again after this time.
const LISTED: Duration = Duration::from_secs(1);
/// Interval of warnings of an agent that does not get ready.
const READY_WARNING: Duration = Duration::from_secs(20);
/// Timeout of the health check of an endpoint.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// How to reach an agent.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// An executable on this machine.
    Program {
        path: PathBuf,
        args: Vec<OsString>,
        limits: Limits,
    },
    /// An executable that the worker downloads by its hash.
    Binary {
        binary: v1::BinarySource,
        /// Cores of each of its processes, in a control group; 0: no limit.
        cpus: u32,
    },
    /// A process that runs elsewhere.
    Endpoint(String),
}

impl Source {
    /// How to reach the agent of a setup, if it is a process or an endpoint.
    pub(crate) fn of(source: agent_setup::Source, environment: &Environment) -> Self {
        match source {
            agent_setup::Source::Native(_) => {
                let (path, args) = environment.agents.native.clone();
                Self::Program {
                    path,
                    args,
                    limits: Limits::default(),
                }
            }
            agent_setup::Source::Binary(binary) => Self::Binary { binary, cpus: 0 },
            agent_setup::Source::Endpoint(endpoint) => Self::Endpoint(endpoint.url),
        }
    }

    /// Limits the cores of each process of a binary.
    pub(crate) fn on_cpus(mut self, most: u32) -> Self {
        if let Self::Binary { cpus, .. } = &mut self {
            *cpus = most;
        }
        self
    }
}

/// Why there is no connection.
#[derive(Clone, Debug)]
pub(crate) enum Down {
    /// The agent is at fault.
    Agent(FaultReport),
    /// This worker is at fault.
    Worker(String),
}

/// A connection to an agent that has been ready.
#[derive(Debug)]
pub(crate) struct AgentConnection {
    pub(crate) link: Link,
    process: Option<Process>,
    /// True before the first question.
    pub(crate) fresh: bool,
    /// True for an endpoint whose faults do not say why it does not answer.
    discreet: bool,
    /// True if the agent has no `ChooseMoves`, or the worker must not use it.
    pub(crate) single: bool,
    /// The processes of the agent, and when they were listed.
    processes: Option<(Instant, Vec<i32>)>,
    /// The cores that it has to itself while it thinks, under strict timing.
    home: Option<Home>,
}

/// How a process of an agent is started.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    /// The name of the agent.
    pub(crate) name: &'a str,
    /// Number of cores that it has to itself while it thinks; none: it shares all cores.
    pub(crate) own_cores: Option<usize>,
}

impl AgentConnection {
    /// Starts the agent of this name, or connects to it.
    pub(crate) async fn open(
        how: Start<'_>,
        source: &Source,
        environment: &Environment,
    ) -> Result<Self, Down> {
        let name = how.name;
        let is_process = !matches!(source, Source::Endpoint(_));
        let cpus = how.own_cores.filter(|_| is_process);
        let machine = &environment.agents.machine;
        let home = cpus.map(|cpus| machine.home(cpus)).transpose();
        let home = home.map_err(|problem| Down::Worker(format!("{name}: {problem}")))?;
        // Its start takes time of the cores, too.
        let _start = match &home {
            Some(home) => home.take().await,
            None => Vec::new(),
        };
        let cores = match &home {
            Some(home) => home.cores(),
            None => machine.cores().clone(),
        };
        let (link, process) = match source {
            Source::Endpoint(url) => {
                let channel = reach(url, &environment.agents).await?;
                (Link::Grpc(channel), None)
            }
            Source::Program { path, args, limits } => {
                start(
                    name,
                    path.clone(),
                    args.clone(),
                    *limits,
                    true,
                    cores,
                    environment,
                )
                .await?
            }
            Source::Binary { binary, cpus } => {
                let provided = environment.binaries.provide(binary).await;
                let path = provided.map_err(|error| Down::Worker(error.to_string()))?;
                let args = binary.args.iter().map(Into::into).collect();
                let mut limits = Limits::from_wire(binary.limits.as_ref());
                limits.cpus = *cpus;
                let declared = binary.limits.as_ref().map_or(0, |it| it.memory_bytes);
                if declared > machine.memory_bytes() {
                    let [needs, has] = [declared, machine.memory_bytes()].map(|it| it >> 20);
                    return Err(Down::Worker(format!(
                        "{name}: each process needs {needs} MiB, and this worker has {has} MiB: \
                         use a worker with more memory, or register the agent with less --memory"
                    )));
                }
                start(name, path, args, limits, false, cores, environment).await?
            }
        };
        Ok(Self {
            link,
            discreet: environment.agents.discreet && process.is_none(),
            process,
            fresh: true,
            single: environment.agents.unary,
            processes: None,
            home,
        })
    }

    /// The processes of the agent, if this worker started it, as listed a short time ago.
    pub(crate) fn processes(&mut self) -> Vec<i32> {
        let Some(process) = &self.process else {
            return Vec::new();
        };
        match &self.processes {
            Some((at, listed)) if at.elapsed() < LISTED => listed.clone(),
            _ => {
                let listed = process.processes();
                self.processes = Some((Instant::now(), listed.clone()));
                listed
            }
        }
    }

    /// Waits until no other process thinks on its cores. Others wait until the result is dropped.
    pub(crate) async fn take_cores(&self) -> Vec<OwnedSemaphorePermit> {
        match &self.home {
            Some(home) => home.take().await,
            None => Vec::new(),
        }
    }

    /// Number of cores that it may use.
    pub(crate) fn core_count(&self, environment: &Environment) -> usize {
        let home = self.home.as_ref().map(|home| home.cores().len());
        home.unwrap_or_else(|| environment.agents.machine.core_count())
    }

    /// The process of the agent, if this worker started it.
    pub(crate) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    /// True for a process of this worker, false for an endpoint.
    pub(crate) fn is_process(&self) -> bool {
        self.process.is_some()
    }

    /// True if the process is known to have ended.
    pub(crate) fn is_dead(&self) -> bool {
        self.process.as_ref().and_then(|it| it.exit()).is_some()
    }

    /// The fault that a failed call shows.
    pub(crate) async fn fault_report(&self, status: &Status) -> FaultReport {
        let exit = match &self.process {
            Some(process) => match process.flood() {
                None if may_be_dead(status) => process.exit_within(EXIT_TIMEOUT).await,
                // An agent can notice a limit before its guard does.
                None => { process.exit_within(MEASURED).await }
                    .filter(|exit| limit_fault(*exit).is_some()),
                flood => flood,
            },
            None => None,
        };
        let written = self.tail();
        let (kind, message) = match exit {
            Some(exit) if limit_fault(exit).is_some() => (
                limit_fault(exit).unwrap_or(FaultKind::Crash),
                exit.to_string(),
            ),
            Some(exit) => (FaultKind::Crash, with_reason(exit.to_string(), &written)),
            None if codec::unreadable(status) => (FaultKind::Garbled, status.message().to_owned()),
            None => {
                let is_lost = status.code() == Code::Unavailable || is_lost(status);
                let what = "the connection failed";
                match status_text(status) {
                    text if self.discreet && (is_lost || !is_of_agent(status)) => {
                        tracing::warn!(text, "lost the connection to an endpoint");
                        (FaultKind::Disconnected, what.to_owned())
                    }
                    text if is_lost => (FaultKind::Disconnected, format!("{what}: {text}")),
                    text => {
                        let what = "the agent answered with an error";
                        (FaultKind::Crash, format!("{what}: {text}"))
                    }
                }
            }
        };
        self.fault(kind, message)
    }

    /// A fault with the agent's last output.
    pub(crate) fn fault(&self, kind: FaultKind, message: String) -> FaultReport {
        FaultReport {
            kind,
            message,
            tail: self.tail(),
        }
    }

    fn tail(&self) -> String {
        let tail = self.output().map(|output| output.tail());
        tail.unwrap_or_default()
    }

    /// Output of the agent's process, if this worker started the agent.
    pub(crate) fn output(&self) -> Option<&Arc<Output>> {
        self.process.as_ref().map(|it| it.output())
    }

    /// Stops the process, and waits for its end.
    pub(crate) async fn close(self) {
        if let Some(process) = self.process {
            process.stop().await;
        }
    }
}

/// Waits for an agent to be ready, and warns of one that takes long.
pub(super) async fn warn_while_waiting<T>(agent: &str, ready: impl Future<Output = T>) -> T {
    let mut ready = pin!(ready);
    let since = Instant::now();
    loop {
        tokio::select! {
            ready = &mut ready => return ready,
            () = time::sleep(READY_WARNING) => tracing::warn!(
                agent,
                seconds = since.elapsed().as_secs(),
                "is not ready yet; its games wait"
            ),
        }
    }
}

/// Describes what happened, with the line of the output that names an error.
fn with_reason(message: String, output: &str) -> String {
    match error_line(output) {
        Some(mut line) => {
            line.truncate(line.floor_char_boundary(REASON_BYTES));
            format!("{message}: {line}")
        }
        None => message,
    }
}

/// The text of a status. Its code follows, unless it only says that there was an error.
pub(crate) fn status_text(status: &Status) -> String {
    let code = grpc_code(status.code() as i32);
    match (status.code(), status.message()) {
        (_, "") => format!("gRPC status {code}, without a text"),
        (Code::Unknown | Code::Internal, text) => text.to_owned(),
        (_, text) => format!("{text} (gRPC status {code})"),
    }
}

/// True if the connection broke, as opposed to an answer with an error.
pub(crate) fn is_lost(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}

/// True if a call may have failed because the process ended.
pub(crate) fn may_be_dead(status: &Status) -> bool {
    is_lost(status) || matches!(status.code(), Code::Unavailable | Code::Cancelled)
}

async fn start(
    name: &str,
    program: PathBuf,
    args: Vec<OsString>,
    limits: Limits,
    is_trusted: bool,
    cores: CoreSet,
    environment: &Environment,
) -> Result<(Link, Option<Process>), Down> {
    let launch = Launch {
        name: name.to_owned(),
        program,
        args,
        limits,
        listen: environment.agents.listen,
        cores: Some(cores),
        is_trusted,
    };
    let started = environment.supervisor.start(&launch).await;
    let started = started.map(|process| (process.link().clone(), Some(process)));
    started.map_err(|(error, tail)| {
        let program = &launch.program;
        let text = error.to_string();
        let (kind, message) = match error {
            StartError::Ours { .. } => return Down::Worker(text),
            // The file was removed, but not by the agent.
            _ if !program.exists() => {
                let shown = program.display();
                return Down::Worker(format!("cannot start {shown}: the file does not exist"));
            }
            StartError::Exited { exit } if limit_fault(exit).is_some() => {
                (limit_fault(exit).unwrap_or(FaultKind::NotReady), text)
            }
            _ => (FaultKind::NotReady, with_reason(text, &tail)),
        };
        Down::Agent(FaultReport {
            kind,
            message,
            tail,
        })
    })
}

/// The fault of an agent that exceeded a limit.
fn limit_fault(exit: Exit) -> Option<FaultKind> {
    Some(match exit {
        Exit::OutputLimit(_) => FaultKind::OutputLimit,
        Exit::Exceeded(TreeLimit::Memory, _) => FaultKind::MemoryLimit,
        Exit::Exceeded(TreeLimit::Processes, _) => FaultKind::ProcessLimit,
        Exit::Exceeded(TreeLimit::Disk, _) => FaultKind::DiskLimit,
        Exit::Exceeded(TreeLimit::Cpu, _) => FaultKind::CpuLimit,
        // One file, or one process, exceeded the limit of the tree.
        Exit::Signal(signal) if signal == Signal::SIGXFSZ as i32 => FaultKind::DiskLimit,
        Exit::Signal(signal) if signal == Signal::SIGXCPU as i32 => FaultKind::CpuLimit,
        _ => return None,
    })
}

/// Connects to an endpoint. A health check is optional, but if there is one, it must answer
/// SERVING.
async fn reach(url: &str, options: &AgentOptions) -> Result<Channel, Down> {
    connected(url, &options.networks).await.map_err(|problem| {
        let message = match options.discreet {
            true => {
                tracing::warn!(url, problem, "cannot reach an endpoint");
                format!("cannot reach {url}: the endpoint did not answer")
            }
            false => format!("cannot reach {url}: {problem}"),
        };
        Down::Agent(FaultReport::new(FaultKind::Disconnected, message))
    })
}

async fn connected(url: &str, networks: &AgentNetworks) -> Result<Channel, String> {
    let endpoint = connect::endpoint(url).map_err(|error| causes(&error))?;
    let channel = networks.connect(url, endpoint).await?;
    match tokio::time::timeout(HEALTH_TIMEOUT, connect::health(&channel)).await {
        Ok(Ok(ServingStatus::Serving)) => Ok(channel),
        Ok(Err(status))
            if matches!(status.code(), Code::Unimplemented | Code::NotFound)
                && is_of_agent(&status) =>
        {
            Ok(channel)
        }
        Ok(Ok(other)) => Err(format!("its health check answers {}", other.as_str_name())),
        Ok(Err(status)) => Err(status_text(&status)),
        Err(_) => Err(format!("no answer within {HEALTH_TIMEOUT:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_an_agent_is_shown_plainly() {
        for (status, expected) in [
            (
                Status::unknown("RuntimeError: \"no\""),
                "RuntimeError: \"no\"",
            ),
            (Status::internal("KeyError: 'a'"), "KeyError: 'a'"),
            (
                Status::invalid_argument("no such bot"),
                "no such bot (gRPC status INVALID_ARGUMENT)",
            ),
            (Status::unknown(""), "gRPC status UNKNOWN, without a text"),
        ] {
            assert_eq!(status_text(&status), expected);
        }
    }
}
