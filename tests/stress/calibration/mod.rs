//! Coverage of intervals and error rates of sequential tests.

pub(crate) mod field;
mod formats;
mod intervals;
mod lattice;
mod openings;
mod singly;
mod sprt;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use self::{field::Field, intervals::Row};
use super::{Broken, Figure, Outcome, StressTest};

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Calibration {
    /// Simulated tournaments of each cell; fewer than 2,000 give no verdict
    #[arg(long, default_value_t = 8000)]
    tournaments: u64,
    /// Simulated runs of each sequential test
    #[arg(long, default_value_t = 2000)]
    runs: u64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only cells whose name contains this text, or one of several
    #[arg(long)]
    only: Vec<String>,
}

/// Whether the cell of this name is selected.
fn selects(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|text| name.contains(text))
}

impl StressTest for Calibration {
    const PROMISE: &'static str = "95 % intervals contain the truth in at least 94 % of simulated \
                                   tournaments, and in at most 96.5 % where outcomes are fine \
                                   enough; anytime-valid ones in at least 95 %; sequential tests \
                                   at 5 % are wrong in at most 6 %";

    /// A cell of each kind, with as many tournaments as a verdict needs.
    fn quick() -> Self {
        let only = [
            "2 even, 50 blocks, no draws",
            "2 100 Elo apart, 50 blocks, draws",
            "round-robin",
            "ladder",
            "sprt 0 to 20 Elo of 20 Elo, draws, dice",
        ];
        Self {
            tournaments: 2000,
            runs: 2000,
            seed: 1,
            only: only.map(str::to_owned).into(),
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut figures = vec![Figure::new("", intervals::header())];
        let mut wrong = Vec::new();
        let mut fields = intervals::fields()?;
        let known = fields.iter().map(|field| field.name.clone());
        let known = known.chain(formats::names()).chain(sprt::names());
        let known = known.chain(openings::names());
        let known: Vec<String> = known.collect();
        let of = |text: &String| known.iter().any(|name| name.contains(text));
        if let Some(text) = self.only.iter().find(|text| !of(text)) {
            return Ok(Outcome::unknown(text, known));
        }
        fields.retain(|field| selects(&self.only, &field.name));
        for row in self.intervals(&fields) {
            figures.push(Figure::new(&row.name, row.shown()));
            if self.tournaments >= 2000 {
                wrong.extend(row.wrong());
            }
        }
        for row in formats::simulate(self.tournaments, self.seed, &self.only) {
            figures.push(Figure::new(&row.name, row.shown()));
            if self.tournaments >= 2000 {
                wrong.extend(row.wrong());
            }
        }
        for row in openings::simulate(self.tournaments, self.seed, &self.only) {
            figures.push(Figure::new(&row.name, row.shown()));
            wrong.extend(row.wrong());
        }
        for row in sprt::simulate(self.runs, self.seed, &self.only) {
            figures.push(Figure::new(&row.name, row.shown()));
            if self.runs >= 2000 {
                wrong.extend(row.wrong());
            }
        }
        if wrong.is_empty() {
            return Ok(Outcome::Holds(figures));
        }
        let table = figures.iter().map(|figure| {
            let value = figure.value.as_str().unwrap_or_default();
            format!("{:<40} {value}\n", figure.name)
        });
        Err(Broken::new(format_args!(
            "{}\n{}",
            wrong.join("\n"),
            table.collect::<String>()
        )))
    }
}

impl Calibration {
    /// The rows of all cells, computed in parallel on all cores.
    fn intervals(&self, fields: &[Field]) -> Vec<Row> {
        let next = AtomicUsize::new(0);
        let hands = thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let mut done = Vec::new();
            while let Some((place, field)) = {
                let place = next.fetch_add(1, Ordering::Relaxed);
                fields.get(place).map(|field| (place, field))
            } {
                let row = intervals::simulate(field.clone(), self.tournaments, self.seed);
                done.push((place, row));
            }
            done
        };
        let mut rows: Vec<(usize, Row)> = thread::scope(|scope| {
            let hands: Vec<_> = (0..hands).map(|_| scope.spawn(work)).collect();
            let done = hands.into_iter().map(|hand| hand.join());
            done.flat_map(|done| done.expect("no panic in simulating"))
                .collect()
        });
        rows.sort_by_key(|&(place, _)| place);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_selection_does_not_hold() {
        let test = Calibration {
            only: vec!["ladder".to_owned(), "nosuch".to_owned()],
            ..Calibration::quick()
        };
        match test.run() {
            Ok(Outcome::Unknown(reported)) => {
                for part in ["nosuch", "ladder", "sprt 0 to 5 Elo"] {
                    assert!(reported.contains(part), "{reported}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
}
