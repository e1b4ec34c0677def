//! Comparison of published figures with our own: estimates over blocks, and the rules by
//! which two figures agree.
//!
//! Both kinds of estimate are ratios of sums over blocks: games won over games, pips over
//! throws. The blocks are independent. The intervals are those of [`crate::interval`] for
//! shares with equally many observations in each block, and otherwise the linearised
//! interval of a ratio with Student's critical value (W. G. Cochran, "Sampling Techniques",
//! 3rd edition, 1977, §6.4).

use crate::{
    Interval,
    interval::{self, Blocks, Moments},
};

/// Two-sided 99 % critical value of the normal distribution, by which published counts and
/// means are accepted.
pub const Z_MAX: f64 = 2.58;

/// The contribution of one block to an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Sum of the observed values.
    pub sum: i64,
    /// Number of observations.
    pub count: u64,
}

/// A figure of our own, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Sum of the values over the number of observations.
    pub value: f64,
    /// The interval, if there are enough blocks.
    pub interval: Option<Interval>,
    /// Standard deviation of one observation, as estimated from blocks of several
    /// observations.
    pub sd: Option<f64>,
    /// Number of observations.
    pub count: u64,
}

impl Figure {
    /// The estimate in another unit: everything times `factor`, above 0, plus `offset`.
    #[must_use]
    pub fn scaled(self, factor: f64, offset: f64) -> Self {
        let scale = |value: f64| value * factor + offset;
        Self {
            value: scale(self.value),
            interval: self.interval.map(|ends| ends.map(scale)),
            sd: self.sd.map(|sd| sd * factor),
            count: self.count,
        }
    }
}

/// The share of hits among the observations: `sum` of each block is its number of hits,
/// from 0 to `count`. `None` without an observation.
#[must_use]
pub fn share(blocks: &[Part]) -> Option<Figure> {
    let estimate = mean(blocks)?;
    let mut counts = blocks.iter().map(|part| part.count).filter(|&n| n > 0);
    let first = counts.next()?;
    let even = counts.all(|count| count == first);
    let hits = |part: &Part| u64::try_from(part.sum).ok();
    let interval = if even {
        let mut moments = Moments::default();
        let seen = blocks.iter().filter(|part| part.count > 0);
        seen.filter_map(hits).for_each(|units| moments.add(units));
        Blocks::of([moments], first).fixed()
    } else {
        let within = |ends: Interval| Interval::new(ends.low.max(0.0), ends.high.min(1.0));
        estimate.interval.map(within)
    };
    Some(Figure {
        interval,
        ..estimate
    })
}

/// The mean of all observations. `None` without an observation; without an interval if all
/// observations are in one block.
#[must_use]
pub fn mean(blocks: &[Part]) -> Option<Figure> {
    let seen = || blocks.iter().filter(|part| part.count > 0);
    let count: u64 = seen().map(|part| part.count).sum();
    if count == 0 {
        return None;
    }
    let total: i64 = seen().map(|part| part.sum).sum();
    let value = total as f64 / count as f64;
    let groups = seen().count() as u64;
    let spread: f64 = seen()
        .map(|part| (part.sum as f64 - value * part.count as f64).powi(2))
        .sum();
    let n = groups as f64;
    let error = (groups > 1).then(|| (n / (n - 1.0) * spread).sqrt() / count as f64);
    let interval =
        error.map(|error| Interval::around(value, interval::critical(groups - 1) * error));
    Some(Figure {
        value,
        interval,
        sd: error.map(|error| error * (count as f64).sqrt()),
        count,
    })
}

/// Distance of a published count of `k` in `n` from a share `p`, in standard errors of `n`
/// trials. `None` if `p` is 0 or 1.
#[must_use]
pub fn z_of_count(k: f64, n: u64, p: f64) -> Option<f64> {
    let n = n as f64;
    let error = (n * p * (1.0 - p)).sqrt();
    (error > 0.0).then(|| (k - n * p) / error)
}

/// True if a published count of `k` in `n` agrees with a share `p`: |k − np| ≤
/// [`Z_MAX`]·√(np(1 − p)) + 0.5.
#[must_use]
pub fn count_agrees(k: f64, n: u64, p: f64) -> bool {
    let n = n as f64;
    (k - n * p).abs() <= Z_MAX * (n * p * (1.0 - p)).sqrt() + 0.5
}

/// Distance of a published mean of `n` observations from `mean`, in standard errors of `n`
/// observations with this standard deviation. `None` if the standard deviation is 0.
#[must_use]
pub fn z_of_mean(published: f64, n: u64, mean: f64, sd: f64) -> Option<f64> {
    let error = sd / (n as f64).sqrt();
    (error > 0.0).then(|| (published - mean) / error)
}

/// True if a published mean of `n` observations agrees with a mean: |difference| ≤ z·sd/√n,
/// with the standard deviation of our own observations.
#[must_use]
pub fn mean_agrees(published: f64, n: u64, mean: f64, sd: f64, z_max: f64) -> bool {
    (published - mean).abs() <= z_max * sd / (n as f64).sqrt()
}

#[cfg(test)]
mod tests;
