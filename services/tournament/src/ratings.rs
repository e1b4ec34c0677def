//! Ratings of all agents from all games at once.
//!
//! Strengths are maximum a posteriori estimates of `model`, from all games that are not
//! void, with a weak prior: each log strength, and the log of each tie weight that
//! occurred, is normal with mean 0 and a standard deviation of [`PRIOR`] (869 Elo). The
//! prior keeps a perfect score finite and shrinks agents that no games link towards each
//! other. It moves a rating from twenty even games by less than 1 %. Ratings are log
//! strengths times 400 / ln 10.
//!
//! Seats are not in the model: in blocks that rotate, every agent has every seat.

mod covariance;
mod draws;
mod fit;
mod goodness;
mod matrix;
mod model;
pub mod running;
mod scale;
mod sets;

use statrs::distribution::{ContinuousCDF, StudentsT};

pub use crate::elo::ELO;
use crate::{
    Estimate, Interval,
    interval::{self, Blocks, level::Looks},
    tally::{Evidence, distinct},
};
use fit::Fit;
pub use goodness::Goodness;
use matrix::Matrix;
use scale::{Scale, Spread};
use sets::Sets;

/// Standard deviation of the prior, in log strengths.
pub const PRIOR: f64 = 5.0;

/// An agent stronger by this many Elo loses one game in ten billion. A wider anytime-valid
/// interval, as from two or three blocks, is uninformative.
pub const FAR: f64 = 4000.0;

/// Maximum number of agents with full covariances. With more agents, the variance of an
/// agent's own games is used (see [`Errors`]).
const AGENTS_FULL: usize = 300;
/// Minimum number of listed weights of ties, for two to four.
const TIES_LISTED: usize = 3;
/// Maximum number of agents; a matrix of all pairs would take too long for more.
const AGENTS_MAX: usize = 2000;

/// Ratings of a tournament's agents.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// The model of the ratings.
    pub model: Model,
    /// The agent with rating 0; `None` if the mean of all ratings is 0.
    pub anchor: Option<usize>,
    /// Ratings in Elo, in the order of the spec. A fixed-sample interval is `None` with
    /// fewer than two complete blocks, an anytime-valid one if it would extend further than
    /// [`FAR`] Elo.
    pub agents: Vec<Estimate>,
    /// Weights of ties of two, three, four and so on up to the number of seats; 0 if none occurred.
    pub ties: Vec<f64>,
    /// Sets of agents that games do not link.
    pub components: Vec<Vec<usize>>,
    /// Agents whose rating differences from their opponents only the prior keeps finite:
    /// such a rating is less meaningful than the Elo of a score.
    pub unheld: Vec<usize>,
    /// Goodness of fit of one rating per agent to the scores of pairs; `None` if the games
    /// do not test it.
    pub goodness: Option<Goodness>,
    /// True for each agent with a game.
    played: Vec<bool>,
    sets: Sets,
    logs: Vec<f64>,
    errors: Option<Errors>,
    /// Index of the weight of two-way ties among the parameters.
    tie: Option<usize>,
    /// Degrees of freedom of each agent's own blocks.
    df: Vec<u64>,
    /// Complete blocks of each agent.
    blocks: Vec<u64>,
    /// Tuning horizon of each agent's anytime-valid intervals, in blocks.
    tuning_horizons: Vec<f64>,
    /// Degrees of freedom of the blocks that two agents share.
    shared: Vec<((u16, u16), u64)>,
}

/// The model of the ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Bradley and Terry's with draws.
    Davidson,
    /// Plackett and Luce's with ties.
    PlackettLuce,
}

impl Model {
    /// The name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Davidson => "davidson",
            Self::PlackettLuce => "plackett-luce",
        }
    }
}

/// A difference of two ratings, in Elo.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RatingDifference {
    /// Rating of the first minus rating of the other, without an anytime-valid interval;
    /// without any with fewer than two complete blocks.
    pub rating: Estimate,
    /// Likelihood that the first agent is the stronger one, by the ratings.
    pub superiority: Option<f64>,
    /// The difference as the Elo of the expected score in a game of these two alone:
    /// smaller than the rating difference if games are drawn.
    pub elo: Estimate,
    /// Degrees of freedom of all intervals here.
    pub df: u64,
    /// Harmonic mean of both agents' complete blocks.
    pub blocks: f64,
    /// Tuning horizon of the anytime-valid intervals, in blocks.
    pub tuning_horizon: f64,
    /// True if only the prior bounds the far ends: the weaker side lost every game against
    /// the stronger one.
    pub is_open: bool,
}

/// Covariances of log strengths.
#[derive(Clone, Debug)]
enum Errors {
    Full(Matrix),
    /// Variances only: from the information, times the ratio of the observed variance of an
    /// agent's own score to the model's.
    Own(Vec<f64>),
}

impl Errors {
    fn of(
        evidence: &Evidence,
        (fit, precision): (&Fit, f64),
        (alone, sets): (&[(Blocks, u64)], &Sets),
        full: usize,
    ) -> Option<Self> {
        let mut meat = covariance::meat(evidence, (fit, precision), sets)?;
        let added = covariance::added(evidence, (fit, precision), alone);
        let root = fit.information.inverse_root()?;
        let agents = evidence.names.len();
        if agents <= full {
            covariance::add_blocks(&mut meat, &added, fit, precision);
            return Some(Self::Full(root.gram().sandwich(&meat)));
        }
        let mut own = vec![0.0; root.size()];
        for row in 0..root.size() {
            for (sum, cell) in own.iter_mut().zip(root.row(row)) {
                *sum += cell * cell;
            }
        }
        // Only the prior determines the mean of all, and no rating depends on it.
        let of_mean = 1.0 / (precision * agents as f64);
        let variance = |agent: usize| {
            let share = meat.at(agent, agent) / fit.information.at(agent, agent);
            let reported = covariance::information(fit, precision, agent);
            (own[agent] - of_mean).max(0.0) * share + added[agent] / (reported * reported)
        };
        Some(Self::Own((0..agents).map(variance).collect()))
    }

    /// Variance of the difference of two log strengths, given the index of the tie weight.
    fn of_difference(&self, one: usize, other: usize, tie: Option<usize>) -> Spread {
        match self {
            Self::Full(matrix) => Spread {
                of_difference: matrix.at(one, one) + matrix.at(other, other)
                    - 2.0 * matrix.at(one, other),
                with_tie: tie.map_or(0.0, |tie| matrix.at(one, tie) - matrix.at(other, tie)),
                of_tie: tie.map_or(0.0, |tie| matrix.at(tie, tie)),
            },
            Self::Own(own) => Spread {
                of_difference: own[one] + own[other],
                ..Spread::default()
            },
        }
    }

    /// Variance of each log strength minus the mean of all.
    fn about_mean(&self, agents: usize, tie: Option<usize>) -> Vec<Spread> {
        let matrix = match self {
            Self::Full(matrix) => matrix,
            Self::Own(own) => {
                let alone = |&of_difference| Spread {
                    of_difference,
                    ..Spread::default()
                };
                return own.iter().map(alone).collect();
            }
        };
        let mean = |row: usize| matrix.row(row)[..agents].iter().sum::<f64>() / agents as f64;
        let rows: Vec<f64> = (0..agents).map(mean).collect();
        let all = rows.iter().sum::<f64>() / agents as f64;
        let spread = |(agent, row): (usize, &f64)| Spread {
            of_difference: matrix.at(agent, agent) - 2.0 * row + all,
            with_tie: tie.map_or(0.0, |tie| matrix.at(agent, tie) - mean(tie)),
            of_tie: tie.map_or(0.0, |tie| matrix.at(tie, tie)),
        };
        rows.iter().enumerate().map(spread).collect()
    }
}

impl Evidence {
    /// Ratings with an agent as anchor, or with a mean of 0. `None` without a game and if
    /// there are too many agents.
    #[must_use]
    pub fn ratings(&self, anchor: Option<usize>) -> Option<Ratings> {
        self.ratings_with_prior(anchor, PRIOR)
    }

    /// The same with another standard deviation of the prior, in log strengths.
    #[must_use]
    pub fn ratings_with_prior(&self, anchor: Option<usize>, prior: f64) -> Option<Ratings> {
        let agents = self.names.len();
        let played = self.groups.iter().any(|group| !group.games().is_empty());
        if !played || agents > AGENTS_MAX {
            return None;
        }
        let precision = 1.0 / (prior * prior);
        let fit = Fit::new(self, precision);
        let alone = self.alone();
        let sets = Sets::of(self);
        let errors = Errors::of(self, (&fit, precision), (&alone, &sets), AGENTS_FULL);
        let logs = &fit.values[..agents];
        let origin = match anchor {
            Some(agent) => logs[agent],
            None => logs.iter().sum::<f64>() / agents as f64,
        };
        let weights = fit.ties.iter();
        let mut ties: Vec<f64> = weights
            .map(|place| place.map_or(0.0, |place| libm::exp(fit.values[place])))
            .collect();
        ties.resize(ties.len().max(TIES_LISTED), 0.0);
        let mut ratings = Ratings {
            model: if self.seats == 2 {
                Model::Davidson
            } else {
                Model::PlackettLuce
            },
            anchor,
            agents: Vec::new(),
            ties,
            components: listed(&sets.linked),
            unheld: draws::unheld(self, &sets.level),
            goodness: goodness::test(self, &fit),
            played: self.played(),
            sets,
            logs: logs.to_vec(),
            errors,
            tie: fit.ties[0],
            df: alone.iter().map(|(blocks, _)| blocks.spread().1).collect(),
            blocks: alone.iter().map(|(blocks, _)| blocks.count()).collect(),
            tuning_horizons: self.tuning_horizons.clone(),
            shared: self.shared(),
        };
        let tie = ratings.tie;
        let spreads: Option<Vec<Spread>> = ratings.errors.as_ref().map(|errors| match anchor {
            Some(anchor) => (0..agents)
                .map(|agent| errors.of_difference(agent, anchor, tie))
                .collect(),
            None => errors.about_mean(agents, tie),
        });
        // The difference from the mean of all is this share of the difference from the mean
        // of all others.
        let share = anchor.map_or(1.0 - 1.0 / agents.max(2) as f64, |_| 1.0);
        let scale = Scale::new(ratings.ties[0]);
        let rating = |agent: usize| {
            let value = logs[agent] - origin;
            let around = |looks| {
                let spread = spreads.as_ref()?[agent].divided(share);
                let points = (looks, ratings.df[agent]);
                let ends = scale.around(value / share, spread, points)?;
                Some(ends.map(|end| ELO * share * end))
            };
            let near =
                |ends: &Interval| ELO * value - ends.low <= FAR && ends.high - ELO * value <= FAR;
            Estimate {
                value: ELO * value,
                fixed: around(Looks::One),
                anytime: around(ratings.any_looks(agent, anchor.unwrap_or(agent))).filter(near),
            }
        };
        ratings.agents = (0..agents).map(rating).collect();
        Some(ratings)
    }

    /// True for each agent with a game.
    fn played(&self) -> Vec<bool> {
        let mut played = vec![false; self.names.len()];
        for group in self.groups.iter().filter(|group| !group.games().is_empty()) {
            for &agent in group.agents() {
                played[usize::from(agent)] = true;
            }
        }
        played
    }

    /// Each agent's own blocks, and the maximum number of pairs of an own seat and another
    /// agent's seat in a game.
    fn alone(&self) -> Vec<(Blocks, u64)> {
        let mut alone = vec![(Blocks::default(), self.seats as u64 - 1); self.names.len()];
        for group in &self.groups {
            for share in group.shares(self.rotations) {
                let (blocks, pairs) = &mut alone[usize::from(share.agent)];
                blocks.add(share.sums.units, share.most(self.rotations));
                *pairs = share.pairs.max(*pairs);
            }
        }
        alone
    }

    /// Degrees of freedom of the blocks that two agents share.
    fn shared(&self) -> Vec<((u16, u16), u64)> {
        let mut met = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let blocks = group.blocks();
            let agents: Vec<u16> = distinct(group.agents()).map(|(agent, _)| agent).collect();
            for (place, &one) in agents.iter().enumerate() {
                met.extend(
                    agents[place + 1..]
                        .iter()
                        .map(|&other| ((one, other), blocks)),
                );
            }
        }
        met.sort_unstable();
        let pairs = met.chunk_by(|one, other| one.0 == other.0);
        let df = |same: &[((u16, u16), u64)]| {
            let blocks = same.iter().map(|(_, blocks)| blocks).sum();
            let groups = same.iter().filter(|&&(_, blocks)| blocks > 0).count();
            (same[0].0, interval::df(blocks, groups as u64))
        };
        pairs.map(df).collect()
    }
}

impl Ratings {
    /// An agent's rating if games determine it: `None` without a game of its own, and if no
    /// games link it to the anchor.
    #[must_use]
    pub fn known(&self, agent: usize) -> Option<Estimate> {
        let linked = self.anchor.is_none_or(|anchor| self.links(agent, anchor));
        (self.has_played(agent) && linked).then(|| self.agents[agent])
    }

    /// True if a game of the agent has counted.
    #[must_use]
    pub fn has_played(&self, agent: usize) -> bool {
        self.played[agent]
    }

    /// Number of sets of agents that games link, without agents that have no game.
    #[must_use]
    pub fn sets(&self) -> usize {
        let sets = self.components.iter();
        sets.filter(|set| self.has_played(set[0])).count()
    }

    /// True if games link two agents, so that not only the prior determines their
    /// difference.
    #[must_use]
    pub fn links(&self, one: usize, other: usize) -> bool {
        self.sets.linked[one] == self.sets.linked[other]
    }

    /// Sets of agents such that each set lost every game to another set or won every game,
    /// in the order of the spec; a single set if all are level.
    #[must_use]
    pub fn levels(&self) -> Vec<Vec<usize>> {
        listed(&self.sets.level)
    }

    /// True if games give only a lower bound of the difference between two agents, and the
    /// prior alone gives the upper bound.
    #[must_use]
    pub fn is_open(&self, one: usize, other: usize) -> bool {
        self.sets.level[one] != self.sets.level[other]
    }

    /// Number of blocks for the difference of two agents, which is the harmonic mean of
    /// both, and the tuning horizon of its anytime-valid intervals.
    fn blocks_between(&self, one: usize, other: usize) -> (f64, f64) {
        let [first, second] = [one, other].map(|agent| self.blocks[agent] as f64);
        let blocks = 2.0 * first * second / (first + second).max(1.0);
        (
            blocks,
            f64::midpoint(self.tuning_horizons[one], self.tuning_horizons[other]),
        )
    }

    /// The anytime validity for the difference of two agents, or of one agent from the mean
    /// of all.
    fn any_looks(&self, one: usize, other: usize) -> Looks {
        let (blocks, tuning_horizon) = self.blocks_between(one, other);
        Looks::Any {
            blocks,
            tuning_horizon,
        }
    }

    /// The rating difference of two agents.
    #[must_use]
    pub fn difference(&self, one: usize, other: usize) -> RatingDifference {
        let value = self.logs[one] - self.logs[other];
        let pair = (one.min(other) as u16, one.max(other) as u16);
        let found = self.shared.binary_search_by(|(known, _)| known.cmp(&pair));
        let shared = found.map_or(0, |place| self.shared[place].1);
        let df = interval::df_of_both([one, other].map(|agent| self.df[agent]), shared);
        let scale = Scale::new(self.ties[0]);
        let odds = scale.odds(value);
        let errors = self.errors.as_ref();
        let spread = errors.map(|errors| errors.of_difference(one, other, self.tie));
        let of_odds = spread.map(|spread| spread.of_odds(scale.slopes(value)));
        let superiority = of_odds.filter(|_| df > 0).and_then(|variance| {
            let student = StudentsT::new(0.0, 1.0, df as f64).ok()?;
            // Number of standard errors at which the interval would end at 0.
            let errors = 2.0 * libm::sinh(odds / 2.0) / variance.sqrt();
            errors.is_finite().then(|| student.cdf(errors))
        });
        let (blocks, tuning_horizon) = self.blocks_between(one, other);
        let around = |looks| scale::around(odds, of_odds?, (looks, df));
        let rating = Estimate {
            value,
            fixed: spread.and_then(|spread| scale.around(value, spread, (Looks::One, df))),
            anytime: None,
        };
        let elo = Estimate {
            value: odds,
            fixed: around(Looks::One),
            anytime: around(self.any_looks(one, other)),
        };
        RatingDifference {
            rating: rating.map(|log| ELO * log),
            superiority,
            elo: elo.map(|log| ELO * log),
            df,
            blocks,
            tuning_horizon,
            is_open: self.is_open(one, other),
        }
    }
}

/// Sets of agents by number, in the order of their first agents.
fn listed(numbers: &[usize]) -> Vec<Vec<usize>> {
    let mut sets = vec![Vec::new(); numbers.len()];
    for (agent, &set) in numbers.iter().enumerate() {
        sets[set].push(agent);
    }
    sets.retain(|set| !set.is_empty());
    sets.sort_unstable();
    sets
}

/// Expected score in a game of two agents with this Elo difference, given the weight of
/// two-way ties.
#[must_use]
pub fn expected_score(difference: f64, tie: f64) -> f64 {
    let odds = Scale::new(tie).odds(difference / ELO);
    1.0 / (1.0 + libm::exp(-odds))
}

#[cfg(test)]
mod tests;
