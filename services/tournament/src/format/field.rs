//! The parts of a tournament that formats read.

use std::collections::HashMap;

use arena_model::{
    AgentChange, Returns, TournamentSeed,
    format::{Format, Settings},
};

use super::Units;

/// A spec that its format rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("format = \"{format}\": {problem}")]
pub struct FormatError {
    /// Name of the format.
    pub format: &'static str,
    /// What is wrong, and how to correct it.
    pub problem: String,
}

/// The parts of a tournament that formats read.
#[derive(Clone, Debug)]
pub struct Field {
    /// Agents, by index.
    pub names: Vec<String>,
    /// Seats of a game.
    pub seats: usize,
    /// Games of a block.
    pub rotations: u64,
    /// Blocks of each group, from the spec.
    pub blocks: u64,
    /// Source of all random draws.
    pub seed: TournamentSeed,
    /// Settings of the format.
    pub settings: Option<Settings>,
    /// The format itself.
    pub format: Format,
    /// The bounds of returns, if they decide the places.
    pub returns: Option<Returns>,
    /// Changes of the agents of an open ladder.
    pub changes: Vec<AgentChange>,
}

impl Field {
    pub(crate) fn agents(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, agent: u16) -> &str {
        &self.names[usize::from(agent)]
    }

    pub(crate) fn names_of<'a>(&self, agents: impl IntoIterator<Item = &'a u16>) -> Vec<&str> {
        let agents = agents.into_iter();
        agents.map(|&agent| self.name(agent)).collect()
    }

    /// The mean return of seats with these units; `None` if ranks decide the places.
    pub(crate) fn mean_return(&self, units: Units) -> Option<f64> {
        let returns = self.returns?;
        returns.mean(units.got, units.of / returns.units_max())
    }

    /// The agents by name.
    pub(crate) fn by_name(&self) -> HashMap<&str, u16> {
        self.names.iter().map(String::as_str).zip(0..).collect()
    }

    /// Number of games in this many blocks.
    pub(crate) fn games(&self, blocks: u64) -> u64 {
        blocks.saturating_mul(self.rotations)
    }

    pub(crate) fn error(&self, problem: String) -> FormatError {
        FormatError {
            format: self.format.name(),
            problem,
        }
    }
}
