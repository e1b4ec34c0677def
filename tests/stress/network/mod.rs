//! The real services over a simulated network in virtual time. Everything in a schedule follows
//! from its seed.

mod case;
mod client;
mod disk;
mod hosts;
mod log;
mod trial;
mod wire;

use std::{
    cell::RefCell,
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use arena_wire::v1;

use super::{Broken, Figure, Outcome, StressTest};
use case::{Case, SPECS};
use client::Export;
use trial::{Failure, Ran};

/// The largest number of reported failures.
const SHOWN_MAX: usize = 5;

/// From this number of schedules on, all kinds of failures have to occur.
const COVERED_FROM: u64 = 50;

/// Settings.
#[derive(Clone, Debug, clap::Args)]
pub struct Network {
    /// Schedules, each with the next seed
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub schedules: u64,
    /// Seed of the first schedule
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run every Nth schedule twice and compare the logs
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub twice: u64,
    /// Schedules at a time; 0: one for each core
    #[arg(long, default_value_t = 0)]
    pub threads: usize,
    /// Print the log of every schedule to stderr
    #[arg(long)]
    pub trace: bool,
}

/// The sums over all schedules.
#[derive(Default)]
struct Sum {
    schedules: u64,
    compared: u64,
    lines: u64,
    virtual_time: Duration,
    acknowledged: u64,
    troubles: BTreeMap<&'static str, u64>,
    failures: Vec<(u64, String)>,
}

impl StressTest for Network {
    const PROMISE: &'static str = "over a network that breaks at random, with crashes on both \
                                   sides, a tournament finishes with the records of an \
                                   undisturbed one, and one seed gives one log";

    fn quick() -> Self {
        Self {
            schedules: 80,
            ..super::settings(false)
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let temp = tempfile::tempdir().map_err(Broken::new)?;
        let native = arena_agents::serve::describe();
        let expected = undisturbed(&native, temp.path())?;
        let threads = match self.threads {
            _ if self.trace => 1,
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let started = Instant::now();
        let next = AtomicU64::new(0);
        let sum = Mutex::new(Sum::default());
        let hush = Hush::new();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= self.schedules {
                            break;
                        }
                        self.schedule(number, &native, temp.path(), &expected, &sum);
                    }
                });
            }
        });
        drop(hush);
        let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        sum.outcome(threads, started.elapsed())
    }
}

impl Network {
    fn schedule(
        &self,
        number: u64,
        native: &v1::DescribeResponse,
        temp: &Path,
        expected: &[Export],
        sum: &Mutex<Sum>,
    ) {
        let seed = self.seed + number;
        let case = Case::new(seed);
        let again = self.twice > 0 && number.is_multiple_of(self.twice);
        let logged = again || self.trace;
        let ran = caught(&case, native, temp, logged);
        if self.trace {
            let log = ran.as_ref().map_or_else(|it| &it.log, |it| &it.log);
            trace(&case, log);
        }
        let checked = ran.map_err(|it| it.seen).and_then(|ran| {
            compare(&expected[case.spec], &ran.export)?;
            if again {
                let second = caught(&case, native, temp, true).map_err(|it| it.seen)?;
                same_log(&ran.log, &second.log)?;
            }
            Ok(ran)
        });
        let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        sum.schedules += 1;
        match checked {
            Ok(ran) => sum.add(ran, again),
            Err(seen) => sum.failures.push((seed, seen)),
        }
        if sum.schedules.is_multiple_of(1000) {
            progress(sum.schedules, self.schedules);
        }
    }
}

impl Sum {
    fn add(&mut self, ran: Ran, compared: bool) {
        self.compared += u64::from(compared);
        self.lines += if compared { ran.log.len() as u64 } else { 0 };
        self.virtual_time += ran.took;
        self.acknowledged += ran.acknowledged;
        for (name, count) in ran.troubles {
            *self.troubles.entry(name).or_default() += count;
        }
    }

    fn outcome(mut self, threads: usize, took: Duration) -> Result<Outcome, Broken> {
        self.failures.sort();
        if !self.failures.is_empty() {
            let text = self.failures.iter().take(SHOWN_MAX).map(|(seed, seen)| {
                format!(
                    "seed {seed}: {seen}\n  tests/stress/run network --seed {seed} --schedules 1 --trace"
                )
            });
            let text: Vec<String> = text.collect();
            return Err(Broken::new(format_args!(
                "{} of {} schedules failed\n{}",
                self.failures.len(),
                self.schedules,
                text.join("\n")
            )));
        }
        if self.schedules >= COVERED_FROM {
            let seen = [self.acknowledged, self.compared, self.lines];
            let kinds = self.troubles.len();
            if seen.contains(&0) || kinds < trial::TROUBLES {
                return Err(Broken::new(format_args!(
                    "not everything happened that is to be survived: {} games acknowledged, {} \
                     logs of {} lines compared, {kinds} kinds of trouble of {}",
                    self.acknowledged,
                    self.compared,
                    self.lines,
                    trial::TROUBLES
                )));
            }
        }
        let rate = self.schedules as f64 / took.as_secs_f64();
        let mut figures = vec![
            Figure::new("schedules", self.schedules),
            Figure::new("schedules a second", rate.round()),
            Figure::new("at a time", threads),
            Figure::new("hours of virtual time", hours(self.virtual_time)),
            Figure::new("games acknowledged", self.acknowledged),
            Figure::new("schedules run twice, with the same log", self.compared),
            Figure::new("lines of these logs", self.lines),
        ];
        for (name, count) in self.troubles {
            figures.push(Figure::new(name, count));
        }
        Ok(Outcome::Holds(figures))
    }
}

fn hours(time: Duration) -> f64 {
    (time.as_secs_f64() / 360.0).round() / 10.0
}

/// The results of each tournament without failures.
fn undisturbed(native: &v1::DescribeResponse, temp: &Path) -> Result<Vec<Export>, Broken> {
    (0..SPECS.len())
        .map(|spec| {
            let ran = caught(&Case::undisturbed(spec), native, temp, false);
            let export = ran.map_err(|it| Broken::new(it.seen))?.export;
            let total = export.standings.games_total;
            if export.games.len() as u64 != total || export.standings.games != total {
                return Err(Broken::new(format_args!(
                    "an undisturbed tournament left {} games of {total}",
                    export.games.len()
                )));
            }
            Ok(export)
        })
        .collect()
}

fn compare(expected: &Export, found: &Export) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let divergence = expected
        .games
        .iter()
        .zip(&found.games)
        .find(|(one, other)| one != other);
    Err(match divergence {
        Some((one, other)) => format!(
            "the records differ from an undisturbed run's, first at {} ({} there)",
            one.0, other.0
        ),
        None if expected.games.len() != found.games.len() => format!(
            "{} games instead of {}",
            found.games.len(),
            expected.games.len()
        ),
        None => format!(
            "the standings differ: {:?} instead of {:?}",
            found.standings, expected.standings
        ),
    })
}

fn same_log(one: &[String], other: &[String]) -> Result<(), String> {
    let divergence = one.iter().zip(other).position(|(one, other)| one != other);
    let Some(place) = divergence.or((one.len() != other.len()).then(|| one.len().min(other.len())))
    else {
        return Ok(());
    };
    let line = |log: &[String]| {
        log.get(place)
            .cloned()
            .unwrap_or_else(|| "its end".to_owned())
    };
    Err(format!(
        "the logs of two runs differ at line {place}:\n  {}\n  {}",
        line(one),
        line(other)
    ))
}

thread_local! {
    /// Panics in this thread's simulation, including those that a runtime caught.
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Keeps panics instead of printing them.
struct Hush(Option<Hook>);

impl Hush {
    fn new() -> Self {
        let before = panic::take_hook();
        panic::set_hook(Box::new(|panic| {
            PANICS.with_borrow_mut(|panics| panics.push(panic.to_string()));
        }));
        Self(Some(before))
    }
}

impl Drop for Hush {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            panic::set_hook(before);
        }
    }
}

/// Runs a schedule. Any panic is a failure of the schedule.
fn caught(
    case: &Case,
    native: &v1::DescribeResponse,
    temp: &Path,
    logged: bool,
) -> Result<Ran, Failure> {
    PANICS.take();
    let ran = catch_unwind(AssertUnwindSafe(|| trial::run(case, native, temp, logged)));
    let panics = PANICS.take();
    match (ran, panics.first()) {
        (Ok(ran), None) => ran,
        (Ok(Ok(Ran { log, .. }) | Err(Failure { log, .. })), Some(panic)) => Err(Failure {
            seen: panic.clone(),
            log,
        }),
        (Err(_), panic) => Err(Failure {
            seen: panic.cloned().unwrap_or_else(|| "a panic".to_owned()),
            log: Vec::new(),
        }),
    }
}

#[expect(clippy::print_stderr, reason = "asked for")]
fn trace(case: &Case, log: &[String]) {
    eprintln!("{case:#?}");
    for line in log {
        eprintln!("{line}");
    }
}

#[expect(clippy::print_stderr, reason = "progress")]
fn progress(done: u64, of: u64) {
    eprintln!("{done} of {of} schedules");
}
