//! The confidence interval of a mean over blocks, for values from 0 to 1.
//!
//! Wilson's score interval with an effective sample size, as for proportions from designed
//! samples (E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
//! expected number of positive counts estimated from survey data", Survey Methodology 24,
//! 1998; C. Franco, R. J. A. Little, T. A. Louis and E. V. Slud, "Comparative study of
//! confidence intervals for proportions in complex sample surveys", Journal of Survey
//! Statistics and Methodology 7, 2019).
//!
//! A value from 0 to 1 with mean p has a variance of at most p(1 − p). The share d of that,
//! by which the blocks really vary within their groups (strata), is estimated. Wilson's
//! interval contains every p for which the observed mean m of n blocks is at most z
//! standard errors of √(d·p(1 − p)/n) away. Its centre is kept, and its half-width is
//! multiplied by t/z, for Student's critical value t with the degrees of freedom of the
//! variance estimate.
//!
//! Blocks have values in steps of a unit. To avoid overconfidence if a few blocks are equal
//! by chance, the square of two steps' half diagonal, `STEPS`, is added to their sum of
//! squares; if all are equal, `ALIKE`. A larger correction makes intervals of few blocks
//! far too conservative (`tests/stress/run calibration`, and the cases in
//! `data/coverage.json`).

pub mod level;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::{Estimate, Interval, sequential::confidence};

/// Squared steps of a unit added to the sum of squares of the blocks.
const STEPS: f64 = 2.0;
/// Added if all blocks are equal, in blocks of variance 1.
const ALIKE: f64 = 0.7;
/// Units of a block for quantities without steps.
pub(crate) const UNITS_FINE: f64 = 1e3;
/// Two-sided 95 % critical value of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;
/// Error probability of an interval.
const ALPHA: f64 = 0.05;
/// Below this number of degrees of freedom, Student's critical values are computed exactly.
const SERIES_MIN: u64 = 30;

/// Limit of the search for Student's critical values.
const FAR: f64 = 1e5;

/// Sums over the blocks of one group. Each block has an integer number of units, from 0 to
/// the same maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// Number of blocks.
    pub blocks: u64,
    /// Sum of the blocks' units.
    pub sum: u64,
    /// Sum of the squares of the blocks' units.
    pub squares: u64,
}

impl Moments {
    /// Adds one block.
    pub fn add(&mut self, units: u64) {
        self.add_alike(1, units);
    }

    /// Adds `blocks` blocks of equal units.
    pub fn add_alike(&mut self, blocks: u64, units: u64) {
        self.blocks += blocks;
        self.sum += blocks * units;
        self.squares += blocks * units * units;
    }

    /// Sum of squared deviations from the mean, in units; exact except for the one
    /// division.
    pub(crate) fn spread(self) -> f64 {
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

/// The blocks of several groups, as shares of a block's maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blocks {
    count: u64,
    /// Number of groups.
    pub(crate) groups: u64,
    sum: f64,
    squares: f64,
    within: f64,
    /// Maximum units of a block.
    most: f64,
}

impl Blocks {
    /// The blocks of some groups, each of 0 to `units_max` units.
    pub fn of(groups: impl IntoIterator<Item = Moments>, units_max: u64) -> Self {
        let mut blocks = Self::default();
        groups
            .into_iter()
            .for_each(|group| blocks.add(group, units_max));
        blocks
    }

    /// Adds the blocks of one group, each of 0 to `units_max` units. These are
    /// floating-point sums: the same groups in the same order give bit-identical results.
    pub fn add(&mut self, group: Moments, units_max: u64) {
        if group.blocks == 0 || units_max == 0 {
            return;
        }
        let most = units_max as f64;
        self.count += group.blocks;
        self.groups += 1;
        self.sum += group.sum as f64 / most;
        self.squares += group.squares as f64 / (most * most);
        self.within += group.spread() / (most * most);
        self.most = self.most.max(most);
    }

    /// Number of blocks.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean share; `None` without a block.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum / self.count as f64).clamp(0.0, 1.0))
    }

    /// Sum of squared deviations within groups, and its degrees of freedom.
    ///
    /// With fewer than two blocks per group on average, the variance within groups is
    /// hardly known. All groups are then treated as one, which can only widen the interval.
    pub(crate) fn spread(&self) -> (f64, u64) {
        let df = df(self.count, self.groups);
        if self.count >= 2 * self.groups {
            (self.within, df)
        } else {
            let n = self.count as f64;
            let all = self.squares - self.sum * self.sum / n;
            (all.max(0.0), df)
        }
    }

    /// The fixed-sample 95 % confidence interval of the mean. `None` without a block; 0 to
    /// 1 with only one, which contains no information on the variance.
    #[must_use]
    pub fn fixed(&self) -> Option<Interval> {
        self.within_errors(NORMAL)
    }

    /// The anytime-valid interval of the mean: it contains the mean at all times
    /// simultaneously in 95 % of tournaments. It is narrowest around `tuning_horizon`
    /// blocks.
    #[must_use]
    pub fn anytime(&self, tuning_horizon: f64) -> Option<Interval> {
        self.within_errors(confidence::bound(self.count as f64, tuning_horizon, ALPHA))
    }

    /// The estimate of a mean that also covers the games of incomplete blocks: the
    /// intervals are those of the complete blocks, stretched to contain it.
    pub(crate) fn estimate(&self, mean: f64, tuning_horizon: f64) -> Estimate {
        Estimate {
            value: mean,
            fixed: self.fixed().map(|ends| ends.stretched(mean)),
            anytime: self
                .anytime(tuning_horizon)
                .map(|ends| ends.stretched(mean)),
        }
    }

    /// Likelihood that the true mean is above one half, from the distance of the mean in
    /// standard errors at one half. `None` with fewer than two blocks.
    pub(crate) fn superiority(&self) -> Option<f64> {
        let mean = self.mean()?;
        let (n, df) = self.effective()?;
        let student = StudentsT::new(0.0, 1.0, df as f64).ok()?;
        Some(student.cdf(2.0 * (mean - 0.5) * n.sqrt()))
    }

    /// The effective sample size in blocks and the degrees of freedom; `None` with fewer
    /// than two blocks.
    fn effective(&self) -> Option<(f64, u64)> {
        let mean = self.mean().filter(|_| self.count > 1)?;
        let (spread, df) = self.spread();
        let n = self.count as f64;
        let variance = spread / df as f64;
        Some((n / share(n, variance, mean, self.most), df))
    }

    /// The interval of `errors` standard errors around the mean, as if the standard error
    /// were known.
    fn within_errors(&self, errors: f64) -> Option<Interval> {
        let mean = self.mean()?;
        Some(match self.effective() {
            Some((n, df)) => wilson(mean, n, errors, df),
            None => Interval::new(0.0, 1.0),
        })
    }

    /// Maximum sum of squared deviations of blocks with this mean, minus `less` of their
    /// sum.
    pub(crate) fn variance_most(&self, less: f64) -> f64 {
        let n = self.count.max(1) as f64;
        let mean = ((self.sum - less) / n).clamp(0.0, 1.0);
        n * mean * (1.0 - mean)
    }

    /// The amount added to the sum of squares of the blocks, as shares of a block's
    /// maximum; 0 without a variance.
    pub(crate) fn added(&self) -> f64 {
        let (spread, df) = self.spread();
        if df == 0 {
            return 0.0;
        }
        let n = self.count as f64;
        added(n, spread / df as f64, self.most)
    }
}

/// The difference of two agents' means over blocks, from −1 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) mean: f64,
    observed: f64,
    /// Variance of the mean.
    variance: f64,
    /// Harmonic mean of both numbers of blocks.
    blocks: f64,
    df: u64,
    /// Maximum units of a block.
    most: f64,
}

/// Degrees of freedom of the variance, for a number of blocks and groups.
pub(crate) fn df(blocks: u64, groups: u64) -> u64 {
    let means = if blocks >= 2 * groups { groups } else { 1 };
    blocks.saturating_sub(means)
}

/// Degrees of freedom of a difference of two means. Shared blocks count once. If one agent
/// has far fewer blocks, it has most of the variance, and the difference has hardly more
/// degrees of freedom than that agent (F. E. Satterthwaite, "An approximate distribution of
/// estimates of variance components", 1946).
pub(crate) fn df_of_both(of: [u64; 2], shared: u64) -> u64 {
    let [first, second] = of;
    let least = first.min(second);
    if least == 0 {
        return (first + second).saturating_sub(shared);
    }
    let parts = of.map(|free| (1.0 / (free + 1) as f64, free as f64));
    let sum: f64 = parts.iter().map(|(part, _)| part).sum();
    let squares: f64 = parts.iter().map(|(part, free)| part * part / free).sum();
    let uneven = (sum * sum / squares).round() as u64;
    (first + second)
        .saturating_sub(shared)
        .min(uneven)
        .max(least)
}

/// The mean over blocks with the data for its interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockMean {
    pub(crate) mean: f64,
    /// Mean of the observed values, from 0 to 1, which bounds the variance. It differs from
    /// the estimate if something was subtracted.
    pub(crate) observed: f64,
    /// Variance of one block.
    pub(crate) variance: f64,
    pub(crate) blocks: f64,
    pub(crate) df: u64,
}

/// The difference of two means. `covariance` is the sum of their covariance in one block
/// over the shared blocks, and `shared` the degrees of freedom of these blocks. `None` if
/// one mean has no block.
pub(crate) fn difference(of: [&Blocks; 2], covariance: f64, shared: u64) -> Option<Difference> {
    let of_blocks = |blocks: &Blocks| {
        let (spread, df) = blocks.spread();
        let mean = blocks.mean()?;
        Some(BlockMean {
            mean,
            observed: mean,
            variance: spread / df.max(1) as f64,
            blocks: blocks.count as f64,
            df,
        })
    };
    let means = [of_blocks(of[0])?, of_blocks(of[1])?];
    let most = of[0].most.max(of[1].most);
    Some(difference_of(means, covariance, shared, most))
}

/// The same difference with a given maximum of units per block.
pub(crate) fn difference_of(
    of: [BlockMean; 2],
    covariance: f64,
    shared: u64,
    most: f64,
) -> Difference {
    let [first, second] = of;
    let common = 2.0 * covariance / (first.blocks * second.blocks);
    let both = first.variance / first.blocks + second.variance / second.blocks;
    let variance = (both - common).max(0.0);
    // If one agent wins what the other loses, the difference has steps of two.
    let steps = if both > 0.0 { variance / both } else { 1.0 };
    Difference {
        mean: first.mean - second.mean,
        observed: first.observed - second.observed,
        variance,
        blocks: 2.0 * first.blocks * second.blocks / (first.blocks + second.blocks),
        df: df_of_both([first.df, second.df], shared),
        most: most * 2.0 / steps.clamp(1.0, 2.0),
    }
}

impl Difference {
    /// The difference with its fixed-sample interval; see [`Blocks::fixed`].
    pub(crate) fn fixed(self) -> Estimate {
        Estimate {
            value: self.mean,
            fixed: Some(self.within_errors(NORMAL)),
            anytime: None,
        }
    }

    /// The difference with both intervals; see [`Blocks::anytime`].
    pub(crate) fn estimate(self, tuning_horizon: f64) -> Estimate {
        let errors = confidence::bound(self.blocks, tuning_horizon, ALPHA);
        Estimate {
            anytime: Some(self.within_errors(errors)),
            ..self.fixed()
        }
    }

    /// Half of the difference plus one half is a mean of values from 0 to 1.
    fn within_errors(self, errors: f64) -> Interval {
        if self.df == 0 {
            return Interval::new(-1.0, 1.0);
        }
        let [middle, observed] =
            [self.mean, self.observed].map(|mean| f64::midpoint(mean, 1.0).clamp(0.0, 1.0));
        let variance = self.blocks * self.variance / 4.0;
        let share = share(self.blocks, variance, observed, self.most);
        wilson(middle, self.blocks / share, errors, self.df)
            .map(|end| 2.0 * end - 1.0)
            .stretched(self.mean)
    }
}

impl BlockMean {
    /// The fixed-sample interval of a mean without steps, within 0 and 1 unless the mean
    /// itself is outside.
    pub(crate) fn fixed(self) -> Interval {
        self.within_errors(NORMAL)
    }

    /// Such a mean with both intervals; see [`Blocks::anytime`].
    pub(crate) fn estimate(self, tuning_horizon: f64) -> Estimate {
        let errors = confidence::bound(self.blocks, tuning_horizon, ALPHA);
        Estimate {
            value: self.mean,
            fixed: Some(self.fixed()),
            anytime: Some(self.within_errors(errors)),
        }
    }

    fn within_errors(self, errors: f64) -> Interval {
        let share = share(self.blocks, self.variance, self.observed, UNITS_FINE);
        let mean = self.mean.clamp(0.0, 1.0);
        wilson(mean, self.blocks / share, errors, self.df).stretched(self.mean)
    }
}

/// The blocks' share of the maximum variance, with `most` units per block. It may exceed 1
/// due to sampling error.
fn share(n: f64, variance: f64, mean: f64, most: f64) -> f64 {
    let added = added(n, variance, most);
    (n * variance + added) / (n * mean * (1.0 - mean) + added)
}

/// The amount added to the sum of squares of `n` blocks of this variance.
fn added(n: f64, variance: f64, most: f64) -> f64 {
    // One step of one block is at least one half, except for rounding.
    let alike = n * variance * most * most < 1e-6;
    if alike { ALIKE } else { STEPS / (most * most) }
}

/// Wilson's interval of a share observed in `n` trials, with `errors` standard errors to
/// each side of its centre; `df` are the degrees of freedom of the variance.
fn wilson(mean: f64, n: f64, errors: f64, df: u64) -> Interval {
    let square = errors * errors;
    let centre = (mean + square / (2.0 * n)) / (1.0 + square / n);
    let one = (mean * (1.0 - mean) / n + square / (4.0 * n * n)).sqrt() / (1.0 + square / n);
    let half = student(errors, df) * one;
    Interval::new(
        (centre - half).clamp(0.0, mean),
        (centre + half).clamp(mean, 1.0),
    )
}

/// The two-sided 95 % critical value of Student's distribution.
pub(crate) fn critical(df: u64) -> f64 {
    student(NORMAL, df)
}

/// The quantile of Student's distribution with the same tail probability as this quantile
/// of the normal distribution.
///
/// Logarithms and powers of the exact quantiles are platform-dependent, so that with fewer
/// than [`SERIES_MIN`] degrees of freedom the last digits may differ between platforms.
///
/// From [`SERIES_MIN`] degrees of freedom on, it uses the series of R. A. Fisher and E. A.
/// Cornish, "The percentile points of distributions having known cumulants", Technometrics
/// 2, 1960. The series is accurate to 10⁻⁶ for 95 % and about a hundred times faster.
pub(crate) fn student(normal: f64, df: u64) -> f64 {
    let v = df as f64;
    if df < SERIES_MIN
        && let (Ok(gauss), Ok(student)) = (Normal::new(0.0, 1.0), StudentsT::new(0.0, 1.0, v))
    {
        let tail = gauss.cdf(-normal);
        // Beyond this limit the library is slow, then wrong, then panics. The interval
        // contains everything in that case.
        return match student.cdf(-FAR) {
            least if tail > least => -student.inverse_cdf(tail),
            _ => normal.max(FAR),
        };
    }
    let z = normal;
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + (first + (second + third / v) / v) / v
}

#[cfg(test)]
mod tests;
