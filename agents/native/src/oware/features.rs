//! Features of a position.

use arena_games::oware::{Core, Oware};

/// A game whose positions have features. In the paper's terms the *agent* is the side that
/// searches and the *user* its opponent.
pub(crate) trait Features: Oware {
    /// The weights, one for each feature.
    type Weights: Weights;

    /// Named weights; the first ones are the default.
    const NAMED: &'static [(&'static str, Self::Weights)];

    /// The features a1, a2, … of a position, for the agent in this seat. They are static:
    /// computed for both sides as if each were to move.
    fn features(&self, core: &Core, agent: usize) -> Self::Weights;
}

/// A vector with as many numbers as a game has features.
pub(crate) trait Weights: Copy + Send + AsRef<[f64]> + 'static {
    /// Number of features.
    const COUNT: usize;

    /// Converts a slice; missing numbers are 0.
    fn from_slice(values: &[f64]) -> Self;
}

impl<const N: usize> Weights for [f64; N] {
    const COUNT: usize = N;

    fn from_slice(values: &[f64]) -> Self {
        let mut weights = [0.0; N];
        for (weight, &value) in weights.iter_mut().zip(values) {
            *weight = value;
        }
        weights
    }
}

/// f = Σ w·a, in the order of the features.
#[inline]
pub(crate) fn sum<W: Weights>(weights: &W, features: &W) -> f64 {
    let pairs = weights.as_ref().iter().zip(features.as_ref());
    pairs.fold(0.0, |sum, (weight, feature)| sum + weight * feature)
}

/// Number of pits of a row whose seeds satisfy a condition.
#[inline]
pub(crate) fn count(row: &[u8], holds: impl Fn(u8) -> bool) -> f64 {
    f64::from(row.iter().map(|&seeds| u8::from(holds(seeds))).sum::<u8>())
}

/// More seeds than a lap needs.
pub(crate) const LARGE: u8 = 12;
