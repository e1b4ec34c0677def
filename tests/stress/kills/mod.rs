//! Real signals to all processes while tournaments are played.

mod disturbance;
mod operator;
pub(super) mod witness;

use std::{
    fs,
    thread::sleep,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{Games, World, program, repository, sha256, spec};
use disturbance::Disturber;
use operator::Server;
use witness::{Records, Witness};

/// Agents of the tournaments: three built-in ones as processes, and a binary.
const AGENTS: [&str; 4] = ["random", "aggressive", "defensive", "my-greedy"];
/// The limit for a tournament after the last disturbance.
const CALM: Duration = Duration::from_secs(300);

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Kills {
    /// Minimum number of signals; a third of them arrives while the store is opened
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Worker processes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    workers: u32,
    /// Blocks of a tournament, of twelve games each; tournaments are played until all signals are
    /// sent
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// The largest pause between two signals, in milliseconds
    #[arg(long, default_value_t = 300)]
    gap: u32,
    /// Games after which the coordinator writes a checkpoint, so that most of its starts use one
    #[arg(long, default_value_t = 50)]
    checkpoint: u64,
    /// Seed of targets, signals and times
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl StressTest for Kills {
    const PROMISE: &'static str = "coordinator, workers, guards and agents may be killed, ended \
                                   or stopped at any moment: the records are those of the \
                                   undisturbed run, and so are the standings, and nothing \
                                   acknowledged is lost";

    fn quick() -> Self {
        Self {
            kills: 16,
            workers: 2,
            blocks: 12,
            gap: 200,
            checkpoint: 10,
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        if let Err(reported) = program::python() {
            return Ok(Outcome::Skipped(reported));
        }
        let command = format!(
            "tests/stress/run kills --kills {} --workers {} --blocks {} --gap {} --checkpoint {} --seed {}",
            self.kills, self.workers, self.blocks, self.gap, self.checkpoint, self.seed
        );
        self.disturb()
            .map(Outcome::Holds)
            .map_err(|Broken(seen)| Broken(format!("{seen}\nagain: {command}")))
    }
}

/// A disturbed tournament, and its expected results.
struct Round {
    id: String,
    expected: Games,
    standings: Value,
}

impl Round {
    /// Checks that the results are those of an undisturbed tournament.
    fn stands(&self, world: &World, access: [&str; 2]) -> Result<(), Broken> {
        let found = world.standings(&self.id, access);
        if found == self.standings {
            return Ok(());
        }
        Err(Broken::new(format_args!(
            "{} {}: the standings are\n{found}\nand without disturbance\n{}",
            self.id, access[0], self.standings
        )))
    }
}

impl Kills {
    fn disturb(&self) -> Result<Vec<Figure>, Broken> {
        let world = World::with_python();
        let mut fleet = Fleet::start(&world, self)?;
        let mut disturber = Disturber::new(self.seed, self.gap);
        let started = Instant::now();
        let mut rounds = Vec::new();
        while !disturber.is_done(self.kills) {
            let round = self.round(&world, &fleet, rounds.len())?;
            while !disturber.is_done(self.kills) && !fleet.witness.finished(&round.id) {
                disturber.step(&world, &mut fleet)?;
            }
            disturber.calm(&world, &mut fleet)?;
            let calm = Instant::now();
            while !fleet.witness.finished(&round.id) {
                if calm.elapsed() > CALM {
                    return Err(Broken::new(format_args!(
                        "{} does not finish:\n{}",
                        round.id,
                        fleet.logs()
                    )));
                }
                sleep(Duration::from_millis(20));
            }
            rounds.push(round);
        }
        disturber.shares()?;
        let seconds = started.elapsed().as_secs_f64();
        let known = fleet.witness.acknowledged();
        let mut same = 0;
        for round in &rounds {
            let found = world.export(&round.id, ["--coordinator", &fleet.url]);
            if let Some(difference) = round.expected.difference(&found) {
                return Err(Broken::new(format_args!("{}: {difference}", round.id)));
            }
            round.stands(&world, ["--coordinator", &fleet.url])?;
            same += fleet.witness.compare(&round.id, &fleet.url)?;
        }
        fleet.stop()?;
        world.nothing_runs();
        let starts = Starts::of(&fleet.coordinator.log(), self)?;
        let left = left_in(&operator::temp(&world));
        if !left.is_empty() {
            return Err(Broken::new(format_args!("left behind: {left:?}")));
        }
        let verified = world.arena(&["store", "verify", "--data", "data"]);
        if verified.code != Some(0) {
            return Err(Broken::new(verified.transcript()));
        }
        // A new coordinator has only what is stored.
        for round in &rounds {
            round.stands(&world, ["--data", "data"])?;
        }
        if known == 0 {
            return Err(Broken::new("the witness received no acknowledgement"));
        }
        let games: usize = rounds.iter().map(|round| round.expected.games.len()).sum();
        let shas: Vec<_> = rounds.iter().map(|it| sha256(&it.expected.text)).collect();
        let mut figures = disturber.figures(&mut fleet);
        figures.extend([
            Figure::new("tournaments", rounds.len()),
            Figure::new("games", games),
            Figure::new("results acknowledged to the witness, all present", known),
            Figure::new("of them known to be the very play acknowledged", same),
            Figure::new(
                "tournaments that went on at a start, of them from kept sums",
                format!("{}, {}", starts.all, starts.from_sums),
            ),
            Figure::new("seconds under signals", seconds),
            Figure::new(
                "standings as undisturbed; SHA-256 of each export, too",
                shas.join(" "),
            ),
            Figure::new("store verify", verified.stdout.trim()),
        ]);
        Ok(figures)
    }

    /// Plays a tournament elsewhere without disturbance, then starts it here.
    fn round(&self, world: &World, fleet: &Fleet, number: usize) -> Result<Round, Broken> {
        let name = format!("kills-{number}");
        let spec = spec(
            &name,
            "cowry",
            self.blocks,
            &AGENTS,
            // Longer than any stop.
            "[play]\nmove_timeout = \"20s\"",
        );
        register(world, ["--data", "undisturbed"]);
        let (id, _, expected) = world.tournament(&spec, "undisturbed", &["--builtin", "process"]);
        let reference = world.coordinator("undisturbed", &[]);
        let records = witness::games(&reference.url(), &id);
        let standings = world.standings(&id, ["--coordinator", &reference.url()]);
        reference.stop();
        let records = records.into_iter().filter_map(|game| game.record);
        fleet
            .witness
            .learn(Records::from([(id.clone(), records.collect())]));
        let started = world.start_tournament(&name, &spec, &fleet.url);
        if started != id {
            return Err(Broken::new(format_args!("{started} should be {id}")));
        }
        Ok(Round {
            id,
            expected,
            standings,
        })
    }
}

/// The processes that are disturbed.
struct Fleet {
    url: String,
    coordinator: Server,
    workers: Vec<Server>,
    witness: Witness,
}

impl Fleet {
    fn start(world: &World, kills: &Kills) -> Result<Self, Broken> {
        // A free port, which it keeps from then on.
        let first = world.coordinator("data", &[]);
        let listen = first.listen().to_owned();
        first.stop();
        let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut coordinator = Server::new(
            world,
            "coordinator",
            words(format!(
                "coordinator --data data --listen {listen} --metrics 127.0.0.1:0 \
                 --checkpoint-games {} --log warn,arena_coordinator::core::start=info",
                kills.checkpoint
            )),
        );
        let url = format!("http://{listen}");
        coordinator.start(world);
        let mut fleet = Self {
            witness: Witness::start(&url, kills.seed),
            url,
            coordinator,
            workers: Vec::new(),
        };
        fleet.listening()?;
        register(world, ["--coordinator", &fleet.url]);
        for number in 1..=kills.workers {
            let arguments = words(format!(
                "worker --coordinator {} --metrics 127.0.0.1:0 --name worker-{number} \
                 --builtin process --capacity 32 --threads 1",
                fleet.url
            ));
            let mut worker = Server::new(world, &format!("worker {number}"), arguments);
            worker.start(world);
            fleet.workers.push(worker);
        }
        Ok(fleet)
    }

    fn servers(&mut self) -> impl Iterator<Item = &mut Server> {
        std::iter::once(&mut self.coordinator).chain(&mut self.workers)
    }

    /// Waits until the coordinator listens.
    fn listening(&mut self) -> Result<(), Broken> {
        crate::until("the coordinator to listen", || {
            match self.coordinator.look() {
                Ok(false) => self.coordinator.listens().map(|_| Ok(())),
                Ok(true) => Some(Err(Broken::new(self.coordinator.log()))),
                Err(broken) => Some(Err(broken)),
            }
        })
    }

    fn stop(&mut self) -> Result<(), Broken> {
        self.witness.stop();
        for worker in &mut self.workers {
            worker.signal(Signal::SIGTERM);
        }
        for worker in &mut self.workers {
            worker.end()?;
        }
        self.coordinator.signal(Signal::SIGTERM);
        self.coordinator.end()?;
        for server in self.servers() {
            let log = server.log();
            if log.contains("panicked") || log.contains("DEFECT") {
                return Err(Broken::new(format_args!("{} wrote:\n{log}", server.name)));
            }
        }
        Ok(())
    }

    fn logs(&mut self) -> String {
        let logs = self.servers().map(|server| {
            let log = server.log();
            let lines: Vec<&str> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(20)..];
            format!("{}:\n{}\n", server.name, last.join("\n"))
        });
        logs.collect()
    }
}

/// Tournaments that continued at the start of a coordinator.
struct Starts {
    all: u32,
    /// With a checkpoint, instead of reading all games again.
    from_sums: u32,
}

impl Starts {
    /// Reads them from the coordinator's log.
    fn of(log: &str, kills: &Kills) -> Result<Self, Broken> {
        let mut starts = Self {
            all: 0,
            from_sums: 0,
        };
        let mut late = 0;
        for line in log.lines().filter(|it| it.contains("tournament goes on")) {
            let number = |name: &str| {
                let mut words = line.split_whitespace();
                words.find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok())
            };
            let (Some(done), Some(kept)) = (number("done="), number("kept=")) else {
                return Err(Broken::new(format_args!("an unknown log line: {line}")));
            };
            starts.all += 1;
            starts.from_sums += u32::from(kept > 0);
            late += u32::from(done >= 4 * kills.checkpoint);
        }
        // With few signals, all may arrive before the first checkpoint.
        if starts.from_sums == 0 && (late > 0 || kills.kills >= 100) {
            return Err(Broken::new(format_args!(
                "of {} starts, {late} with many games done, none went on from kept sums",
                starts.all
            )));
        }
        Ok(starts)
    }
}

/// Registers the binary agent.
fn register(world: &World, access: [&str; 2]) {
    let agent = repository().join("agents/sdk/python/examples/greedy.py");
    let agent = agent.to_str().expect("UTF-8");
    let [flag, place] = access;
    let known = world.arena(&["agent", "show", "my-greedy", flag, place]);
    if known.code != Some(0) {
        let arguments = [
            "agent",
            "register",
            "my-greedy",
            "--binary",
            agent,
            flag,
            place,
        ];
        let _ = world.arena(&arguments).ok();
    }
}

/// Names of the entries of a folder.
fn left_in(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.path().display().to_string());
    names.collect()
}
