//! Confidence sequences: intervals that hold at all times at once.
//!
//! The boundary is that of Robbins' normal mixture, as in the asymptotic
//! confidence sequences of I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy
//! and A. Ramdas, "Time-uniform central limit theory and asymptotic confidence
//! sequences", Annals of Statistics 52, 2024, Theorem 2.2 and §2.3 (the choice
//! of ρ). It needs number, sum and squares of the blocks and nothing else.

/// How often the truth may lie outside at any time.
const ALPHA: f64 = 0.05;

/// How many standard errors of the mean of `n` blocks the truth may lie away,
/// were their variance known; lowest around `horizon` blocks.
#[must_use]
pub fn bound(n: f64, horizon: f64) -> f64 {
    let log = -2.0 * ALPHA.ln();
    let rho = (log + (1.0 + log).ln()) / horizon.max(10.0);
    let spent = n * rho;
    ((1.0 + spent) / spent * (log + (1.0 + spent).ln())).sqrt()
}
