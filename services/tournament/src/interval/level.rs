//! The same interval at another level of confidence.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{NORMAL, wilson};

/// The level of all intervals of standings.
const USUAL: f64 = 0.95;

/// Effective numbers of blocks that are thought of, and how often their range is
/// halved: the number is found to all its digits.
const FEWEST: f64 = 1e-6;
const MOST: f64 = 1e24;
const HALVINGS: u32 = 100;

/// The interval of a share at another level than 95 %, given its mean, its 95 %
/// interval and the degrees of freedom of its variance.
///
/// The interval is [`super`]'s, whose width follows from the effective number of
/// blocks alone; that number is sought which gives the interval's farther end.
///
/// # Panics
/// Where the level is not between 0 and 1.
#[must_use]
pub fn of_share(mean: f64, usual: (f64, f64), freedom: u64, level: f64) -> (f64, f64) {
    if is_usual(level) {
        return usual;
    }
    let freedom = freedom.max(1);
    let inside = |end: f64| 0.0 < end && end < 1.0 && (end - mean).abs() > 1e-12;
    let high = match (inside(usual.0), inside(usual.1)) {
        (false, false) => return usual,
        (true, true) => usual.1 - mean > mean - usual.0,
        (_, high) => high,
    };
    let reach = |n: f64| {
        let (low, top) = wilson(mean, n, NORMAL, freedom);
        if high { top - mean } else { mean - low }
    };
    let wanted = if high { usual.1 - mean } else { mean - usual.0 };
    let (mut few, mut many) = (FEWEST.ln(), MOST.ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(few, many);
        if reach(middle.exp()) > wanted {
            few = middle;
        } else {
            many = middle;
        }
    }
    let errors = Normal::standard().inverse_cdf(f64::midpoint(1.0, level));
    wilson(mean, few.exp(), errors, freedom)
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
                .within_errors(Normal::standard().inverse_cdf(f64::midpoint(1.0, level)))
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
