//! The data from which agents are compared: a copy of the sums of all groups.

use super::{GroupLuck, Tally, group::GroupSums};

/// A snapshot of a tally's sums, for computations while the tally continues.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Names in the order of the spec.
    pub(crate) names: Vec<String>,
    pub(crate) seats: usize,
    /// Number of games of a block.
    pub(crate) rotations: u64,
    /// Sums of each group. Incomplete blocks are included in the counts of games, but not in the
    /// counts of blocks.
    pub(crate) groups: Vec<GroupSums>,
    /// Luck of each group; `None` if unknown.
    pub(crate) luck: Vec<Option<GroupLuck>>,
    /// Played blocks of each group.
    pub(crate) played: Vec<Played>,
    /// Number of blocks that a pair of agents plays according to the spec.
    pub(crate) tuning_horizon_pair: f64,
    /// Number of blocks that each agent plays according to the spec.
    pub(crate) tuning_horizons: Vec<f64>,
    /// True if results decided which games were played or when the tournament ended:
    /// fixed-sample intervals then have less than their nominal coverage.
    pub adaptive: bool,
}

/// The blocks that a group played, whether or not they count as evidence.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Played {
    /// Complete blocks.
    pub(crate) blocks: u64,
    /// Number of distinct games.
    pub(crate) distinct: u64,
    /// True if the number of distinct games is a lower bound.
    pub(crate) more: bool,
}

impl Evidence {
    /// Tuning horizon of the intervals of two agents' difference, in blocks.
    pub(crate) fn tuning_horizon_of(&self, one: usize, other: usize) -> f64 {
        f64::midpoint(self.tuning_horizons[one], self.tuning_horizons[other])
    }
}

impl Tally {
    /// Takes a snapshot for comparisons.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let mut groups = self.sums.groups.clone();
        for (&block, partial) in &self.sums.partial {
            if self.is_repeated(block) {
                continue;
            }
            let id = self.schedule.group_of(block);
            groups
                .entry(id)
                .or_insert_with(|| GroupSums::new(&self.schedule.group(id)))
                .add_games(partial.rankings());
        }
        let complete = |id: &&u64| self.sums.groups.contains_key(id);
        let luck = |id: &u64| {
            Some(id)
                .filter(complete)
                .and_then(|id| self.sums.luck.get(id))
        };
        Evidence {
            names: self.names.clone(),
            seats: self.sums.seats.len(),
            rotations: u64::from(self.schedule.rotations()),
            luck: groups.keys().map(|id| luck(id).cloned()).collect(),
            played: groups.keys().map(|&id| self.played(id)).collect(),
            groups: groups.into_values().collect(),
            tuning_horizon_pair: self.tuning_horizons.pair,
            tuning_horizons: self.tuning_horizons.agents.clone(),
            adaptive: self.adaptive,
        }
    }

    fn played(&self, group: u64) -> Played {
        let Some(courses) = self.sums.courses.get(&group) else {
            return Played::default();
        };
        let (distinct, more) = courses.distinct(self.openings.is_none());
        Played {
            blocks: courses.blocks,
            distinct,
            more,
        }
    }
}
