//! The data of comparisons: the sums of all groups, separate from the tally.

use std::collections::BTreeMap;

use super::{GroupLuck, Tally, group::GroupSums};

/// A snapshot of a tally's pairings and results, for computations while the tally
/// continues.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Names in the order of the spec.
    pub(crate) names: Vec<String>,
    pub(crate) seats: usize,
    /// Games of a block.
    pub(crate) rotations: u64,
    /// Sums of each group; games of incomplete blocks are in the games, not in the blocks.
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
    pub(super) opponents_differ: bool,
}

/// The blocks that a group played, counted as evidence or not.
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

    /// True if agents meet different opponents, so that ratings define the order, and
    /// scores do not.
    #[must_use]
    pub fn opponents_differ(&self) -> bool {
        self.opponents_differ
    }
}

impl Tally {
    /// A snapshot for comparisons.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let mut begun: BTreeMap<u64, GroupSums> = BTreeMap::new();
        for (&block, partial) in &self.partial {
            let id = self.schedule.group_of(block);
            if self.is_repeated(block) {
                continue;
            }
            let group = begun.entry(id).or_insert_with(|| {
                let known = self.groups.get(&id).cloned();
                known.unwrap_or_else(|| GroupSums::new(&self.schedule.group(id)))
            });
            partial
                .rankings()
                .for_each(|ranking| group.add_game(ranking));
        }
        let mut groups = Vec::with_capacity(self.groups.len() + begun.len());
        let mut played = Vec::with_capacity(groups.capacity());
        let mut luck = Vec::with_capacity(groups.capacity());
        let mut pending = begun.into_iter().peekable();
        for (id, group) in &self.groups {
            while let Some((other, fresh)) = pending.next_if(|(other, _)| other < id) {
                played.push(self.played(other));
                groups.push(fresh);
                luck.push(None);
            }
            let touched = pending.next_if(|(other, _)| other == id);
            luck.push(self.luck.get(id).cloned());
            played.push(self.played(*id));
            groups.push(touched.map_or_else(|| group.clone(), |(_, fresh)| fresh));
        }
        for (id, fresh) in pending {
            played.push(self.played(id));
            groups.push(fresh);
        }
        luck.resize(groups.len(), None);
        Evidence {
            names: self.names.clone(),
            seats: self.seats.len(),
            rotations: u64::from(self.schedule.rotations()),
            groups,
            luck,
            played,
            opponents_differ: self.opponents_differ(),
            tuning_horizon_pair: self.tuning_horizons.pair,
            tuning_horizons: self.tuning_horizons.agents.clone(),
            adaptive: self.adaptive,
        }
    }

    fn played(&self, group: u64) -> Played {
        let Some(courses) = self.courses.get(&group) else {
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
