//! Probability of a ranking, given strengths.
//!
//! The first ranks of a set S of players are drawn from all its subsets T, with odds of
//! δ_|T| times the geometric mean of their strengths, δ_1 = 1. The next ranks are drawn
//! from the remaining players, until at most one is left. With two players this is R. R.
//! Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison
//! experiments", Journal of the American Statistical Association 65, 1970; without ties the
//! model of R. L. Plackett, "The analysis of permutations", Applied Statistics 24, 1975,
//! and R. D. Luce; with both, the Davidson–Luce model of D. Firth, I. Kosmidis and H. L.
//! Turner, "Davidson-Luce model for multi-item choice with ties", 2019 (arXiv:1909.07123).
//! In log strengths and log δ it is an exponential family at each step, so that the log
//! likelihood is concave.

use smallvec::{SmallVec, smallvec};

use super::matrix::Matrix;
use crate::tally::Ranking;

/// A set of members: bit m is set for member m.
pub(crate) type Members = u16;

/// Contribution of a step to the log odds of a ranking: of each member, then of each size of tie from
/// two to all members.
pub(crate) type Features = SmallVec<[f64; 7]>;

/// Number of features of a group of this size.
pub(crate) fn feature_count(size: usize) -> usize {
    2 * size - 1
}

/// Log strengths and tie weights of one group.
#[derive(Clone, Debug)]
pub(crate) struct Strengths {
    /// By member.
    pub(crate) logs: SmallVec<[f64; 4]>,
    /// ln δ of ties of two, of three, and so on; `None` if such ties do not occur.
    pub(crate) ties: SmallVec<[Option<f64>; 3]>,
}

/// One step: the remaining members, and the members that were first.
pub(crate) struct Step {
    pub(crate) from: Members,
    pub(crate) first: Members,
}

/// Mean and covariance of a step's features over all its outcomes, and ln of
/// the sum of their odds.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) log_sum: f64,
    pub(crate) mean: Features,
    pub(crate) covariance: Matrix,
}

/// The steps of a ranking.
pub(crate) fn steps(ranking: Ranking, size: usize) -> impl Iterator<Item = Step> {
    let mut left: Members = (1 << size) - 1;
    std::iter::from_fn(move || {
        if left.count_ones() < 2 {
            return None;
        }
        let members = move |set: Members| (0..size).filter(move |m| set & (1 << m) != 0);
        let best = members(left).map(|m| ranking.before(m)).min()?;
        let first = members(left).filter(|&m| ranking.before(m) == best);
        let first = first.fold(0, |set, m| set | 1 << m);
        let from = left;
        left &= !first;
        Some(Step { from, first })
    })
}

/// Adds the features of an outcome of a step, times a factor, in a group of this size.
pub(crate) fn add_features(sums: &mut [f64], first: Members, size: usize, factor: f64) {
    let count = first.count_ones() as usize;
    for (member, sum) in sums.iter_mut().take(size).enumerate() {
        if first & (1 << member) != 0 {
            *sum += factor / count as f64;
        }
    }
    if count > 1 {
        sums[size + count - 2] += factor;
    }
}

impl Strengths {
    /// Number of members.
    pub(crate) fn size(&self) -> usize {
        self.logs.len()
    }

    /// ln of an outcome's odds; `None` if it does not occur.
    pub(crate) fn log_odds(&self, first: Members) -> Option<f64> {
        let count = first.count_ones() as usize;
        let tie = if count > 1 {
            self.ties[count - 2]?
        } else {
            0.0
        };
        let members = (0..self.size()).filter(|m| first & (1 << m) != 0);
        Some(tie + members.map(|m| self.logs[m]).sum::<f64>() / count as f64)
    }

    /// Expectation of a step from this set.
    pub(crate) fn expected(&self, from: Members) -> Expected {
        let subsets = (1..=from).filter(|set| set & !from == 0);
        let odds: Vec<(Members, f64)> = subsets
            .filter_map(|set| Some((set, self.log_odds(set)?)))
            .collect();
        let top = odds.iter().map(|&(_, log)| log).fold(f64::MIN, f64::max);
        let sum: f64 = odds.iter().map(|&(_, log)| libm::exp(log - top)).sum();
        let count = feature_count(self.size());
        let mut expected = Expected {
            log_sum: top + libm::log(sum),
            mean: smallvec![0.0; count],
            covariance: Matrix::zero(count),
        };
        for &(set, log) in &odds {
            let chance = libm::exp(log - top) / sum;
            let mut features: Features = smallvec![0.0; count];
            add_features(&mut features, set, self.size(), 1.0);
            for (i, &one) in features.iter().enumerate().filter(|(_, one)| **one != 0.0) {
                expected.mean[i] += chance * one;
                for (j, &other) in features.iter().enumerate() {
                    expected.covariance.add(i, j, chance * one * other);
                }
            }
        }
        for i in 0..count {
            for j in 0..count {
                let product = expected.mean[i] * expected.mean[j];
                expected.covariance.add(i, j, -product);
            }
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_of_two_players_is_davidsons() {
        let (d, tie) = (0.7_f64, -0.4_f64);
        let strengths = Strengths {
            logs: smallvec![d, 0.0],
            ties: smallvec![Some(tie)],
        };
        let expected = strengths.expected(0b11);
        let sum = d.exp() + 1.0 + tie.exp() * (d / 2.0).exp();
        assert!((expected.log_sum - sum.ln()).abs() < 1e-12);
        let first = (d.exp() + 0.5 * tie.exp() * (d / 2.0).exp()) / sum;
        assert!((expected.mean[0] - first).abs() < 1e-12);
    }

    #[test]
    fn tied_ranking_is_rated_stepwise() {
        let ranking = Ranking::of(&[1, 0, 1, 3]);
        let steps: Vec<_> = steps(ranking, 4)
            .map(|step| (step.from, step.first))
            .collect();
        assert_eq!(steps, [(0b1111, 0b0010), (0b1101, 0b0101)]);
    }
}
