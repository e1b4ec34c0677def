//! Agent processes: started under a guard, ready by health check, limited, and ended with
//! everything they started.

mod attend;
mod exposed;
mod output;
mod process;
mod raw_link;
mod ready;
mod sandbox;

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use arena_sandbox::{Missing, TreeLimit, TreeLimits};
use arena_wire::v1;
use nix::errno::Errno;
use tokio::sync::watch;

use crate::machine::CoreSet;

pub use output::{KEPT_BYTES, Output, Outputs};
pub use process::{Guarded, Process};
pub(crate) use process::{SOCKET_PATH_BYTES, socket_path_bytes};
pub(crate) use raw_link::{RawLink, RawPipes, RawSocket};
pub(crate) use ready::serving;
pub(crate) use sandbox::open_to_agents;
pub use sandbox::{Sandbox, SandboxError};

/// How to start the guard: a program and the arguments that make it run
/// [`crate::guard::main`], such as `arena agent guard`.
#[derive(Clone, Debug)]
pub struct GuardCommand {
    /// The program; for `arena`, its own executable.
    pub program: PathBuf,
    /// Arguments before the guard's own arguments.
    pub args: Vec<OsString>,
}

impl GuardCommand {
    /// The command of the adapter for engines that speak UCI, before the engine's own command:
    /// `arena agent uci --`.
    fn uci(&self) -> Vec<OsString> {
        let mut command = vec![self.program.clone().into_os_string()];
        // The word `guard` is the last one.
        command.extend(self.args.iter().rev().skip(1).rev().cloned());
        command.extend(["uci", "--"].map(OsString::from));
        command
    }
}

/// Starts agent processes, and knows when all are gone.
#[derive(Clone, Debug)]
pub struct Supervisor {
    guard: GuardCommand,
    temp: PathBuf,
    /// How agents are confined.
    pub sandbox: Sandbox,
    /// Keeps the output of every process, also after its end.
    pub(crate) outputs: Option<Outputs>,
    /// A folder in which every process also gets a file with its output.
    pub(crate) folder: Option<PathBuf>,
    /// Every process that is not gone yet has a receiver.
    running: Arc<watch::Sender<()>>,
}

impl Supervisor {
    /// The program that runs as a guard.
    pub(crate) fn guard_program(&self) -> PathBuf {
        self.guard.program.clone()
    }

    /// A supervisor with this guard; agents get private folders in `temp`.
    #[must_use]
    pub fn new(guard: GuardCommand, temp: PathBuf) -> Self {
        Self {
            guard,
            // Agents start in folders of their own.
            temp: std::path::absolute(&temp).unwrap_or(temp),
            sandbox: Sandbox::default(),
            outputs: None,
            folder: None,
            running: Arc::new(watch::Sender::new(())),
        }
    }

    /// Waits until every started process is gone. It ends none: dropping or stopping each
    /// [`Process`] does.
    pub async fn all_gone(&self) {
        self.running.closed().await;
    }
}

/// Where a child process has to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Listen {
    /// A socket in a private folder of its own.
    #[default]
    Unix,
    /// A free port of the loopback interface.
    Tcp,
}

/// Limits of an agent process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from the start of the agent in its sandbox until the health check answers SERVING.
    pub start: Duration,
    /// Bytes of memory: in a sandbox of all its processes together, else of each process.
    pub memory_bytes: u64,
    /// Number of processes.
    pub processes: u32,
    /// Bytes written to stdout and stderr together.
    pub output_bytes: u64,
    /// Bytes in its scratch folder. Like the time of the processor, only limited in a sandbox.
    pub disk_bytes: u64,
    /// Time of the processor of all its processes together; zero: no limit.
    pub cpu: Duration,
    /// Cores that all its processes use at the same time, in a control group; 0: no limit.
    pub cpus: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self::from_wire(None)
    }
}

impl Limits {
    /// The limits of a message; 0 or absent is the default.
    #[must_use]
    pub fn from_wire(limits: Option<&v1::AgentLimits>) -> Self {
        let limits = limits.copied().unwrap_or_default().or_default();
        Self {
            start: Duration::from_micros(limits.start_timeout_us),
            memory_bytes: limits.memory_bytes,
            processes: limits.processes,
            output_bytes: limits.output_bytes,
            disk_bytes: limits.disk_bytes,
            cpu: Duration::from_micros(limits.cpu_us),
            cpus: 0,
        }
    }

    /// Those that the guard measures.
    fn of_tree(&self) -> TreeLimits {
        TreeLimits {
            memory_bytes: self.memory_bytes,
            processes: self.processes.into(),
            disk_bytes: self.disk_bytes,
            cpu_ms: self.cpu.as_millis() as u64,
            cpus: self.cpus,
        }
    }
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its name in file names.
    pub name: String,
    /// The agent's executable, or its package.
    pub program: PathBuf,
    /// Its arguments; those of a package's command come before them.
    pub args: Vec<OsString>,
    /// Its limits.
    pub limits: Limits,
    /// Where it has to listen.
    pub listen: Listen,
    /// The cores that it may use; none: those of this thread.
    pub cores: Option<CoreSet>,
    /// True for programs of Arena itself, which need no sandbox.
    pub is_trusted: bool,
}

/// How an agent process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exit {
    /// It exited by itself.
    #[error("the process ended with exit code {0}")]
    Code(i32),
    /// A signal ended it.
    #[error("signal {} ended the process", signal_name(*.0))]
    Signal(i32),
    /// It wrote too much.
    #[error("the process exceeded its output limit of {0} bytes")]
    OutputLimit(u64),
    /// Its processes together exceeded a limit, with this value.
    #[error("the agent exceeded {}", exceeded(*.0, *.1))]
    Exceeded(TreeLimit, u64),
    /// The sandbox cannot be set up; not the agent's fault.
    #[error("{0}")]
    Unconfined(Missing),
    /// The system could not start it; not the agent's fault.
    #[error("the system refused to start a process: {}", Errno::from_raw(*.0).desc())]
    Refused(i32),
    /// It was stopped, or its guard ended without a report.
    #[error("the process was stopped")]
    Stopped,
}

fn exceeded(limit: TreeLimit, value: u64) -> String {
    let mib = value.div_ceil(1 << 20);
    match limit {
        TreeLimit::Memory => format!("its limit of memory, with {mib} MiB"),
        TreeLimit::Processes => format!("its limit of processes, with {value}"),
        TreeLimit::Disk if value == u64::MAX => "the maximum number of scratch files".to_owned(),
        TreeLimit::Disk => format!("the size of its scratch folder, with {mib} MiB"),
        TreeLimit::Cpu => format!("its limit of CPU time, with {value} ms"),
    }
}

fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or_else(|_| signal.to_string(), |signal| signal.as_str().to_owned())
}

/// What an error says first of an agent whose `hello` cannot be read.
pub const GARBLED_HELLO: &str = "its hello is garbled";

/// Why an agent process did not become ready.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Arena or its machine could not start it; not the agent's fault.
    #[error("cannot start {program}: {problem}")]
    Ours {
        /// The agent's executable.
        program: String,
        /// What happened, and what to do.
        problem: String,
    },
    /// Its package is invalid.
    #[error("cannot unpack its package: {problem}")]
    Package {
        /// The problem.
        problem: String,
    },
    /// It ended before it was ready.
    #[error("it did not become ready: {exit}")]
    Exited {
        /// How it ended.
        exit: Exit,
    },
    /// It speaks lines, but not as it should.
    #[error("it did not become ready: {problem}")]
    Lines {
        /// The problem.
        problem: String,
    },
    /// An engine that speaks UCI did not become ready in time.
    #[error(
        "within {limit:?}, the engine did not answer `uci` with `uciok`. Its sandbox was set up in {setup:?} \
         before; it used {used:?} of CPU time"
    )]
    SlowEngine {
        /// Its time limit.
        limit: Duration,
        /// As of [`Self::Slow`].
        used: Duration,
        /// As of [`Self::Slow`].
        setup: Duration,
    },
    /// It did not become ready in time.
    #[error(
        "within {limit:?}, it neither answered `hello` on standard output, nor SERVING to a health \
         check on ARENA_LISTEN={listen}: {last}. Its sandbox was set up in {setup:?} before; it used \
         {used:?} of CPU time"
    )]
    Slow {
        /// Where it should have listened.
        listen: String,
        /// Its time limit.
        limit: Duration,
        /// The last answer.
        last: String,
        /// The CPU time of its processes until then: little if it waits, much if it is slow.
        used: Duration,
        /// The time that its sandbox took before, which does not count.
        setup: Duration,
    },
}
