//! Results of a stage, in integers.

use serde::{Deserialize, Serialize};

/// Units of an agent: a seat beaten is two, a tie one; each pair of seats has two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// Units won.
    pub got: u64,
    /// Units played for.
    pub of: u64,
}

impl Units {
    /// Share of the units, from 0 to 1; `None` without a game.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        (self.of > 0).then(|| self.got as f64 / self.of as f64)
    }

    /// The units of the other side.
    pub(crate) fn turned(self) -> Self {
        Self {
            got: self.of - self.got,
            of: self.of,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.got += other.got;
        self.of += other.of;
    }
}

/// Sums over the games of one group of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    /// Agents of the group, ascending, without repetitions.
    pub agents: Vec<u16>,
    /// Complete blocks.
    pub blocks: u64,
    /// Games with a placement.
    pub games: u64,
    /// Units of each agent against each later one in the list: first the pairs of the first
    /// agent, then the pairs of the second, and so on.
    pub pairs: Vec<Units>,
    /// With two agents: the number of complete blocks by the first agent's units.
    pub outcomes: Vec<u64>,
}

impl Meeting {
    /// Units of the agent at a position of the list against all others.
    #[must_use]
    pub fn units(&self, place: usize) -> Units {
        let mut sum = Units::default();
        for (pair, (first, second)) in self.pairs.iter().zip(pairs(self.agents.len())) {
            if first == place {
                sum.add(*pair);
            } else if second == place {
                sum.add(pair.turned());
            }
        }
        sum
    }
}

/// Pairs of positions of a list, in the order of the sums.
pub(crate) fn pairs(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).flat_map(move |first| (first + 1..length).map(move |second| (first, second)))
}

/// Sums over the games of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSums {
    /// Units of each agent of the tournament in all its games.
    pub agents: Vec<Units>,
    /// Each group that the stage lists; empty if all groups meet.
    pub meetings: Vec<Meeting>,
    /// Games without a placement.
    pub voids: u64,
    /// True if some groups have fewer games that count than others, because others would
    /// repeat. Set when the stage ends.
    #[serde(skip)]
    pub uneven: bool,
}
