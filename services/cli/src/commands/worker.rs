//! `arena worker`

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use arena_model::SandboxLevel;
use arena_wire::networks::AgentNetworks;
use arena_worker::{Options, WorkerError, machine::CoreSet, supervise::Sandbox};
use clap::Args;
use humantime::format_duration;
use nix::unistd::{Uid, User};
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::{
    access::CredentialFlags,
    failure::{Failure, Outcome},
    output,
    signals::Interrupt,
    workers::Builtin,
};

/// Start a worker, which plays games for a coordinator
#[derive(Debug, Args)]
#[command(after_help = "\
The first line on stdout is {\"listen\": null, \"metrics\": \"…\", \"sandbox\": \"…\"};
port 0 picks a free port. After the first SIGINT or SIGTERM, the worker has the time of --drain to finish
its games, and gives the others back; no agent is charged for them. The second signal stops it at once.
Agent processes always end with the worker.

Examples:
  arena worker --coordinator http://127.0.0.1:7600
  arena worker --coordinator http://10.0.0.1:7600 --metrics 0.0.0.0:7602 --metrics-public
  arena worker --coordinator http://10.0.0.1:7600 --sandbox strict --agent-path /opt/venv
  arena worker --coordinator http://10.0.0.1:7600 --lifetime 8h --drain 5m --idle-exit 10m")]
pub(crate) struct WorkerArgs {
    /// URL of the coordinator, or a comma-separated list of coordinators that share a database;
    /// the one that answers is used
    #[arg(
        long,
        env = "ARENA_COORDINATOR",
        value_name = "URL",
        default_value = "http://127.0.0.1:7600"
    )]
    coordinator: String,

    #[command(flatten)]
    credentials: CredentialFlags,

    /// Address to serve /metrics (Prometheus) and /healthz on
    #[arg(
        long,
        env = "ARENA_WORKER_METRICS",
        value_name = "ADDR",
        default_value = "127.0.0.1:7602"
    )]
    metrics: SocketAddr,

    /// Let everyone who reaches the address of metrics read them
    #[arg(
        long,
        env = "ARENA_WORKER_METRICS_PUBLIC",
        conflicts_with = "metrics_token_file"
    )]
    metrics_public: bool,

    /// File with a token that requests for metrics have to show
    ///
    /// An address that others can reach needs it, or --metrics-public.
    #[arg(long, env = "ARENA_WORKER_METRICS_TOKEN_FILE", value_name = "FILE")]
    metrics_token_file: Option<PathBuf>,

    /// Name of this worker in lists and logs [default: host name]
    #[arg(long, env = "ARENA_WORKER_NAME")]
    name: Option<String>,

    /// Number of games to play at once
    #[arg(long, env = "ARENA_WORKER_CAPACITY", default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    capacity: u32,

    /// Threads for built-in agents that run in process [default: all cores]
    #[arg(long, env = "ARENA_WORKER_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Threads that run games, each with agents of its own [default: one for each core, at
    /// most 16]
    ///
    /// Built-in agents that run in process have threads of their own, see --threads.
    #[arg(long, env = "ARENA_WORKER_DRIVERS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    drivers: Option<u16>,

    /// Cores to use, such as 0-7 [default: all that the affinity mask and the control group of
    /// the process give]
    ///
    /// With timing = "strict", each process of an agent has its cores to itself while it thinks,
    /// and the worker's own threads run on the first core.
    #[arg(long, env = "ARENA_WORKER_CORES", value_name = "LIST")]
    cores: Option<CoreSet>,

    /// Of cores that share execution units (SMT), use only the first
    #[arg(long, env = "ARENA_WORKER_NO_SMT")]
    no_smt: bool,

    /// How to run built-in agents
    #[arg(long, env = "ARENA_WORKER_BUILTIN", value_enum, default_value_t)]
    builtin: Builtin,

    /// Seconds to wait for the first connection to the coordinator
    ///
    /// A worker that has joined once keeps trying to reconnect.
    #[arg(
        long,
        env = "ARENA_WORKER_CONNECT_TIMEOUT",
        default_value_t = 30,
        value_name = "SECONDS"
    )]
    connect_timeout: u64,

    /// Time to finish started games when the worker ends, such as 5m
    #[arg(long, env = "ARENA_WORKER_DRAIN", value_name = "DURATION", default_value = "10s", value_parser = humantime::parse_duration)]
    drain: Duration,

    /// End after this time without a game, such as 10m, once the worker has joined
    #[arg(long, env = "ARENA_WORKER_IDLE_EXIT", value_name = "DURATION", value_parser = humantime::parse_duration)]
    idle_exit: Option<Duration>,

    /// End within this time after the start, including --drain, such as 8h
    ///
    /// For machines that can be used for a limited time. When only the time of --drain is left,
    /// the worker takes no more games.
    #[arg(long, env = "ARENA_WORKER_LIFETIME", value_name = "DURATION", value_parser = humantime::parse_duration)]
    lifetime: Option<Duration>,

    /// Networks and ports at which agents may be endpoints [default: loopback only]
    ///
    /// Such as 10.0.0.0/8:5000, 10.0.0.7, [fd00::/8]:5000 or "unix" (Unix sockets),
    /// separated by commas. Link-local and multicast addresses and metadata services of
    /// clouds are always refused.
    #[arg(
        long = "allow-endpoint",
        alias = "agent-endpoints",
        env = "ARENA_WORKER_AGENT_ENDPOINTS",
        value_name = "CIDR:PORT,…"
    )]
    agent_endpoints: Option<AgentNetworks>,

    /// How to confine registered binaries: none, kernel or strict
    ///
    /// kernel limits files, system calls and resources; strict also uses namespaces. A
    /// level that this machine does not have is an error. [default: kernel; if this machine
    /// does not have it and the coordinator is on this machine, none with a warning]
    #[arg(long, env = "ARENA_WORKER_SANDBOX", value_name = "LEVEL")]
    sandbox: Option<SandboxLevel>,

    /// File or folder that agents may read, such as an interpreter; may be repeated
    ///
    /// Agents may read the programs and libraries of the system and those in the folders
    /// of PATH.
    #[arg(
        long,
        env = "ARENA_AGENT_PATH",
        hide_env_values = true,
        value_name = "PATH",
        value_delimiter = ':',
        value_parser = existing
    )]
    agent_path: Vec<PathBuf>,

    /// Environment variable that agents get; may be repeated
    #[arg(
        long,
        env = "ARENA_WORKER_AGENT_ENV",
        hide_env_values = true,
        value_name = "NAME",
        value_delimiter = ','
    )]
    agent_env: Vec<String>,

    /// User of all agents, by name or number, if the worker is root [default: with strict one
    /// for each process, else root without privileges]
    #[arg(long, env = "ARENA_WORKER_AGENT_USER", value_name = "USER", value_parser = agent_user)]
    agent_user: Option<AgentUser>,

    /// Write the output of each agent process to DIR/AGENT-PID.log
    #[arg(long, env = "ARENA_WORKER_AGENT_OUTPUT", value_name = "DIR")]
    agent_output: Option<PathBuf>,

    /// Ask agent processes one decision at a time, never in batches
    #[arg(long, hide = true)]
    unary: bool,

    /// Finish the games and end when stdin closes; for workers that another command starts
    #[arg(long, hide = true)]
    exit_with_stdin: bool,
}

impl WorkerArgs {
    pub(crate) async fn run(self) -> Outcome {
        if !self.metrics.ip().is_loopback()
            && !self.metrics_public
            && self.metrics_token_file.is_none()
        {
            return Err(Failure::usage(format!(
                "--metrics {}: an address that others can reach needs --metrics-token-file FILE, \
                 or --metrics-public to let everyone read metrics",
                self.metrics
            )));
        }
        if self.agent_user.is_some() && !Uid::effective().is_root() {
            return Err(Failure::usage(
                "--agent-user: only root can start agents as another user; start the worker as \
                 root, or leave --agent-user out",
            ));
        }
        if let Some(lifetime) = self.lifetime.filter(|lifetime| *lifetime <= self.drain) {
            return Err(Failure::usage(format!(
                "--lifetime {} leaves no time to play: it must exceed --drain {}",
                format_duration(lifetime),
                format_duration(self.drain)
            )));
        }
        let mut interrupt = Interrupt::listen()?;
        let program = std::env::current_exe()?;
        let mut options = Options::new(&self.coordinator, &program);
        options.credentials = self.credentials.read()?;
        if let Some(file) = &self.metrics_token_file {
            let unread = |error| Failure::usage(format!("{}: {error}", file.display()));
            options.metrics_token = Some(arena_access::read_token(file).map_err(unread)?);
        }
        if self.metrics_token_file.is_some() && !self.metrics.ip().is_loopback() {
            tracing::warn!(
                "--metrics {}: the token travels in plain text, because workers serve metrics without \
                 TLS: let only Prometheus reach the port, and use the token for nothing else",
                self.metrics
            );
        }
        options.metrics = Some(self.metrics);
        options.capacity = self.capacity as usize;
        options.builtin = self.builtin.into();
        options.connect_timeout = Duration::from_secs(self.connect_timeout);
        options.drain_limit = self.drain;
        options.idle_exit = self.idle_exit;
        options.lifetime = self.lifetime;
        options.unary = self.unary;
        options.agent_output = self.agent_output;
        options.agent_networks = self.agent_endpoints.unwrap_or_default();
        options.threads = self.threads.unwrap_or_default().into();
        options.cores = self.cores;
        options.smt = !self.no_smt;
        options.drivers = self.drivers.unwrap_or_default().into();
        if let Some(name) = self.name {
            options.name = name;
        }
        options.sandbox = self.sandbox.map_or_else(
            || match is_local(&self.coordinator) {
                true => options.best_sandbox(),
                false => Sandbox::of_level(SandboxLevel::Kernel),
            },
            Sandbox::of_level,
        );
        options.sandbox.readable.extend(self.agent_path);
        // A value may be a secret, so it is not repeated.
        if !self
            .agent_env
            .iter()
            .all(|name| name.is_empty() || is_variable(name))
        {
            return Err(Failure::usage(
                "--agent-env (ARENA_WORKER_AGENT_ENV) takes names of variables alone, such as HF_HOME; \
                 agents get the values that the worker has",
            ));
        }
        options.sandbox.variables = self.agent_env;
        options.sandbox.user = self.agent_user.map(|user| user.uid);
        options.sandbox.group = self.agent_user.map(|user| user.gid);
        let level = options.sandbox.level;
        if level > SandboxLevel::None {
            for file in options.sandbox.exposed_tokens() {
                tracing::warn!(
                    "agents can read the token in {}: move it out of the folders of PATH and \
                     --agent-path",
                    file.display()
                );
            }
        }
        let service = options.build().await.map_err(failure)?;
        output::json_line(&json!({
            "listen": null,
            "metrics": service.metrics.map(|address| address.to_string()),
            "sandbox": level.name(),
        }))?;
        let exit_with_stdin = self.exit_with_stdin;
        let stop = async move {
            tokio::select! {
                () = interrupt.asked() => {}
                () = stdin_closed(), if exit_with_stdin => {}
            }
        };
        service.run(stop).await.map(drop).map_err(failure)
    }
}

/// The user of `--agent-user`.
#[derive(Clone, Copy, Debug)]
struct AgentUser {
    uid: u32,
    gid: u32,
}

/// Parses `--agent-user`. A number needs no account; its group has the same number then.
fn agent_user(text: &str) -> Result<AgentUser, String> {
    let number: Option<u32> = text.parse().ok();
    let account = match number {
        Some(uid) => User::from_uid(Uid::from_raw(uid)),
        None => User::from_name(text),
    };
    let account = account.map_err(|error| format!("cannot read the users: {error}"))?;
    match (account, number) {
        (Some(user), _) => Ok(AgentUser {
            uid: user.uid.as_raw(),
            gid: user.gid.as_raw(),
        }),
        (None, Some(uid)) => Ok(AgentUser { uid, gid: uid }),
        (None, None) => Err(
            "this machine has no user of this name; give the number or the name of \
             an existing user"
                .to_owned(),
        ),
    }
}

/// A file or folder that exists: an agent without its interpreter would only be late.
fn existing(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match text.is_empty() || path.exists() {
        true => Ok(path),
        false => Err("there is no such file or folder on this machine".to_owned()),
    }
}

/// True for the name of an environment variable.
fn is_variable(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_part) && name.starts_with(|it: char| !it.is_ascii_digit())
}

/// True if the coordinator is on this machine, so that its users can be expected to own the agents.
fn is_local(urls: &str) -> bool {
    urls.split(',').all(is_local_url)
}

fn is_local_url(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    url.starts_with("unix:") || host == "localhost" || { host.parse::<std::net::IpAddr>() }
        .is_ok_and(|address| address.is_loopback())
}

async fn stdin_closed() {
    let mut stdin = tokio::io::stdin();
    let mut buffer = [0; 64];
    while matches!(stdin.read(&mut buffer).await, Ok(read) if read > 0) {}
}

fn failure(error: WorkerError) -> Failure {
    match error {
        WorkerError::Unreachable { .. } | WorkerError::NoAccess { .. } => {
            Failure::unreachable(error)
        }
        WorkerError::Dial(_) | WorkerError::Machine(_) => Failure::usage(error),
        _ => Failure::failed(error),
    }
}
