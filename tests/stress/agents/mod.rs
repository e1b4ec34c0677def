//! Misbehaving agents, several in a tournament.

mod modes;

use std::{collections::BTreeMap, fs, time::Instant};

use arena_access::Credentials;
use arena_wire::{
    AgentRng,
    v1::{self, agent::Source, coordinator_service_client::CoordinatorServiceClient},
};

use super::{Broken, Figure, Outcome, StressTest};
use crate::{Server, World, program};
use modes::{Mode, Part, SINGLE, Table};

/// Correct agents of the papers among the misbehaving ones.
const INNOCENTS: [&str; 3] = ["random", "aggressive", "defensive"];

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Agents {
    /// Tournaments to play
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Tournaments at a time
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    at_once: u32,
    /// Run each misbehaviour once, four in a game, instead of random tournaments
    #[arg(long, conflicts_with = "runs")]
    once: bool,
    /// Seed of seats, agents and rules
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl StressTest for Agents {
    const PROMISE: &'static str = "each fault of an agent is named and charged to the responsible \
                                   party, tournaments finish, memory stays bounded and no \
                                   process remains";

    fn quick() -> Self {
        Self {
            runs: 1,
            at_once: 12,
            once: true,
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        if let Err(reported) = program::python() {
            return Ok(Outcome::Skipped(reported));
        }
        let runs = if self.once {
            "--once".to_owned()
        } else {
            format!("--runs {}", self.runs)
        };
        let command = format!(
            "tests/stress/run agents {runs} --at-once {} --seed {}",
            self.at_once, self.seed
        );
        let started = Instant::now();
        let mut figures = Vec::new();
        for part in Part::ALL {
            let part = self.misbehave(part);
            let part = part.map_err(|Broken(seen)| Broken(format!("{seen}\nagain: {command}")))?;
            figures.extend(part);
        }
        figures.push(Figure::new("seconds", started.elapsed().as_secs_f64()));
        Ok(Outcome::Holds(figures))
    }
}

/// A tournament of misbehaving agents.
struct Run {
    name: String,
    forfeit: bool,
    text: String,
}

impl Agents {
    fn misbehave(&self, part: Part) -> Result<Vec<Figure>, Broken> {
        let table = Table::read(part);
        let level = part.level();
        let world = World::with_python();
        let coordinator = world.coordinator("data", &["--sandbox", level]);
        let url = coordinator.url();
        register(&world, &table, part, &url);
        let worker = |more: &[&str]| {
            let sandbox = ["--sandbox", level];
            world.worker(&coordinator, &[&sandbox, more].concat())
        };
        let mut workers = vec![worker(&[]), worker(&[])];
        if !self.once {
            workers.push(worker(&["--unary"]));
        }
        let runs = self.draw(&table);
        let mut games = 0;
        let mut faults: BTreeMap<String, u64> = BTreeMap::new();
        for together in runs.chunks(self.at_once.max(1) as usize) {
            let begun: Vec<_> = together
                .iter()
                .map(|run| world.start_tournament(&run.name, &run.text, &url))
                .collect();
            for (run, id) in together.iter().zip(begun) {
                world.end_tournament(&id, &url);
                for game in world.export(&id, ["--coordinator", &url]).games {
                    table.judge(&game, run.forfeit).map_err(|wrong| {
                        let game = &game["game_id"];
                        Broken::new(format_args!("{game}: {wrong}\n{}", run.text))
                    })?;
                    games += 1;
                    for fault in game["fault"].as_array().into_iter().flatten() {
                        let kind = fault["kind"].as_str().unwrap_or_default();
                        *faults.entry(kind.to_owned()).or_default() += 1;
                    }
                }
            }
        }
        let worker_mib = workers.iter().map(peak_mib).max().unwrap_or_default();
        let coordinator_mib = peak_mib(&coordinator);
        for (who, peak, bound) in [
            ("a worker", worker_mib, table.bounds.worker_mib),
            (
                "the coordinator",
                coordinator_mib,
                table.bounds.coordinator_mib,
            ),
        ] {
            if peak > bound {
                return Err(Broken::new(format_args!(
                    "{who} took {peak} MiB of memory, more than {bound}"
                )));
            }
        }
        // However a worker ends, no process of its agents remains.
        if let Some(worker) = workers.pop() {
            worker.kill();
        }
        for worker in workers {
            worker.stop();
        }
        coordinator.stop();
        world.nothing_runs();
        let figure = |name: &str, value| Figure::new(&format!("{}: {name}", part.name()), value);
        let mut figures = vec![
            figure("tournaments", runs.len() as u64),
            figure("kinds of misbehaviour", table.modes.len() as u64),
            figure("games", games),
        ];
        for (kind, count) in faults {
            figures.push(figure(&format!("faults: {kind}"), count));
        }
        figures.extend([
            figure("peak memory of a worker, MiB", worker_mib),
            figure("peak memory of the coordinator, MiB", coordinator_mib),
        ]);
        Ok(figures)
    }

    /// The tournaments: each misbehaviour once before any repeats.
    fn draw(&self, table: &Table) -> Vec<Run> {
        let mut rng = AgentRng::new(self.seed);
        let mut deck: Vec<&Mode> = Vec::new();
        let mut runs = Vec::new();
        loop {
            let number = runs.len();
            let over = if self.once {
                number > 0 && deck.is_empty()
            } else {
                number >= self.runs as usize
            };
            if over {
                return runs;
            }
            let seats = if self.once {
                4
            } else {
                2 + rng.below(3) as usize
            };
            let forfeit = if self.once {
                number % 2 == 0
            } else {
                rng.below(2) == 0
            };
            let mut agents: Vec<String> = Vec::with_capacity(seats);
            if !self.once && rng.below(2) == 0 {
                agents.push(INNOCENTS[0].to_owned());
            }
            while agents.len() < seats {
                if deck.is_empty() {
                    if self.once && !agents.is_empty() {
                        agents.push(INNOCENTS[agents.len() - 1].to_owned());
                        continue;
                    }
                    deck = table.modes.iter().collect();
                    for place in (1..deck.len()).rev() {
                        deck.swap(place, rng.below(place as u32 + 1) as usize);
                    }
                }
                let Some(mode) = deck.pop() else { continue };
                let single = rng.below(4) == 0;
                let name = format!("{}{}", mode.name, ["", SINGLE][usize::from(single)]);
                if !agents.contains(&name) {
                    agents.push(name);
                }
            }
            let strict = !self.once && rng.below(6) == 0;
            let name = format!("worst-{number}");
            // A busy machine needs time to fill memory or to start processes, and to wait for
            // hanging agents.
            let is_slow = |agent: &String| {
                ["memory-fill", "bomb"]
                    .iter()
                    .any(|name| agent.starts_with(name))
            };
            let timeout = if agents.iter().any(is_slow) {
                "20s"
            } else {
                "3s"
            };
            let text = format!(
                "name = \"{name}\"\nruleset = \"cowry\"\nseed = \"{:#x}\"\nblocks = 1\n\
                 unplayed_limit = 1\nseats = {seats}\nagents = {agents:?}\n[play]\nrotate = {}\n\
                 move_timeout = \"{timeout}\"\nask_forced = true\non_fault = \"{}\"\ntiming = \"{}\"\n",
                rng.word(),
                !self.once,
                if forfeit { "forfeit" } else { "random-move" },
                if strict { "strict" } else { "throughput" },
            );
            runs.push(Run {
                name,
                forfeit,
                text,
            });
        }
    }
}

/// Registers every mode, with and without batches: one with the command, the others as copies of
/// it.
fn register(world: &World, table: &Table, part: Part, url: &str) {
    let program = world.misbehave();
    let arguments = ["agent", "register", "first", "--binary", &program];
    let rest = ["--coordinator", url, "--", "good"];
    let _ = world.arena(&[&arguments[..], &rest].concat()).ok();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let channel = Credentials::found().connect_lazy(url).expect("a URL");
        let mut client = CoordinatorServiceClient::new(channel);
        let name = "first".to_owned();
        let found = client.get_agent(v1::GetAgentRequest { name }).await;
        let found = found.expect("an agent").into_inner().agent;
        let first = found.expect("an agent");
        for mode in &table.modes {
            for ending in ["", SINGLE] {
                let request = v1::RegisterAgentRequest {
                    request_id: format!("{}{ending}", mode.name),
                    agent: Some(variant(&first, mode, part, ending)),
                    replace: false,
                };
                let registered = client.register_agent(request).await;
                let _ = registered.expect("an agent that can be registered");
            }
        }
    });
}

/// The same program in another mode.
fn variant(first: &v1::Agent, mode: &Mode, part: Part, ending: &str) -> v1::Agent {
    let mut agent = first.clone();
    agent.name = format!("{}{ending}", mode.name);
    agent.bot.clear();
    if let Some(description) = &mut agent.description {
        for bot in &mut description.bots {
            bot.name.clone_from(&mode.name);
            bot.deterministic = mode.name != "openly-moody";
        }
    }
    let Some(Source::Binary(binary)) = &mut agent.source else {
        panic!("{} is no binary", agent.name);
    };
    binary.args = vec![mode.name.clone(), mode.argument.unwrap_or(5).to_string()];
    if ending == SINGLE {
        binary.args.push("single".to_owned());
    }
    if part == Part::Lines {
        binary.args.push("lines".to_owned());
    }
    binary.limits = Some(v1::AgentLimits {
        start_timeout_us: mode.start_timeout_s.unwrap_or(30) * 1_000_000,
        memory_bytes: mode.memory_mib.unwrap_or(0) << 20,
        processes: mode.processes.unwrap_or(0),
        ..v1::AgentLimits::default()
    });
    agent
}

/// The peak memory of a process, in MiB.
fn peak_mib(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.expect("Linux shows a process's memory") / 1024
}
