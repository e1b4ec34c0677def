//! Intervals at another confidence level.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{NORMAL, student, wilson};
use crate::{Estimate, Interval, elo::ELO, sequential::confidence};

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
    /// The 95 % interval of an estimate that has this validity.
    fn interval(self, of: Estimate) -> Option<Interval> {
        of.interval(self != Self::One)
    }

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

/// The interval of a share at any level, from its 95 % interval and the degrees of freedom
/// of its variance; `None` if the 95 % interval is not known.
///
/// The interval is the one of [`super`], whose width depends on the effective sample size
/// only. The function searches for the sample size that gives the interval's farther end.
///
/// # Panics If the level is not between 0 and 1.
#[must_use]
pub fn of_share(share: Estimate, df: u64, (looks, level): (Looks, f64)) -> Option<Interval> {
    let usual = looks.interval(share)?;
    if is_usual(level) {
        return Some(usual);
    }
    let (mean, df) = (share.value, df.max(1));
    let inside = |end: f64| 0.0 < end && end < 1.0 && (end - mean).abs() > 1e-12;
    let high = match (inside(usual.low), inside(usual.high)) {
        (false, false) => return Some(usual),
        (true, true) => usual.high - mean > mean - usual.low,
        (_, high) => high,
    };
    let known = looks.errors(USUAL);
    let reach = |of: Interval| if high { of.high - mean } else { mean - of.low };
    let wanted = reach(usual);
    let (mut few, mut many) = (libm::log(FEWEST), libm::log(MOST));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(few, many);
        if reach(wilson(mean, libm::exp(middle), known, df)) > wanted {
            few = middle;
        } else {
            many = middle;
        }
    }
    Some(wilson(mean, libm::exp(few), looks.errors(level), df))
}

/// The interval at any level of the Elo of an expected score; `None` if its 95 % interval is
/// not known. It extends 2·asinh(t·σ/2) in logs for Student's critical value t.
///
/// # Panics If the level is not between 0 and 1.
#[must_use]
pub fn of_elo(elo: Estimate, df: u64, (looks, level): (Looks, f64)) -> Option<Interval> {
    let usual = looks.interval(elo)?;
    if is_usual(level) {
        return Some(usual);
    }
    let [known, wanted] = [USUAL, level].map(|level| looks.point(level, df));
    Some(usual.map(|end| {
        let half = libm::sinh((end - elo.value) / ELO / 2.0);
        elo.value + ELO * 2.0 * libm::asinh(half * wanted / known)
    }))
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

    #[track_caller]
    fn near(found: Interval, expected: Interval, by: f64) {
        let apart = (found.low - expected.low)
            .abs()
            .max((found.high - expected.high).abs());
        assert!(apart < by, "{found:?} {expected:?}");
    }

    #[test]
    fn share_interval_follows_level() {
        let blocks = blocks();
        let mean = blocks.mean().expect("blocks");
        let usual = blocks.estimate(mean, 40.0);
        for level in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
            let expected = blocks
                .within_errors(Normal::standard().inverse_cdf(f64::midpoint(1.0, level)))
                .expect("blocks");
            let found = of_share(usual, blocks.count() - 1, (Looks::One, level));
            near(found.expect("blocks"), expected, 1e-9);
        }
    }

    #[test]
    fn missing_interval_is_missing_at_every_level() {
        let all = Interval {
            low: 0.0,
            high: 1.0,
        };
        let usual = Estimate {
            value: 0.5,
            fixed: Some(all),
            anytime: None,
        };
        assert_eq!(of_share(usual, 0, (Looks::One, 0.9)), Some(all));
    }

    #[test]
    fn anytime_cost_is_equal_at_every_level() {
        let blocks = blocks();
        let mean = blocks.mean().expect("blocks");
        let (n, tuning_horizon) = (blocks.count() as f64, 40.0);
        let looks = Looks::Any {
            blocks: n,
            tuning_horizon,
        };
        let usual = blocks.estimate(mean, tuning_horizon);
        for alpha in [0.2, 0.01] {
            let expected = blocks.within_errors(confidence::bound(n, tuning_horizon, alpha));
            let expected = expected.expect("blocks");
            let found = of_share(usual, blocks.count() - 1, (looks, 1.0 - alpha));
            near(found.expect("blocks"), expected, 1e-9);
        }
    }

    #[test]
    fn few_blocks_use_student_quantiles() {
        // With 3 degrees of freedom: 3.182 and 5.841 (tables); with 30: 2.042 and 2.750.
        for (df, usual, wanted) in [(3, 3.182_446, 5.840_909), (30, 2.042_272, 2.749_996)] {
            let half = |point: f64| ELO * 2.0 * (point * 0.01 / 2.0).asinh();
            let around = |half: f64| Interval {
                low: 10.0 - half,
                high: 10.0 + half,
            };
            let usual = Estimate {
                value: 10.0,
                fixed: Some(around(half(usual))),
                anytime: None,
            };
            let found = of_elo(usual, df, (Looks::One, 0.99)).expect("an interval");
            near(found, around(half(wanted)), 1e-3);
        }
    }
}
