//! A whole tournament of random against random on cowry: coordinator, worker
//! and agents as processes, results made durable.

use std::{
    net::SocketAddr,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use arena_wire::v1::TournamentState;
use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
};

use super::{
    Measured,
    processes::{Usage, descendants, usage},
};
use crate::{
    access::{self, Client},
    commands::{export, tournament},
    failure::{Failure, Outcome},
};

/// A way from the rules to the agent.
pub(super) struct Route {
    pub(super) what: &'static str,
    worker_flags: &'static [&'static str],
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        what: "agents in the worker",
        worker_flags: &["--builtin", "in-process"],
    },
    Route {
        what: "agents as processes, batched gRPC",
        worker_flags: &["--builtin", "process"],
    },
    Route {
        what: "agents as processes, unary gRPC",
        worker_flags: &["--builtin", "process", "--unary"],
    },
];

/// More games than fit into any measurement.
const SPEC: &str = r#"
name    = "bench"
ruleset = "cowry"
seed    = "0xbe7c"
blocks  = 10000000
seats   = 2
agents  = ["random", "random-2"]

[[agent]]
name = "random-2"
bot  = "random"
"#;

#[derive(Deserialize)]
struct Addresses {
    listen: Option<SocketAddr>,
    metrics: Option<SocketAddr>,
}

pub(super) async fn measure(route: &Route, seconds: f64) -> Outcome<Measured> {
    let data = tempfile::tempdir()?;
    let (coordinator, addresses) = spawn(&coordinator_flags(data.path())).await?;
    let listen = addresses
        .listen
        .ok_or_else(|| Failure::failed("the coordinator told no address"))?;
    let url = format!("http://{listen}");
    let mut flags = vec!["worker", "--metrics", "127.0.0.1:0", "--coordinator", &url];
    flags.extend(route.worker_flags);
    let (worker, addresses) = spawn(&flags).await?;
    let metrics = addresses
        .metrics
        .ok_or_else(|| Failure::failed("the worker told no address"))?;
    let mut client = access::dial(&url).await?;
    let started = tournament::start(&mut client, SPEC.to_owned(), None, false).await?;
    let id = started.tournament.unwrap_or_default().tournament_id;
    let mut bench = Bench {
        client,
        id,
        metrics,
        coordinator,
        worker,
    };
    // The first moments, with starting agents and cold caches, do not count.
    bench.warm_up().await?;
    let before = bench.sample().await?;
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    let after = bench.sample().await?;
    let mut measured = Measured::new(
        &format!("cowry tournament, {}", route.what),
        after.at.duration_since(before.at).as_secs_f64(),
        after.games - before.games,
        after.decisions - before.decisions,
        after.cpu_seconds - before.cpu_seconds,
    );
    measured.coordinator_mb = Some(after.coordinator.peak_mb);
    measured.worker_mb = Some(after.worker.peak_mb);
    measured.agent_mb = after.agent_peak_mb;
    // The worker first, so that it has no coordinator to miss.
    bench.worker.kill().await?;
    bench.coordinator.kill().await?;
    Ok(measured)
}

fn coordinator_flags(data: &Path) -> Vec<&str> {
    let mut flags = vec![
        "coordinator",
        "--listen",
        "127.0.0.1:0",
        "--metrics",
        "127.0.0.1:0",
    ];
    flags.extend(["--data", data.to_str().unwrap_or("arena-bench")]);
    flags
}

/// Starts this program with other arguments and reads where it listens.
async fn spawn(flags: &[&str]) -> Outcome<(Child, Addresses)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = child
        .stdout
        .take()
        .ok_or_else(|| Failure::failed("a child without stdout"))?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).await?;
    let addresses = serde_json::from_str(&line)
        .map_err(|_| Failure::failed(format!("arena {} did not start", flags[0])))?;
    Ok((child, addresses))
}

struct Bench {
    client: Client,
    id: String,
    metrics: SocketAddr,
    coordinator: Child,
    worker: Child,
}

struct Sample {
    at: Instant,
    games: u64,
    decisions: u64,
    cpu_seconds: f64,
    coordinator: Usage,
    worker: Usage,
    agent_peak_mb: Option<f64>,
}

impl Bench {
    async fn warm_up(&mut self) -> Outcome {
        let limit = Instant::now() + Duration::from_secs(30);
        loop {
            let tournament = export::tournament(&mut self.client, &self.id).await?;
            if tournament.state() != TournamentState::Running {
                return Err(Failure::failed(
                    "the tournament ended before it was measured",
                ));
            }
            if tournament.games_done >= 200 {
                tokio::time::sleep(Duration::from_millis(500)).await;
                return Ok(());
            }
            if Instant::now() > limit {
                return Err(Failure::failed("no 200 games within 30 s"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn sample(&mut self) -> Outcome<Sample> {
        let at = Instant::now();
        let tournament = export::tournament(&mut self.client, &self.id).await?;
        let decisions = self.decisions().await?;
        let of = |child: &Child| child.id().and_then(usage).unwrap_or_default();
        let coordinator = of(&self.coordinator);
        let worker = of(&self.worker);
        let below: Vec<(String, Usage)> = descendants(self.worker.id().unwrap_or(0))
            .into_iter()
            .filter_map(|(pid, line)| Some((line, usage(pid)?)))
            .collect();
        let agent_peak_mb = below
            .iter()
            .filter(|(line, _)| line.contains("agent serve"))
            .map(|(_, usage)| usage.peak_mb)
            .reduce(f64::max);
        Ok(Sample {
            at,
            games: tournament.games_done,
            decisions,
            cpu_seconds: coordinator.cpu_seconds
                + worker.cpu_seconds
                + below
                    .iter()
                    .map(|(_, usage)| usage.cpu_seconds)
                    .sum::<f64>(),
            coordinator,
            worker,
            agent_peak_mb,
        })
    }

    /// Decisions that agents were asked for, from the worker's own metrics.
    async fn decisions(&self) -> Outcome<u64> {
        let mut stream = TcpStream::connect(self.metrics).await?;
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let total: f64 = text
            .lines()
            .filter(|line| line.starts_with("arena_decisions_total"))
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum();
        Ok(total as u64)
    }
}
