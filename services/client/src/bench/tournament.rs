//! A complete tournament of random against random on cowry: coordinator, worker and agents
//! as processes, with durable results.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use arena_access::Credentials;
use arena_wire::v1::{self, TournamentState};
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
    failure::{Failure, Outcome},
};

/// A tournament to measure.
pub struct SetUp {
    /// What is measured, for the line of the result.
    pub what: String,
    /// Further flags of `arena worker`.
    pub worker_flags: &'static [&'static str],
    /// An executable that plays instead of the native bot.
    pub agent: Option<PathBuf>,
    /// Number of agents, at least 2.
    pub agents: usize,
    /// Number of worker processes.
    pub workers: usize,
    /// Games that a worker plays at once.
    pub capacity: u32,
    /// Maximum number of processes of each agent on a worker; none: as many as help.
    pub replicas: Option<u32>,
}

impl SetUp {
    /// The spec: the same bot under as many names as there are agents.
    fn spec(&self) -> String {
        let names = self.names();
        let pairs = self.agents * (self.agents - 1) / 2;
        let blocks = GAMES / (2 * pairs as u64);
        // Agents from a file are registered under these names.
        let variants: String = { names.iter().filter(|_| self.agent.is_none()) }
            .map(|name| format!("\n[[agent]]\nname = \"{name}\"\nbot = \"random\"\n"))
            .collect();
        let play = self
            .replicas
            .map(|replicas| format!("\n[play]\nreplicas = {replicas}\n"));
        let play = play.unwrap_or_default();
        format!(
            "name = \"bench\"\nruleset = \"cowry\"\nseed = \"0xbe7c\"\n\
             blocks = {blocks}\nseats = 2\nagents = {names:?}\n{variants}{play}"
        )
    }

    fn names(&self) -> Vec<String> {
        (1..=self.agents).map(|n| format!("agent-{n}")).collect()
    }
}

/// More games than can be played during the measurement.
const GAMES: u64 = 500_000_000;

/// Games of each agent before the measurement, in which processes start and caches fill.
const WARM_UP_GAMES: u64 = 20;

#[derive(Deserialize)]
struct Addresses {
    listen: Option<SocketAddr>,
    metrics: Option<SocketAddr>,
}

/// Measures a tournament for this many seconds, after each agent has played some games. Starts a coordinator and
/// workers of its own, and stops them.
///
/// # Errors
/// If a process does not start, or ends during the measurement.
pub async fn measure(set_up: &SetUp, seconds: f64) -> Outcome<Measured> {
    let data = tempfile::tempdir()?;
    let folder = data.path().to_str().unwrap_or("arena-bench");
    let flags = [
        "coordinator",
        "--listen=127.0.0.1:0",
        "--metrics=127.0.0.1:0",
    ];
    let (coordinator, addresses) = spawn(&[&flags[..], &["--data", folder]].concat()).await?;
    let nowhere = || Failure::failed("the coordinator named no address");
    let url = format!("http://{}", addresses.listen.ok_or_else(nowhere)?);
    if let Some(file) = &set_up.agent {
        for name in set_up.names() {
            register(&name, file, &url).await?;
        }
    }
    let mut workers = Vec::new();
    let capacity = set_up.capacity.to_string();
    for _ in 0..set_up.workers {
        let mut flags = vec!["worker", "--metrics", "127.0.0.1:0", "--coordinator", &url];
        flags.extend(["--capacity", &capacity]);
        flags.extend(set_up.worker_flags);
        let (process, addresses) = spawn(&flags).await?;
        let nowhere = || Failure::failed("the worker named no address");
        let metrics = addresses.metrics.ok_or_else(nowhere)?;
        workers.push(Worker { process, metrics });
    }
    let mut client = access::dial(&url, &Credentials::found()).await?;
    let started = access::start_tournament(&mut client, set_up.spec(), None, false).await?;
    let id = started.tournament.unwrap_or_default().tournament_id;
    let mut bench = Bench {
        client,
        id,
        coordinator,
        workers,
    };
    bench.warm_up(set_up.agents as u64 * WARM_UP_GAMES).await?;
    let (before, after) = bench.window(seconds).await?;
    bench.without_faults().await?;
    let mut measured = Measured::new(
        set_up.what.clone(),
        after.at.duration_since(before.at).as_secs_f64(),
        after.games - before.games,
        after.decisions - before.decisions,
        after.cpu_seconds - before.cpu_seconds,
    );
    measured.coordinator_mb = Some(after.coordinator_mb);
    measured.worker_mb = Some(after.worker_mb);
    measured.agent_mb = after.agent_mb;
    // Stop the workers first, so that they do not lose their coordinator.
    for worker in &mut bench.workers {
        worker.process.kill().await?;
    }
    bench.coordinator.kill().await?;
    Ok(measured)
}

/// Registers a file as `arena agent register` does.
async fn register(name: &str, file: &Path, url: &str) -> Outcome {
    let output = Command::new(std::env::current_exe()?)
        .args(["agent", "register", name, "--coordinator", url])
        .arg("--binary")
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .await?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let error = stderr.trim_start_matches("error: ").trim();
    match output.status.code() {
        Some(0) => Ok(()),
        Some(2) => Err(Failure::usage(error)),
        _ => Err(Failure::failed(error)),
    }
}

/// Starts this program with other arguments and reads its addresses.
async fn spawn(flags: &[&str]) -> Outcome<(Child, Addresses)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let no_stdout = || Failure::failed("a child without stdout");
    let stdout = child.stdout.take().ok_or_else(no_stdout)?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).await?;
    let addresses = serde_json::from_str(&line)
        .map_err(|_| Failure::failed(format!("arena {} did not start", flags[0])))?;
    Ok((child, addresses))
}

struct Worker {
    process: Child,
    metrics: SocketAddr,
}

struct Bench {
    client: Client,
    id: String,
    coordinator: Child,
    workers: Vec<Worker>,
}

struct Sample {
    at: Instant,
    games: u64,
    decisions: u64,
    cpu_seconds: f64,
    coordinator_mb: f64,
    worker_mb: f64,
    agent_mb: Option<f64>,
}

/// Fails if the tournament paused itself, because no more games can be measured.
fn still_plays(tournament: &v1::Tournament) -> Outcome {
    let Some(v1::Pause { reason, error, .. }) = &tournament.pause else {
        return Ok(());
    };
    Err(Failure::failed(format!(
        "the tournament paused, so there is nothing to measure: {reason}: {error}; \
         arena agent check says what is wrong with it"
    )))
}

impl Bench {
    async fn warm_up(&mut self, games: u64) -> Outcome {
        let limit = Instant::now() + Duration::from_secs(60);
        loop {
            let tournament = arena_report::records::tournament(&mut self.client, &self.id).await?;
            still_plays(&tournament)?;
            if tournament.state() != TournamentState::Running {
                return Err(Failure::failed(
                    "the tournament ended before it was measured",
                ));
            }
            if tournament.games_done >= games {
                tokio::time::sleep(Duration::from_millis(500)).await;
                return Ok(());
            }
            if Instant::now() > limit {
                return Err(Failure::failed(format!(
                    "only {} games were played within 60 s, too few to measure",
                    tournament.games_done
                )));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Samples before and after the measurement. A machine that had no time for its processes is
    /// measured for longer, because nothing follows from a measurement without a game.
    async fn window(&mut self, seconds: f64) -> Outcome<(Sample, Sample)> {
        let before = self.sample().await?;
        let limit = before.at + Duration::from_secs_f64(seconds + 60.0);
        loop {
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            let after = self.sample().await?;
            if after.games > before.games && after.decisions > before.decisions {
                return Ok((before, after));
            }
            if after.at > limit {
                return Err(Failure::failed(format!(
                    "no game ended within {:.0} s, so there is nothing to measure",
                    after.at.duration_since(before.at).as_secs_f64()
                )));
            }
        }
    }

    /// Fails on faults: games that end by a fault are short, and their speed is
    /// meaningless.
    async fn without_faults(&mut self) -> Outcome {
        let request = v1::GetStandingsRequest {
            tournament_id: self.id.clone(),
            ..Default::default()
        };
        let response = self.client.get_standings(request).await?.into_inner();
        let agents = response.standings.unwrap_or_default().agents;
        match agents.iter().map(|agent| agent.faults).sum() {
            0_u64 => Ok(()),
            faults => Err(Failure::failed(format!(
                "{faults} games ended with an agent's fault, so there is nothing to measure; to \
                 find the cause, run `arena agent check`"
            ))),
        }
    }

    async fn sample(&mut self) -> Outcome<Sample> {
        let at = Instant::now();
        let tournament = arena_report::records::tournament(&mut self.client, &self.id).await?;
        still_plays(&tournament)?;
        let coordinator = of(&self.coordinator);
        let mut sample = Sample {
            at,
            games: tournament.games_done,
            decisions: 0,
            cpu_seconds: coordinator.cpu_seconds,
            coordinator_mb: coordinator.peak_mb,
            worker_mb: 0.0,
            agent_mb: None,
        };
        for worker in &self.workers {
            sample.decisions += decisions(worker.metrics).await?;
            let used = of(&worker.process);
            sample.cpu_seconds += used.cpu_seconds;
            sample.worker_mb = sample.worker_mb.max(used.peak_mb);
            for (pid, line) in descendants(worker.process.id().unwrap_or(0)) {
                let Some(used) = usage(pid) else { continue };
                sample.cpu_seconds += used.cpu_seconds;
                if !line.contains(" agent guard ") {
                    let so_far = sample.agent_mb.unwrap_or(0.0);
                    sample.agent_mb = Some(so_far.max(used.peak_mb));
                }
            }
        }
        Ok(sample)
    }
}

fn of(child: &Child) -> Usage {
    child.id().and_then(usage).unwrap_or_default()
}

/// Decisions that agents were asked for, from a worker's own metrics.
async fn decisions(metrics: SocketAddr) -> Outcome<u64> {
    let mut stream = TcpStream::connect(metrics).await?;
    let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let lines = text.lines();
    let lines = lines.filter(|line| line.starts_with("arena_decisions_total"));
    let counts = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
    Ok(counts.sum::<f64>() as u64)
}
