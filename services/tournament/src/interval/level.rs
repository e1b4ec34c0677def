//! The same interval at another level of confidence.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::{critical, wilson};

/// The level of all intervals of standings.
const USUAL: f64 = 0.95;

/// The interval of a share at another level than 95 %, given its mean, its 95 %
/// interval and the degrees of freedom of its variance.
///
/// The interval is Wilson's (see [`super`]): an end e is where the mean is
/// t·√(e(1 − e)/n) away, so either end tells the effective number n of blocks,
/// from which the interval at any level follows.
///
/// # Panics
/// Where the level is not between 0 and 1.
#[must_use]
pub fn of_share(mean: f64, usual: (f64, f64), freedom: u64, level: f64) -> (f64, f64) {
    if is_usual(level) {
        return usual;
    }
    let freedom = freedom.max(1);
    let farther = [usual.0, usual.1]
        .into_iter()
        .filter(|end| 0.0 < *end && *end < 1.0 && (end - mean).abs() > 1e-12)
        .max_by(|a, b| (a - mean).abs().total_cmp(&(b - mean).abs()));
    let Some(end) = farther else {
        return usual;
    };
    let t = critical(freedom);
    let n = t * t * end * (1.0 - end) / (mean - end).powi(2);
    let wanted = StudentsT::new(0.0, 1.0, freedom as f64)
        .expect("degrees of freedom are above zero")
        .inverse_cdf(f64::midpoint(1.0, level));
    wilson(mean, n, wanted)
}

/// The same for what is about normal and has no bounds, such as a rating.
///
/// # Panics
/// Where the level is not between 0 and 1.
#[must_use]
pub fn of_number(mean: f64, usual: (f64, f64), level: f64) -> (f64, f64) {
    if is_usual(level) {
        return usual;
    }
    let errors = |level: f64| Normal::standard().inverse_cdf(f64::midpoint(1.0, level));
    let wider = errors(level) / errors(USUAL);
    (
        mean - (mean - usual.0) * wider,
        mean + (usual.1 - mean) * wider,
    )
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
                .within_errors(|freedom| {
                    StudentsT::new(0.0, 1.0, freedom as f64)
                        .expect("freedom")
                        .inverse_cdf(f64::midpoint(1.0, level))
                })
                .expect("blocks");
            let found = of_share(mean, usual, blocks.count() - 1, level);
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
        assert_eq!(of_share(0.5, (0.0, 1.0), 0, 0.9), (0.0, 1.0));
    }

    #[test]
    fn a_number_has_an_interval_as_wide_as_normal_errors_are() {
        let (low, high) = of_number(10.0, (10.0 - 1.959_964, 10.0 + 1.959_964), 0.99);
        assert!((low - (10.0 - 2.575_829)).abs() < 1e-5, "{low}");
        assert!((high - (10.0 + 2.575_829)).abs() < 1e-5, "{high}");
    }
}
