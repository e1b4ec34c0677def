//! What luck explains of scores, and scores without it.
//!
//! A seat's luck has mean zero, whatever it was measured with
//! (`arena_engine::luck`), so that what it explains of the blocks' scores can be
//! taken out: of each block's score a slope times its luck (a control variate
//! with an estimated coefficient: P. Glasserman, "Monte Carlo Methods in
//! Financial Engineering", 2003, section 4.1). A slope learnt from the blocks that
//! it is applied to goes with their luck, which biases their mean by about one
//! part in as many as there are blocks. So blocks fall into two halves, and what
//! is taken out of one has the slope of the other (cross-fitting: V. Chernozhukov
//! et al., "Double/debiased machine learning for treatment and structural
//! parameters", The Econometrics Journal 21, 2018): the mean stays that of the
//! scores, exactly. It may so come to lie a little beyond 0 or 1.
//!
//! A slope is one for all groups of an agent, each group having a mean of its
//! own. The variance is that of the blocks with luck taken out, and has the errors
//! of the slopes in it.

use serde::{Deserialize, Serialize};

mod beside;
mod products;

use super::{Partial, Tally, group::distinct};
use crate::{
    interval::{self, Estimate, Moments},
    standings::AgentStanding,
};
pub(crate) use beside::{GroupLuck, TogetherLuck, difference};
use products::{Part, Products, ScoreLuck, table};

/// Millionths of a game's score.
const POINT: f64 = 1e6;
/// With fewer degrees of freedom in a half its slope is hardly known, and nothing
/// is adjusted.
const FREEDOM_MIN: u64 = 7;

/// Sums over the complete blocks of one agent in one group that are in one half.
/// Wide enough for any luck that fits a record, in any number of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LuckSums {
    blocks: u64,
    units: u64,
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
        self.units += units;
        self.luck += luck;
        self.squares += luck * luck;
        self.products += luck * i128::from(units);
    }
}

/// An agent's blocks, as shares of what a block can have at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Adjusting {
    /// True once blocks were there whose luck is not known.
    unknown: bool,
    own: ScoreLuck,
    /// Of either half, luck by luck and by score.
    halves: [Products<1, 2>; 2],
}

/// A score with luck taken out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Adjusted {
    pub(crate) score: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Share of the variance of blocks that taking luck out took away.
    pub(super) share: f64,
    /// As many games more would have told as much; none where nothing is left
    /// to vary.
    pub(super) games_saved: Option<i64>,
}

/// The blocks of an agent with luck taken out.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// Of what is left.
    estimate: Estimate,
    /// What the luck of either half is multiplied by: learnt on the other one.
    slopes: [f64; 2],
    /// Variance of a block with its luck.
    before: f64,
}

impl Adjusting {
    /// Adds the blocks of one group with the most units of one, and their luck by
    /// halves, which is in parts of the score of so many games.
    pub(crate) fn add(
        &mut self,
        (units, most): (Moments, u64),
        luck: Option<[LuckSums; 2]>,
        games: f64,
    ) {
        if units.blocks == 0 {
            return;
        }
        let told = |[even, odd]: &[LuckSums; 2]| even.blocks + odd.blocks == units.blocks;
        let Some(halves) = luck.filter(told) else {
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

    /// Mean luck of a block's games, in parts of a game's score.
    pub(super) fn luck_mean(&self) -> Option<f64> {
        let [_, even, odd] = self.own.rows;
        let blocks = self.own.blocks;
        (blocks > 0 && !self.unknown).then(|| (even + odd) / blocks as f64)
    }

    /// The score without luck, of `games` games; none where luck is not known
    /// or blocks are few.
    pub(crate) fn adjusted(&self, games: u64) -> Option<Adjusted> {
        let Left {
            estimate, before, ..
        } = self.left()?;
        let (low, high) = interval::around(estimate);
        let left = estimate.variance;
        Some(Adjusted {
            score: estimate.mean,
            low,
            high,
            share: 1.0 - left / before,
            games_saved: (left > 0.0)
                .then(|| (games as f64 * (before / left - 1.0)).round() as i64),
        })
    }

    /// None where luck is not known or blocks are few; and where there is no luck,
    /// or every block came out alike, so that nothing would be taken out.
    fn left(&self) -> Option<Left> {
        let few = |half: &Products<1, 2>| half.freedom() < FREEDOM_MIN;
        let score = self.own.first();
        let luck = self.halves.iter().any(|half| half.first() > 0.0);
        if self.unknown || self.halves.iter().any(few) || score <= 0.0 || !luck {
            return None;
        }
        let slope = |half: Products<1, 2>| {
            let [[luck, both]] = half.spread();
            if half.first() > 0.0 { both / luck } else { 0.0 }
        };
        let [even, odd] = self.halves.map(slope);
        let slopes = [odd, even];
        let n = self.own.blocks as f64;
        let freedom = self.own.freedom();
        Some(Left {
            estimate: Estimate {
                mean: self.own.sum_left(slopes) / n,
                observed: self.own.rows[0] / n,
                variance: self.own.left([slopes; 2]).max(0.0) / freedom as f64,
                blocks: n,
                freedom,
            },
            slopes,
            before: score / freedom as f64,
        })
    }
}

/// What a table of adjusted scores should have said beside it; none where there
/// is nothing adjusted.
pub(super) fn note(agents: &[AgentStanding]) -> Option<String> {
    let shares = agents.iter().filter_map(|agent| agent.luck_share);
    // Where luck seems to explain less than nothing, that is chance.
    let whole = |share: f64| (100.0 * share).round().max(0.0) as i64;
    let shares: Vec<i64> = shares.map(whole).collect();
    let (least, most) = (shares.iter().min()?, shares.iter().max()?);
    let (range, surer) = match (*least, *most) {
        (_, 0) => ("nothing".to_owned(), ", but no surer"),
        (0, _) => (
            format!("up to {most} %"),
            ", and surer where that is above 0",
        ),
        _ if least == most => (format!("{most} %"), ", and surer"),
        _ => (format!("{least} to {most} %"), ", and surer"),
    };
    Some(format!(
        "Luck with the dice explains {range} of what scores varied by from block to block: \
         the score without it is as unbiased{surer}."
    ))
}

impl Tally {
    /// Takes in the luck of a complete block of a group, so many of whose blocks
    /// come before.
    pub(super) fn add_luck(&mut self, (group, before): (u64, u64), block: &Partial, seats: &[u16]) {
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
        // Halves of each group and, of groups with few blocks, of all together.
        let half = (group ^ before) % 2;
        sums.add(half as usize, block, &members, &block.rankings[..games]);
    }
}

#[cfg(test)]
mod tests;
