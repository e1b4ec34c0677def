//! The real accounting of the coordinator and the real protocol of workers in a simulated world: a
//! network, clocks, a disk and processes that fail by seeded schedules.

mod coordinator;
mod counts;
mod disk;
mod games;
mod mutants;
mod net;
mod random;
mod trouble;
mod users;
mod worker;
mod world;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Broken, Figure, Outcome, StressTest};
use counts::{Counts, Happening};
use world::World;

/// Schedules that a thread takes at a time.
const CHUNK: u64 = 256;
/// The number of schedules within which each defect has to be found.
const SEEDS_OF_A_MUTANT: u64 = 1000;
/// From this number of schedules on, every failure has to occur.
const COVERED_FROM: u64 = 5000;

/// Settings of the simulation.
#[derive(Debug, clap::Args)]
pub struct Simulate {
    /// Number of schedules
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// Seed of the first schedule; each next one has the next seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the events to stderr
    #[arg(long)]
    trace: bool,
}

impl StressTest for Simulate {
    const PROMISE: &'static str = "no game is lost, counted twice or stuck, and nothing is \
        acknowledged before it is durable, whatever the network, the clocks, the disk and \
        the processes do";

    fn quick() -> Self {
        Self {
            schedules: 6_000,
            seed: 1,
            trace: false,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let started = Instant::now();
        let counts = if self.trace {
            self.traced()?
        } else {
            self.play()?
        };
        let took = started.elapsed();
        if self.schedules >= COVERED_FROM {
            for &happening in Happening::ALL {
                if counts.get(happening) == 0 {
                    let name = happening.name();
                    return Err(Broken::new(format!("never happened: {name}")));
                }
            }
        }
        let mut figures = figures(&counts, took);
        if self.schedules > 1 {
            for (text, play) in mutants::ALL {
                let Some((seed, found)) = mutants::hunt(*play, self.seed, SEEDS_OF_A_MUTANT) else {
                    return Err(Broken::new(format!(
                        "a coordinator or worker that {text} is not noticed in \
                         {SEEDS_OF_A_MUTANT} schedules"
                    )));
                };
                let after = seed - self.seed + 1;
                let output = format!("found after {after}: {found}");
                figures.push(Figure::new(&format!("mutant: {text}"), output));
            }
        }
        Ok(Outcome::Holds(figures))
    }
}

fn sound(seed: u64, trace: bool) -> Result<Counts, Broken> {
    let world = World::new(seed, trace);
    world.run().map_err(|wrong| {
        Broken::new(format!(
            "{wrong}\nagain, with what happened: \
             tests/stress/run simulate --seed {seed} --schedules 1 --trace"
        ))
    })
}

impl Simulate {
    fn traced(&self) -> Result<Counts, Broken> {
        let mut counts = Counts::default();
        for seed in self.seed..self.seed + self.schedules {
            counts.merge(&sound(seed, true)?);
        }
        Ok(counts)
    }

    /// Plays the schedules on all cores.
    fn play(&self) -> Result<Counts, Broken> {
        let next = AtomicU64::new(0);
        let failed = AtomicBool::new(false);
        let total = Mutex::new((Counts::default(), None::<(u64, Broken)>));
        let total = &total;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !failed.load(Ordering::Relaxed) {
                        let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                        if from >= self.schedules {
                            return;
                        }
                        let to = (from + CHUNK).min(self.schedules);
                        let (counts, broken) = chunk(self.seed + from, self.seed + to);
                        failed.fetch_or(broken.is_some(), Ordering::Relaxed);
                        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                        total.0.merge(&counts);
                        // The smallest seed, whichever thread found it first.
                        if let Some((seed, broken)) = broken
                            && total.1.as_ref().is_none_or(|(first, _)| seed < *first)
                        {
                            total.1 = Some((seed, broken));
                        }
                        let done = total.0.schedules;
                        if done / 100_000 > (done - counts.schedules) / 100_000 {
                            self.progress(done);
                        }
                    }
                });
            }
        });
        let (counts, broken) =
            std::mem::take(&mut *total.lock().unwrap_or_else(PoisonError::into_inner));
        broken.map_or(Ok(counts), |(_, broken)| Err(broken))
    }
}

impl Simulate {
    #[expect(clippy::print_stderr, reason = "progress")]
    fn progress(&self, done: u64) {
        eprintln!("{done} of {} schedules", self.schedules);
    }
}

fn chunk(from: u64, to: u64) -> (Counts, Option<(u64, Broken)>) {
    let mut counts = Counts::default();
    for seed in from..to {
        match sound(seed, false) {
            Ok(more) => counts.merge(&more),
            Err(broken) => return (counts, Some((seed, broken))),
        }
    }
    (counts, None)
}

fn figures(counts: &Counts, took: Duration) -> Vec<Figure> {
    let schedules = counts.schedules.max(1) as f64;
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / schedules);
    let mut figures = vec![
        Figure::new("schedules", counts.schedules),
        Figure::new(
            "schedules a second",
            rounded(counts.schedules as f64 / took.as_secs_f64()),
        ),
        Figure::new("seconds", rounded(took.as_secs_f64())),
        Figure::new("events", counts.events),
        Figure::new(
            "events of a schedule",
            rounded(counts.events as f64 / schedules),
        ),
        Figure::new("games of the tournaments", counts.games),
        Figure::new(
            "simulated days",
            rounded(counts.virtual_us as f64 / 1e6 / 86_400.0),
        ),
        Figure::new(
            "schedules with a crash of the coordinator during a write",
            share(counts.crashed_in_write),
        ),
    ];
    let happenings = Happening::ALL.iter();
    figures.extend(happenings.map(|&it| Figure::new(it.name(), counts.get(it))));
    figures
}
