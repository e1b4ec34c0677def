//! Sums of a group of two members: blocks counted by kind.

use serde::{Deserialize, Serialize};

use super::{Block, BlockSums, Cluster, Share, UnitsBySeat};
use crate::tally::ranking::Ranking;

/// Two members: a block is described by the first member's units in both seats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TwoSums {
    pub(super) agents: [u16; 2],
    /// Losses, draws and wins of the first member, including incomplete blocks.
    pub(super) games: [u64; 3],
    /// Number of blocks by kind: 3 × (the first member's units in seat 0) + (its units in seat 1).
    /// If seats do not rotate, one of the two is 0.
    pub(super) blocks: [u64; 9],
}

impl TwoSums {
    /// Loss, draw and win of the first member.
    pub(super) const RANKINGS: [Ranking; 3] = [
        Ranking::of(&[1, 0]),
        Ranking::of(&[0, 0]),
        Ranking::of(&[0, 1]),
    ];

    pub(super) fn new(agents: [u16; 2]) -> Self {
        Self {
            agents,
            games: [0; 3],
            blocks: [0; 9],
        }
    }

    /// Index of the outcome for the first member: 0 loss, 1 draw, 2 win.
    pub(super) fn outcome(ranking: Ranking) -> usize {
        ranking.units(0, 2) as usize
    }

    pub(super) fn add_block(&mut self, block: Block<'_>) {
        let units = block.units.row(0).iter();
        let place = units.fold(0, |place, &units| 3 * place + usize::from(units));
        if let Some(blocks) = self.blocks.get_mut(place) {
            *blocks += 1;
        }
    }

    /// Number of blocks of each kind that occurred, with the first member's units in both
    /// seats.
    fn by_seat(&self) -> impl Iterator<Item = (u64, [u64; 2])> + '_ {
        let kinds = (0..).zip(self.blocks);
        kinds
            .filter(|&(_, blocks)| blocks > 0)
            .map(|(kind, blocks)| (blocks, [kind / 3, kind % 3]))
    }

    pub(super) fn clusters(&self) -> Vec<(u64, u64, Cluster)> {
        let cluster = |(number, (blocks, [first, second])): (u64, (u64, [u64; 2]))| {
            let units = [[first, second], [2 - second, 2 - first]];
            let mut cluster = Cluster::new(2);
            let mut of_block = UnitsBySeat::new(2);
            for (member, units) in units.into_iter().enumerate() {
                let units = units.map(|units| units as u8);
                of_block.row_mut(member).copy_from_slice(&units);
            }
            cluster.add(&of_block);
            (number, blocks, cluster)
        };
        (0..).zip(self.by_seat()).map(cluster).collect()
    }

    /// Number of blocks by losses, draws and wins of the first member; only kinds that
    /// occurred.
    fn kinds(&self, rotations: u64) -> impl Iterator<Item = (u64, [u64; 3])> + '_ {
        self.by_seat().map(move |(blocks, units)| {
            let count = |wanted| units.iter().filter(|&&units| units == wanted).count() as u64;
            let (wins, draws) = (count(2), count(1));
            (blocks, [rotations - wins - draws, draws, wins])
        })
    }

    pub(super) fn products(&self, rotations: u64) -> Vec<(Ranking, Ranking, u64)> {
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

    pub(super) fn shares(&self, rotations: u64) -> Vec<Share> {
        let mut sums = [BlockSums::default(); 2];
        for (blocks, [losses, draws, wins]) in self.kinds(rotations) {
            for (sums, won) in sums.iter_mut().zip([wins, losses]) {
                sums.units.add_alike(blocks, 2 * won + draws);
                sums.wins.add_alike(blocks, won);
            }
        }
        let shares = self.agents.into_iter().zip(sums);
        let share = |(agent, sums)| Share::new((agent, 1), 2, sums);
        shares.map(share).collect()
    }
}
