//! Luck: its mean is zero, luck-adjusted scores are unbiased, and their gain in precision.

mod others;
mod play;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde::Deserialize;

use self::play::Course;
use super::{Broken, Figure, Outcome, StressTest};

/// The matches.
const MATCHES: &str = include_str!("../../data/luck.toml");
/// A mean this many standard errors from zero counts as biased: by chance, one of 16,000
/// comparisons is.
const ERRORS_MAX: f64 = 4.0;
/// Bounds of the share of intervals that contain the truth, which should be 95 %.
const COVERAGE: (f64, f64) = (0.94, 0.965);
/// Fewer tournaments are too few to measure coverage.
const TOURNAMENTS_SHOWN: u64 = 2_000;

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Luck {
    /// Tournaments of each match
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    tournaments: u64,
    /// Blocks of each tournament
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    blocks: u64,
    /// Only matches whose ruleset, options or agents contain this text
    #[arg(long)]
    only: Option<String>,
    /// Seed of all tournaments
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matches {
    r#match: Vec<Match>,
}

/// Agents of one game, one for each seat.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Match {
    pub(crate) ruleset: String,
    pub(crate) options: toml::Table,
    pub(crate) agents: Vec<String>,
}

impl Match {
    fn name(&self) -> String {
        let options = self.options.iter().map(|(name, value)| match value {
            toml::Value::String(word) => format!("{name}={word}"),
            value => format!("{name}={value}"),
        });
        let options: Vec<String> = options.collect();
        let ruleset = &self.ruleset;
        format!(
            "{ruleset} {}: {}",
            options.join(" "),
            self.agents.join(", ")
        )
    }
}

impl StressTest for Luck {
    const PROMISE: &'static str = "luck has mean zero with any value function, luck-adjusted \
                                   scores are unbiased and their intervals hold";

    fn quick() -> Self {
        Self {
            tournaments: 12,
            blocks: 20,
            only: Some("mixed, aggressive".to_owned()),
            seed: 1,
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let matches: Matches = toml::from_str(MATCHES).map_err(Broken::new)?;
        let mut matches = matches.r#match;
        if let Some(wanted) = &self.only {
            let known: Vec<String> = matches.iter().map(Match::name).collect();
            matches.retain(|found| found.name().contains(wanted));
            if matches.is_empty() {
                return Ok(Outcome::unknown(wanted, known));
            }
        }
        let courses = self.play(&matches)?;
        let (mut figures, mut wrong) = (Vec::new(), Vec::new());
        for (of, course) in matches.iter().zip(courses) {
            wrong.extend(self.judge(of, &course, &mut figures));
        }
        if wrong.is_empty() {
            return Ok(Outcome::Holds(figures));
        }
        Err(Broken::new(format!(
            "{}\n(again: tests/stress/run luck --tournaments {} --blocks {} --seed {})",
            wrong.join("\n"),
            self.tournaments,
            self.blocks,
            self.seed
        )))
    }
}

impl Luck {
    /// Plays all matches in parallel on all cores.
    fn play(&self, matches: &[Match]) -> Result<Vec<Course>, Broken> {
        let next = AtomicUsize::new(0);
        let hands = thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let mut done = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(of) = matches.get(place) else {
                    return done;
                };
                let course = play::course(of, self.tournaments, self.blocks, self.seed);
                done.push((place, course.map_err(|error| error.of(&of.name()))));
            }
        };
        let mut all: Vec<(usize, Result<Course, Broken>)> = thread::scope(|scope| {
            let hands: Vec<_> = (0..hands).map(|_| scope.spawn(work)).collect();
            let done = hands.into_iter().map(|hand| hand.join());
            done.flat_map(|done| done.expect("no panic in playing"))
                .collect()
        });
        all.sort_by_key(|&(place, _)| place);
        all.into_iter().map(|(_, course)| course).collect()
    }

    /// Adds the figures of a match, and returns its failed conditions.
    fn judge(&self, of: &Match, course: &Course, figures: &mut Vec<Figure>) -> Vec<String> {
        let name = of.name();
        let mut wrong = Vec::new();
        let mut worst: f64 = 0.0;
        for (function, seats) in course.luck() {
            for (seat, errors) in seats.into_iter().enumerate() {
                worst = worst.max(errors.abs());
                if errors.abs() > ERRORS_MAX {
                    wrong.push(format!(
                        "{name}: by the values \"{function}\" the mean luck of seat {seat} is \
                         {errors:.1} standard errors from nothing"
                    ));
                }
            }
        }
        figures.push(Figure::new(
            &format!("{name}: greatest mean luck, in errors"),
            format!("{worst:.1} over {} games", course.games()),
        ));
        for agent in course.agents() {
            let who = format!("{name}: {}", agent.name);
            if agent.bias.abs() > ERRORS_MAX {
                wrong.push(format!(
                    "{who}: the adjusted score is {:.1} standard errors from the score",
                    agent.bias
                ));
            }
            let enough = self.tournaments >= TOURNAMENTS_SHOWN;
            let (least, most) = COVERAGE;
            if enough && !(least..=most).contains(&agent.coverage) {
                wrong.push(format!(
                    "{who}: {:.2} % of the intervals contain the score",
                    100.0 * agent.coverage
                ));
            }
            figures.push(Figure::new(
                &who,
                format!(
                    "score {:.4}, adjusted {:+.1} errors off, interval holds in {:.2} % \
                     (raw {:.2} %), width {:.3} of raw, saves {:.0} % of the games",
                    agent.score,
                    agent.bias,
                    100.0 * agent.coverage,
                    100.0 * agent.coverage_raw,
                    agent.width,
                    100.0 * agent.saved
                ),
            ));
        }
        wrong
    }
}
