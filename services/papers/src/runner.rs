//! Runs published tables.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use arena_model::{AgentName, TournamentSeed};
use arena_tournament::published::Figure;

use crate::{
    clock,
    error::{PaperError, Result},
    finding::{self, Finding},
    measure::Measure,
    play::GameRunner,
    quantity::FigureSource,
    rules,
    tables::{Matchup, PublishedTable, TableCell},
};

/// Maximum factor by which games grow for a figure near its bound.
const GROWTH_MAX: u64 = 16;

/// Results of a published table.
pub struct TableResult {
    /// The table.
    pub table: &'static PublishedTable,
    /// One finding for each of its cells.
    pub findings: Vec<Finding>,
    /// Games played.
    pub games: u64,
    /// Time taken, in seconds.
    pub seconds: f64,
}

/// Runs published tables.
pub struct TableRunner {
    /// Seed of all random draws.
    pub seed: TournamentSeed,
    /// Games of each pairing, instead of the number in the paper.
    pub games: Option<u64>,
    /// Number of threads.
    pub threads: usize,
    /// Set to stop a run.
    pub stop: Arc<AtomicBool>,
}

impl TableRunner {
    /// Plays the games of a table and compares its figures.
    ///
    /// `progress` is called after each game, on any thread.
    ///
    /// # Errors
    /// [`PaperError::Interrupted`] if `stop` was set, or [`PaperError::Failed`].
    pub fn run(
        &self,
        table: &'static PublishedTable,
        progress: &(dyn Fn() + Sync),
    ) -> Result<TableResult> {
        let start = Instant::now();
        let mut estimates: Vec<Option<Figure>> = vec![None; table.cells.len()];
        let games = AtomicU64::new(0);
        let played = || {
            games.fetch_add(1, Ordering::Relaxed);
            progress();
        };
        for (place, play) in table.plays.iter().enumerate() {
            // The measures of this matchup, each with the index of its cell.
            let from = |source| {
                let cells = table.cells.iter().enumerate();
                let cells = cells.filter(move |(_, cell)| cell.play == Some(place));
                let measured =
                    cells.filter_map(|(number, cell)| Some((number, cell.measure.as_ref()?)));
                measured.filter(move |(_, measure)| measure.quantity.source() == source)
            };
            for (cell, measure) in from(FigureSource::Rules) {
                estimates[cell] = rules::compute(measure, play)?.map(finding::exact);
            }
            let (cells, measures): (Vec<usize>, Vec<&Measure>) = from(FigureSource::Games).unzip();
            if !measures.is_empty() {
                let mut games = self.games;
                loop {
                    let found = self.play(play, games, &measures, &played)?;
                    for (&cell, estimate) in cells.iter().zip(found) {
                        estimates[cell] = estimate;
                    }
                    let mut tried = cells.iter();
                    let open = tried.any(|&cell| table.cells[cell].wants_more(estimates[cell]));
                    // The numbers of games at which a verdict is tried are fixed in advance:
                    // the table's number, then doublings. Each try replays the earlier games.
                    let next = play.games(games) * 2;
                    if self.games.is_some() || !open || next > play.games(None) * GROWTH_MAX {
                        break;
                    }
                    games = Some(next);
                }
            }
            let mut timed = from(FigureSource::Clock).peekable();
            if timed.peek().is_some() {
                let spec = play.spec(&self.seed, None);
                let times = clock::move_times(play, &spec, &self.stop, &played)?;
                for (cell, measure) in timed {
                    estimates[cell] = measure.of_times(&times).map(finding::exact);
                }
            }
        }
        let judged = |(cell, estimate): (&TableCell, _)| {
            let finding = Finding::new(table.id, cell, estimate);
            let play = cell.play.map(|place| &table.plays[place]);
            match play.is_some_and(|play| play.games(self.games) < play.games(None)) {
                true => finding.of_few_games(),
                false => finding,
            }
        };
        Ok(TableResult {
            table,
            findings: table.cells.iter().zip(estimates).map(judged).collect(),
            games: games.into_inner(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    fn play(
        &self,
        play: &Matchup,
        games: Option<u64>,
        measures: &[&Measure],
        played: &(dyn Fn() + Sync),
    ) -> Result<Vec<Option<Figure>>> {
        let spec = play.spec(&self.seed, games);
        let parts = play.visit(GameRunner {
            play,
            spec: &spec,
            measures,
            threads: self.threads,
            stop: &self.stop,
            played,
        })??;
        let pairs = || measures.iter().zip(&parts);
        if !play.deterministic {
            let estimates = pairs().map(|(measure, blocks)| finding::estimate(measure, blocks));
            return Ok(estimates.collect());
        }
        if pairs().any(|(_, blocks)| blocks.windows(2).any(|two| two[0] != two[1])) {
            let agents: Vec<&str> = spec.agents.iter().map(AgentName::as_str).collect();
            return Err(PaperError::failed(format!(
                "games of {} differ, although nothing in them should be random",
                agents.join(" and ")
            )));
        }
        let once = |(measure, blocks): (&&Measure, &Vec<Vec<_>>)| {
            let estimate = finding::estimate(measure, &blocks[..1]);
            estimate.map(|estimate| finding::exact(estimate.value))
        };
        Ok(pairs().map(once).collect())
    }
}
