//! How often what is said to hold 95 times in a hundred holds.

pub(crate) mod field;
mod intervals;
mod sprt;

use super::{Broken, Figure, Outcome, Proof};

/// Settings.
#[derive(Debug, clap::Args)]
pub struct Calibration {
    /// Simulated tournaments of each cell; below 2,000 nothing is judged.
    #[arg(long, default_value_t = 4000)]
    tournaments: u64,
    /// Simulated runs of each sequential test.
    #[arg(long, default_value_t = 2000)]
    runs: u64,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cells whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

impl Proof for Calibration {
    const PROMISE: &'static str = "95 % intervals hold the truth in at least 94 % of simulated \
                                   tournaments, with 100 blocks of an agent in at most 96.5 %, \
                                   or in at least 95 % at all looks at once; sequential tests \
                                   of 5 % err in at most 6 %";

    fn quick() -> Self {
        Self {
            tournaments: 200,
            runs: 50,
            seed: 1,
            only: String::new(),
        }
    }

    fn run(&self) -> Result<Outcome, Broken> {
        let mut figures = vec![Figure::new("", intervals::header())];
        let mut wrong = Vec::new();
        for field in intervals::fields() {
            if !field.name.contains(&self.only) {
                continue;
            }
            let row = intervals::simulate(field, self.tournaments, self.seed);
            figures.push(Figure::new(row.name, row.shown()));
            if self.tournaments >= 2000 {
                wrong.extend(row.wrong());
            }
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
