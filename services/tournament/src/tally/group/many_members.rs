//! Sums of a group of more than two members: rankings, clusters and shares.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Block, BlockSums, Cluster, distinct, members_of, units_within};
use crate::tally::ranking::Ranking;

/// More than two members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MoreSums {
    pub(super) agents: Vec<u16>,
    pub(super) blocks: u64,
    pub(super) rankings: Rankings,
    /// Clusters by number, below [`CLUSTERS`](super::CLUSTERS).
    pub(super) clusters: BTreeMap<u8, Cluster>,
    /// Moments of each agent. They could be computed from the rankings, but there may be thousands
    /// of products, and standings are read often.
    pub(super) shares: Vec<BlockSums>,
}

impl MoreSums {
    pub(super) fn new(agents: &[u16]) -> Self {
        Self {
            agents: agents.to_vec(),
            blocks: 0,
            rankings: Rankings::new(agents.len()),
            clusters: BTreeMap::new(),
            shares: vec![BlockSums::default(); distinct(agents).count()],
        }
    }

    pub(super) fn add_block(&mut self, block: Block<'_>) {
        self.blocks += 1;
        self.rankings.add_block(block.rankings);
        let size = self.agents.len();
        let cluster = self.clusters.entry(block.cluster);
        let cluster = cluster.or_insert_with(|| Cluster::new(size));
        cluster.add(block.units);
        for ((_, own), sums) in members_of(&self.agents).zip(&mut self.shares) {
            let seats = own.len() as u64;
            let units = own.clone().flat_map(|member| block.units.row(member));
            let within = units_within(seats) * block.rankings.len() as u64;
            let units: u64 = units.map(|&units| u64::from(units)).sum();
            sums.units.add(units.saturating_sub(within));
            let won = |ranking: &&Ranking| own.clone().any(|member| ranking.wins(member, size));
            sums.wins
                .add(block.rankings.iter().filter(won).count() as u64);
        }
    }
}

/// Maximum number of members whose rankings are counted. Four members have 75 rankings; five have 541,
/// so most products would be of pairs that occur once.
const COUNTED_MAX: usize = 4;

/// The rankings of a group. Games include those of incomplete blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Rankings {
    /// Sums for pairs of rankings.
    Counted {
        games: Counts<Ranking>,
        products: Counts<(Ranking, Ranking)>,
    },
    /// The rankings of each complete block, one block after another.
    Listed {
        games: BTreeMap<Ranking, u64>,
        blocks: Vec<Ranking>,
    },
}

impl Rankings {
    fn new(size: usize) -> Self {
        if size > COUNTED_MAX {
            return Self::Listed {
                games: BTreeMap::new(),
                blocks: Vec::new(),
            };
        }
        Self::Counted {
            games: Counts::default(),
            products: Counts::default(),
        }
    }

    pub(super) fn add_game(&mut self, ranking: Ranking) {
        match self {
            Self::Counted { games, .. } => games.add(ranking, 1),
            Self::Listed { games, .. } => *games.entry(ranking).or_default() += 1,
        }
    }

    fn add_block(&mut self, rankings: &[Ranking]) {
        match self {
            // Count pairs of games: a game with itself once; two games with the same ranking twice;
            // two games with different rankings once, because only r ≤ s is stored.
            Self::Counted { products, .. } => {
                for (place, &one) in rankings.iter().enumerate() {
                    products.add((one, one), 1);
                    for &other in &rankings[..place] {
                        let pair = (one.min(other), one.max(other));
                        products.add(pair, if one == other { 2 } else { 1 });
                    }
                }
            }
            Self::Listed { blocks, .. } => blocks.extend(rankings),
        }
    }

    /// Checks rankings that were read from storage.
    pub(super) fn fits(&self, size: usize) -> bool {
        match self {
            Self::Counted { games, products } => {
                size <= COUNTED_MAX && games.fits() && products.fits()
            }
            Self::Listed { .. } => size > COUNTED_MAX,
        }
    }
}

/// Counts by key, only for keys that occurred. Keys and counts are stored separately, so that a
/// search touches only a few cache lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts<K> {
    keys: Vec<K>,
    numbers: Vec<u64>,
}

impl<K: Ord + Copy> Counts<K> {
    fn add(&mut self, key: K, by: u64) {
        match self.keys.binary_search(&key) {
            Ok(place) => self.numbers[place] += by,
            Err(place) => {
                self.keys.insert(place, key);
                self.numbers.insert(place, by);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.keys.iter().copied().zip(self.numbers.iter().copied())
    }

    /// Checks counts that were read from storage.
    fn fits(&self) -> bool {
        self.keys.is_sorted() && self.keys.len() == self.numbers.len()
    }
}
