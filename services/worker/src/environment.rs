//! Settings for games and agents.

use std::{ffi::OsString, future::Future, path::PathBuf, pin::Pin, sync::Arc};

use arena_telemetry::WorkerMetrics;
use arena_wire::{networks::AgentNetworks, v1};

use crate::machine::Machine;
use crate::supervise::{GuardCommand, Listen, Outputs, Sandbox, Supervisor};

/// Maximum number of drivers by default: each of them plays a few hundred thousand moves per second.
const DRIVERS_USUAL: usize = 16;

/// How the papers' agents are run; the bots are the same either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Builtin {
    /// On threads of the worker.
    #[default]
    InProcess,
    /// As agent processes, one for each agent.
    Process,
}

/// How agents are run on this machine.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// How the papers' agents are run.
    pub builtin: Builtin,
    /// Never ask in batches.
    pub unary: bool,
    /// How to start the guard of a process.
    pub guard: GuardCommand,
    /// A program that serves the papers' agents, with its arguments; needed if they run as
    /// processes.
    pub native: (PathBuf, Vec<OsString>),
    /// Where child processes have to listen.
    pub listen: Listen,
    /// How agents are confined.
    pub sandbox: Sandbox,
    /// Folder for sockets and other files that live as long as a process.
    pub temp: PathBuf,
    /// Threads for built-in agents; 0: one for each core.
    pub threads: usize,
    /// Drivers, each of which plays games on a thread of its own; 0: one for each core.
    pub drivers: usize,
    /// Cores and memory for agents.
    pub machine: Machine,
    /// Where agents may be endpoints.
    pub networks: AgentNetworks,
    /// Faults do not say why an endpoint does not answer; the log does. Registrants could explore
    /// the network of the worker.
    pub discreet: bool,
    /// Keeps the output of all processes; only for callers that play few games.
    pub outputs: Option<Outputs>,
    /// A folder in which every process gets a file with its output.
    pub output_folder: Option<PathBuf>,
}

impl AgentOptions {
    /// Everything from one executable that runs [`crate::guard::main`] on `agent guard` and serves
    /// the papers' agents on `agent serve`.
    #[must_use]
    pub fn of_executable(program: PathBuf) -> Self {
        Self {
            builtin: Builtin::default(),
            unary: false,
            guard: GuardCommand {
                program: program.clone(),
                args: vec!["agent".into(), "guard".into()],
            },
            native: (program, vec!["agent".into(), "serve".into()]),
            listen: Listen::default(),
            sandbox: Sandbox::default(),
            temp: std::env::temp_dir(),
            threads: 0,
            drivers: 0,
            machine: Machine::detect(),
            networks: AgentNetworks::of_user(),
            discreet: false,
            outputs: None,
            output_folder: None,
        }
    }

    /// Confines agents as far as this machine can: for commands of the user whose agents they
    /// start.
    #[must_use]
    pub fn confined(mut self) -> Self {
        self.sandbox = Sandbox::best(&self.guard, &self.temp);
        self
    }

    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => self.machine.core_count(),
            threads => threads,
        }
    }

    pub(crate) fn drivers(&self) -> usize {
        match self.drivers {
            0 => self.machine.core_count().min(DRIVERS_USUAL),
            drivers => drivers,
        }
    }
}

/// Why a binary is not available.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot get binary {sha256} ({file_name}): {problem}")]
pub struct BinaryError {
    /// Its hash.
    pub sha256: String,
    /// Its file name.
    pub file_name: String,
    /// What happened, and what to do.
    pub problem: String,
}

impl BinaryError {
    /// The error for this binary.
    #[must_use]
    pub fn new(binary: &v1::BinarySource, problem: String) -> Self {
        Self {
            sha256: binary.sha256.clone(),
            file_name: binary.file_name.clone(),
            problem,
        }
    }
}

/// A future with the path of a binary.
pub type Provided<'a> = Pin<Box<dyn Future<Output = Result<PathBuf, BinaryError>> + Send + 'a>>;

/// Source of the binaries of registered agents.
pub trait BinaryProvider: Send + Sync + 'static {
    /// A verified, executable file, which stays in its place.
    fn provide<'a>(&'a self, binary: &'a v1::BinarySource) -> Provided<'a>;
}

/// What all games share.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) agents: AgentOptions,
    pub(crate) supervisor: Supervisor,
    pub(crate) binaries: Arc<dyn BinaryProvider>,
    pub(crate) metrics: Arc<WorkerMetrics>,
}

impl Environment {
    pub(crate) fn new(
        agents: AgentOptions,
        binaries: Arc<dyn BinaryProvider>,
        metrics: Arc<WorkerMetrics>,
    ) -> Self {
        let mut supervisor = Supervisor::new(agents.guard.clone(), agents.temp.clone());
        supervisor.outputs = agents.outputs.clone();
        supervisor.folder = agents.output_folder.clone();
        supervisor.sandbox = agents.sandbox.clone();
        Self {
            agents,
            supervisor,
            binaries,
            metrics,
        }
    }
}
