//! The confidence interval of a mean over blocks, for values from 0 to 1.
//!
//! Wilson's score interval with an effective number of blocks, as is done for
//! proportions from designed samples (E. L. Korn and B. I. Graubard,
//! "Confidence intervals for proportions with small expected number of positive
//! counts estimated from survey data", Survey Methodology 24, 1998; C. Franco,
//! R. J. A. Little, T. A. Louis and E. V. Slud, "Comparative study of confidence
//! intervals for proportions in complex sample surveys", Journal of Survey
//! Statistics and Methodology 7, 2019).
//!
//! A value from 0 to 1 with mean p varies by at most p(1 − p). The share d of
//! that which the blocks really vary by, within their groups (strata), is
//! estimated; the interval holds every p for which the observed mean m of n
//! blocks is not further away than t standard errors of √(d·p(1 − p)/n). It
//! stays within 0 and 1, and has a width even where all blocks came out alike,
//! since the estimate of d is drawn a little towards its highest value, 1.
//! The critical value t is Student's, for as many degrees of freedom as the
//! variance is estimated with.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Weight of d = 1 in its estimate, in blocks of variance 1.
const WEIGHT_OF_ONE: f64 = 0.5;

/// Sums over the blocks of one group: of a whole number of units from 0 to the
/// same highest number in each block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Blocks.
    pub blocks: u64,
    /// Sum of the blocks' units.
    pub sum: u64,
    /// Sum of the squares of the blocks' units.
    pub squares: u64,
}

impl Moments {
    /// Counts one block.
    pub fn add(&mut self, units: u64) {
        self.blocks += 1;
        self.sum += units;
        self.squares += units * units;
    }

    /// Sum of the squared distances from the mean, in units; exact up to the
    /// one division.
    fn spread(self) -> f64 {
        if self.blocks == 0 {
            return 0.0;
        }
        let blocks = u128::from(self.blocks);
        let scaled = blocks * u128::from(self.squares) - u128::from(self.sum).pow(2);
        scaled as f64 / blocks as f64
    }
}

impl std::ops::Add for Moments {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            blocks: self.blocks + other.blocks,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }
}

/// The 95 % interval of a block's mean as a share of `units_max`, from the
/// blocks of each group. None without a block; 0 to 1 with only one, which says
/// nothing of how blocks vary.
#[must_use]
pub fn of_mean(groups: impl Iterator<Item = Moments>, units_max: u64) -> Option<(f64, f64)> {
    let mut all = Moments::default();
    let mut within = 0.0;
    let mut strata = 0;
    for group in groups.filter(|group| group.blocks > 0) {
        all = all + group;
        within += group.spread();
        strata += 1;
    }
    if all.blocks == 0 || units_max == 0 {
        return None;
    }
    if all.blocks == 1 {
        return Some((0.0, 1.0));
    }
    // With fewer than two blocks in a group on average their own variance is
    // hardly known: the groups are taken as one, which can only widen.
    let (spread, freedom) = if all.blocks >= 2 * strata {
        (within, all.blocks - strata)
    } else {
        (all.spread(), all.blocks - 1)
    };
    let n = all.blocks as f64;
    let most = units_max as f64;
    let mean = all.sum as f64 / (n * most);
    let variance = spread / (most * most) / freedom as f64;
    let share = ((n * variance + WEIGHT_OF_ONE) / (n * mean * (1.0 - mean) + WEIGHT_OF_ONE))
        .clamp(0.0, 1.0);
    Some(wilson(mean, n / share, critical(freedom)))
}

/// Wilson's interval of a share observed in `n` trials.
fn wilson(mean: f64, n: f64, t: f64) -> (f64, f64) {
    let square = t * t;
    let centre = (mean + square / (2.0 * n)) / (1.0 + square / n);
    let half = t / (1.0 + square / n) * (mean * (1.0 - mean) / n + square / (4.0 * n * n)).sqrt();
    let low = (centre - half).clamp(0.0, mean);
    let high = (centre + half).clamp(mean, 1.0);
    (low, high)
}

/// The two-sided 95 % point of Student's distribution.
pub(crate) fn critical(freedom: u64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom as f64)
        .expect("degrees of freedom are above zero")
        .inverse_cdf(0.975)
}

#[cfg(test)]
mod tests;
