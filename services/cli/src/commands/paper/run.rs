//! `arena paper run`

use arena_client::paper_report as report;
use arena_report::units;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use arena_model::TournamentSeed;
use arena_papers::{PaperError, PublishedTable, TableRunner};
use clap::Args;
use indicatif::ProgressBar;
use itertools::Itertools;

use crate::{
    failure::{Failure, Kind, Outcome},
    output::{Format, interactive, note},
    progress,
    signals::Interrupt,
};

/// Default seed. The same seed gives the same figures on every machine.
const SEED: &str = "0x5eed";

/// Play the games of a published table and compare Arena's figures with the published ones
///
/// For each cell, shows the published figure, Arena's figure with its 95 % interval, the
/// difference in standard errors (z), and a verdict: within the bounds of the published
/// figure, outside the bounds, or not comparable, with the reason.
///
/// A figure within its bounds is sampled (from games), exact (without chance), ordinal
/// (compared in sign or order only), dependent (it follows from earlier figures: for
/// example, the wins of one player follow from those of the other), or true by
/// construction. Dependent figures and figures that are true by construction are no
/// further evidence. The same seed gives the same figures for any number of workers.
#[derive(Debug, Args)]
#[command(after_help = "\
Every cell has a class: R, reproducible within the bounds shown; Q, ordinal, in sign
or order only; N, not reproducible. The exit code is 3 if an R cell is outside its
bounds.

Examples:
  arena paper run 001-ii
  arena paper run 001-ii --games 20000 --seed 0x7
  arena paper run 004-4-1 --output csv > kalah.csv
  arena paper run all --output json > tables.json")]
pub(crate) struct RunArgs {
    /// Id of a table, as shown by `arena paper list`, or `all`
    id: String,

    /// Games per pairing, instead of the number in the paper
    #[arg(long, env = "ARENA_PAPER_GAMES", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    games: Option<u64>,

    /// Seed of all random draws
    #[arg(long, value_name = "0x…", default_value = SEED)]
    seed: TournamentSeed,

    /// Number of threads [default: number of processors]
    #[arg(long, env = "ARENA_PAPER_WORKERS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

impl RunArgs {
    /// Plays on other threads, so that this one can react to a signal.
    pub(super) async fn run(self) -> Outcome {
        let mut interrupt = Interrupt::listen()?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let playing = tokio::task::spawn_blocking(move || self.tables(asked));
        tokio::spawn(async move {
            interrupt.asked().await;
            stop.store(true, Ordering::Relaxed);
        });
        playing.await.map_err(Failure::failed)?
    }

    fn tables(self, stop: Arc<AtomicBool>) -> Outcome {
        let all = self.id.eq_ignore_ascii_case("all");
        let tables: Vec<&'static PublishedTable> = if all {
            arena_papers::tables()?.iter().collect()
        } else {
            vec![arena_papers::table(&self.id)?]
        };
        if cfg!(debug_assertions) && all {
            note("warning: this is a debug build, several times slower than a release build");
        }
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let runner = TableRunner {
            seed: self.seed,
            games: self.games,
            threads: self.workers.map_or_else(processors, usize::from),
            stop,
        };
        let mut ran = Vec::with_capacity(tables.len());
        for table in tables {
            let bar = bar(table, self.games);
            let one = runner.run(table, &|| bar.inc(1));
            bar.finish_and_clear();
            let one = one.map_err(|error| stopped(table, error))?;
            note(report::progress(&one));
            ran.push(one);
        }
        report::print(&ran, &runner, all, self.output)?;
        let findings = ran.iter().flat_map(|one| &one.findings);
        let failed = findings.filter(|finding| finding.fails());
        let failed = failed.map(|it| format!("{} ({}, {})", it.table, it.row, it.column));
        let failed = failed.collect_vec();
        if failed.is_empty() {
            return Ok(());
        }
        let figures = units::plural(failed.len() as u64, "figure");
        let are = if failed.len() == 1 { "is" } else { "are" };
        let failed = failed.join(", ");
        Err(Failure::differs(format!(
            "{figures} marked R {are} outside the bounds: {failed}"
        )))
    }
}

/// The error for an interrupted run, which says how to run the table again.
fn stopped(table: &PublishedTable, error: PaperError) -> Failure {
    if error != PaperError::Interrupted {
        return error.into();
    }
    let id = table.id;
    let text = format!(
        "stopped at table {id}; no results were kept; the same command computes the same figures; \
         to run only this table, use \"arena paper run {id}\""
    );
    Failure::new(Kind::Interrupted, text)
}

/// A progress bar for a table, hidden unless the terminal is interactive.
fn bar(table: &PublishedTable, games: Option<u64>) -> ProgressBar {
    if !interactive() {
        return ProgressBar::hidden();
    }
    let bar = progress::bar("{msg} {pos}/{len} games {wide_bar} {eta} left");
    bar.set_length(table.games(games));
    bar.with_message(table.id)
}
