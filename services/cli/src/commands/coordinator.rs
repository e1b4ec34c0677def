//! `arena coordinator`, and the embedded coordinators of other commands.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use arena_store::{SledStore, Store};
use arena_wire::networks::AgentNetworks;
use clap::Args;
use serde_json::json;

use crate::{
    embedded::{self, DEFAULT_DATA},
    failure::{Failure, Outcome},
    output::{self, note},
    signals::Interrupt,
};

/// Start a coordinator, which schedules games and stores results
#[derive(Debug, Args)]
#[command(after_help = "\
The first line on stdout is {\"listen\": \"…\", \"metrics\": \"…\"}; port 0 picks a free port.
By default, the coordinator listens on loopback only. Anyone who can reach it can
register a binary, which workers then run.

Examples:
  arena coordinator
  arena coordinator --data /var/lib/arena --listen 127.0.0.1:0 --metrics 127.0.0.1:0")]
pub(crate) struct CoordinatorArgs {
    /// Folder for agents and results
    #[arg(long, env = "ARENA_DATA", value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,

    /// Address to listen on for workers and clients
    #[arg(
        long,
        env = "ARENA_COORDINATOR_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:7600"
    )]
    listen: SocketAddr,

    /// Address to serve /metrics (Prometheus) and /healthz on
    #[arg(
        long,
        env = "ARENA_COORDINATOR_METRICS",
        value_name = "ADDR",
        default_value = "127.0.0.1:7601"
    )]
    metrics: SocketAddr,

    /// Seconds without progress after which a lease expires
    #[arg(
        long,
        env = "ARENA_COORDINATOR_LEASE_DEADLINE",
        default_value_t = 10.0,
        value_name = "SECONDS"
    )]
    lease_deadline: f64,

    /// Seconds to wait for a lost worker to return before its agent is given up
    ///
    /// After that, an agent that starts on no worker loses its games. If the agent has
    /// run on a worker that has left, its games are void instead. If every game fails on
    /// the only worker, games are void after 30 % of this time.
    #[arg(
        long,
        alias = "host-patience",
        env = "ARENA_COORDINATOR_HOST_GRACE_PERIOD",
        default_value_t = default_grace_period(),
        value_name = "SECONDS"
    )]
    host_grace_period: f64,

    /// Share of games to play again on another worker and compare (audits)
    ///
    /// After a restart, the coordinator does not know which worker played the games that
    /// finished before. The same worker may audit those games.
    #[arg(
        long,
        alias = "audit",
        env = "ARENA_COORDINATOR_AUDIT_SHARE",
        default_value_t = 0.01,
        value_name = "0..1"
    )]
    audit_share: f64,

    /// Maximum number of reported games that wait to be written to disk. Above this
    /// number, the coordinator refuses reports until the queue is shorter, and workers
    /// slow down
    #[arg(long, env = "ARENA_COORDINATOR_REPORT_QUEUE", default_value_t = 65_536, value_name = "GAMES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    report_queue: u64,

    /// Networks in which agents may be endpoints [default: all]
    ///
    /// Networks, addresses and "unix" (Unix sockets), separated by commas. Link-local and
    /// multicast addresses and metadata services of clouds are always refused.
    #[arg(long, env = "ARENA_COORDINATOR_AGENT_ENDPOINTS", value_name = "CIDR,…")]
    agent_endpoints: Option<AgentNetworks>,

    /// Games of a tournament between two checkpoints of its sums; for tests
    #[arg(long, hide = true, value_name = "GAMES", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_games: Option<u64>,

    /// Free bytes on the disk below which nothing is written; for tests
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = arena_store::RESERVE_BYTES)]
    reserve: u64,
}

/// Files reserved for other purposes than connections: the store, the metrics and binary
/// uploads.
const FILES_RESERVED: u64 = 128;
/// Maximum number of connections, whatever the file limit.
const CONNECTIONS_MAX: u64 = 65_536;

/// Raises the limit of open files to the maximum, and returns how many of them may be
/// connections.
fn connections_max() -> usize {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return arena_coordinator::CONNECTIONS_MAX;
    };
    let files = match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => hard,
        Err(error) => {
            tracing::warn!(soft, hard, "cannot raise the limit of open files: {error}");
            soft
        }
    };
    let connections = files.saturating_sub(FILES_RESERVED);
    connections.clamp(16, CONNECTIONS_MAX) as usize
}

/// The default of `--host-grace-period`. The environment variable had another name until
/// 0.1.
fn default_grace_period() -> f64 {
    let before = std::env::var("ARENA_COORDINATOR_HOST_PATIENCE");
    before.map_or(600.0, |text| text.parse().unwrap_or(f64::NAN))
}

impl CoordinatorArgs {
    pub(crate) async fn run(self) -> Outcome {
        let wrong = |range: &str| Err(Failure::usage(range));
        if !(0.05..=86_400.0).contains(&self.lease_deadline) {
            return wrong("--lease-deadline must be from 0.05 to 86400 seconds");
        }
        if !(1.0..=86_400.0).contains(&self.host_grace_period) {
            return wrong("--host-grace-period must be from 1 to 86400 seconds");
        }
        if !(0.0..=1.0).contains(&self.audit_share) {
            return wrong("--audit-share must be from 0 to 1");
        }
        let mut interrupt = Interrupt::listen()?;
        let defaults = arena_store::Options::default();
        let queue = arena_store::Options {
            // Excess reports are rejected before they are read, not by the store.
            queue_games: 2 * self.report_queue as usize,
            queue_bytes: 2 * defaults.queue_bytes,
            reserve_bytes: self.reserve,
            ..defaults
        };
        let store = SledStore::open(&self.data, &queue).map_err(Failure::failed)?;
        let store: Arc<dyn Store> = Arc::new(store);
        let mut options = embedded::options(store.clone(), self.listen);
        options.metrics = Some(self.metrics);
        options.lease_deadline = Duration::from_secs_f64(self.lease_deadline);
        options.host_grace_period = Duration::from_secs_f64(self.host_grace_period);
        options.audit_share = self.audit_share;
        options.agent_networks = self.agent_endpoints.unwrap_or_default();
        options.connections_max = connections_max();
        options.report_queue_games = self.report_queue;
        if let Some(games) = self.checkpoint_games {
            options.checkpoint_games = games;
        }
        let service = options.build().await.map_err(Failure::failed)?;
        let address = embedded::Address::write(&self.data, service.listen)?;
        output::json_line(&json!({
            "listen": service.listen.to_string(),
            "metrics": service.metrics.map(|address| address.to_string()),
        }))?;
        let summary = service.run(async move { interrupt.asked().await }).await;
        drop(address);
        store.close().map_err(Failure::failed)?;
        let summary = summary.map_err(Failure::failed)?;
        note(format!(
            "stopped; {} unfinished tournaments continue at the next start",
            summary.tournaments_open
        ));
        Ok(())
    }
}
