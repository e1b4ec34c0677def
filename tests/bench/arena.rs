//! Runs `arena bench` as a child process, repeats it, and compares its measurements.

use std::process::Command;

use anyhow::{Context, bail};
use arena_tests::{World, arena};
use serde::Deserialize;

use crate::{Settings, note, report::Figure};

/// A line of `arena bench --output json`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) ruleset: String,
    pub(crate) seats: Option<usize>,
    pub(crate) bare: Option<bool>,
    decisions_per_second: f64,
    games_per_second: f64,
    cpu_us_per_decision: f64,
    games: u64,
    decisions: u64,
    coordinator_mb: Option<f64>,
    worker_mb: Option<f64>,
    agent_mb: Option<f64>,
}

impl Line {
    /// The line as a figure in decisions.
    pub(crate) fn decisions(&self, id: &str, what: &str) -> Figure {
        let memory = [
            ("coordinator", self.coordinator_mb),
            ("worker", self.worker_mb),
            ("agent", self.agent_mb),
        ];
        Figure {
            id: id.to_owned(),
            what: what.to_owned(),
            unit: "decisions",
            per_second: self.decisions_per_second,
            cpu_us: Some(self.cpu_us_per_decision),
            memory_mb: memory
                .into_iter()
                .filter_map(|(name, mb)| Some((name, mb?)))
                .collect(),
            more: [("games/s".to_owned(), self.games_per_second)].into(),
            ..Figure::default()
        }
    }

    /// The line as a figure in games.
    pub(crate) fn games(&self, id: &str, what: &str) -> Figure {
        let decisions_a_game = self.decisions as f64 / self.games.max(1) as f64;
        Figure {
            id: id.to_owned(),
            what: what.to_owned(),
            unit: "games",
            per_second: self.games_per_second,
            cpu_us: Some(self.cpu_us_per_decision * decisions_a_game),
            more: [("decisions/s".to_owned(), self.decisions_per_second)].into(),
            ..Figure::default()
        }
    }
}

/// Runs `arena bench`.
pub(crate) fn bench(world: &World, arguments: &[&str], seconds: f64) -> anyhow::Result<Vec<Line>> {
    run(world.command(arena()), world, arguments, seconds)
}

/// Runs `arena bench` for one line, with a variable for its workers.
pub(crate) fn one_with(
    world: &World,
    arguments: &[&str],
    seconds: f64,
    (name, value): (&str, &str),
) -> anyhow::Result<Line> {
    let mut command = world.command(arena());
    command.env(name, value);
    let mut lines = run(command, world, arguments, seconds)?;
    lines.pop().context("no line was measured")
}

fn run(
    mut command: Command,
    world: &World,
    arguments: &[&str],
    seconds: f64,
) -> anyhow::Result<Vec<Line>> {
    let seconds = seconds.to_string();
    command.args(["bench", "--seconds", &seconds, "--output", "json"]);
    command.args(arguments);
    let output = world.run(command);
    if output.code != Some(0) {
        bail!("{}", output.transcript());
    }
    serde_json::from_str(&output.stdout).context("the JSON of arena bench")
}

/// The lines of `arena bench rules`, each the median of its runs.
pub(crate) fn rules(world: &World, settings: &Settings) -> anyhow::Result<Vec<Line>> {
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        runs.push(bench(world, &["rules"], settings.seconds())?);
    }
    let lines = runs.first().map_or(0, Vec::len);
    (0..lines)
        .map(|line| {
            let same = runs.iter().filter_map(|run| run.get(line)).cloned();
            middle(same.collect()).context("no line was measured")
        })
        .collect()
}

/// The run with the median rate.
pub(crate) fn middle(mut runs: Vec<Line>) -> Option<Line> {
    runs.sort_by(|a, b| a.decisions_per_second.total_cmp(&b.decisions_per_second));
    let middle = runs.len() / 2;
    runs.into_iter().nth(middle)
}

/// Runs `arena bench` for one line as often as the settings say, and returns the run with the
/// median rate.
pub(crate) fn one(
    world: &World,
    settings: &Settings,
    what: &str,
    arguments: &[&str],
) -> anyhow::Result<Line> {
    note(format!("  {what}"));
    let mut runs = Vec::new();
    for _ in 0..settings.runs() {
        runs.extend(bench(world, arguments, settings.seconds())?);
    }
    middle(runs).context("no line was measured")
}
