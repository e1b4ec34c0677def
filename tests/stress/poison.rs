//! A game that kills each of its workers.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use arena_engine::StreamOf;
use arena_model::BlockSeed;
use arena_wire::ATTEMPTS_MAX;
use serde_json::Value;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{DEADLINE, Server, World, program, spec};

/// The agent that kills its worker.
const AGENT: &str = "poison";
/// The decision of the game at which its worker is killed.
const DECISION: usize = 3;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Poison {
    /// Blocks of the tournament, of two games each
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// The game that kills its workers
    #[arg(long, default_value_t = 37)]
    game: usize,
}

/// The variable with the seed at which the agent kills its worker.
const SEED: &str = "POISON_SEED";

impl StressTest for Poison {
    const PROMISE: &'static str = "a game that kills each of its workers is void after the limit \
                                   of attempts, and is named; all other games are played";

    fn quick() -> Self {
        Self { blocks: 6, game: 5 }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        if let Err(reported) = program::python() {
            return Ok(Outcome::Skipped(reported));
        }
        let world = World::with_python();
        let spec = spec(AGENT, "cowry", self.blocks, &[AGENT, "random"], "");
        let program = world.misbehave();
        let register = |access: [&str; 2]| {
            let arguments = ["agent", "register", AGENT, "--binary", &program];
            let _ = world
                .arena(&[&arguments[..], &access, &["--", "poison"]].concat())
                .ok();
        };
        // Without a seed in its environment it plays normally.
        register(["--data", "undisturbed"]);
        let (id, _, expected) = world.tournament(&spec, "undisturbed", &[]);
        let seed = seed_of(&expected.games[self.game]).to_string();

        let coordinator = world.coordinator("data", &["--audit-share", "0"]);
        let url = coordinator.url();
        register(["--coordinator", &url]);
        let started = world.start_tournament(AGENT, &spec, &url);
        if started != id {
            return Err(Broken::new(format_args!("{started} should be {id}")));
        }
        let began = Instant::now();
        let total = expected.games.len() as f64;
        // In a sandbox, no agent can kill its worker.
        let start = || {
            let mut command = world.command(program::arena());
            command
                .args(["worker", "--coordinator", &url, "--metrics", "127.0.0.1:0"])
                .args(["--sandbox", "none"])
                .env(SEED, &seed);
            world.serve(command)
        };
        let mut workers = [start(), start()];
        let mut deaths = 0;
        let mut logs = String::new();
        while coordinator.metric("arena_games_total", &[]) < total {
            if began.elapsed() > DEADLINE {
                return Err(Broken::new(format_args!(
                    "{id} does not finish after {deaths} deaths:\n{}",
                    coordinator.log()
                )));
            }
            for worker in &mut workers {
                if ended(worker) {
                    deaths += 1;
                    logs += &worker.log();
                    *worker = start();
                }
            }
            sleep(Duration::from_millis(20));
        }
        let seconds = began.elapsed().as_secs_f64();
        for mut worker in workers {
            logs += &worker.log();
            // The worker that it killed last, or a running one.
            if ended(&mut worker) {
                deaths += 1;
            } else {
                worker.stop();
            }
        }
        let game = format!("{id}/{}", self.game);
        let said = coordinator.log();
        let named = said.lines().find(|line| line.contains(&game));
        let Some(named) = named.filter(|line| line.contains("void")) else {
            return Err(Broken::new(format_args!("{game} is not named in:\n{said}")));
        };
        let given_up = format!("void after {ATTEMPTS_MAX} attempts");
        if !logs.contains(&given_up) {
            return Err(Broken::new(format_args!("no \"{given_up}\" in:\n{logs}")));
        }
        let found = world.export(&id, ["--coordinator", &url]);
        for (index, (found, expected)) in found.games.iter().zip(&expected.games).enumerate() {
            let right = if index == self.game {
                found["termination"] == "void" && found["placement"].is_null()
            } else {
                found == expected
            };
            if !right || found["index"] != index {
                return Err(Broken::new(format_args!(
                    "game {index} is {found} and was {expected}"
                )));
            }
        }
        if found.games.len() != expected.games.len() {
            return Err(Broken::new(format_args!("{} games", found.games.len())));
        }
        let shown = world.arena(&["game", "show", &game, "--coordinator", &url]);
        if shown.code != Some(0) || !shown.stdout.contains("void") {
            return Err(Broken::new(shown.transcript()));
        }
        let standings = ["standings", &id, "--coordinator", &url, "--output", "json"];
        let standings = world.arena(&standings).ok().json();
        for agent in standings["agents"].as_array().into_iter().flatten() {
            if agent["voids"] != 1 || agent["faults"] != 0 {
                return Err(Broken::new(format_args!("standings: {agent}")));
            }
        }
        coordinator.stop();
        world.nothing_runs();
        Ok(Outcome::Holds(vec![
            Figure::new("games", expected.games.len()),
            Figure::new("workers the game killed", deaths),
            Figure::new("seconds", seconds),
            Figure::new("named by the coordinator", named),
        ]))
    }
}

fn ended(server: &mut Server) -> bool {
    let status = server.child.try_wait();
    status.expect("a child").is_some()
}

/// The seed in the agent's decision of a game.
fn seed_of(game: &Value) -> u64 {
    let text = game["seed"].as_str().expect("a seed");
    let block = u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hex");
    let names = game["seats"].as_array().expect("seats").iter();
    let names: Vec<&str> = names.map(|name| name.as_str().expect("a name")).collect();
    let seat = names.iter().position(|name| *name == AGENT);
    let seat = StreamOf::Agent(seat.expect("the agent plays") as u8);
    let mut seeds = BlockSeed(block).keys(&names).stream(seat);
    for _ in 0..DECISION {
        let _ = seeds.word();
    }
    seeds.word()
}
