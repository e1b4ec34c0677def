//! Agents beside each other: what is reckoned when somebody asks, not while
//! games come in.

use serde::{Deserialize, Serialize};

use crate::{pairs::PairStanding, tally::Evidence};

/// All that compares agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Each agent beside each other one, in the order of the spec; empty where
    /// not wanted.
    pub pairs: Vec<PairStanding>,
}

impl Evidence {
    /// Compares all agents, pair by pair where wanted.
    #[must_use]
    pub fn compare(&self, pairs: bool) -> Comparison {
        Comparison {
            pairs: if pairs { self.pairs() } else { Vec::new() },
        }
    }
}
