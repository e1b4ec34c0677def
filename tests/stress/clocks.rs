//! Clocks on a busy machine, agents that wait for a core, and agents that overstep their time.

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
/// Moves of a tournament. A command has a maximum time, and a busy machine plays slowly.
const MOVES_A_TOURNAMENT: u64 = 3_000;
/// Games of a tournament with slow agents.
const GAMES_A_TOURNAMENT: u64 = 4;
/// Time and margin of an agent that waits for a core, which needs half of it on a core of its own.
const CROWDED: Duration = Duration::from_millis(80);
/// Time and margin of an agent that oversteps them.
const LATE: Duration = Duration::from_millis(30);

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
    /// Games of an agent that computes for half of its time, while other programs take its core.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    crowded_games: u64,
}

impl StressTest for Clocks {
    const PROMISE: &'static str = "no agent loses on time because the machine is busy, and each \
                                   overstepped time is a fault";

    fn quick() -> Self {
        Self {
            moves: 2_000,
            busy: 2,
            late_games: 1,
            crowded_games: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let world = World::with_python();
        let busy = self.busy_machine(&world)?;
        let crowded = self.crowded_agent(&world)?;
        let late = self.late_agent(&world)?;
        world.nothing_runs();
        Ok(Outcome::Holds(vec![
            Figure::new("moves under a clock on a busy machine", busy.moves),
            Figure::new("longest move there, ms", busy.longest.as_secs_f64() * 1e3),
            Figure::new(
                "longest move there without waits for a core, ms",
                busy.charged.as_secs_f64() * 1e3,
            ),
            Figure::new("moves there that waited for a core", busy.waits),
            Figure::new(
                "longest wait for a core, ms",
                busy.longest_wait.as_secs_f64() * 1e3,
            ),
            Figure::new("false timeouts", 0),
            Figure::new("moves of an agent on a core of others", crowded.moves),
            Figure::new(
                "of them longer than time and margin, no fault",
                crowded.over,
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
    /// Moves with a wait for a core.
    waits: usize,
    longest_wait: Duration,
    /// Moves that took longer than [`CROWDED`].
    over: usize,
}

impl Seen {
    /// Adds the times of games, none of which may have a fault.
    fn add_games(&mut self, games: &[Value]) -> Result<(), Broken> {
        for game in games {
            if !game["fault"].is_null() {
                return Err(Broken::new(format_args!("a false fault: {game}")));
            }
            moves(game).for_each(|one| self.add(one));
        }
        Ok(())
    }

    fn add(&mut self, (took, wait): (Duration, Duration)) {
        self.moves += 1;
        self.longest = self.longest.max(took);
        self.charged = self.charged.max(took.saturating_sub(wait));
        self.waits += usize::from(!wait.is_zero());
        self.longest_wait = self.longest_wait.max(wait);
        self.over += usize::from(took > CROWDED);
    }
}

impl Clocks {
    fn busy_machine(&self, world: &World) -> Result<Seen, Broken> {
        let play = "[play]\nclock = \"1s+0.01s\"\nopening_plies = 4";
        let agents = ["random", "greedy"];
        let builtin = ["--builtin", "process"];
        let mut seen = Seen::default();
        for number in 0.. {
            let left = self.moves.saturating_sub(seen.moves as u64);
            if left == 0 {
                break;
            }
            let blocks = left.min(MOVES_A_TOURNAMENT).div_ceil(2 * MOVES);
            // Other games each time.
            let name = format!("busy-{number}");
            let spec = spec(&name, "kalah", blocks, &agents, play)
                .replace("0x5eed", &format!("0x5eed{number}"));
            let (id, ..) = self.on_busy_cores(|| world.tournament(&spec, &name, &builtin));
            seen.add_games(&timed(world, &id, &name))?;
        }
        if seen.waits == 0 {
            return Err(Broken::new("no move waited for a core on a busy machine"));
        }
        Ok(seen)
    }

    /// The agent computes for 40 ms. With other programs on its core, that takes longer than its time
    /// and margin together; the part without a core is not charged.
    fn crowded_agent(&self, world: &World) -> Result<Seen, Broken> {
        register(world, "crowded", &["40", "cpu"]);
        let play = "[play]\nmove_time = \"30ms\"\nrotate = false\nask_forced = true";
        let mut seen = Seen::default();
        for (name, games) in parts("crowded", self.crowded_games) {
            let spec = spec(&name, "kalah", games, &["slow", "random"], play);
            let (id, ..) = self.on_busy_cores(|| world.tournament(&spec, "crowded", &[]));
            seen.add_games(&timed(world, &id, "crowded"))?;
        }
        Ok(seen)
    }

    /// Does something while each core has this many busy threads.
    fn on_busy_cores<T>(&self, work: impl FnOnce() -> T) -> T {
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
            let _end = End(&done);
            work()
        })
    }

    /// The agent sleeps for 50 ms, which is its time and margin and 20 ms more.
    fn late_agent(&self, world: &World) -> Result<(usize, u64), Broken> {
        register(world, "late", &["50"]);
        let play = "[play]\nmove_time = \"10ms\"\ntiming_margin = \"20ms\"\nrotate = false\n\
                    ask_forced = true\non_fault = \"random-move\"";
        let (mut caught, mut all) = (0, 0);
        for (name, games) in parts("late", self.late_games) {
            let spec = spec(&name, "kalah", games, &["slow", "random"], play);
            let spec = world.write("late.toml", spec);
            let run = ["run", &spec, "--data", "late", "--output", "json"];
            let output = world.arena(&run).fails(1, &["ended with a fault"]);
            for game in timed(world, &output.tournament_id(), "late") {
                let faults = game["fault"].as_array().map_or(0, Vec::len);
                // If this machine is busy, some of the time may have passed without a core.
                let late = moves(&game).filter(|(took, wait)| *took >= *wait + LATE);
                if faults != late.count() {
                    return Err(Broken::new(format_args!("a late move is no fault: {game}")));
                }
                caught += faults;
                all += game["decisions"][0].as_u64().unwrap_or_default();
            }
        }
        Ok((caught, all))
    }
}

/// Tournaments with all of these games together, by name.
fn parts(name: &str, games: u64) -> impl Iterator<Item = (String, u64)> {
    (0..games.div_ceil(GAMES_A_TOURNAMENT)).map(move |number| {
        let left = games - number * GAMES_A_TOURNAMENT;
        (format!("{name}-{number}"), left.min(GAMES_A_TOURNAMENT))
    })
}

/// Ends the busy threads, also if the work panics.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Registers an agent that takes some time for each move.
fn register(world: &World, data: &str, arguments: &[&str]) {
    let agent = repository().join("tests/agents/slow.py");
    let agent = agent.to_str().expect("UTF-8");
    let register = ["agent", "register", "slow", "--binary", agent];
    let rest = ["--data", data, "--"];
    let _ = { world.arena(&[&register[..], &rest, arguments].concat()) }.ok();
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
