//! Workers as child processes, for commands with embedded workers.

use std::{
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use arena_model::SandboxLevel;
use arena_wire::v1;
use clap::{ValueEnum, builder::PossibleValue};
use tokio::{
    process::{Child, ChildStdin, Command},
    time::timeout,
};

use crate::{
    access::Client,
    failure::{Failure, Kind, Outcome},
    output::note,
};

/// How built-in agents are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum Builtin {
    /// In the process of the worker (fastest).
    #[default]
    InProcess,
    /// In separate processes, like registered agents.
    Process,
}

impl From<Builtin> for arena_worker::Builtin {
    fn from(builtin: Builtin) -> Self {
        match builtin {
            Builtin::InProcess => Self::InProcess,
            Builtin::Process => Self::Process,
        }
    }
}

/// Notes that a coordinator has no workers.
pub async fn note_absence(client: &mut Client, url: &str) -> Outcome {
    let workers = client
        .list_workers(v1::ListWorkersRequest::default())
        .await?;
    if workers.into_inner().workers_total == 0 {
        note(format!(
            "no worker is connected: start one with `arena worker --coordinator {url}`"
        ));
    }
    Ok(())
}

/// Worker processes of this command.
pub struct Fleet {
    url: String,
    builtin: Builtin,
    threads: usize,
    agent_output: Option<PathBuf>,
    /// The level that the tournament asks for.
    sandbox: Option<SandboxLevel>,
    workers: Vec<Worker>,
}

struct Worker {
    name: String,
    child: Child,
    /// The worker drains when this closes, also if this process dies.
    stdin: Option<ChildStdin>,
    restarts: u32,
    since: Instant,
}

/// Maximum number of drivers of a worker.
const DRIVERS: usize = 16;
/// All networks in which agents may be.
const EVERYWHERE: &str = "0.0.0.0/0,::/0";

/// Maximum number of restarts of a worker.
const RESTARTS_MAX: u32 = 20;
/// A worker that fails within this time does not start at all.
const AT_ONCE: Duration = Duration::from_secs(5);

/// The level that the environment chooses for workers.
fn chosen_sandbox() -> SandboxLevel {
    let chosen = std::env::var("ARENA_WORKER_SANDBOX").ok();
    let level = chosen.and_then(|level| level.parse().ok());
    level.unwrap_or(SandboxLevel::None)
}

impl Fleet {
    /// Starts `count` workers that share the machine's cores, with at least this level of the
    /// sandbox.
    pub fn start(
        url: &str,
        count: usize,
        builtin: Builtin,
        agent_output: Option<PathBuf>,
        sandbox: Option<SandboxLevel>,
    ) -> Outcome<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut fleet = Self {
            url: url.to_owned(),
            builtin,
            threads: (cores / count.max(1)).max(1),
            agent_output,
            sandbox: sandbox.filter(|&asked| asked > chosen_sandbox()),
            workers: Vec::new(),
        };
        for number in 1..=count {
            let worker = fleet.spawn(format!("local-{number}"), 0)?;
            fleet.workers.push(worker);
        }
        Ok(fleet)
    }

    fn spawn(&self, name: String, restarts: u32) -> Outcome<Worker> {
        let program = std::env::current_exe()?;
        let builtin = self.builtin.to_possible_value();
        let mut command = Command::new(program);
        command.arg("worker");
        if let Some(folder) = &self.agent_output {
            command.arg("--agent-output").arg(folder);
        }
        if let Some(level) = self.sandbox {
            command.args(["--sandbox", level.name()]);
        }
        let mut child = command
            // The coordinator of this command has a token of its own.
            .env_remove("ARENA_TOKEN_FILE")
            .args(["--metrics", "127.0.0.1:0", "--exit-with-stdin"])
            .args(["--coordinator", &self.url, "--name", &name])
            // This user chooses the endpoints.
            .args(["--allow-endpoint", EVERYWHERE])
            .args([
                "--builtin",
                builtin.as_ref().map_or("", PossibleValue::get_name),
            ])
            .args(["--threads", &self.threads.to_string()])
            .args(["--drivers", &self.threads.min(DRIVERS).to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // This process handles Ctrl-C and stops the workers by closing stdin.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::failed(format!("cannot start a worker: {error}")))?;
        let stdin = child.stdin.take();
        Ok(Worker {
            name,
            child,
            stdin,
            restarts,
            since: Instant::now(),
        })
    }

    /// Restarts dead workers, until one cannot be restarted.
    pub async fn supervise(&mut self) -> Failure {
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            if let Err(failure) = self.restart_dead() {
                return failure;
            }
        }
    }

    fn restart_dead(&mut self) -> Outcome {
        for place in 0..self.workers.len() {
            let worker = &mut self.workers[place];
            let Some(status) = worker.child.try_wait()? else {
                continue;
            };
            let (name, restarts) = (worker.name.clone(), worker.restarts + 1);
            // The worker reported the reason, and would fail again.
            if status.code() == Some(Kind::Failed as i32) && worker.since.elapsed() < AT_ONCE {
                let problem = "cannot start; see its error above";
                return Err(Failure::failed(format!("worker {name} {problem}")));
            }
            if restarts > RESTARTS_MAX {
                return Err(Failure::failed(format!(
                    "worker {name} ended {restarts} times, the last time with {status}"
                )));
            }
            note(format!("worker {name} ended with {status}; restarting it"));
            self.workers[place] = self.spawn(name, restarts)?;
        }
        Ok(())
    }

    /// Stops all workers after their current games, with a timeout.
    pub async fn stop(mut self) {
        for worker in &mut self.workers {
            worker.stdin.take();
        }
        for worker in &mut self.workers {
            let ended = timeout(Duration::from_secs(12), worker.child.wait()).await;
            if ended.is_err() {
                // Killing fails only if the child is already dead.
                let _ = worker.child.kill().await;
            }
        }
    }
}
