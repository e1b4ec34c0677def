//! Tuning horizons: the number of blocks for which anytime-valid intervals are made narrowest,
//! namely the number that the spec plans. The intervals are valid for any number of blocks.

use std::collections::HashSet;

use arena_model::{
    Tournament,
    format::{Format, Settings},
};

/// Number of blocks that agents play according to the spec.
#[derive(Clone, Debug)]
pub(super) struct TuningHorizons {
    /// Blocks of each agent.
    pub(super) agents: Vec<f64>,
    /// Blocks of each pair of agents that meet.
    pub(super) pair: f64,
}

impl TuningHorizons {
    pub(super) fn of(tournament: &Tournament, seats: usize) -> Self {
        let agents = tournament.agents.len();
        let blocks = tournament.blocks as f64;
        let alike = |each: f64, pair: f64| Self {
            agents: vec![each * blocks; agents],
            pair: pair * blocks,
        };
        match (tournament.format, &tournament.settings) {
            (Format::RoundRobin, _) => alike(
                choose(agents.saturating_sub(1), seats - 1),
                choose(agents.saturating_sub(2), seats - 2),
            ),
            (Format::Gauntlet, settings) => {
                let named = match settings {
                    Some(Settings::Gauntlet(gauntlet)) => &gauntlet.challengers[..],
                    _ => &[],
                };
                let field = agents - named.len();
                let met = blocks * choose(field.saturating_sub(1), seats - 2);
                let challengers: HashSet<_> = named.iter().collect();
                let of_agent = |agent: &arena_model::AgentRef| {
                    if challengers.contains(&agent.name) {
                        blocks * choose(field, seats - 1)
                    } else {
                        met * named.len() as f64
                    }
                };
                Self {
                    agents: tournament.agents.iter().map(of_agent).collect(),
                    pair: met,
                }
            }
            (Format::Swiss, Some(Settings::Swiss(swiss))) => {
                alike(swiss.rounds.unwrap_or(1) as f64, 1.0)
            }
            (Format::Ladder, _) => alike(seats as f64, 1.0),
            _ => alike(1.0, 1.0),
        }
    }

    /// Tuning horizon of a seat: each block counts for as many agents as there are seats.
    pub(super) fn of_seat(&self, seats: usize) -> f64 {
        self.agents.iter().sum::<f64>() / seats as f64
    }
}

/// Number of subsets with `k` of `n` elements.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |sets, taken| {
        sets * n.saturating_sub(taken) as f64 / (taken + 1) as f64
    })
}
