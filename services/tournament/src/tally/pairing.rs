//! Pairing efficiency: the variance reduction of blocks over unpaired games.
//!
//! The games of a block have the same agents, each in every seat, and the same dice unless
//! `paired = false`. For unpaired games, the variance of a block's sum would be the sum of the
//! variances of its games. The covariance within blocks is the difference between the observed
//! variance and this sum. Both variances are pooled over agents and groups.
//!
//! The interval uses the delta method for a ratio of sums over blocks (W. G. Cochran,
//! "Sampling Techniques", 3rd edition, 1977, §6.4), on the scale of an intraclass
//! correlation's z (R. A. Fisher, "Statistical Methods for Research Workers", 1925, §38):
//! the ratio is between 0 and the number of games of a block. The crate's README.md has the
//! formulas.

use std::collections::BTreeMap;

use super::{
    Tally,
    group::{BySeat, Cluster, GroupSums, distinct},
};
use crate::{
    Estimate,
    interval::BlockMean,
    tally::{GamesSaved, Pairing},
};

/// Minimum degrees of freedom, as of 30 blocks of one group.
const DF_MIN: u64 = 29;

/// Sums of squares over some blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Squares {
    /// Squared deviations of the sums of blocks from their means.
    together: f64,
    /// Squared deviations of games from the means of their members and seats.
    apart: f64,
}

impl Tally {
    /// The pairing efficiency; `None` if a block is one game, if too few blocks are complete, or if
    /// scores do not vary.
    pub(super) fn pairing(&self) -> Option<Pairing> {
        let rotations = u64::from(self.schedule.rotations());
        let several = |(_, group): &(&u64, &GroupSums)| {
            group.blocks() > 1 && distinct(group.agents()).all(|(_, seats)| seats == 1)
        };
        let groups: Vec<Group> = self
            .sums
            .groups
            .iter()
            .filter(several)
            .map(|(_, group)| Group::of(group))
            .collect();
        let blocks: u64 = groups.iter().map(|group| group.blocks).sum();
        let sums = groups.iter().flat_map(|group| &group.clusters);
        let (together, apart) = sums.fold((0.0, 0.0), |(together, apart), (_, many, squares)| {
            let many = *many as f64;
            (
                together + many * squares.together,
                apart + many * squares.apart,
            )
        });
        let df: u64 = groups.iter().map(|group| group.blocks - 1).sum();
        if rotations < 2 || df < DF_MIN || apart <= 0.0 {
            return None;
        }
        let ratio = together / apart;
        let most = rotations as f64;
        let (variance, clusters) = variance(&groups, (ratio, apart), self.sums.seats.len() == 2);
        let share = (ratio / most).min(1.0);
        let ends = BlockMean {
            mean: share,
            observed: share,
            variance: blocks as f64 * variance / (most * most),
            blocks: blocks as f64,
            df: df.min(clusters.saturating_sub(1)).max(1),
        }
        .fixed();
        let left = Estimate {
            value: ratio,
            fixed: Some(ends.map(|end| end * most)),
            anytime: None,
        };
        Some(Pairing {
            blocks,
            variance_reduction: left.turned(1.0),
            games_saved: GamesSaved::of(blocks * rotations, left),
        })
    }
}

/// One group's squares.
struct Group {
    blocks: u64,
    /// Number of a cluster, how often it occurred, and its squares.
    clusters: Vec<(u64, u64, Squares)>,
}

impl Group {
    fn of(group: &GroupSums) -> Self {
        let clusters = group.clusters();
        let blocks = group.blocks() as f64;
        let mut means = BySeat::new(group.agents().len());
        for (_, many, cluster) in &clusters {
            for (member, units) in cluster.units.rows().enumerate() {
                for (mean, units) in means.row_mut(member).iter_mut().zip(units) {
                    *mean += (many * units) as f64 / blocks;
                }
            }
        }
        Self {
            blocks: group.blocks(),
            clusters: clusters
                .into_iter()
                .map(|(number, many, cluster)| (number, many, squares(&cluster, &means)))
                .collect(),
        }
    }
}

/// Squares of a cluster's blocks and games around the means of their group.
fn squares(cluster: &Cluster, means: &BySeat<f64>) -> Squares {
    let from = |squares: u64, sum: f64, mean: f64| {
        squares as f64 - 2.0 * mean * sum + cluster.blocks as f64 * mean * mean
    };
    let mut found = Squares::default();
    for (member, (units, means)) in cluster.units.rows().zip(means.rows()).enumerate() {
        let sum: u64 = units.iter().sum();
        let of_blocks = cluster.squares_of_blocks[member];
        found.together += from(of_blocks, sum as f64, means.iter().sum());
        found.apart += cluster.squares[member] as f64;
        for (&units, mean) in units.iter().zip(means) {
            found.apart += from(0, units as f64, *mean);
        }
    }
    found
}

/// Variance of the ratio of squares, and the number of clusters. With two members (`alone`), each
/// block is a cluster; otherwise, all blocks with the same cluster number form one cluster. The
/// influence of a cluster is how far the ratio moves if the cluster is removed.
fn variance(groups: &[Group], (ratio, apart): (f64, f64), alone: bool) -> (f64, u64) {
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    let (mut squares, mut count) = (0.0, 0);
    let moves = |(left, part): (f64, f64)| {
        let others = apart - part;
        if others > 0.0 {
            left / others
        } else {
            left / apart
        }
    };
    for group in groups {
        let blocks = group.blocks as f64;
        let widened = (blocks / (blocks - 1.0)).sqrt();
        for (number, many, of) in &group.clusters {
            let left = widened * (of.together - ratio * of.apart);
            if alone {
                squares += *many as f64 * moves((left, widened * widened * of.apart)).powi(2);
                count += many;
            } else {
                let sum = sums.entry(*number).or_default();
                sum.0 += left;
                sum.1 += of.apart;
            }
        }
    }
    if !alone {
        squares = sums.values().map(|&of| moves(of).powi(2)).sum();
        count = sums.len() as u64;
    }
    let more = count as f64 / (count.max(2) - 1) as f64;
    (more * squares, count)
}
