//! `arena worker`

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use arena_worker::{Options, WorkerError};
use clap::Args;
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::{
    failure::{Failure, Outcome},
    output,
    signals::Interrupt,
    workers::Builtin,
};

/// Start a worker: plays games for a coordinator
#[derive(Debug, Args)]
#[command(after_help = "\
The first line on stdout is {\"listen\": null, \"metrics\": \"…\"}; port 0 takes a free
one. The first SIGINT or SIGTERM lets it finish what it plays, for at most 10 s;
the second ends it at once. Agent processes end with it, however it ends.

Examples:
  arena worker --coordinator http://127.0.0.1:7600
  arena worker --coordinator http://10.0.0.1:7600 --metrics 0.0.0.0:7602 --threads 8")]
pub(crate) struct WorkerArgs {
    /// The coordinator
    #[arg(
        long,
        env = "ARENA_COORDINATOR",
        value_name = "URL",
        default_value = "http://127.0.0.1:7600"
    )]
    coordinator: String,

    /// Where Prometheus scrapes /metrics, and /healthz answers
    #[arg(
        long,
        env = "ARENA_WORKER_METRICS",
        value_name = "ADDR",
        default_value = "127.0.0.1:7602"
    )]
    metrics: SocketAddr,

    /// A name for people [default: the host's name]
    #[arg(long, env = "ARENA_WORKER_NAME")]
    name: Option<String>,

    /// Games played at once
    #[arg(long, env = "ARENA_WORKER_CAPACITY", default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    capacity: u32,

    /// Threads that play the papers' agents in process [default: all cores]
    #[arg(long, env = "ARENA_WORKER_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How the papers' agents are run
    #[arg(long, env = "ARENA_WORKER_BUILTIN", value_enum, default_value_t)]
    builtin: Builtin,

    /// Give up when the coordinator is not reached within this many seconds
    ///
    /// A worker that has joined once waits for a coordinator that is away as long as it
    /// takes.
    #[arg(
        long,
        env = "ARENA_WORKER_CONNECT_TIMEOUT",
        default_value_t = 30,
        value_name = "SECONDS"
    )]
    connect_timeout: u64,

    /// Write what each agent process prints to a file of its own here: AGENT-PID.log
    #[arg(long, env = "ARENA_WORKER_AGENT_OUTPUT", value_name = "DIR")]
    agent_output: Option<PathBuf>,

    /// Ask agent processes one decision at a time, never in batches
    #[arg(long, hide = true)]
    unary: bool,

    /// Drain when stdin closes: for workers that are somebody's child
    #[arg(long, hide = true)]
    exit_with_stdin: bool,
}

impl WorkerArgs {
    pub(crate) async fn run(self) -> Outcome {
        let mut interrupt = Interrupt::listen()?;
        let program = std::env::current_exe()?;
        let mut options = Options::new(&self.coordinator, &program);
        options.metrics = Some(self.metrics);
        options.capacity = self.capacity as usize;
        options.builtin = self.builtin.into();
        options.connect_timeout = Duration::from_secs(self.connect_timeout);
        options.unary = self.unary;
        options.agent_output = self.agent_output;
        if let Some(threads) = self.threads {
            options.threads = threads.into();
        }
        if let Some(name) = self.name {
            options.name = name;
        }
        let service = options.build().await.map_err(failure)?;
        output::json_line(&json!({
            "listen": null,
            "metrics": service.metrics.map(|address| address.to_string()),
        }))?;
        let exit_with_stdin = self.exit_with_stdin;
        service
            .run(async move {
                if exit_with_stdin {
                    tokio::select! {
                        () = interrupt.asked() => {}
                        () = stdin_closed() => {}
                    }
                } else {
                    interrupt.asked().await;
                }
            })
            .await
            .map(drop)
            .map_err(failure)
    }
}

async fn stdin_closed() {
    let mut stdin = tokio::io::stdin();
    let mut buffer = [0; 64];
    while matches!(stdin.read(&mut buffer).await, Ok(read) if read > 0) {}
}

fn failure(error: WorkerError) -> Failure {
    match error {
        WorkerError::Unreachable { .. } => Failure::unreachable(error),
        WorkerError::Url(_) => Failure::usage(error),
        _ => Failure::failed(error),
    }
}

impl From<Builtin> for arena_worker::Builtin {
    fn from(builtin: Builtin) -> Self {
        match builtin {
            Builtin::InProcess => Self::InProcess,
            Builtin::Process => Self::Process,
        }
    }
}
