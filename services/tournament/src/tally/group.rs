//! Sums over the games and the complete blocks of a group of agents.
//!
//! A block is described by the counts c_r: how many of its games ended with ranking r. The sums
//! over blocks of the products c_r·c_s are stored. From these sums follow the mean and variance of
//! any block value that is a sum over the block's games, and the covariances for any rating model.
//! No block has to be stored, unless a game has so many seats that rankings hardly ever occur twice.

mod many_members;
mod two_members;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use super::{Few, ranking::Ranking};
use crate::interval::Moments;
use many_members::{MoreSums, Rankings};
use two_members::TwoSums;

/// Number of clusters in which blocks of more than two members are summed.
pub(super) const CLUSTERS: u64 = 32;

/// Sums over the blocks of one agent in one group, with units against the seats of other agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockSums {
    pub(crate) units: Moments,
    pub(crate) wins: Moments,
}

/// A complete block without void games.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// One ranking per game.
    pub(crate) rankings: &'a [Ranking],
    /// Units by member and seat.
    pub(crate) units: &'a UnitsBySeat,
    /// Cluster of the block, below [`CLUSTERS`].
    pub(crate) cluster: u8,
}

/// Units by member and seat. In a block with all rotations, a member sits in each seat once, so
/// each number is from one game.
pub(crate) type UnitsBySeat = BySeat<u8>;

/// A number for each member in each seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct BySeat<T> {
    seats: usize,
    cells: SmallVec<[T; 16]>,
}

impl<T: Copy + Default> BySeat<T> {
    pub(crate) fn new(seats: usize) -> Self {
        Self {
            seats,
            cells: smallvec![T::default(); seats * seats],
        }
    }

    pub(crate) fn seats(&self) -> usize {
        self.seats
    }

    /// A member's numbers by seat.
    pub(crate) fn row(&self, member: usize) -> &[T] {
        &self.cells[member * self.seats..][..self.seats]
    }

    pub(crate) fn row_mut(&mut self, member: usize) -> &mut [T] {
        &mut self.cells[member * self.seats..][..self.seats]
    }

    /// The rows of all members.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.cells.chunks_exact(self.seats)
    }
}

/// One group's sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GroupSums {
    /// Two members: there are so few outcomes that each one is counted.
    Two(TwoSums),
    /// More members.
    More(Box<MoreSums>),
}

/// The share of one agent in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) agent: u16,
    /// Number of its seats.
    pub(crate) seats: u64,
    /// Number of pairs of an own seat and a seat of another agent.
    pub(crate) pairs: u64,
    pub(crate) sums: BlockSums,
}

impl Share {
    fn new((agent, seats): (u16, u64), size: usize, sums: BlockSums) -> Self {
        Self {
            agent,
            seats,
            pairs: seats * (size as u64 - seats),
            sums,
        }
    }

    /// [`Self::most`] as a number of games of one seat: a block's luck, in parts of a game's score,
    /// divided by this number, is a share of [`Self::most`]. The luck of a seat against other
    /// seats of the same agent cancels.
    pub(crate) fn luck_games(&self, size: usize, rotations: u64) -> f64 {
        (self.pairs * rotations) as f64 / (size - 1) as f64
    }

    /// Maximum units of a block of `rotations` games.
    pub(crate) fn most(&self, rotations: u64) -> u64 {
        2 * self.pairs * rotations
    }
}

/// Units that the seats of one agent score against each other in each game, whatever the result.
pub(crate) fn units_within(seats: u64) -> u64 {
    seats * seats.saturating_sub(1)
}

impl GroupSums {
    /// A group without games. The agents must be in ascending order.
    pub(crate) fn new(agents: &[u16]) -> Self {
        match *agents {
            [first, second] => Self::Two(TwoSums::new([first, second])),
            _ => Self::More(Box::new(MoreSums::new(agents))),
        }
    }

    /// The group's agents in ascending order. An agent with several seats occurs several times.
    pub(crate) fn agents(&self) -> &[u16] {
        match self {
            Self::Two(sums) => &sums.agents,
            Self::More(sums) => &sums.agents,
        }
    }

    /// Adds games that are not void.
    pub(crate) fn add_games(&mut self, rankings: impl Iterator<Item = Ranking>) {
        rankings.for_each(|ranking| self.add_game(ranking));
    }

    /// Adds a game that is not void, from a complete or incomplete block.
    pub(crate) fn add_game(&mut self, ranking: Ranking) {
        match self {
            Self::Two(sums) => sums.games[TwoSums::outcome(ranking)] += 1,
            Self::More(sums) => sums.rankings.add_game(ranking),
        }
    }

    /// Adds a complete block.
    pub(crate) fn add_block(&mut self, block: Block<'_>) {
        match self {
            Self::Two(sums) => sums.add_block(block),
            Self::More(sums) => sums.add_block(block),
        }
    }

    /// Number of complete blocks.
    pub(crate) fn blocks(&self) -> u64 {
        match self {
            Self::Two(sums) => sums.blocks.iter().sum(),
            Self::More(sums) => sums.blocks,
        }
    }

    /// Number of games by ranking, including incomplete blocks.
    pub(crate) fn games(&self) -> Vec<(Ranking, u64)> {
        match self {
            Self::Two(sums) => {
                let games = TwoSums::RANKINGS.into_iter().zip(sums.games);
                let mut games: Vec<_> = games.filter(|&(_, count)| count > 0).collect();
                games.sort_unstable();
                games
            }
            Self::More(sums) => match &sums.rankings {
                Rankings::Counted { games, .. } => games.iter().collect(),
                Rankings::Listed { games, .. } => games
                    .iter()
                    .map(|(&ranking, &count)| (ranking, count))
                    .collect(),
            },
        }
    }

    /// How often rankings occurred together in complete blocks of `rotations` games.
    pub(crate) fn together(&self, rotations: u64) -> Together<'_> {
        match self {
            Self::Two(sums) => Together::Products(sums.products(rotations)),
            Self::More(sums) => match &sums.rankings {
                Rankings::Counted { products, .. } => {
                    let products = products.iter();
                    Together::Products(products.map(|((r, s), sum)| (r, s, sum)).collect())
                }
                Rankings::Listed { blocks, .. } => Together::Blocks(blocks),
            },
        }
    }

    /// Moments, over complete blocks, of the sum of `worth` over the games of a block.
    pub(crate) fn moments(&self, rotations: u64, worth: impl Fn(Ranking) -> u64) -> Moments {
        let mut moments = Moments {
            blocks: self.blocks(),
            ..Moments::default()
        };
        let products = match self.together(rotations) {
            Together::Products(products) => products,
            Together::Blocks(blocks) => {
                let mut moments = Moments::default();
                for block in blocks.chunks_exact(rotations as usize) {
                    moments.add(block.iter().map(|&ranking| worth(ranking)).sum());
                }
                return moments;
            }
        };
        for (r, s, sum) in products {
            let both = worth(r) * worth(s) * sum;
            moments.squares += if r == s { both } else { 2 * both };
            // Σ_s c_s is the number of games of a block, so Σ_s c_r·c_s is c_r times this number.
            moments.sum += if r == s {
                worth(r) * sum
            } else {
                (worth(r) + worth(s)) * sum
            };
        }
        moments.sum /= rotations;
        moments
    }

    /// Share of each agent over complete blocks.
    pub(crate) fn shares(&self, rotations: u64) -> Vec<Share> {
        match self {
            Self::Two(sums) => sums.shares(rotations),
            Self::More(sums) => {
                let size = sums.agents.len();
                let agents = distinct(&sums.agents).zip(&sums.shares);
                let share = |(agent, &sums)| Share::new(agent, size, sums);
                agents.map(share).collect()
            }
        }
    }

    /// Sums over complete blocks with all rotations, by cluster: number of the cluster, how often it
    /// occurred, and its sums. With two members, each kind of block is a cluster.
    pub(crate) fn clusters(&self) -> Vec<(u64, u64, Cluster)> {
        match self {
            Self::Two(sums) => sums.clusters(),
            Self::More(sums) => {
                let clusters = sums.clusters.iter();
                clusters
                    .map(|(&number, cluster)| (u64::from(number), 1, cluster.clone()))
                    .collect()
            }
        }
    }

    /// True if sums that were read from storage fit a group of this size.
    pub(crate) fn fits(&self, seats: usize, agents: usize) -> bool {
        let sound = match self {
            Self::Two(_) => true,
            Self::More(sums) => {
                sums.shares.len() == distinct(&sums.agents).count()
                    && sums.rankings.fits(sums.agents.len())
            }
        };
        sound
            && self.agents().len() == seats
            && self.agents().is_sorted()
            && self
                .agents()
                .iter()
                .all(|&agent| usize::from(agent) < agents)
    }
}

/// Sums over some blocks of one group, by member; each member sits in each seat once in a
/// block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cluster {
    pub(crate) blocks: u64,
    /// Units by member and seat.
    pub(crate) units: BySeat<u64>,
    /// Sums of squares of the units of a game.
    pub(crate) squares: Few<u64>,
    /// Sums of squares of the units of a block.
    pub(crate) squares_of_blocks: Few<u64>,
}

impl Cluster {
    pub(crate) fn new(seats: usize) -> Self {
        Self {
            blocks: 0,
            units: BySeat::new(seats),
            squares: smallvec![0; seats],
            squares_of_blocks: smallvec![0; seats],
        }
    }

    fn add(&mut self, units: &UnitsBySeat) {
        self.blocks += 1;
        for (member, units) in units.rows().enumerate() {
            let mut of_block = 0;
            for (sum, &units) in self.units.row_mut(member).iter_mut().zip(units) {
                let units = u64::from(units);
                *sum += units;
                self.squares[member] += units * units;
                of_block += units;
            }
            self.squares_of_blocks[member] += of_block * of_block;
        }
    }
}

/// How often rankings occurred together in the complete blocks of a group.
pub(crate) enum Together<'a> {
    /// Sums of c_r·c_s over blocks, for each pair of rankings with r ≤ s that occurred.
    Products(Vec<(Ranking, Ranking, u64)>),
    /// The rankings of each block, one block after another.
    Blocks(&'a [Ranking]),
}

/// Distinct agents in ascending order, each with its number of seats.
pub(crate) fn distinct(agents: &[u16]) -> impl Iterator<Item = (u16, u64)> + '_ {
    agents
        .chunk_by(|one, other| one == other)
        .map(|same| (same[0], same.len() as u64))
}

/// Distinct agents in ascending order, each with its members of the group.
pub(crate) fn members_of(agents: &[u16]) -> impl Iterator<Item = (u16, Range<usize>)> + '_ {
    distinct(agents).scan(0, |from, (agent, seats)| {
        let own = *from..*from + seats as usize;
        *from = own.end;
        Some((agent, own))
    })
}

#[cfg(test)]
mod tests;
