//! A sequential test as it went on.

use arena_model::{
    Tournament,
    format::{Format, Settings, Sprt},
};
use arena_tournament::format::FormatProgress;

/// The log-likelihood ratio of a test at its intervals, and what its blocks came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SequentialTest {
    /// The agent that is tested.
    pub(crate) agent: String,
    /// Its Elo over the other one by each hypothesis.
    pub(crate) elo: (f64, f64),
    /// Below the first it is rejected, above the second accepted.
    pub(crate) bounds: (f64, f64),
    /// Blocks, and the log-likelihood ratio after them.
    pub(crate) looks: Vec<(u64, f64)>,
    /// Blocks by what the agent got in them, from nothing to all.
    pub(crate) outcomes: Vec<u64>,
}

impl SequentialTest {
    /// None where a tournament is no such test.
    pub(super) fn new(tournament: &Tournament) -> Option<Self> {
        if tournament.format != Format::Sprt {
            return None;
        }
        let test = match &tournament.settings {
            Some(Settings::Sprt(test)) => test.clone(),
            _ => Sprt::default(),
        };
        Some(Self {
            agent: tournament.agents.first()?.name.to_string(),
            elo: (test.elo0, test.elo1),
            bounds: (0.0, 0.0),
            looks: Vec::new(),
            outcomes: Vec::new(),
        })
    }

    /// Takes in what a look came to.
    pub(super) fn look(&mut self, course: FormatProgress) {
        let (Some(llr), Some(low), Some(high)) = (course.llr, course.llr_low, course.llr_high)
        else {
            return;
        };
        self.bounds = (low, high);
        self.looks.push((course.outcomes.iter().sum(), llr));
        self.outcomes = course.outcomes;
    }
}
