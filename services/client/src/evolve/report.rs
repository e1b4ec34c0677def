//! Generations and champions of an evolution, as text and for programs.

use std::time::{Duration, Instant};

use arena_evolution::{Champion, EvolveSpec, Fitness};
use arena_report::{text::csv_line, units};
use itertools::Itertools;
use serde::Serialize;
use serde_json::json;

use crate::{
    failure::Outcome,
    output::{self, Format, note},
};

/// Minimum interval between lines for generations that an earlier run played.
const LINE_EVERY: Duration = Duration::from_millis(200);

/// A finished generation.
#[derive(Serialize)]
pub(super) struct PlayedGeneration<'a> {
    /// Its number, from 0.
    #[serde(rename = "generation")]
    pub(super) number: u32,
    #[serde(rename = "tournament_id")]
    pub(super) tournament: &'a str,
    pub(super) games: u64,
    #[serde(flatten)]
    pub(super) fitness: Fitness,
    /// Number of the best player.
    pub(super) first: usize,
    /// Its genes.
    pub(super) genes: &'a [f64],
    /// Points of all players.
    pub(super) points: &'a [u64],
    /// True if an earlier run played it.
    #[serde(skip)]
    pub(super) before: bool,
}

/// Reports generations on stderr, and on stdout in the requested format.
pub struct EvolutionReporter<'a> {
    format: Format,
    spec: &'a EvolveSpec,
    started: Instant,
    /// Time of the previous line.
    last_line: Option<Instant>,
    /// Time at which the previous generation finished.
    before: Instant,
    /// Moving average of the seconds per generation.
    pace: Option<f64>,
    /// All generations, for JSON.
    generations: Vec<serde_json::Value>,
}

/// Name of a column, and the text of a row in it.
type Column = (&'static str, fn(&PlayedGeneration<'_>) -> String);

/// The columns of CSV.
const COLUMNS: [Column; 8] = [
    ("generation", |it| it.number.to_string()),
    ("tournament_id", |it| it.tournament.to_owned()),
    ("games", |it| it.games.to_string()),
    ("best", |it| it.fitness.best.to_string()),
    ("mean", |it| it.fitness.mean.to_string()),
    ("spread", |it| it.fitness.spread.to_string()),
    ("first", |it| it.first.to_string()),
    ("genes", |it| it.genes.iter().join(" ")),
];

impl<'a> EvolutionReporter<'a> {
    /// Reports an evolution with this spec.
    #[must_use]
    pub fn new(format: Format, spec: &'a EvolveSpec) -> Self {
        let now = Instant::now();
        Self {
            format,
            spec,
            started: now,
            last_line: None,
            before: now,
            pace: None,
            generations: Vec::new(),
        }
    }

    /// Reports one generation.
    pub(super) fn played(&mut self, played: &PlayedGeneration<'_>) -> Outcome {
        self.line(played);
        match self.format {
            Format::Table => Ok(()),
            Format::Json => {
                self.generations.push(json!(played));
                Ok(())
            }
            Format::Jsonl => output::json_line(played),
            Format::Csv => {
                let mut text = String::new();
                if played.number == 0 {
                    text += &csv_line(COLUMNS.map(|(name, _)| name));
                }
                text += &csv_line(COLUMNS.map(|(_, cell)| cell(played)));
                output::write(&text)
            }
        }
    }

    fn line(&mut self, played: &PlayedGeneration<'_>) {
        let took = self.before.elapsed().as_secs_f64();
        self.before = Instant::now();
        let pace = self.pace.map_or(took, |pace| 0.9 * pace + 0.1 * took);
        self.pace = Some(pace);
        let generations = self.spec.evolution.generations;
        let number = played.number + 1;
        let last = number == generations;
        let before = self.last_line.map(|before| before.elapsed());
        if !last && played.before && before.is_some_and(|before| before < LINE_EVERY) {
            return;
        }
        self.last_line = Some(Instant::now());
        let left = match f64::from(generations - number) * pace {
            left if left >= 1.0 => format!(", {} left", units::duration(left)),
            _ => String::new(),
        };
        let Fitness { best, mean, spread } = played.fitness;
        note(format!(
            "generation {number}/{generations}: best {best}, mean {mean:.1}, spread {spread:.1} \
             points; first is player {}; {took:.2} s{left}",
            played.first
        ));
    }

    /// Reports the champion.
    pub fn finish(self, champion: &Champion) -> Outcome {
        note(format!(
            "{} generations in {}",
            champion.generations,
            units::duration(self.started.elapsed().as_secs_f64())
        ));
        // As a value, its keys are sorted.
        let mut value = json!(champion);
        match self.format {
            Format::Table => output::write(&champion.to_toml()),
            Format::Jsonl => output::json_line(&value),
            Format::Csv => Ok(()),
            Format::Json => {
                value["course"] = self.generations.into();
                output::json(&value)
            }
        }
    }
}
