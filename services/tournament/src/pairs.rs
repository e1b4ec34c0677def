//! Pairwise comparison of agents.
//!
//! If both agents sit in one game, their relative rank is a game between the two. Intervals
//! are over blocks, as everywhere. The difference of two agents' scores is over all their
//! games, with any opponents. Shared blocks make both scores dependent, so their covariance
//! within groups is included.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    Estimate, format,
    interval::{self, Blocks, Difference, Moments},
    tally::{
        self, Adjusting, Evidence, GroupSums, LuckSums, Played, Ranking, TogetherLuck, units_within,
    },
};

/// Two agents compared, from the first one's side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairStanding {
    /// The agent that is earlier in the spec.
    pub agent: String,
    /// The other agent.
    pub opponent: String,
    /// Games in which both sat, counted for each pair of seats.
    pub games: u64,
    /// Games in which the first ranked ahead of the other.
    pub wins: u64,
    /// Games in which both shared a rank.
    pub draws: u64,
    /// Games in which the first ranked behind the other.
    pub losses: u64,
    /// Complete blocks that count: without repetitions of games that their opening
    /// determines.
    pub blocks: u64,
    /// Complete blocks that were played.
    pub blocks_played: u64,
    /// Number of distinct games.
    pub distinct_games: u64,
    /// True if the number of distinct games is a lower bound.
    pub distinct_games_more: bool,
    /// Degrees of freedom of the score's variance.
    pub score_df: u64,
    /// Tuning horizon of the score's anytime-valid intervals, in blocks.
    pub score_tuning_horizon: f64,
    /// (wins + half the draws) / games.
    pub score: Option<Estimate>,
    /// Likelihood that the true score is above one half, for a fixed sample.
    pub superiority: Option<f64>,
    /// Score of the first over all its games minus the score of the other, over complete
    /// blocks.
    pub difference: Option<Estimate>,
    /// Luck-adjusted score over complete blocks; `None` if no game has luck.
    pub score_adjusted: Option<Estimate>,
    /// True if luck could not be adjusted for: this is the raw score.
    pub score_adjusted_is_raw: bool,
    /// Luck-adjusted score of the first over all its games, minus the other's; without an
    /// anytime-valid interval.
    pub difference_adjusted: Option<Estimate>,
    /// True if luck could not be adjusted for both: this is the raw difference.
    pub difference_adjusted_is_raw: bool,
}

/// Sums of two agents together.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Losses, draws and wins of the first agent.
    games: [u64; 3],
    blocks: Blocks,
    together: Together,
    adjusting: Adjusting,
    luck: TogetherLuck,
    played: Played,
}

/// Sums of one agent.
#[derive(Clone, Copy, Debug, Default)]
struct Alone {
    blocks: Blocks,
    adjusting: Adjusting,
}

impl Evidence {
    /// All pairs of agents, in the order of the spec.
    #[must_use]
    pub fn pairs(&self) -> Vec<PairStanding> {
        let agents = self.names.len();
        let mut alone = vec![Alone::default(); agents];
        let mut pairs: BTreeMap<(usize, usize), Pair> = BTreeMap::new();
        for ((group, luck), played) in self.groups.iter().zip(&self.luck).zip(&self.played) {
            let sides: Vec<_> = tally::members_of(group.agents()).collect();
            let shares: Vec<_> = group.shares(self.rotations);
            for (place, share) in shares.iter().enumerate() {
                let alone = &mut alone[usize::from(share.agent)];
                let blocks = (share.sums.units, share.most(self.rotations));
                alone.blocks.add(blocks.0, blocks.1);
                let luck = luck.as_ref().and_then(|luck| luck.agent(place));
                let games = share.luck_games(self.seats, self.rotations);
                alone.adjusting.add(blocks, luck, games);
            }
            for (place, &(first, ref own)) in sides.iter().enumerate() {
                for (offset, &(second, ref others)) in sides.iter().enumerate().skip(place + 1) {
                    let pair = pairs.entry((first.into(), second.into())).or_default();
                    pair.played.blocks += played.blocks;
                    pair.played.distinct += played.distinct;
                    pair.played.more |= played.more;
                    let places = [place, offset];
                    let duel = luck.as_ref().and_then(|luck| luck.duel(place, offset));
                    pair.add(group, self, [own, others], duel);
                    let moments = places.map(|side| shares[side].sums.units);
                    let most = places.map(|side| shares[side].most(self.rotations));
                    let within = places.map(|side| units_within(shares[side].seats));
                    let both = group.moments(self.rotations, |ranking| {
                        let members = own.clone().chain(others.clone());
                        let units: u64 = members.map(|m| ranking.units(m, self.seats)).sum();
                        units.saturating_sub(within.iter().sum())
                    });
                    pair.together.add(moments, both, most);
                    if let Some(luck) = luck {
                        let games =
                            places.map(|side| shares[side].luck_games(self.seats, self.rotations));
                        pair.luck.add(luck, places, (moments, both), most, games);
                    }
                }
            }
        }
        format::pairs(agents)
            .map(|(a, b)| {
                let pair = pairs.get(&(a, b)).copied().unwrap_or_default();
                self.standing((a, b), &pair, [&alone[a], &alone[b]])
            })
            .collect()
    }

    fn standing(&self, (a, b): (usize, usize), pair: &Pair, alone: [&Alone; 2]) -> PairStanding {
        let [losses, draws, wins] = pair.games;
        let games = losses + draws + wins;
        let horizon = self.tuning_horizon_pair;
        let score = (games > 0).then(|| {
            let score = (2 * wins + draws) as f64 / (2 * games) as f64;
            pair.blocks.estimate(score, horizon)
        });
        let together = &pair.together;
        let luck = self.luck.iter().any(Option::is_some);
        let adjusted = pair.adjusting.adjusted(horizon);
        let apart = tally::adjusted_difference(alone.map(|alone| &alone.adjusting), &pair.luck);
        let alone = alone.map(|alone| &alone.blocks);
        let difference = interval::difference(alone, together.covariance(), together.df());
        PairStanding {
            agent: self.names[a].clone(),
            opponent: self.names[b].clone(),
            games,
            wins,
            draws,
            losses,
            blocks: pair.blocks.count(),
            blocks_played: pair.played.blocks,
            distinct_games: pair.played.distinct,
            distinct_games_more: pair.played.more,
            score_df: pair.blocks.spread().1,
            score_tuning_horizon: horizon,
            score,
            superiority: pair.blocks.superiority(),
            difference: difference
                .map(|difference| difference.estimate(self.tuning_horizon_of(a, b))),
            // If luck cannot be adjusted for, the raw numbers.
            score_adjusted: adjusted.or(score).filter(|_| luck),
            score_adjusted_is_raw: luck && adjusted.is_none() && score.is_some(),
            difference_adjusted: apart.or(difference).filter(|_| luck).map(Difference::fixed),
            difference_adjusted_is_raw: luck && apart.is_none() && difference.is_some(),
        }
    }
}

impl Pair {
    fn add(
        &mut self,
        group: &GroupSums,
        evidence: &Evidence,
        [own, others]: [&Range<usize>; 2],
        luck: Option<[LuckSums; 2]>,
    ) {
        let couples = || {
            own.clone()
                .flat_map(|a| others.clone().map(move |b| (a, b)))
        };
        for (ranking, count) in group.games() {
            for (a, b) in couples() {
                self.games[ranking.units_against(a, b) as usize] += count;
            }
        }
        let worth = |ranking: Ranking| couples().map(|(a, b)| ranking.units_against(a, b)).sum();
        let games = couples().count() as u64 * evidence.rotations;
        let moments = group.moments(evidence.rotations, worth);
        self.blocks.add(moments, 2 * games);
        self.adjusting.add((moments, 2 * games), luck, games as f64);
    }
}

/// The covariance of two agents' units over the blocks that both played.
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    count: u64,
    groups: u64,
    sums: [f64; 2],
    product: f64,
    within: f64,
}

impl Together {
    /// Adds the blocks of one group: each agent's moments, the moments of the sum of both,
    /// and each agent's maximum in a block.
    fn add(&mut self, moments: [Moments; 2], both: Moments, most: [u64; 2]) {
        let [first, second] = moments;
        if both.blocks == 0 {
            return;
        }
        let scale = most[0] as f64 * most[1] as f64;
        let product = (both.squares - first.squares - second.squares) as f64 / 2.0;
        self.count += both.blocks;
        self.groups += 1;
        self.sums[0] += first.sum as f64 / most[0] as f64;
        self.sums[1] += second.sum as f64 / most[1] as f64;
        self.product += product / scale;
        let spread = both.spread() - first.spread() - second.spread();
        self.within += spread / 2.0 / scale;
    }

    /// Covariance of one block times the number of blocks, analogous to [`Blocks::spread`].
    fn covariance(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        self.count as f64 * self.spread() / self.df() as f64
    }

    /// Sum of products of deviations from the means.
    fn spread(&self) -> f64 {
        if self.count >= 2 * self.groups {
            self.within
        } else {
            self.product - self.sums[0] * self.sums[1] / self.count as f64
        }
    }

    fn df(&self) -> u64 {
        interval::df(self.count, self.groups)
    }
}

#[cfg(test)]
mod tests;
