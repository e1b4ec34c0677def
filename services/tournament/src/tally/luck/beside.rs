//! Luck in pairwise comparisons: differences of luck-adjusted scores, and luck-adjusted
//! results of pairs.
//!
//! The difference of two adjusted scores is the difference of their residuals after luck is
//! subtracted with each agent's own slopes; the covariance is that of the residuals. A
//! pair's own score is adjusted by the difference of their luck.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Adjusting, LuckSums, POINT, Part, ScoreLuck, ShapeSums, table};
use crate::{
    interval::{self, Difference, Moments},
    tally::{Partial, Ranking, units_within},
};

/// Luck sums of a group over complete blocks, by half.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupLuck {
    halves: [HalfLuck; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct HalfLuck {
    /// By agent.
    agents: Vec<LuckSums>,
    shapes: Vec<ShapeSums>,
    /// Sums of each agent with each later one.
    pairs: Vec<PairSums>,
}

/// Sums over the shared blocks of two agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PairSums {
    /// Products of their luck.
    lucks: i128,
    /// Luck of the first times units of the other, and vice versa.
    crossed: [i128; 2],
    /// Units of the first against the other.
    units: u64,
    /// Luck difference of the first over the other, times those units.
    duel: i128,
}

impl GroupLuck {
    pub(super) fn new(agents: usize) -> Self {
        let half = HalfLuck {
            agents: vec![LuckSums::default(); agents],
            shapes: vec![ShapeSums::default(); agents],
            pairs: vec![PairSums::default(); agents * agents.saturating_sub(1) / 2],
        };
        Self {
            halves: [half.clone(), half],
        }
    }

    /// Adds a block to a half, given the members of each agent and the block's games.
    pub(super) fn add(
        &mut self,
        half: usize,
        block: &Partial,
        members: &[Range<usize>],
        games: &[Ranking],
    ) {
        let half = &mut self.halves[half];
        let of = |own: &Range<usize>| {
            let luck: i64 = block.luck[own.clone()].iter().sum();
            let units = own.clone().flat_map(|member| block.units.row(member));
            let units: u64 = units.map(|&units| u64::from(units)).sum();
            let within = units_within(own.len() as u64) * games.len() as u64;
            (luck, units.saturating_sub(within))
        };
        let reported: Vec<(i64, u64)> = members.iter().map(of).collect();
        for (sums, &(luck, units)) in half.agents.iter_mut().zip(&reported) {
            sums.add(luck, units);
        }
        for (sums, &(luck, units)) in half.shapes.iter_mut().zip(&reported) {
            sums.add(luck, units);
        }
        let mut pairs = half.pairs.iter_mut();
        for (place, first) in members.iter().enumerate() {
            let later = members.iter().enumerate().skip(place + 1);
            for ((other, second), sums) in later.zip(&mut pairs) {
                let [one, two] = [reported[place], reported[other]];
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
                let duel: u64 = duel.sum();
                sums.lucks += lucks[0] * lucks[1];
                sums.crossed[0] += lucks[0] * units[1];
                sums.crossed[1] += lucks[1] * units[0];
                sums.units += duel;
                sums.duel += (lucks[0] - lucks[1]) * i128::from(duel);
            }
        }
    }

    /// Sums of one agent by halves, by its position in the group.
    pub(crate) fn agent(&self, place: usize) -> Option<[LuckSums; 2]> {
        let [even, odd] = &self.halves;
        Some([*even.agents.get(place)?, *odd.agents.get(place)?])
    }

    /// Sums of one agent by halves, with sums of higher powers.
    pub(super) fn shape<'a>(&'a self, place: usize) -> Option<[(&'a LuckSums, &'a ShapeSums); 2]> {
        let [even, odd] = &self.halves;
        let of = |half: &'a HalfLuck| half.agents.get(place).zip(half.shapes.get(place));
        Some([of(even)?, of(odd)?])
    }

    /// Sums of two agents by halves, by their positions; the other one is the later.
    fn pair(&self, one: usize, other: usize) -> Option<[PairSums; 2]> {
        let [even, odd] = &self.halves;
        let before = one * (2 * even.agents.len()).checked_sub(one + 1)? / 2;
        let place = before + other.checked_sub(one + 1)?;
        Some([*even.pairs.get(place)?, *odd.pairs.get(place)?])
    }

    /// Luck difference of one agent over a later one by halves, with its units against it.
    pub(crate) fn duel(&self, one: usize, other: usize) -> Option<[LuckSums; 2]> {
        let [even, odd] = self.pair(one, other)?;
        let agents = [self.agent(one)?, self.agent(other)?];
        let duel = |half: usize, pair: PairSums| {
            let [first, second] = agents.map(|halves| halves[half]);
            LuckSums {
                blocks: first.blocks,
                units: pair.units,
                luck: first.luck - second.luck,
                squares: first.squares + second.squares - 2 * pair.lucks,
                products: pair.duel,
            }
        };
        Some([duel(0, even), duel(1, odd)])
    }
}

/// Covariances of two agents' luck and scores over their shared blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TogetherLuck(ScoreLuck);

impl TogetherLuck {
    /// Adds the shared blocks of one group. Agents are given by position, with the moments
    /// of each one's units and of the sum of both, the maximum units of each in a block,
    /// and the number of games whose score is the unit of each one's luck.
    pub(crate) fn add(
        &mut self,
        group: &GroupLuck,
        places: [usize; 2],
        (units, both): ([Moments; 2], Moments),
        most: [u64; 2],
        games: [f64; 2],
    ) {
        let [one, other] = places;
        let pair = group.pair(one, other);
        let (Some(pair), Some(first), Some(second)) = (pair, group.agent(one), group.agent(other))
        else {
            return;
        };
        let parts = |place: usize, luck: [LuckSums; 2]| {
            let luck = luck.map(|half| Part {
                sum: half.luck,
                scale: POINT * games[place],
            });
            let score = Part {
                sum: units[place].sum.into(),
                scale: most[place] as f64,
            };
            [score, luck[0], luck[1]]
        };
        let scores = (both.squares - units[0].squares - units[1].squares) / 2;
        let crossed = [0, 1].map(|of: usize| pair.map(|half| half.crossed[of]));
        self.0.add(
            both.blocks,
            parts(0, first),
            parts(1, second),
            table(scores.into(), crossed, pair.map(|half| half.lucks)),
        );
    }
}

/// The difference of two luck-adjusted scores; `None` if one is not adjusted.
pub(crate) fn difference(of: [&Adjusting; 2], luck: &TogetherLuck) -> Option<Difference> {
    let of = [of[0].left()?, of[1].left()?];
    let df = luck.0.df();
    let covariance = if df == 0 {
        0.0
    } else {
        let left = luck.0.left(of.map(|left| left.slopes));
        luck.0.blocks as f64 * left / df as f64
    };
    Some(interval::difference_of(
        of.map(|left| left.mean),
        covariance,
        df,
        interval::UNITS_FINE,
    ))
}
