//! Clocks on a busy machine, and agents that overstep their time.

use std::{
    hint, num,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{Broken, Figure, Outcome, StressTest};
use crate::{World, repository, spec};

/// Moves of a game of Kalah that agents are asked for, at least.
const MOVES: u64 = 15;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Clocks {
    /// Moves under a clock while other programs keep every core busy.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    moves: u64,
    /// Busy threads for each core.
    #[arg(long, default_value_t = 2)]
    busy: usize,
    /// Games of an agent that oversteps time and margin by 20 ms at each move.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    late_games: u64,
}

impl StressTest for Clocks {
    const PROMISE: &'static str = "no agent loses on time because the machine is busy, and each \
                                   overstepped time is a fault";

    fn quick() -> Self {
        Self {
            moves: 2_000,
            busy: 2,
            late_games: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let world = World::with_python();
        let busy = self.busy_machine(&world)?;
        let late = self.late_agent(&world)?;
        world.nothing_runs();
        Ok(Outcome::Holds(vec![
            Figure::new("moves under a clock on a busy machine", busy.moves),
            Figure::new("longest move there, ms", busy.longest.as_secs_f64() * 1e3),
            Figure::new(
                "longest move there without waits for a core, ms",
                busy.charged.as_secs_f64() * 1e3,
            ),
            Figure::new("overstepped moves", late.1),
            Figure::new("faults for them", late.0),
        ]))
    }
}

/// What the exported times show.
#[derive(Default)]
struct Seen {
    moves: usize,
    longest: Duration,
    charged: Duration,
}

impl Clocks {
    fn busy_machine(&self, world: &World) -> Result<Seen, Broken> {
        let blocks = self.moves.div_ceil(2 * MOVES);
        let play = "[play]\nclock = \"1s+0.01s\"\nopening_plies = 4";
        let agents = ["random", "greedy"];
        let spec = spec("busy", "kalah", blocks, &agents, play);
        let done = AtomicBool::new(false);
        let cores = thread::available_parallelism().map_or(1, num::NonZero::get);
        thread::scope(|scope| {
            for _ in 0..cores * self.busy {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        hint::spin_loop();
                    }
                });
            }
            let played = world.tournament(&spec, "busy", &["--builtin", "process"]);
            done.store(true, Ordering::Relaxed);
            let games = timed(world, &played.0, "busy");
            let mut seen = Seen::default();
            for game in &games {
                if !game["fault"].is_null() {
                    return Err(Broken::new(format_args!("a false fault: {game}")));
                }
                for (took, wait) in moves(game) {
                    seen.moves += 1;
                    seen.longest = seen.longest.max(took);
                    seen.charged = seen.charged.max(took.saturating_sub(wait));
                }
            }
            if (seen.moves as u64) < self.moves {
                return Err(Broken::new(format_args!("only {} moves", seen.moves)));
            }
            Ok(seen)
        })
    }

    /// The agent sleeps for 50 ms, which is its time and margin and 20 ms more.
    fn late_agent(&self, world: &World) -> Result<(usize, u64), Broken> {
        let agent = repository().join("tests/agents/slow.py");
        let agent = agent.to_str().expect("UTF-8");
        let register = ["agent", "register", "slow", "--binary", agent];
        let rest = ["--data", "late", "--", "50"];
        let _ = world.arena(&[&register[..], &rest].concat()).ok();
        let play = "[play]\nmove_time = \"10ms\"\ntiming_margin = \"20ms\"\nrotate = false\n\
                    ask_forced = true\non_fault = \"random-move\"";
        let spec = spec("late", "kalah", self.late_games, &["slow", "random"], play);
        let spec = world.write("late.toml", spec);
        let run = ["run", &spec, "--data", "late", "--output", "json"];
        let output = world.arena(&run).fails(1, &["ended with a fault"]);
        let id = output.tournament_id();
        let limit = Duration::from_millis(30);
        let (mut caught, mut all) = (0, 0);
        for game in timed(world, &id, "late") {
            let faults = game["fault"].as_array().map_or(0, Vec::len);
            // If this machine is busy, some of the time may have passed without a core.
            let late = moves(&game).filter(|(took, wait)| *took >= *wait + limit);
            if faults != late.count() {
                return Err(Broken::new(format_args!("a late move is no fault: {game}")));
            }
            caught += faults;
            all += game["decisions"][0].as_u64().unwrap_or_default();
        }
        Ok((caught, all))
    }
}

fn timed(world: &World, id: &str, data: &str) -> Vec<Value> {
    let export = ["export", id, "--with-timing", "--data", data];
    let lines = world.arena(&export).ok().stdout;
    let lines = lines.lines().map(serde_json::from_str);
    lines.map(|line| line.expect("JSON")).collect()
}

/// Time of each asked decision, and the part of it without a core.
fn moves(game: &Value) -> impl Iterator<Item = (Duration, Duration)> {
    let micros = |key: &str| {
        let listed = game["timing"][key].as_array().into_iter().flatten();
        let times = listed.filter_map(Value::as_u64).map(Duration::from_micros);
        times.collect::<Vec<_>>()
    };
    let waits = micros("run_queue_us").into_iter();
    let waits = waits.chain(std::iter::repeat(Duration::ZERO));
    micros("latencies_us").into_iter().zip(waits)
}
