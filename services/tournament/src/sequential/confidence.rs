//! Confidence sequences: intervals that are valid at all times simultaneously.
//!
//! The boundary is that of Robbins' normal mixture, as in the asymptotic confidence
//! sequences of I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas,
//! "Time-uniform central limit theory and asymptotic confidence sequences", Annals of
//! Statistics 52, 2024, Theorem 2.2 and §2.3 (the choice of ρ). It needs only the number,
//! the sum and the squares of the blocks.

/// Half-width of the interval of the mean of `n` blocks, in standard errors for a known
/// variance. The probability that the truth is ever outside is at most `alpha`. The bound
/// is smallest around `tuning_horizon` blocks.
#[must_use]
pub fn bound(n: f64, tuning_horizon: f64, alpha: f64) -> f64 {
    let log = -2.0 * libm::log(alpha);
    let rho = (log + libm::log(1.0 + log)) / tuning_horizon.max(10.0);
    let spent = n * rho;
    ((1.0 + spent) / spent * (log + libm::log(1.0 + spent))).sqrt()
}
