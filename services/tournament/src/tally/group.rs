//! Sums over the games and the complete blocks of agents that meet.
//!
//! Of a block it matters how often each ranking came out, c_r. Kept are the
//! sums over blocks of the products c_r·c_s: whatever a block is worth to
//! somebody, as long as that is a sum over its games, its mean and variance
//! follow from them, and so do covariances for any model of ratings. No block
//! has to be remembered.

use serde::{Deserialize, Serialize};

use super::ranking::Ranking;
use crate::interval::Moments;

/// Sums over the blocks of one agent in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockSums {
    pub(crate) units: Moments,
    pub(crate) wins: Moments,
}

/// A block all games of which are there, none void.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// One for each game.
    pub(crate) rankings: &'a [Ranking],
    /// Units by member and seat.
    pub(crate) units: &'a UnitsBySeat,
}

/// Units by member and seat. A member sits at each seat once in a block that
/// rotates, so that a number is one game's.
pub(crate) type UnitsBySeat = [[u8; 4]; 4];

/// One group's sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum GroupSums {
    /// Of two: few enough outcomes to count each.
    Two(TwoSums),
    /// Of three or four.
    More(Box<MoreSums>),
}

/// What one agent has in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) agent: u16,
    /// How many of the seats are its own.
    pub(crate) seats: u64,
    pub(crate) sums: BlockSums,
}

impl GroupSums {
    /// Of agents that have not met yet, in ascending order.
    pub(crate) fn new(agents: &[u16]) -> Self {
        match *agents {
            [first, second] => Self::Two(TwoSums::new([first, second])),
            _ => Self::More(Box::new(MoreSums::new(agents))),
        }
    }

    /// The group's agents, in ascending order; one may be there several times.
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

    /// Adds a game that is not void, whether its block is complete or not.
    pub(crate) fn add_game(&mut self, ranking: Ranking) {
        match self {
            Self::Two(sums) => sums.games[TwoSums::outcome(ranking)] += 1,
            Self::More(sums) => sums.games.add(ranking, 1),
        }
    }

    /// Adds a complete block.
    pub(crate) fn add_block(&mut self, block: Block<'_>) {
        match self {
            Self::Two(sums) => sums.add_block(block),
            Self::More(sums) => sums.add_block(block),
        }
    }

    /// Complete blocks.
    pub(crate) fn blocks(&self) -> u64 {
        match self {
            Self::Two(sums) => sums.blocks.iter().sum(),
            Self::More(sums) => sums.blocks,
        }
    }

    /// Games of each ranking, by ranking, incomplete blocks included.
    pub(crate) fn games(&self) -> Vec<(Ranking, u64)> {
        match self {
            Self::Two(sums) => {
                let games = TwoSums::RANKINGS.into_iter().zip(sums.games);
                let mut games: Vec<_> = games.filter(|&(_, count)| count > 0).collect();
                games.sort_unstable();
                games
            }
            Self::More(sums) => sums.games.iter().collect(),
        }
    }

    /// Over complete blocks of so many games: the sums of c_r·c_s, each pair of
    /// rankings once with r ≤ s.
    pub(crate) fn products(&self, rotations: u64) -> Vec<(Ranking, Ranking, u64)> {
        match self {
            Self::Two(sums) => sums.products(rotations),
            Self::More(sums) => {
                let products = sums.products.iter();
                products.map(|((r, s), sum)| (r, s, sum)).collect()
            }
        }
    }

    /// Moments over complete blocks of so many games of what a block is worth,
    /// which is the sum of what its rankings are worth.
    pub(crate) fn moments(&self, rotations: u64, worth: impl Fn(Ranking) -> u64) -> Moments {
        let mut moments = Moments {
            blocks: self.blocks(),
            ..Moments::default()
        };
        for (r, s, sum) in self.products(rotations) {
            let both = worth(r) * worth(s) * sum;
            moments.squares += if r == s { both } else { 2 * both };
            // Σ_s c_s is the number of games, so Σ_s c_r·c_s is c_r times it.
            moments.sum += if r == s {
                worth(r) * sum
            } else {
                (worth(r) + worth(s)) * sum
            };
        }
        moments.sum /= rotations;
        moments
    }

    /// What each agent has, over complete blocks of so many games.
    pub(crate) fn shares(&self, rotations: u64) -> Vec<Share> {
        match self {
            Self::Two(sums) => sums.shares(rotations),
            Self::More(sums) => {
                let agents = distinct(&sums.agents).zip(&sums.shares);
                let share = |((agent, seats), &sums)| Share { agent, seats, sums };
                agents.map(share).collect()
            }
        }
    }

    /// Sum over complete blocks of a member's units at a seat, where blocks
    /// rotate.
    pub(crate) fn units_at(&self, member: usize, seat: usize) -> u64 {
        match self {
            Self::Two(sums) => sums.units_at(member, seat),
            Self::More(sums) => sums.units[member][seat],
        }
    }

    /// Sum over the games of complete blocks of the squares of a member's units.
    pub(crate) fn squares(&self, member: usize, rotations: u64) -> u64 {
        match self {
            Self::Two(sums) => sums.squares(member, rotations),
            Self::More(sums) => sums.squares[member],
        }
    }

    /// Whether the numbers can be of a group of this size.
    pub(crate) fn fits(&self, seats: usize, agents: usize) -> bool {
        let sound = match self {
            Self::Two(_) => true,
            Self::More(sums) => {
                sums.shares.len() == distinct(&sums.agents).count()
                    && sums.games.fits()
                    && sums.products.fits()
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

/// Two members: a block is told by its wins and draws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TwoSums {
    agents: [u16; 2],
    /// Losses, draws and wins of the first, incomplete blocks included.
    games: [u64; 3],
    /// Blocks by the first's wins and draws, as in [`TwoSums::BLOCKS`].
    blocks: [u64; 6],
    /// Units of the first at seat 0, over complete blocks.
    first: u64,
}

impl TwoSums {
    /// Wins and draws of the first member in a block.
    const BLOCKS: [(u64, u64); 6] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)];
    /// Loss, draw and win of the first member.
    const RANKINGS: [Ranking; 3] = [
        Ranking::of([1, 0, 0, 0]),
        Ranking::of([0, 0, 0, 0]),
        Ranking::of([0, 1, 0, 0]),
    ];

    fn new(agents: [u16; 2]) -> Self {
        Self {
            agents,
            games: [0; 3],
            blocks: [0; 6],
            first: 0,
        }
    }

    /// Loss, draw or win of the first member: its units.
    fn outcome(ranking: Ranking) -> usize {
        ranking.units(0, 2) as usize
    }

    fn add_block(&mut self, block: Block<'_>) {
        let count = |units| {
            let rankings = block.rankings.iter();
            rankings
                .filter(|&&ranking| Self::outcome(ranking) == units)
                .count() as u64
        };
        let told = (count(2), count(1));
        if let Some(place) = Self::BLOCKS.iter().position(|&known| known == told) {
            self.blocks[place] += 1;
            self.first += u64::from(block.units[0][0]);
        }
    }

    /// How many blocks of so many games had these losses, draws and wins of the
    /// first; those that there were.
    fn kinds(&self, rotations: u64) -> impl Iterator<Item = (u64, [u64; 3])> + '_ {
        let kinds = self.blocks.iter().zip(Self::BLOCKS);
        kinds
            .filter(|&(&blocks, _)| blocks > 0)
            .map(move |(&blocks, (wins, draws))| (blocks, [rotations - wins - draws, draws, wins]))
    }

    fn products(&self, rotations: u64) -> Vec<(Ranking, Ranking, u64)> {
        let mut sums = [[0; 3]; 3];
        for (blocks, counts) in self.kinds(rotations) {
            for (row, r) in sums.iter_mut().zip(counts) {
                for (sum, s) in row.iter_mut().zip(counts) {
                    *sum += blocks * r * s;
                }
            }
        }
        let mut products = Vec::with_capacity(6);
        for (r, row) in Self::RANKINGS.into_iter().zip(sums) {
            for (s, sum) in Self::RANKINGS.into_iter().zip(row) {
                if r <= s && sum > 0 {
                    products.push((r, s, sum));
                }
            }
        }
        products.sort_unstable();
        products
    }

    fn shares(&self, rotations: u64) -> Vec<Share> {
        let mut sums = [BlockSums::default(); 2];
        for (blocks, [losses, draws, wins]) in self.kinds(rotations) {
            for (sums, won) in sums.iter_mut().zip([wins, losses]) {
                sums.units.add_alike(blocks, 2 * won + draws);
                sums.wins.add_alike(blocks, won);
            }
        }
        let [first, second] = self.agents;
        if first == second {
            // Both seats are its own: who won is all the same.
            let mut both = BlockSums::default();
            for (blocks, [losses, draws, wins]) in self.kinds(rotations) {
                both.units.add_alike(blocks, 2 * (losses + draws + wins));
                both.wins.add_alike(blocks, losses + wins);
            }
            return vec![Share {
                agent: first,
                seats: 2,
                sums: both,
            }];
        }
        let shares = self.agents.into_iter().zip(sums);
        let share = |(agent, sums)| Share {
            agent,
            seats: 1,
            sums,
        };
        shares.map(share).collect()
    }

    fn squares(&self, member: usize, rotations: u64) -> u64 {
        let squares = |(blocks, [losses, draws, wins]): (u64, [u64; 3])| {
            blocks * (4 * [wins, losses][member] + draws)
        };
        self.kinds(rotations).map(squares).sum()
    }

    fn units_at(&self, member: usize, seat: usize) -> u64 {
        let blocks: u64 = self.blocks.iter().sum();
        let all: u64 = self
            .kinds(2)
            .map(|(n, [_, draws, wins])| n * (2 * wins + draws))
            .sum();
        let of_first = |seat| {
            if seat == 0 {
                self.first
            } else {
                all - self.first
            }
        };
        if member == 0 {
            of_first(seat)
        } else {
            2 * blocks - of_first(1 - seat)
        }
    }
}

/// Three or four members: rankings that came out, and pairs of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MoreSums {
    agents: Vec<u16>,
    /// Incomplete blocks included.
    games: Counts<Ranking>,
    blocks: u64,
    products: Counts<(Ranking, Ranking)>,
    /// By member and seat, over complete blocks.
    units: [[u64; 4]; 4],
    /// Squares of a game's units by member, over complete blocks.
    squares: [u64; 4],
    /// The same moments that follow from the products, of each agent: kept, as
    /// there may be thousands of products, and standings are looked at often.
    shares: Vec<BlockSums>,
}

impl MoreSums {
    fn new(agents: &[u16]) -> Self {
        Self {
            agents: agents.to_vec(),
            games: Counts::default(),
            blocks: 0,
            products: Counts::default(),
            units: [[0; 4]; 4],
            squares: [0; 4],
            shares: vec![BlockSums::default(); distinct(agents).count()],
        }
    }

    fn add_block(&mut self, block: Block<'_>) {
        self.blocks += 1;
        // Counted pair by pair of games: a game with itself once, two games of
        // one ranking twice, of two rankings once for the pair in order.
        for (place, &one) in block.rankings.iter().enumerate() {
            self.products.add((one, one), 1);
            for &other in &block.rankings[..place] {
                let pair = (one.min(other), one.max(other));
                self.products.add(pair, if one == other { 2 } else { 1 });
            }
        }
        let size = self.agents.len();
        for (sums, units) in self.units.iter_mut().zip(block.units) {
            for (sum, &units) in sums.iter_mut().zip(units) {
                *sum += u64::from(units);
            }
        }
        for (member, sum) in self.squares.iter_mut().enumerate().take(size) {
            let units = |ranking: &Ranking| ranking.units(member, size).pow(2);
            *sum += block.rankings.iter().map(units).sum::<u64>();
        }
        let mut member = 0;
        for ((_, seats), sums) in distinct(&self.agents).zip(&mut self.shares) {
            let own = member..member + seats as usize;
            member = own.end;
            let units = own.clone().flat_map(|member| block.units[member]);
            sums.units.add(units.map(u64::from).sum());
            let won = |ranking: &&Ranking| own.clone().any(|member| ranking.wins(member, size));
            sums.wins
                .add(block.rankings.iter().filter(won).count() as u64);
        }
    }
}

/// Agents in ascending order, each once, with how many seats it has.
pub(crate) fn distinct(agents: &[u16]) -> impl Iterator<Item = (u16, u64)> + '_ {
    agents
        .chunk_by(|one, other| one == other)
        .map(|same| (same[0], same.len() as u64))
}

/// A number for each key that came, by key. Keys and numbers lie apart, so that
/// a search stays within a few lines of the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counts<K> {
    keys: Vec<K>,
    numbers: Vec<u64>,
}

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            numbers: Vec::new(),
        }
    }
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

    fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.keys.iter().copied().zip(self.numbers.iter().copied())
    }

    /// What is read from outside may be anything.
    fn fits(&self) -> bool {
        self.keys.is_sorted() && self.keys.len() == self.numbers.len()
    }
}

#[cfg(test)]
mod tests;
