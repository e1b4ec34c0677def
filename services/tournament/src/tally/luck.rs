//! What luck explains of scores, and scores without it.
//!
//! A seat's luck has mean zero, whatever it was measured with
//! (`arena_engine::luck`), so that what it explains of the blocks' scores can be
//! taken out: the adjusted score is where the line through the blocks, score
//! against luck, crosses no luck (a control variate with an estimated
//! coefficient: P. Glasserman, "Monte Carlo Methods in Financial Engineering",
//! 2003, section 4.1). The slope is one for all groups of an agent, each group
//! having a mean of its own. The variance is that of a regression line at a
//! point, which has the error of the slope in it, and the degrees of freedom
//! are one fewer than those of the mean.

use serde::{Deserialize, Serialize};

mod beside;

use super::{Partial, Tally, group::distinct};
use crate::{
    interval::{self, Moments},
    standings::AgentStanding,
};
pub(crate) use beside::{GroupLuck, TogetherLuck, difference};

/// Millionths of a game's score.
const POINT: f64 = 1e6;
/// Below so many degrees of freedom the slope is hardly known, and nothing is
/// adjusted.
const FREEDOM_MIN: u64 = 10;

/// Sums over the complete blocks of one agent in one group. Wide enough for any
/// luck that fits a record, in any number of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LuckSums {
    blocks: u64,
    luck: i128,
    squares: i128,
    /// Luck by units.
    products: i128,
}

impl LuckSums {
    /// Counts a block with this luck and so many units.
    pub(super) fn add(&mut self, luck: i64, units: u64) {
        let luck = i128::from(luck);
        self.blocks += 1;
        self.luck += luck;
        self.squares += luck * luck;
        self.products += luck * i128::from(units);
    }
}

/// An agent's blocks, as shares of what a block can have at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Adjusting {
    blocks: u64,
    groups: u64,
    /// True once blocks were there whose luck is not known.
    unknown: bool,
    luck: f64,
    score: f64,
    /// Sums of squares and products, and the same within groups.
    all: Spread,
    within: Spread,
}

/// Sums of squares and products.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    score: f64,
    luck: f64,
    both: f64,
}

/// A score with luck taken out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Adjusted {
    pub(crate) score: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Share of the variance of blocks that luck explains, less what it would
    /// by chance.
    pub(super) share: f64,
    /// As many games more would have told as much; none where nothing is left
    /// to vary.
    pub(super) games_saved: Option<i64>,
}

/// The line through an agent's blocks, score against luck.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Where it crosses no luck.
    score: f64,
    slope: f64,
    /// Variance of a block around it, and around the mean alone.
    left: f64,
    before: f64,
    /// What the slope's error multiplies the variance at no luck by.
    error: f64,
    blocks: f64,
    freedom: u64,
}

impl Adjusting {
    /// Adds the blocks of one group, of `games` games of the agent with at most
    /// `most` units each.
    pub(crate) fn add(&mut self, units: Moments, luck: Option<&LuckSums>, games: u64, most: u64) {
        if units.blocks == 0 {
            return;
        }
        let Some(luck) = luck.filter(|luck| luck.blocks == units.blocks) else {
            self.unknown = true;
            return;
        };
        let n = units.blocks as f64;
        let most = (games * most) as f64;
        let scale = POINT * games as f64;
        let sums = Spread {
            score: units.squares as f64 / (most * most),
            luck: luck.squares as f64 / (scale * scale),
            both: luck.products as f64 / (most * scale),
        };
        let blocks = i128::from(units.blocks);
        let of_luck = blocks * luck.squares - luck.luck * luck.luck;
        let of_both = blocks * luck.products - luck.luck * i128::from(units.sum);
        self.blocks += units.blocks;
        self.groups += 1;
        self.score += units.sum as f64 / most;
        self.luck += luck.luck as f64 / scale;
        self.all = self.all.plus(sums);
        self.within = self.within.plus(Spread {
            score: units.spread() / (most * most),
            luck: of_luck as f64 / n / (scale * scale),
            both: of_both as f64 / n / (most * scale),
        });
    }

    /// Mean luck of a block's games, in parts of a game's score.
    pub(super) fn luck_mean(&self) -> Option<f64> {
        (self.blocks > 0 && !self.unknown).then(|| self.luck / self.blocks as f64)
    }

    /// The score without luck, of `games` games; none where luck is not known
    /// or blocks are few.
    pub(crate) fn adjusted(&self, games: u64) -> Option<Adjusted> {
        let line = self.line()?;
        let score = line.score.clamp(0.0, 1.0);
        let variance = line.left * line.error;
        let (low, high) = interval::around(score, variance, line.blocks, line.freedom);
        Some(Adjusted {
            score,
            low,
            high,
            share: 1.0 - line.left / line.before,
            games_saved: (line.left > 0.0)
                .then(|| (games as f64 * (line.before / line.left - 1.0)).round() as i64),
        })
    }

    fn line(&self) -> Option<Line> {
        let n = self.blocks as f64;
        if self.unknown || self.blocks == 0 {
            return None;
        }
        // As with means: groups of one block say nothing of how blocks vary.
        let (spread, groups) = if self.blocks >= 2 * self.groups {
            (self.within, self.groups)
        } else {
            let centred = Spread {
                score: self.all.score - self.score * self.score / n,
                luck: self.all.luck - self.luck * self.luck / n,
                both: self.all.both - self.luck * self.score / n,
            };
            (centred, 1)
        };
        let freedom = self.blocks.checked_sub(groups + 1)?;
        if freedom < FREEDOM_MIN || spread.luck <= 0.0 || spread.score <= 0.0 {
            return None;
        }
        let (mean, luck) = (self.score / n, self.luck / n);
        let slope = spread.both / spread.luck;
        Some(Line {
            score: mean - slope * luck,
            slope,
            left: (spread.score - slope * spread.both).max(0.0) / freedom as f64,
            before: spread.score / (freedom + 1) as f64,
            error: 1.0 + n * luck * luck / spread.luck,
            blocks: n,
            freedom,
        })
    }
}

impl Spread {
    fn plus(self, other: Self) -> Self {
        Self {
            score: self.score + other.score,
            luck: self.luck + other.luck,
            both: self.both + other.both,
        }
    }
}

/// What a table of adjusted scores should have said beside it; none where there
/// is nothing adjusted.
pub(super) fn note(agents: &[AgentStanding]) -> Option<String> {
    let shares = agents.iter().filter_map(|agent| agent.luck_share);
    let whole = |share: f64| (100.0 * share).round().max(0.0) as u64;
    let shares: Vec<u64> = shares.map(whole).collect();
    let (least, most) = (shares.iter().min()?, shares.iter().max()?);
    let range = if least == most {
        format!("{most} %")
    } else {
        format!("{least} to {most} %")
    };
    Some(format!(
        "Luck with the dice explains {range} of what scores varied by from block to block: \
         the score without it is as unbiased, and surer."
    ))
}

impl Tally {
    /// Takes in the luck of a complete block of a group.
    pub(super) fn add_luck(&mut self, group: u64, block: &Partial, seats: &[u16]) {
        let mut agents = seats.to_vec();
        agents.sort_unstable();
        let members: Vec<_> = distinct(&agents)
            .scan(0, |from, (_, count)| {
                let own = *from..*from + count as usize;
                *from = own.end;
                Some(own)
            })
            .collect();
        let sums = self.luck.entry(group);
        let sums = sums.or_insert_with(|| GroupLuck::new(members.len()));
        let games = self.schedule.rotations() as usize;
        sums.add(block, &members, &block.rankings[..games]);
    }
}

#[cfg(test)]
mod tests;
