//! What came of a stage, in integers.

use serde::{Deserialize, Serialize};

/// Units that an agent got against others, and how many there were: a seat
/// beaten is two, a tie one; each pair of seats has two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// Got.
    pub got: u64,
    /// There were.
    pub of: u64,
}

impl Units {
    /// From 0 to 1; none without a game.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        (self.of > 0).then(|| self.got as f64 / self.of as f64)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.got += other.got;
        self.of += other.of;
    }
}

/// Sums over the games of one group of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    /// Its agents, ascending, each once.
    pub agents: Vec<u16>,
    /// Blocks all of whose games were played.
    pub blocks: u64,
    /// Games with a placement.
    pub games: u64,
    /// What each agent got against each that comes after it in the list: first
    /// the pairs of the first agent, then those of the second, and so on.
    pub pairs: Vec<Units>,
    /// Where there are two agents: by what the first got of a whole block, how
    /// many blocks.
    pub outcomes: Vec<u64>,
}

impl Meeting {
    /// What the agent at a place of the list got against all others.
    #[must_use]
    pub fn units(&self, place: usize) -> Units {
        let mut sum = Units::default();
        for (pair, (first, second)) in self.pairs.iter().zip(pairs(self.agents.len())) {
            if first == place {
                sum.add(*pair);
            } else if second == place {
                sum.add(Units {
                    got: pair.of - pair.got,
                    of: pair.of,
                });
            }
        }
        sum
    }
}

/// Pairs of places of a list, as they are summed.
pub(crate) fn pairs(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).flat_map(move |first| (first + 1..length).map(move |second| (first, second)))
}

/// Sums over the games of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSums {
    /// Of each agent of the tournament, in all its games.
    pub agents: Vec<Units>,
    /// Of each group that the stage lists; empty where all groups meet.
    pub meetings: Vec<Meeting>,
    /// Games without a placement.
    pub voids: u64,
}
