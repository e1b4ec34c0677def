//! The course of a sequential test.

use arena_model::{
    Tournament,
    format::{Format, Settings, Sprt},
};
use arena_tournament::format::FormatProgress;

/// The log-likelihood ratio of a test at its looks, and the outcomes of its blocks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SequentialTest {
    /// The tested agent.
    pub(crate) agent: String,
    /// Its Elo difference under each hypothesis.
    pub(crate) elo: (f64, f64),
    /// H1 is rejected below the first bound and accepted above the second.
    pub(crate) bounds: (f64, f64),
    /// Number of blocks and the log-likelihood ratio at each look.
    pub(crate) looks: Vec<(u64, f64)>,
    /// Number of blocks by the agent's points, from none to all.
    pub(crate) outcomes: Vec<u64>,
}

impl SequentialTest {
    /// `None` if the tournament is not a sequential test.
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

    /// Adds the result of a look.
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
