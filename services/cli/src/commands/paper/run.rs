//! `arena paper run`

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use arena_model::TournamentSeed;
use arena_tournament::published::Estimate;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    clock,
    data::{self, Cell, Play, Table},
    finding::{self, Finding},
    play,
    quantity::{Measure, Source},
    report, rules,
};
use crate::{
    failure::{Failure, Kind, Outcome},
    output::{Format, interactive, note},
    signals::Interrupt,
    units,
};

/// Unless the user names another: any will do, but the same one gives the same
/// figures everywhere.
const SEED: &str = "0x5eed";
/// A figure near its bound gets at most so many times the table's games.
const GROWTH_MAX: u64 = 16;

/// Play the protocol of a table and show our figures beside the published ones
///
/// Each cell is reported with the published figure, ours, its 95 % interval, how
/// many standard errors lie between the two (z), and whether ours is within
/// what the published figure allows, outside, or not comparable, and why. Where
/// no chance is in our figure it is called exact; where it follows from figures
/// before it, as one player's wins from the other's, it counts as said again, and
/// where it is true by construction as given, so that neither counts as another
/// that is within. The same seed gives the same figures for any number of workers.
#[derive(Debug, Args)]
#[command(after_help = "\
Every cell has a class: R, reproducible within stated bounds; Q, sign or order only,
within a bound that is shown; N, not reproducible. The exit code is 3 if an R cell is
outside its bounds.

Examples:
  arena paper run 001-ii
  arena paper run 001-ii --games 20000 --seed 0x7
  arena paper run 004-4-1 --output csv > kalah.csv
  arena paper run all --output json > tables.json")]
pub(crate) struct RunArgs {
    /// Id of a table, as `arena paper list` shows them, or `all`
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

/// A table that was run.
pub(super) struct Ran {
    pub(super) table: &'static Table,
    pub(super) findings: Vec<Finding>,
    pub(super) games: u64,
    pub(super) seconds: f64,
}

impl RunArgs {
    /// Plays on threads of its own, so that a signal is heard.
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
        let tables: Vec<&'static Table> = if all {
            data::tables()?.iter().collect()
        } else {
            vec![data::table(&self.id)?]
        };
        if cfg!(debug_assertions) && all {
            note("warning: this is a debug build, several times slower than a release build");
        }
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let runner = Runner {
            seed: self.seed,
            games: self.games,
            threads: self.workers.map_or_else(processors, usize::from),
            stop,
        };
        let mut ran = Vec::with_capacity(tables.len());
        for table in tables {
            let one = runner.run(table).map_err(stopped(table))?;
            note(report::progress(&one));
            ran.push(one);
        }
        report::print(&ran, &runner, all, self.output)?;
        let failed: Vec<String> = ran
            .iter()
            .flat_map(|one| &one.findings)
            .filter(|finding| finding.fails())
            .map(|finding| format!("{} ({}, {})", finding.table, finding.row, finding.column))
            .collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(Failure::differs(format!(
            "{} that can be expected {} outside: {}",
            units::plural(failed.len() as u64, "figure"),
            if failed.len() == 1 { "is" } else { "are" },
            failed.join(", ")
        )))
    }
}

/// Nothing is kept of a table, but all of them can be had one by one.
fn stopped(table: &Table) -> impl Fn(Failure) -> Failure {
    move |failure| match failure.kind() {
        Kind::Interrupted => Failure::new(
            Kind::Interrupted,
            format!(
                "stopped at table {id}; nothing is kept. The same command comes to the same \
                 figures, and `arena paper run {id}` runs this table alone",
                id = table.id
            ),
        ),
        _ => failure,
    }
}

/// How tables are run.
pub(super) struct Runner {
    pub(super) seed: TournamentSeed,
    pub(super) games: Option<u64>,
    pub(super) threads: usize,
    /// Set where nobody wants to know any more.
    pub(super) stop: Arc<AtomicBool>,
}

impl Runner {
    /// Plays what a table asks for and judges its cells.
    pub(super) fn run(&self, table: &'static Table) -> Outcome<Ran> {
        let start = Instant::now();
        let mut estimates: Vec<Option<Estimate>> = vec![None; table.cells.len()];
        let bar = bar(table, self.games);
        let games = AtomicU64::new(0);
        let played = || {
            games.fetch_add(1, Ordering::Relaxed);
            bar.inc(1);
        };
        for (place, play) in table.plays.iter().enumerate() {
            // What is measured of this play, and in which cell.
            let measured: Vec<(usize, &Measure)> = table
                .cells
                .iter()
                .enumerate()
                .filter(|(_, cell)| cell.play == Some(place))
                .filter_map(|(number, cell)| Some((number, cell.measure.as_ref()?)))
                .collect();
            let from = |source| {
                let same =
                    move |(_, measure): &&(usize, &Measure)| measure.quantity.source() == source;
                measured.iter().filter(same)
            };
            for &(cell, measure) in from(Source::Rules) {
                estimates[cell] = rules::compute(measure, play)?.map(finding::exact);
            }
            if from(Source::Games).next().is_some() {
                let measures: Vec<&Measure> = from(Source::Games).map(|&(_, one)| one).collect();
                let mut games = self.games;
                loop {
                    let found = self.play(play, games, &measures, &played)?;
                    for (&(cell, _), estimate) in from(Source::Games).zip(found) {
                        estimates[cell] = estimate;
                    }
                    let open = from(Source::Games)
                        .any(|&(cell, _)| table.cells[cell].wants_more(estimates[cell]));
                    // Looks are fixed beforehand: at the table's games and at each
                    // doubling. All of them are played again, the first ones alike.
                    let next = play.games(games) * 2;
                    if self.games.is_some() || !open || next > play.games(None) * GROWTH_MAX {
                        break;
                    }
                    games = Some(next);
                }
            }
            if from(Source::Clock).next().is_some() {
                let times =
                    clock::move_times(play, &play.spec(&self.seed, None), &self.stop, &played)?;
                for &(cell, measure) in from(Source::Clock) {
                    estimates[cell] = measure.of_times(&times).map(finding::exact);
                }
            }
        }
        bar.finish_and_clear();
        let fewer = |cell: &Cell| {
            let play = cell.play.map(|place| &table.plays[place]);
            play.is_some_and(|play| play.games(self.games) < play.games(None))
        };
        let judged = table.cells.iter().zip(estimates);
        Ok(Ran {
            table,
            findings: judged
                .map(|(cell, estimate)| {
                    let finding = Finding::new(table.id, cell, estimate);
                    if fewer(cell) {
                        finding.of_few_games()
                    } else {
                        finding
                    }
                })
                .collect(),
            games: games.into_inner(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    fn play(
        &self,
        play: &Play,
        games: Option<u64>,
        measures: &[&Measure],
        played: &(dyn Fn() + Sync),
    ) -> Outcome<Vec<Option<Estimate>>> {
        let spec = play.spec(&self.seed, games);
        let parts = play::play(play, &spec, measures, self.threads, &self.stop, played)?;
        let pairs = || measures.iter().zip(&parts);
        if !play.deterministic {
            let estimates = pairs().map(|(measure, blocks)| finding::estimate(measure, blocks));
            return Ok(estimates.collect());
        }
        if pairs().any(|(_, blocks)| blocks.windows(2).any(|two| two[0] != two[1])) {
            return Err(Failure::failed(format!(
                "two games among {} differ, though nothing in them should be drawn",
                spec.agents
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" and ")
            )));
        }
        let once = |(measure, blocks): (&&Measure, &Vec<Vec<_>>)| {
            let estimate = finding::estimate(measure, &blocks[..1]);
            estimate.map(|estimate| finding::exact(estimate.value))
        };
        Ok(pairs().map(once).collect())
    }
}

/// Shows how far a table is, where somebody looks.
fn bar(table: &Table, games: Option<u64>) -> ProgressBar {
    if !interactive() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {msg} {pos}/{len} games {wide_bar} {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(table.games(games))
        .with_style(style)
        .with_message(table.id)
}
