//! Luck-adjusted scores, and the luck share: the share of the variance of scores that luck
//! explains.
//!
//! A seat's luck has mean zero, whichever position values it is measured with
//! (`arena_engine::luck`). So a slope times the luck can be subtracted from the score of each
//! block (a control variate with an estimated coefficient: P. Glasserman, "Monte Carlo Methods in
//! Financial Engineering", 2003, section 4.1). A slope that is estimated from the same blocks to
//! which it is applied is correlated with their luck. This correlation biases the mean by about
//! 1/n for n blocks. So blocks are split into two halves, and each half uses the slope of the
//! other half (cross-fitting: V. Chernozhukov et al., "Double/debiased machine learning for
//! treatment and structural parameters", The Econometrics Journal 21, 2018). The adjusted score is
//! then exactly unbiased, but it may be slightly below 0 or above 1.
//!
//! An agent has one slope for all groups, and one mean for each group. The variance is the
//! variance of the luck-adjusted blocks and includes the errors of the slopes. Whether a score is
//! adjusted depends only on the number of blocks, never on the results, because a choice by
//! results would bias the displayed scores.

use serde::{Deserialize, Serialize};

mod beside;
mod products;
mod shape;

use super::{AgentStanding, Partial, Tally, group::members_of};
use crate::{
    Estimate, Interval,
    interval::{self, BlockMean, Moments},
};
pub(crate) use beside::{GroupLuck, TogetherLuck, difference};
use products::{Part, Products, ScoreLuck, table};
use shape::{Line, ShapeSums};

/// Millionths of a game's score.
const POINT: f64 = 1e6;
/// Minimum degrees of freedom in a half. With fewer, the slope is too uncertain, and no score is
/// adjusted.
const DF_MIN: u64 = 7;
/// Minimum number of blocks of an agent for which the luck share is shown.
const BLOCKS_MIN: u64 = 30;
/// Variance of the remaining share due to the errors of the two slopes, divided by the squared
/// share and multiplied by the squared number of blocks: 20 if luck explains nothing, and 20 more
/// for skewness.
const SLOPES: f64 = 40.0;

/// Sums over one half of the complete blocks of one agent in one group. The integers are wide
/// enough for any luck that a record can contain, in any number of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LuckSums {
    blocks: u64,
    units: u64,
    luck: i128,
    squares: i128,
    /// Sum of luck times units.
    products: i128,
}

impl LuckSums {
    /// Adds a block with this luck and these units.
    pub(super) fn add(&mut self, luck: i64, units: u64) {
        let luck = i128::from(luck);
        self.blocks += 1;
        self.units += units;
        self.luck += luck;
        self.squares += luck * luck;
        self.products += luck * i128::from(units);
    }
}

/// Sums over an agent's blocks, with scores as shares of a block's maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Adjusting {
    /// True after a block with unknown luck.
    unknown: bool,
    own: ScoreLuck,
    /// Products of luck with luck and with the score, for each half.
    halves: [Products<1, 2>; 2],
}

/// The luck-adjusted blocks of an agent.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// The mean of the adjusted blocks.
    mean: BlockMean,
    /// The slope applied to each half, estimated on the other half.
    slopes: [f64; 2],
    /// Variance of the unadjusted blocks.
    before: f64,
}

impl Adjusting {
    /// Adds the blocks of one group: their units with the maximum units of a block, and their luck
    /// by half, in parts of the score of `games` games.
    pub(crate) fn add(
        &mut self,
        (units, most): (Moments, u64),
        luck: Option<[LuckSums; 2]>,
        games: f64,
    ) {
        if units.blocks == 0 {
            return;
        }
        let reported = |[even, odd]: &[LuckSums; 2]| even.blocks + odd.blocks == units.blocks;
        let Some(halves) = luck.filter(reported) else {
            self.unknown = true;
            return;
        };
        let score = |sum: u64| Part {
            sum: sum.into(),
            scale: most as f64,
        };
        let luck = |half: LuckSums| Part {
            sum: half.luck,
            scale: POINT * games,
        };
        let [even, odd] = halves.map(luck);
        let parts = [score(units.sum), even, odd];
        let crossed = halves.map(|half| half.products);
        let squares = halves.map(|half| half.squares);
        let products = table(units.squares.into(), [crossed; 2], squares);
        self.own.add(units.blocks, parts, parts, products);
        for (products, half) in self.halves.iter_mut().zip(halves) {
            products.add(
                half.blocks,
                [luck(half)],
                [luck(half), score(half.units)],
                [[half.squares, half.products]],
            );
        }
    }

    /// Mean luck of a game, as a share of a game's score.
    pub(super) fn luck_mean(&self) -> Option<f64> {
        let [_, even, odd] = self.own.rows;
        let blocks = self.own.blocks;
        (blocks > 0 && !self.unknown).then(|| (even + odd) / blocks as f64)
    }

    /// The luck-adjusted score. Its anytime-valid interval is narrowest near `tuning_horizon`
    /// blocks. `None` if luck is unknown or there are too few blocks.
    pub(crate) fn adjusted(&self, tuning_horizon: f64) -> Option<Estimate> {
        Some(self.left()?.mean.estimate(tuning_horizon))
    }

    /// The share of the variance of blocks that remains after the adjustment, with its
    /// fixed-sample interval. `shape` is the sum of [`Adjusting::shape`] over all groups. `None` if
    /// luck is unknown, there are too few blocks, or scores do not vary.
    pub(super) fn left_share(&self, shape: f64) -> Option<Estimate> {
        let left = self.left()?;
        let n = left.mean.blocks;
        if left.before <= 0.0 || self.own.blocks < BLOCKS_MIN {
            return None;
        }
        let ratio = left.ratio();
        let squares = left.before * left.mean.df as f64;
        let variance = shape / (squares * squares) + SLOPES * (ratio / n).powi(2);
        let half = interval::critical(left.mean.df) * variance.sqrt();
        Some(Estimate {
            value: ratio,
            fixed: Some(Interval::new((ratio - half).max(0.0), ratio + half)),
            anytime: None,
        })
    }

    /// The contribution of one group's blocks to the variance of the luck share; the arguments are
    /// those of [`Adjusting::add`].
    pub(super) fn shape(
        &self,
        place: usize,
        luck: &GroupLuck,
        (most, games): (u64, f64),
    ) -> Option<f64> {
        let left = self.left()?;
        let halves = luck.shape(place)?;
        let blocks: u64 = halves.iter().map(|(sums, _)| sums.blocks).sum();
        let line = |half: usize| Line {
            unit: 1.0 / most as f64,
            luck: -left.slopes[half] / (POINT * games),
        };
        let (means, widened) = if self.own.is_stratified() {
            if blocks < 2 {
                return None;
            }
            let sums = halves.iter().enumerate().map(|(half, (sums, _))| {
                let Line { unit, luck } = line(half);
                let score = unit * sums.units as f64;
                (score + luck * sums.luck as f64, score)
            });
            let (left, score) = sums.fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
            let n = blocks as f64;
            ((left / n, score / n), n / (n - 1.0))
        } else {
            ((left.mean.mean, left.mean.observed), 1.0)
        };
        let of = |(half, &(sums, shape)): (usize, &(&LuckSums, &ShapeSums))| {
            shape::squares((sums, shape), line(half), left.ratio(), means)
        };
        Some(widened * halves.iter().enumerate().map(of).sum::<f64>())
    }

    /// The adjusted blocks; `None` if luck is unknown or there are too few blocks. This condition
    /// does not depend on the results, so there is no selection bias.
    fn left(&self) -> Option<Left> {
        let few = |half: &Products<1, 2>| half.df() < DF_MIN;
        if self.unknown || self.halves.iter().any(few) {
            return None;
        }
        let slope = |half: Products<1, 2>| {
            let [[luck, both]] = half.spread();
            if half.first() > 0.0 { both / luck } else { 0.0 }
        };
        let [even, odd] = self.halves.map(slope);
        let slopes = [odd, even];
        let n = self.own.blocks as f64;
        let df = self.own.df();
        Some(Left {
            mean: BlockMean {
                mean: self.own.sum_left(slopes) / n,
                observed: self.own.rows[0] / n,
                variance: self.own.left([slopes; 2]).max(0.0) / df as f64,
                blocks: n,
                df,
            },
            slopes,
            before: self.own.first() / df as f64,
        })
    }
}

impl Left {
    /// Ratio of the remaining variance to the original variance.
    fn ratio(&self) -> f64 {
        self.mean.variance / self.before
    }
}

/// The note for a table of adjusted scores; `None` if no agent has a luck share.
pub(super) fn note(agents: &[AgentStanding]) -> Option<String> {
    let whole = |share: f64| (100.0 * share).round() as i64;
    let shares = || agents.iter().filter_map(|agent| agent.luck_share);
    let ends = || shares().filter_map(|share| share.fixed);
    let least = shares().map(|share| whole(share.value)).min()?;
    let most = shares().map(|share| whole(share.value)).max()?;
    let low = ends().map(|ends| whole(ends.low)).min()?;
    let high = ends().map(|ends| whole(ends.high)).max()?;
    let range = if least == most {
        format!("{most} %")
    } else {
        format!("{least} to {most} %")
    };
    Some(format!(
        "Luck with the dice explains {range} of the variance of an agent's block scores (95 % \
         intervals within {low} to {high} %). The luck-adjusted score is unbiased."
    ))
}

impl Tally {
    /// Adds the luck of a group's complete block, after `before` earlier blocks.
    pub(super) fn add_luck(&mut self, (group, before): (u64, u64), block: &Partial, seats: &[u16]) {
        let mut agents = seats.to_vec();
        agents.sort_unstable();
        let members: Vec<_> = members_of(&agents).map(|(_, own)| own).collect();
        let sums = self.sums.luck.entry(group);
        let sums = sums.or_insert_with(|| GroupLuck::new(members.len()));
        // Alternate within each group, and between groups, so that small groups also fill both
        // halves.
        let half = (group ^ before) % 2;
        sums.add(half as usize, block, &members, &block.rankings);
    }
}

#[cfg(test)]
mod tests;
