//! Ratings of all agents from all games at once.
//!
//! Strengths are those of [`model`] that are likeliest, given all games that
//! are not void, with a weak prior: each log strength, and the log of each
//! weight of ties that came, is normal with mean 0 and a standard deviation of
//! [`PRIOR`] (869 Elo). It keeps a perfect score finite, draws agents that no
//! games link towards each other, and moves a rating that rests on twenty even
//! games by less than 1 %. Ratings are log strengths times 400 / ln 10.
//!
//! Seats are not in the model: in blocks that rotate everybody has every seat.

mod covariance;
mod fit;
mod matrix;
mod model;
pub mod running;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    interval::{self, Blocks},
    tally::{Evidence, distinct},
};
use fit::Fit;
use matrix::Matrix;

/// Elo of one log strength.
pub const ELO: f64 = 400.0 / std::f64::consts::LN_10;
/// Standard deviation of the prior, in log strengths.
pub const PRIOR: f64 = 5.0;

/// Up to so many agents covariances are reckoned in full; above it, that of one
/// agent's own games stands for all (see [`Errors`]).
const AGENTS_FULL: usize = 300;
/// With more agents than these a matrix of all pairs would take too long.
const AGENTS_MAX: usize = 2000;

/// Ratings of a tournament's agents.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// What model they are of.
    pub model: Model,
    /// The agent whose rating is 0; none: the mean of all is.
    pub anchor: Option<usize>,
    /// In the order of the spec.
    pub agents: Vec<Rating>,
    /// Weights of ties of two, three and four; 0 where none came.
    pub ties: [f64; 3],
    /// Sets of agents that are not linked by games.
    pub components: Vec<Vec<usize>>,
    logs: Vec<f64>,
    errors: Option<Errors>,
    /// Of each agent's own blocks.
    freedom: Vec<u64>,
    /// Of the blocks that two agents were in together, by both.
    shared: Vec<((u16, u16), u64)>,
}

/// Where ratings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// A rating, in Elo, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// The rating.
    pub value: f64,
    /// Its interval; none without two complete blocks.
    pub interval: Option<(f64, f64)>,
}

/// A difference of two ratings, in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingDifference {
    /// The first one's less the other's.
    pub value: f64,
    /// Its 95 % interval; none without two complete blocks.
    pub interval: Option<(f64, f64)>,
    /// How likely it is that the first one is the stronger.
    pub superiority: Option<f64>,
}

/// Covariances of log strengths.
#[derive(Clone, Debug)]
enum Errors {
    Full(Matrix),
    /// Variances alone: those of the information, times the share by which an
    /// agent's own score varies more or less than the model has it.
    Own(Vec<f64>),
}

impl Errors {
    fn of(evidence: &Evidence, fit: &Fit, precision: f64, full: usize) -> Option<Self> {
        let meat = covariance::meat(evidence, fit)?;
        let root = fit.information.inverse_root()?;
        let agents = evidence.names.len();
        if agents <= full {
            return Some(Self::Full(root.gram().sandwich(&meat)));
        }
        let mut own = vec![0.0; root.size()];
        for row in 0..root.size() {
            for (sum, cell) in own.iter_mut().zip(root.row(row)) {
                *sum += cell * cell;
            }
        }
        // The mean of all is known by the prior alone, and no rating's matter.
        let of_mean = 1.0 / (precision * agents as f64);
        let variance = |agent: usize| {
            let share = meat.at(agent, agent) / fit.information.at(agent, agent);
            (own[agent] - of_mean).max(0.0) * share
        };
        Some(Self::Own((0..agents).map(variance).collect()))
    }

    /// Of the sum of log strengths times weights that add up to 0.
    fn variance_of_difference(&self, one: usize, other: usize) -> f64 {
        match self {
            Self::Full(matrix) => {
                matrix.at(one, one) + matrix.at(other, other) - 2.0 * matrix.at(one, other)
            }
            Self::Own(own) => own[one] + own[other],
        }
    }

    /// Of each log strength less the mean of all.
    fn variances_from_mean(&self, agents: usize) -> Vec<f64> {
        match self {
            Self::Full(matrix) => {
                let n = agents as f64;
                let rows: Vec<f64> = (0..agents)
                    .map(|row| matrix.row(row)[..agents].iter().sum::<f64>() / n)
                    .collect();
                let all = rows.iter().sum::<f64>() / n;
                let rows = rows.iter().enumerate();
                rows.map(|(agent, row)| matrix.at(agent, agent) - 2.0 * row + all)
                    .collect()
            }
            Self::Own(own) => own.clone(),
        }
    }
}

impl Evidence {
    /// Ratings, with an agent as anchor or the mean of all at 0. None without a
    /// game, and where there are more agents than can be reckoned with.
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
        let errors = Errors::of(self, &fit, precision, AGENTS_FULL);
        let mut alone = vec![Blocks::default(); agents];
        for group in &self.groups {
            for share in group.shares(self.rotations) {
                alone[usize::from(share.agent)].add(share.sums.units, 1);
            }
        }
        let logs = &fit.values[..agents];
        let origin = match anchor {
            Some(agent) => logs[agent],
            None => logs.iter().sum::<f64>() / agents as f64,
        };
        let mut ratings = Ratings {
            model: if self.seats == 2 {
                Model::Davidson
            } else {
                Model::PlackettLuce
            },
            anchor,
            agents: Vec::new(),
            ties: fit
                .ties
                .map(|place| place.map_or(0.0, |place| libm::exp(fit.values[place]))),
            components: self.components(),
            logs: logs.to_vec(),
            errors,
            freedom: alone.iter().map(|blocks| blocks.spread().1).collect(),
            shared: self.shared(),
        };
        let variances = ratings.errors.as_ref().map(|errors| match anchor {
            Some(anchor) => (0..agents)
                .map(|agent| errors.variance_of_difference(agent, anchor))
                .collect(),
            None => errors.variances_from_mean(agents),
        });
        let rating = |agent: usize| {
            let value = ELO * (logs[agent] - origin);
            let variance = variances
                .as_ref()
                .map(|variances: &Vec<f64>| variances[agent]);
            Rating {
                value,
                interval: within(value, variance, ratings.freedom[agent]),
            }
        };
        ratings.agents = (0..agents).map(rating).collect();
        Some(ratings)
    }

    /// Degrees of freedom of the blocks that two agents were in together.
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
        let freedom = |same: &[((u16, u16), u64)]| {
            let blocks = same.iter().map(|(_, blocks)| blocks).sum();
            let groups = same.iter().filter(|&&(_, blocks)| blocks > 0).count();
            (same[0].0, interval::freedom(blocks, groups as u64))
        };
        pairs.map(freedom).collect()
    }

    /// Sets of agents that games link, in the order of the spec.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut parent: Vec<usize> = (0..self.names.len()).collect();
        fn root(parent: &mut [usize], mut of: usize) -> usize {
            while parent[of] != of {
                parent[of] = parent[parent[of]];
                of = parent[of];
            }
            of
        }
        for group in self.groups.iter().filter(|group| !group.games().is_empty()) {
            for pair in group.agents().windows(2) {
                let [one, other] = [pair[0], pair[1]].map(|a| root(&mut parent, usize::from(a)));
                parent[one.max(other)] = one.min(other);
            }
        }
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); self.names.len()];
        for agent in 0..self.names.len() {
            sets[root(&mut parent, agent)].push(agent);
        }
        sets.retain(|set| !set.is_empty());
        sets
    }
}

impl Ratings {
    /// One agent's rating beside another's.
    #[must_use]
    pub fn difference(&self, one: usize, other: usize) -> RatingDifference {
        let value = ELO * (self.logs[one] - self.logs[other]);
        let pair = (one.min(other) as u16, one.max(other) as u16);
        let found = self.shared.binary_search_by(|(known, _)| known.cmp(&pair));
        let shared = found.map_or(0, |place| self.shared[place].1);
        let freedom =
            interval::freedom_of_both([one, other].map(|agent| self.freedom[agent]), shared);
        let errors = self.errors.as_ref();
        let variance = errors.map(|errors| errors.variance_of_difference(one, other));
        let superiority = variance.filter(|_| freedom > 0).and_then(|variance| {
            let student = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
            let errors = value / ELO / variance.sqrt();
            errors.is_finite().then(|| student.cdf(errors))
        });
        RatingDifference {
            value,
            interval: within(value, variance, freedom),
            superiority,
        }
    }
}

/// The 95 % interval around a value in Elo, from a variance of logs.
fn within(value: f64, variance: Option<f64>, freedom: u64) -> Option<(f64, f64)> {
    let variance = variance.filter(|variance| variance.is_finite() && freedom > 0)?;
    let half = ELO * variance.max(0.0).sqrt() * interval::critical(freedom);
    Some((value - half, value + half))
}

#[cfg(test)]
mod tests;
