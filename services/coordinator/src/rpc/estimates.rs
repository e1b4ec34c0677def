//! Estimates in messages, which have each of their numbers in a field of its own.

use arena_tournament::Estimate;

/// The numbers of an estimate, each absent if it is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flat {
    pub(crate) value: Option<f64>,
    /// Ends of the fixed-sample interval.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) anytime_low: Option<f64>,
    pub(crate) anytime_high: Option<f64>,
}

/// The numbers of an estimate.
pub(crate) fn flat(estimate: Option<Estimate>) -> Flat {
    estimate.map_or_else(Flat::default, |estimate| Flat {
        value: Some(estimate.value),
        low: estimate.fixed.map(|ends| ends.low),
        high: estimate.fixed.map(|ends| ends.high),
        anytime_low: estimate.anytime.map(|ends| ends.low),
        anytime_high: estimate.anytime.map(|ends| ends.high),
    })
}
