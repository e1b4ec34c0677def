//! Whole weights of the outcomes of a chance node whose rules give probabilities instead.
//!
//! The sum of the weights is the common denominator of the simplest fractions within a relative error of the
//! probabilities. `weights_of` of `agents/openspiel/arena_openspiel/nodes.py` follows the same rule, and the
//! tests of both read `tests/data/weights.json`.

use serde::Deserialize;

/// The probability of an outcome, as the rules gave it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Probability(pub(crate) f64);

/// True for the same bits: two processes that answer NaN agree, and are refused for it.
impl PartialEq for Probability {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

/// Maximum sum of the weights.
const SUM_MAX: u128 = u32::MAX as u128;
/// A probability may be off by itself divided by this number, which covers the rounding of floats.
const TOLERANCE: u128 = 1_000_000_000_000;
/// The least probability of an outcome with a weight.
const LEAST: f64 = 1.0 / 4_294_967_296.0;
/// Probabilities are counted in units of two to the power of minus this number. Then `LEAST` and all greater
/// ones are whole numbers.
const UNIT_BITS: u32 = 84;
/// The probability 1 in units.
const ONE: u128 = 1 << UNIT_BITS;

/// Whole weights in the ratio of these probabilities, with a sum below 2^32. An impossible outcome has the
/// weight 0.
///
/// # Errors
/// What is wrong with them.
pub(super) fn weights_of(probabilities: &[Probability]) -> Result<Vec<u32>, String> {
    let given: Vec<f64> = probabilities.iter().map(|it| it.0).collect();
    let is_number = |it: &f64| (0.0..f64::INFINITY).contains(it);
    if let Some(place) = given.iter().position(|it| !is_number(it)) {
        let wrong = given[place];
        return Err(format!(
            "probabilities[{place}] is {wrong}, which is not from 0 to 1"
        ));
    }
    let sum: f64 = given.iter().sum();
    let wrong_sum = || format!("the sum of the probabilities is {sum}, not 1");
    // Units are exact only for numbers that are not much greater than 1.
    if sum > 2.0 {
        return Err(wrong_sum());
    }
    let no_fraction = |place: usize| {
        format!(
            "the probabilities are no fractions with a common denominator below 2^32: \
             probabilities[{place}] is {}",
            given[place]
        )
    };
    let is_small = |it: &f64| (f64::MIN_POSITIVE..LEAST).contains(it) || it.is_subnormal();
    if let Some(place) = given.iter().position(is_small) {
        return Err(no_fraction(place));
    }
    let units: Vec<u128> = given.iter().copied().map(units_of).collect();
    let counted: u128 = units.iter().sum();
    if counted.abs_diff(ONE) > counted / TOLERANCE {
        return Err(wrong_sum());
    }
    let mut ascending: Vec<usize> = (0..units.len()).collect();
    ascending.sort_by_key(|&place| units[place]);
    let mut total = 1;
    for place in ascending {
        if weight_of(units[place], total).is_none() {
            let denominator = denominator_of(units[place]);
            let common = denominator.map(|it| total / gcd(total, it) * it);
            let common = common.filter(|&common| common <= SUM_MAX);
            total = common.ok_or_else(|| no_fraction(place))?;
        }
    }
    let weight = |(place, &units): (usize, &u128)| {
        let weight = weight_of(units, total).and_then(|it| u32::try_from(it).ok());
        weight.ok_or_else(|| no_fraction(place))
    };
    units.iter().enumerate().map(weight).collect()
}

/// A probability in units: 0, or `LEAST` to 2.
fn units_of(probability: f64) -> u128 {
    const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    if probability <= 0.0 {
        return 0;
    }
    let bits = probability.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS;
    // The exponent of the last bit of the mantissa.
    let last = (bits >> MANTISSA_BITS) as i32 - 1023 - MANTISSA_BITS as i32;
    u128::from(mantissa) << (last + UNIT_BITS as i32)
}

/// The whole number nearest to a probability times the sum of the weights, if it is within the tolerance.
fn weight_of(units: u128, total: u128) -> Option<u128> {
    let product = units * total;
    let weight = (product + ONE / 2) / ONE;
    ((weight * ONE).abs_diff(product) <= product / TOLERANCE).then_some(weight)
}

/// The denominator of the simplest fraction within the tolerance, a convergent of the continued fraction;
/// none if it is too large.
fn denominator_of(units: u128) -> Option<u128> {
    let (mut rest, mut divisor) = (units, ONE);
    let (mut before, mut last) = ((0, 1), (1, 0));
    loop {
        let whole = rest / divisor;
        (before, last) = (last, (whole * last.0 + before.0, whole * last.1 + before.1));
        let (numerator, denominator) = last;
        if denominator > SUM_MAX {
            return None;
        }
        let due = units * denominator;
        if (numerator * ONE).abs_diff(due) <= due / TOLERANCE {
            return Some(denominator);
        }
        (rest, divisor) = (divisor, rest % divisor);
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Vector {
        probabilities: Vec<f64>,
        /// Those of `weights_of` in Python; none if it refuses them.
        weights: Option<Vec<u32>>,
    }

    fn weights(probabilities: &[f64]) -> Result<Vec<u32>, String> {
        let given = probabilities.iter().copied().map(Probability);
        weights_of(&given.collect::<Vec<_>>())
    }

    #[test]
    fn weights_are_those_of_the_rule_in_python() {
        let vectors = include_str!("../../tests/data/weights.json");
        let vectors: Vec<Vector> = serde_json::from_str(vectors).expect("vectors");
        assert!(vectors.len() > 100);
        for Vector {
            probabilities,
            weights: expected,
        } in vectors
        {
            let found = weights(&probabilities);
            assert_eq!(found.clone().ok(), expected, "{probabilities:?}: {found:?}");
        }
    }

    #[test]
    fn impossible_outcomes_have_no_weight() {
        assert_eq!(
            weights(&[0.5, 0.0, 1.0 / 3.0, -0.0, 1.0 / 6.0]),
            Ok(vec![3, 0, 2, 0, 1])
        );
        assert_eq!(weights(&[0.0, 1.0]), Ok(vec![0, 1]));
    }

    #[test]
    fn as_many_outcomes_as_a_node_may_have() {
        let count = 1 << 15;
        let same = vec![1.0 / f64::from(count); 1 << 15];
        assert_eq!(weights(&same), Ok(vec![1; 1 << 15]));
        // Each has another denominator.
        let mut different: Vec<f64> = (0..count).map(|it| 1e-5 / f64::from(it + 1)).collect();
        different[0] += 1.0 - different.iter().sum::<f64>();
        let problem = weights(&different).expect_err("no common denominator");
        assert!(problem.contains("below 2^32"), "{problem}");
    }

    #[test]
    fn wrong_probabilities_are_named() {
        let [one, other] = [0.05_f64.sqrt(), 0.02_f64.sqrt()];
        for (given, problem) in [
            (
                &[0.5, f64::NAN][..],
                "probabilities[1] is NaN, which is not from 0 to 1",
            ),
            (&[f64::INFINITY], "probabilities[0] is inf, which is not"),
            (&[1.5, -0.5], "probabilities[1] is -0.5, which is not"),
            (&[0.0, 0.0], "the sum of the probabilities is 0, not 1"),
            (
                &[0.5, 0.4999],
                "the sum of the probabilities is 0.9999, not 1",
            ),
            (&[f64::MAX, f64::MAX], "the sum of the probabilities is inf"),
            (&[2.0], "the sum of the probabilities is 2, not 1"),
            (
                &[1.0 + 1e-11],
                "the sum of the probabilities is 1.00000000001",
            ),
            (
                &[1.0, 1e-300],
                "a common denominator below 2^32: probabilities[1] is 0.000",
            ),
            (
                &[
                    1.0 / 65537.0,
                    1.0 / 65539.0,
                    1.0 - 1.0 / 65537.0 - 1.0 / 65539.0,
                ],
                "a common denominator below 2^32: probabilities[0] is 0.0000152585",
            ),
            (
                &[one, other, 1.0 - one - other],
                "a common denominator below 2^32: probabilities[",
            ),
        ] {
            let found = weights(given).expect_err(problem);
            assert!(found.contains(problem), "{given:?}: {found}");
        }
    }

    #[test]
    fn processes_that_answer_nan_agree() {
        assert_eq!(Probability(f64::NAN), Probability(f64::NAN));
        assert_ne!(Probability(0.5), Probability(0.25));
    }
}
