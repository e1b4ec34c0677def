//! Luck of agents beside each other: what two scores less luck differ by, and who
//! of two came before the other, less luck.
//!
//! The difference of two adjusted scores is that of what is left of both once
//! luck is taken out with each one's own slope, and so is the covariance of what
//! is left. A pair's own score is adjusted by how much luckier the one was.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Adjusting, LuckSums, POINT};
use crate::{
    interval::{self, Difference},
    tally::{Partial, Ranking},
};

/// What a group's luck sums up to, over complete blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupLuck {
    /// By agent.
    agents: Vec<LuckSums>,
    /// Each agent with each later one.
    pairs: Vec<PairSums>,
}

/// Sums over blocks of products of what two agents had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PairSums {
    lucks: i128,
    /// The first one's luck by the other's units, and the other way round.
    crossed: [i128; 2],
    /// How much luckier the first was, by its units against the other.
    duel: i128,
}

impl GroupLuck {
    pub(super) fn new(agents: usize) -> Self {
        Self {
            agents: vec![LuckSums::default(); agents],
            pairs: vec![PairSums::default(); agents * agents.saturating_sub(1) / 2],
        }
    }

    /// Counts a block, given the members that each agent has and its games.
    pub(super) fn add(&mut self, block: &Partial, members: &[Range<usize>], games: &[Ranking]) {
        let of = |own: &Range<usize>| {
            let luck: i64 = block.luck[own.clone()].iter().sum();
            let units = block.units[own.clone()].iter().flatten();
            (luck, units.map(|&units| u64::from(units)).sum::<u64>())
        };
        let told: Vec<(i64, u64)> = members.iter().map(of).collect();
        for (sums, &(luck, units)) in self.agents.iter_mut().zip(&told) {
            sums.add(luck, units);
        }
        let mut pairs = self.pairs.iter_mut();
        for (place, first) in members.iter().enumerate() {
            let later = members.iter().enumerate().skip(place + 1);
            for ((other, second), sums) in later.zip(&mut pairs) {
                let [one, two] = [told[place], told[other]];
                let [lucks, units] = [
                    [one.0, two.0].map(i128::from),
                    [one.1, two.1].map(i128::from),
                ];
                let couples = || {
                    first
                        .clone()
                        .flat_map(|a| second.clone().map(move |b| (a, b)))
                };
                let duel = games
                    .iter()
                    .flat_map(|game| couples().map(|(a, b)| game.units_against(a, b)));
                sums.lucks += lucks[0] * lucks[1];
                sums.crossed[0] += lucks[0] * units[1];
                sums.crossed[1] += lucks[1] * units[0];
                sums.duel += (lucks[0] - lucks[1]) * i128::from(duel.sum::<u64>());
            }
        }
    }

    /// One agent's, by its place in the group.
    pub(crate) fn agent(&self, place: usize) -> Option<&LuckSums> {
        self.agents.get(place)
    }

    fn pair(&self, one: usize, other: usize) -> Option<&PairSums> {
        let before = |place: usize| place * (2 * self.agents.len() - place - 1) / 2;
        self.pairs.get(before(one) + other - one - 1)
    }

    /// How much luckier one was than a later one, by its units against it.
    pub(crate) fn duel(&self, one: usize, other: usize) -> Option<LuckSums> {
        let pair = self.pair(one, other)?;
        let [first, second] = [self.agent(one)?, self.agent(other)?];
        Some(LuckSums {
            blocks: first.blocks,
            luck: first.luck - second.luck,
            squares: first.squares + second.squares - 2 * pair.lucks,
            products: pair.duel,
        })
    }
}

/// How two agents' luck and units go together over the blocks of both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TogetherLuck {
    lucks: Products,
    /// The first one's luck by the other's units, and the other way round.
    crossed: [Products; 2],
}

/// Products of two things, over all blocks and within groups.
#[derive(Clone, Copy, Debug, Default)]
struct Products {
    sums: [f64; 2],
    product: f64,
    within: f64,
}

impl Products {
    /// Adds so many blocks of one group: sums of both, and of their products, to
    /// be divided by these.
    fn add(&mut self, blocks: u64, sums: [i128; 2], product: i128, by: [f64; 2]) {
        let n = i128::from(blocks);
        let scale = by[0] * by[1];
        self.sums[0] += sums[0] as f64 / by[0];
        self.sums[1] += sums[1] as f64 / by[1];
        self.product += product as f64 / scale;
        self.within += (n * product - sums[0] * sums[1]) as f64 / n as f64 / scale;
    }

    fn spread(&self, blocks: u64, centred: bool) -> f64 {
        if centred {
            self.within
        } else {
            self.product - self.sums[0] * self.sums[1] / blocks as f64
        }
    }
}

impl TogetherLuck {
    /// Adds the blocks of one group in which both were, by their places, with
    /// each one's units and the games that it has in a block.
    pub(crate) fn add(
        &mut self,
        group: &GroupLuck,
        places: [usize; 2],
        units: [u64; 2],
        games: [u64; 2],
        most: u64,
    ) {
        let pair = group.pair(places[0], places[1]);
        let agents = places.map(|place| group.agent(place));
        let (Some(pair), [Some(first), Some(second)]) = (pair, agents) else {
            return;
        };
        if first.blocks == 0 {
            return;
        }
        let luck = games.map(|games| POINT * games as f64);
        let score = games.map(|games| (games * most) as f64);
        let units = units.map(i128::from);
        let blocks = first.blocks;
        self.lucks
            .add(blocks, [first.luck, second.luck], pair.lucks, luck);
        let [one, other] = &mut self.crossed;
        one.add(
            blocks,
            [first.luck, units[1]],
            pair.crossed[0],
            [luck[0], score[1]],
        );
        other.add(
            blocks,
            [second.luck, units[0]],
            pair.crossed[1],
            [luck[1], score[0]],
        );
    }
}

/// The difference of two adjusted scores, given the spread of their units over
/// the blocks of both (as [`interval::difference`] has it) and how many those are.
/// None where one is not adjusted.
pub(crate) fn difference(
    of: [&Adjusting; 2],
    units: f64,
    luck: &TogetherLuck,
    (blocks, groups): (u64, u64),
) -> Option<Difference> {
    let [first, second] = [of[0].line()?, of[1].line()?];
    let centred = blocks >= 2 * groups;
    let freedom = interval::freedom(blocks, groups);
    let [one, other] = luck.crossed.map(|crossed| crossed.spread(blocks, centred));
    // Of what is left of both: units − slope·luck.
    let left = units - first.slope * one - second.slope * other
        + first.slope * second.slope * luck.lucks.spread(blocks, centred);
    let error = (first.error * second.error).sqrt();
    let shared = freedom.saturating_sub(1);
    let covariance = if shared == 0 {
        0.0
    } else {
        blocks as f64 * left / shared as f64 * error
    };
    Some(interval::difference_of(
        [first, second].map(|line| interval::Estimate {
            mean: line.score.clamp(0.0, 1.0),
            variance: line.left * line.error,
            blocks: line.blocks,
            freedom: line.freedom,
        }),
        covariance,
        shared,
        interval::UNITS_OF_TWO,
    ))
}
