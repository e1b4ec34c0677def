//! Confidence sequences: intervals that hold at all times at once.
//!
//! The boundary is that of Robbins' normal mixture, as in the asymptotic
//! confidence sequences of I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy
//! and A. Ramdas, "Time-uniform central limit theory and asymptotic confidence
//! sequences", Annals of Statistics 52, 2024, Theorem 2.2 and §2.3 (the choice
//! of ρ). It needs number, sum and squares of the blocks and nothing else.

/// How many standard errors of the mean of `n` blocks the truth may lie away,
/// were their variance known, and lies further away at some time with a chance of
/// `alpha` at most; lowest around `tuning_horizon` blocks.
#[must_use]
pub fn bound(n: f64, tuning_horizon: f64, alpha: f64) -> f64 {
    let log = -2.0 * libm::log(alpha);
    let rho = (log + libm::log(1.0 + log)) / tuning_horizon.max(10.0);
    let spent = n * rho;
    ((1.0 + spent) / spent * (log + libm::log(1.0 + spent))).sqrt()
}
