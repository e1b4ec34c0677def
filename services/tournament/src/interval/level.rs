//! Intervals at another confidence level.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{NORMAL, student, wilson};
use crate::{elo::ELO, sequential::confidence};

/// The confidence level of all intervals of standings.
pub const USUAL: f64 = 0.95;

/// Smallest effective sample size of the search, and the number of bisections, which
/// reaches full precision.
const FEWEST: f64 = 1e-6;
const MOST: f64 = 1e24;
const HALVINGS: u32 = 100;

/// The validity of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looks {
    /// Fixed-sample: one look after a number of blocks fixed beforehand.
    One,
    /// Anytime-valid.
    Any {
        /// Number of complete blocks.
        blocks: f64,
        /// Number of blocks at which the interval is narrowest.
        tuning_horizon: f64,
    },
}

impl Looks {
    /// Half-width in standard errors, as if the standard error were known.
    pub(crate) fn errors(self, level: f64) -> f64 {
        match self {
            Self::One if is_usual(level) => NORMAL,
            Self::One => Normal::standard().inverse_cdf(f64::midpoint(1.0, level)),
            Self::Any {
                blocks,
                tuning_horizon,
            } => confidence::bound(blocks.max(1.0), tuning_horizon, 1.0 - level),
        }
    }

    /// Half-width in standard errors that are estimated with `df` degrees of freedom, at
    /// least 1.
    pub(crate) fn point(self, level: f64, df: u64) -> f64 {
        student(self.errors(level), df.max(1))
    }
}

/// The interval of a share at another level than 95 %, from its mean, its 95 % interval and
/// the degrees of freedom of its variance.
///
/// The interval is the one of [`super`], whose width depends on the effective sample size
/// only. The function searches for the sample size that gives the interval's farther end.
///
/// # Panics If the level is not between 0 and 1.
#[must_use]
pub fn of_share(mean: f64, usual: (f64, f64), df: u64, (looks, level): (Looks, f64)) -> (f64, f64) {
    if is_usual(level) {
        return usual;
    }
    let df = df.max(1);
    let inside = |end: f64| 0.0 < end && end < 1.0 && (end - mean).abs() > 1e-12;
    let high = match (inside(usual.0), inside(usual.1)) {
        (false, false) => return usual,
        (true, true) => usual.1 - mean > mean - usual.0,
        (_, high) => high,
    };
    let known = looks.errors(USUAL);
    let reach = |n: f64| {
        let (low, top) = wilson(mean, n, known, df);
        if high { top - mean } else { mean - low }
    };
    let wanted = if high { usual.1 - mean } else { mean - usual.0 };
    let (mut few, mut many) = (libm::log(FEWEST), libm::log(MOST));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(few, many);
        if reach(libm::exp(middle)) > wanted {
            few = middle;
        } else {
            many = middle;
        }
    }
    wilson(mean, libm::exp(few), looks.errors(level), df)
}

/// The interval at another level of the Elo of an expected score. It extends 2·asinh(t·σ/2)
/// in logs for Student's critical value t.
///
/// # Panics If the level is not between 0 and 1.
#[must_use]
pub fn of_elo(value: f64, usual: (f64, f64), df: u64, (looks, level): (Looks, f64)) -> (f64, f64) {
    if is_usual(level) {
        return usual;
    }
    let [known, wanted] = [USUAL, level].map(|level| looks.point(level, df));
    let end = |end: f64| {
        let half = libm::sinh((end - value) / ELO / 2.0);
        value + ELO * 2.0 * libm::asinh(half * wanted / known)
    };
    (end(usual.0), end(usual.1))
}

fn is_usual(level: f64) -> bool {
    (level - USUAL).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{Blocks, Moments};

    fn blocks() -> Blocks {
        let mut moments = Moments::default();
        for units in [0, 1, 2, 2, 1, 2, 2, 2, 1, 0, 2, 2] {
            moments.add(units);
        }
        let mut blocks = Blocks::default();
        blocks.add(moments, 2);
        blocks
    }

    #[test]
    fn a_share_has_the_interval_that_its_blocks_give_at_that_level() {
        let blocks = blocks();
        let mean = blocks.mean().expect("blocks");
        let usual = blocks.fixed().expect("blocks");
        for level in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
            let expected = blocks
                .within_errors(Normal::standard().inverse_cdf(f64::midpoint(1.0, level)))
                .expect("blocks");
            let found = of_share(mean, usual, blocks.count() - 1, (Looks::One, level));
            assert!(
                (found.0 - expected.0).abs() < 1e-9,
                "{level}: {found:?} {expected:?}"
            );
            assert!(
                (found.1 - expected.1).abs() < 1e-9,
                "{level}: {found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn what_says_nothing_at_95_percent_says_nothing_at_any_level() {
        assert_eq!(of_share(0.5, (0.0, 1.0), 0, (Looks::One, 0.9)), (0.0, 1.0));
    }

    #[test]
    fn looking_at_any_time_costs_as_much_at_other_levels() {
        let blocks = blocks();
        let mean = blocks.mean().expect("blocks");
        let (n, tuning_horizon) = (blocks.count() as f64, 40.0);
        let looks = Looks::Any {
            blocks: n,
            tuning_horizon,
        };
        let usual = blocks.anytime(tuning_horizon).expect("blocks");
        for alpha in [0.2, 0.01] {
            let expected = blocks.within_errors(confidence::bound(n, tuning_horizon, alpha));
            let expected = expected.expect("blocks");
            let found = of_share(mean, usual, blocks.count() - 1, (looks, 1.0 - alpha));
            assert!(
                (found.0 - expected.0).abs() < 1e-9,
                "{found:?} {expected:?}"
            );
            assert!(
                (found.1 - expected.1).abs() < 1e-9,
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn a_rating_of_few_blocks_has_students_points_at_any_level() {
        // With 3 degrees of freedom: 3.182 and 5.841 (tables); with 30: 2.042 and 2.750.
        for (df, usual, wanted) in [(3, 3.182_446, 5.840_909), (30, 2.042_272, 2.749_996)] {
            let half = |point: f64| ELO * 2.0 * (point * 0.01 / 2.0).asinh();
            let around = |half: f64| (10.0 - half, 10.0 + half);
            let (low, high) = of_elo(10.0, around(half(usual)), df, (Looks::One, 0.99));
            let expected = around(half(wanted));
            assert!((low - expected.0).abs() < 1e-3, "{low} {expected:?}");
            assert!((high - expected.1).abs() < 1e-3, "{high} {expected:?}");
        }
    }
}
