//! Measurements of this machine: rules in one thread, and whole tournaments.

mod processes;
pub mod rules;
pub mod tournament;

use arena_report::{listing::Listing, units};
use serde::Serialize;

/// One measured line.
#[derive(Debug, Default, Serialize)]
pub struct Measured {
    /// What was measured, such as `rules alone`.
    pub what: String,
    /// Name of the ruleset.
    pub ruleset: &'static str,
    /// Number of seats, for lines of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<usize>,
    /// True if no record is kept, for lines of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bare: Option<bool>,
    /// Wall-clock time of the measurement, in seconds.
    pub seconds: f64,
    /// Number of finished games.
    pub games: u64,
    /// Decisions that a bot was asked for.
    pub decisions: u64,
    /// [`Self::decisions`] per second of wall-clock time.
    pub decisions_per_second: f64,
    /// [`Self::games`] per second of wall-clock time.
    pub games_per_second: f64,
    /// CPU time of all processes together.
    pub cpu_us_per_decision: f64,
    /// Peak resident memory of the coordinator, in MiB; none for lines of the rules.
    pub coordinator_mb: Option<f64>,
    /// Peak resident memory of the largest worker, in MiB; none for lines of the rules.
    pub worker_mb: Option<f64>,
    /// Peak resident memory of the largest agent process, in MiB; none without agent processes.
    pub agent_mb: Option<f64>,
}

impl Measured {
    pub(crate) fn new(
        what: String,
        seconds: f64,
        games: u64,
        decisions: u64,
        cpu_seconds: f64,
    ) -> Self {
        let per_second = |count: u64| match seconds > 0.0 {
            true => count as f64 / seconds,
            false => 0.0,
        };
        Self {
            what,
            ruleset: "cowry",
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

/// A list of measurements.
#[must_use]
pub fn listing(lines: Vec<Measured>) -> Listing<Measured> {
    let cells = |line: &Measured| COLUMNS.map(|(_, cell)| cell(line)).to_vec();
    let rows = lines.into_iter().map(|line| (cells(&line), line));
    Listing {
        header: COLUMNS.map(|(head, _)| head).to_vec(),
        rows: rows.collect(),
        empty: "nothing was measured",
    }
}

/// Name of a column, and the text of a row in it.
type Column = (&'static str, fn(&Measured) -> String);

const COLUMNS: [Column; 8] = [
    ("what", |it| it.what.clone()),
    ("decisions/s", |it| {
        units::count(it.decisions_per_second as u64)
    }),
    ("CPU µs/decision", |it| {
        format!("{:.3}", it.cpu_us_per_decision)
    }),
    ("games/s", |it| units::count(it.games_per_second as u64)),
    ("games", |it| units::count(it.games)),
    ("coordinator MB", |it| megabytes(it.coordinator_mb)),
    ("worker MB", |it| megabytes(it.worker_mb)),
    ("agent MB", |it| megabytes(it.agent_mb)),
];

fn megabytes(value: Option<f64>) -> String {
    units::known(value, |value| format!("{value:.0}"))
}
