//! Differences of strengths as the odds of scores, and their intervals.
//!
//! In a game of two whose log strengths are d apart, with ν the weight of ties,
//! the odds of the one's expected score are (eˣ + ν/2) / (e⁻ˣ + ν/2) for x = d/2,
//! from Davidson's chances of a win and a draw. Their logarithm g is what
//! Elo is of a score; it is d where nothing is drawn, and less where much is.
//!
//! On that scale Wilson's interval of a share is symmetric, and half as wide as
//! 2·asinh(z·σ/2) for g's standard error σ (R. G. Newcombe, "Logit confidence
//! intervals and the inverse sinh transformation", The American Statistician 55,
//! 2001), with Student's point t for z where the error is estimated. So the
//! interval of two agents is that of their score, and ends nowhere.

use crate::interval::{self, level::Looks};

/// The scale for a weight of ties of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    half_tie: f64,
}

impl Scale {
    pub(super) fn new(tie: f64) -> Self {
        Self {
            half_tie: tie / 2.0,
        }
    }

    /// ln of the odds of the score, of a difference of log strengths.
    pub(super) fn odds(self, difference: f64) -> f64 {
        let side = |x: f64| libm::log(libm::exp(x) + self.half_tie);
        side(difference / 2.0) - side(-difference / 2.0)
    }

    /// The difference of log strengths with these odds: [`Self::odds`] undone.
    pub(super) fn difference(self, odds: f64) -> f64 {
        // y² − (ν/2)·(q − 1)·y − q = 0 for y = eˣ and q the odds, at least 1.
        let q = libm::exp(odds.abs());
        let middle = self.half_tie * (q - 1.0) / 2.0;
        let y = middle + (middle * middle + q).sqrt();
        (2.0 * libm::log(y)).copysign(odds)
    }

    /// The odds' slopes in the difference, and in the logarithm of ν.
    pub(super) fn slopes(self, difference: f64) -> (f64, f64) {
        let up = libm::exp(difference / 2.0);
        let down = libm::exp(-difference / 2.0);
        let share = |of: f64, whole: f64| of / (whole + self.half_tie);
        (
            f64::midpoint(share(up, up), share(down, down)),
            share(self.half_tie, up) - share(self.half_tie, down),
        )
    }

    /// The interval of a difference of log strengths, given its variance.
    pub(super) fn around(
        self,
        difference: f64,
        variance: f64,
        points: (Looks, u64),
    ) -> Option<(f64, f64)> {
        let (slope, _) = self.slopes(difference);
        let ends = around(self.odds(difference), slope * slope * variance, points)?;
        let [low, high] = [ends.0, ends.1].map(|odds| self.difference(odds));
        Some((low.min(difference), high.max(difference)))
    }
}

/// The 95 % interval of ln of the odds, given its variance, and the looks and
/// the degrees of freedom that it has; none without any.
pub(super) fn around(
    odds: f64,
    variance: f64,
    (looks, freedom): (Looks, u64),
) -> Option<(f64, f64)> {
    if !variance.is_finite() || freedom == 0 {
        return None;
    }
    let reach = looks.point(interval::level::USUAL, freedom) * variance.max(0.0).sqrt();
    let half = 2.0 * libm::asinh(reach / 2.0);
    Some((odds - half, odds + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_those_of_davidsons_chances_and_are_undone() {
        for tie in [0.0, 0.5, 2.0, 400.0] {
            let scale = Scale::new(tie);
            for d in [-9.0_f64, -1.0, -1e-3, 0.0, 0.3, 2.0, 12.0] {
                let (win, loss) = ((d / 2.0).exp(), (-d / 2.0).exp());
                let score = (win + tie / 2.0) / (win + loss + tie);
                let expected = (score / (1.0 - score)).ln();
                let found = scale.odds(d);
                assert!((found - expected).abs() < 1e-9, "{tie} {d}: {found}");
                assert!((scale.difference(found) - d).abs() < 1e-6, "{tie} {d}");
                let slope = (scale.odds(d + 1e-5) - scale.odds(d - 1e-5)) / 2e-5;
                assert!((scale.slopes(d).0 - slope).abs() < 1e-6, "{tie} {d}");
                let more = |by: f64| Scale::new(tie * by.exp()).odds(d);
                let slope = (more(1e-5) - more(-1e-5)) / 2e-5;
                assert!((scale.slopes(d).1 - slope).abs() < 1e-6, "{tie} {d}");
            }
        }
    }

    #[test]
    fn the_interval_is_wilsons() {
        // 7 of 20, z = 1.96: 0.1812 to 0.5671 (R. G. Newcombe, "Two-sided confidence
        // intervals for the single proportion", 1998, by its method 3).
        let share = 7.0_f64 / 20.0;
        let odds = (share / (1.0 - share)).ln();
        let variance = 1.0 / (20.0 * share * (1.0 - share));
        let (low, high) = around(odds, variance, (Looks::One, 1_000_000)).expect("blocks");
        let share = |odds: f64| 1.0 / (1.0 + (-odds).exp());
        assert!((share(low) - 0.1812).abs() < 1e-4, "{}", share(low));
        assert!((share(high) - 0.5671).abs() < 1e-4, "{}", share(high));
    }
}
