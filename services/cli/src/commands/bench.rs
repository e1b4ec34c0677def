//! `arena bench`

mod processes;
mod rules;
mod tournament;

use clap::Args;
use serde::Serialize;

use crate::{
    failure::Outcome,
    output::{self, Format, Listing, note},
    units,
};

/// Measure how fast everything is on this machine
///
/// Real processes, real cowry games, results made durable. CPU is that of all
/// processes together; memory is the peak of each.
#[derive(Debug, Args)]
#[command(after_help = "\
Measure with a release build on a quiet machine.

Examples:
  arena bench
  arena bench --seconds 10 --output json")]
pub(crate) struct BenchArgs {
    /// About how long each line measures
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    seconds: f64,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// One measured line.
#[derive(Debug, Default, Serialize)]
pub(super) struct Measured {
    what: String,
    seconds: f64,
    games: u64,
    /// Decisions that a bot was asked for.
    decisions: u64,
    decisions_per_second: f64,
    games_per_second: f64,
    /// Of all processes together.
    cpu_us_per_decision: f64,
    coordinator_mb: Option<f64>,
    worker_mb: Option<f64>,
    agent_mb: Option<f64>,
}

impl Measured {
    fn new(what: &str, seconds: f64, games: u64, decisions: u64, cpu_seconds: f64) -> Self {
        let per_second = |count: u64| {
            if seconds > 0.0 {
                count as f64 / seconds
            } else {
                0.0
            }
        };
        Self {
            what: what.to_owned(),
            seconds,
            games,
            decisions,
            decisions_per_second: per_second(decisions),
            games_per_second: per_second(games),
            cpu_us_per_decision: cpu_seconds * 1e6 / decisions.max(1) as f64,
            ..Self::default()
        }
    }
}

impl BenchArgs {
    pub(crate) async fn run(self) -> Outcome {
        if cfg!(debug_assertions) {
            note("warning: this is a debug build; measure with cargo run --release -- bench");
        }
        let mut lines = Vec::new();
        for ruleset in arena_games::rulesets() {
            note(format!("rules alone, {}", ruleset.name));
            lines.push(rules::measure(ruleset.name, self.seconds)?);
        }
        for route in tournament::ROUTES {
            note(format!("tournament, {}", route.what));
            lines.push(tournament::measure(route, self.seconds).await?);
        }
        print(lines, self.output)
    }
}

fn print(lines: Vec<Measured>, format: Format) -> Outcome {
    let megabytes =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"));
    let rows = lines
        .into_iter()
        .map(|line| {
            let cells = vec![
                line.what.clone(),
                units::count(line.decisions_per_second as u64),
                format!("{:.3}", line.cpu_us_per_decision),
                units::count(line.games_per_second as u64),
                units::count(line.games),
                megabytes(line.coordinator_mb),
                megabytes(line.worker_mb),
                megabytes(line.agent_mb),
            ];
            (cells, line)
        })
        .collect();
    let listing = Listing {
        header: vec![
            "what",
            "decisions/s",
            "CPU µs/decision",
            "games/s",
            "games",
            "coordinator MB",
            "worker MB",
            "agent MB",
        ],
        rows,
        empty: "nothing was measured",
    };
    match format {
        Format::Json => output::json(
            &listing
                .rows
                .iter()
                .map(|(_, line)| line)
                .collect::<Vec<_>>(),
        ),
        other => listing.print(other),
    }
}
