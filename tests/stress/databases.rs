//! Two coordinators on one database, under real kills of both and of the server.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use arena_store::server::PostgresServer;
use arena_wire::AgentRng;
use nix::sys::signal::Signal;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{Games, Output, PAPER_000, Started, World, spec, until, within};

/// Games between two disturbances.
const GAP: u64 = 40;
/// The limit for the next durable game after a disturbance.
const CALM: Duration = Duration::from_secs(120);
/// Exit code of a command that no coordinator answers.
const UNREACHABLE: i32 = 4;
/// How long an owner is stopped: longer than its lease.
const STOPPED: Duration = Duration::from_secs(5);
/// Ends every session of the coordinators, whether or not it is in a commit.
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE datname = 'arena' AND pid <> pg_backend_pid()";

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Databases {
    /// Number of disturbances
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Blocks of a tournament, of thirty games each; tournaments are played until all disturbances
    /// have happened
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// Seed of the disturbances
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl StressTest for Databases {
    const PROMISE: &'static str = "coordinators and their database may be killed or stopped at any \
                                   moment: another coordinator takes over, and the records are \
                                   those of the undisturbed run";

    fn quick() -> Self {
        Self {
            kills: 4,
            blocks: 20,
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut server = match PostgresServer::start(&[]) {
            Ok(server) => server,
            Err(reason) => return Ok(Outcome::Skipped(reason)),
        };
        let url = server.create("arena");
        let world = World::new();
        let mut cluster = Cluster::start(&world, url);
        let address = format!("http://{}", cluster.listen);
        let _worker = world.server(&[
            "worker",
            "--coordinator",
            &address,
            "--token-file",
            "one/admin.token",
            "--metrics",
            "127.0.0.1:0",
            "--connect-timeout",
            "120",
        ]);
        let mut rng = AgentRng::new(self.seed);
        let mut waits: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut sent, mut rounds, mut before) = (0, 0, 0);
        while sent < self.kills {
            rounds += 1;
            let name = format!("round-{rounds}");
            let text = spec(&name, "cowry", self.blocks, &PAPER_000, "");
            let expected = World::new().tournament(&text, "one", &[]).2;
            let path = world.write(&format!("{name}.toml"), text);
            let start = ["tournament", "start", &path, "--output", "json"];
            let id = call(&mut cluster, &address, &start)?.tournament_id();
            let all = before + expected.games.len() as u64;
            while sent < self.kills && games(&server) + 2 * GAP < all {
                let reached = games(&server);
                cluster.wait_games(&server, (reached + GAP).min(all))?;
                let (what, at) = disturb(&mut rng, &mut server, &mut cluster);
                // The last games may have become durable meanwhile.
                let reached = games(&server);
                cluster.wait_games(&server, (reached + 1).min(all))?;
                waits
                    .entry(what)
                    .or_default()
                    .push(at.elapsed().as_secs_f64());
                sent += 1;
            }
            cluster.wait_games(&server, all)?;
            until("an owner", || cluster.owner());
            before = all;
            check(&mut cluster, &id, &address, &expected)?;
        }
        let verified = world.arena(&["store", "verify", "--store", &cluster.url]);
        if verified.code != Some(0) {
            return Err(Broken::new(verified.transcript()));
        }
        let mut figures = vec![
            Figure::new("disturbances", sent),
            Figure::new("games with the expected records", before),
        ];
        for (what, mut seconds) in waits {
            seconds.sort_by(f64::total_cmp);
            let longest = seconds.last().copied().unwrap_or_default();
            let name = format!(
                "{what}: {} times, longest seconds to the next game",
                seconds.len()
            );
            figures.push(Figure::new(&name, longest));
        }
        Ok(Outcome::Holds(figures))
    }
}

/// Two coordinators with one address: the second one listens when it has taken over.
struct Cluster<'a> {
    world: &'a World,
    url: String,
    listen: String,
    members: Vec<(&'static str, Started)>,
}

impl<'a> Cluster<'a> {
    fn start(world: &'a World, url: String) -> Self {
        let first = world.coordinator("one", &["--store", &url]);
        let listen = first.listen().to_owned();
        first.stop();
        // So that workers and users need one token.
        fs::create_dir(world.folder().join("two")).expect("a folder");
        let token = |data: &str| world.folder().join(data).join("admin.token");
        fs::copy(token("one"), token("two")).expect("the token");
        let mut cluster = Self {
            world,
            url,
            listen,
            members: Vec::new(),
        };
        cluster.add("one");
        until("an owner", || cluster.owner());
        cluster.add("two");
        cluster
    }

    fn add(&mut self, data: &'static str) {
        let started = self.world.start(&[
            "coordinator",
            "--data",
            data,
            "--store",
            &self.url,
            "--listen",
            &self.listen,
            "--metrics",
            "127.0.0.1:0",
        ]);
        self.members.push((data, started));
    }

    /// The coordinator that listens.
    fn owner(&mut self) -> Option<usize> {
        let mut members = self.members.iter_mut();
        members.position(|(_, started)| !started.ended() && started.stdout().contains("listen"))
    }

    /// Starts coordinators that have ended again, as a supervisor does.
    fn restart_ended(&mut self) {
        for place in (0..self.members.len()).rev() {
            if self.members[place].1.ended() {
                let (data, _) = self.members.remove(place);
                self.add(data);
            }
        }
    }

    /// Waits for durable games, and restarts what has ended meanwhile.
    fn wait_games(&mut self, server: &PostgresServer, wanted: u64) -> Result<(), Broken> {
        let reached = within(CALM, || {
            self.restart_ended();
            (games(server) >= wanted).then_some(())
        });
        reached.ok_or_else(|| {
            let logs = self.members.iter().map(|(_, started)| started.stderr());
            Broken::new(format_args!(
                "{} of {wanted} games are durable, and no more become so:\n{}",
                games(server),
                logs.collect::<Vec<_>>().join("\n")
            ))
        })
    }
}

/// Disturbs a process. Returns the kind of the disturbance, and when it happened.
fn disturb(
    rng: &mut AgentRng,
    server: &mut PostgresServer,
    cluster: &mut Cluster<'_>,
) -> (&'static str, Instant) {
    let owner = until("an owner", || cluster.owner());
    let started = Instant::now();
    let what = match rng.below(6) {
        0 | 1 => {
            cluster.members[owner].1.signal(Signal::SIGKILL);
            "owner killed"
        }
        2 => {
            cluster.members[owner].1.signal(Signal::SIGSTOP);
            std::thread::sleep(STOPPED);
            cluster.members[owner].1.signal(Signal::SIGCONT);
            "owner stopped for 5 s"
        }
        3 => {
            server.stop_immediately();
            server.start_again();
            "server stopped at once"
        }
        4 => {
            server.kill();
            server.start_again();
            "server killed"
        }
        _ => {
            server.sql("postgres", TERMINATE);
            "sessions ended"
        }
    };
    (what, started)
}

/// Durable games of all tournaments.
fn games(server: &PostgresServer) -> u64 {
    let games = server.sql("arena", "SELECT games FROM arena.chain");
    games.parse().expect("a number")
}

/// Runs a command with the token of both coordinators, again while the owner ends and another one
/// takes over.
fn call(cluster: &mut Cluster<'_>, address: &str, arguments: &[&str]) -> Result<Output, Broken> {
    let access = ["--coordinator", address, "--token-file", "one/admin.token"];
    let mut problem = String::new();
    let answered = within(CALM, || {
        cluster.restart_ended();
        let output = cluster.world.arena(&[arguments, &access].concat());
        match output.code {
            Some(0) => Some(Ok(output)),
            Some(UNREACHABLE) => {
                problem = output.transcript();
                None
            }
            _ => Some(Err(Broken::new(output.transcript()))),
        }
    });
    answered.unwrap_or_else(|| Err(Broken::new(problem)))
}

fn check(
    cluster: &mut Cluster<'_>,
    id: &str,
    address: &str,
    expected: &Games,
) -> Result<(), Broken> {
    call(cluster, address, &["tournament", "watch", id])?;
    let export = ["export", id, "--format", "jsonl"];
    let found = Games::of(&call(cluster, address, &export)?);
    match expected.difference(&found) {
        Some(difference) => Err(Broken::new(format_args!("{id}: {difference}"))),
        None => Ok(()),
    }
}
