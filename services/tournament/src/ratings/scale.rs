//! Differences of strengths as the odds of scores, and their intervals.
//!
//! In a game of two whose log strengths are d apart, with ν the weight of ties, the odds of
//! the first player's expected score are (eˣ + ν/2) / (e⁻ˣ + ν/2) for x = d/2, from
//! Davidson's probabilities of a win and a draw. Their logarithm g is the Elo of a score,
//! in natural units; it equals d without draws, and is smaller with many draws.
//!
//! On that scale Wilson's interval of a share is symmetric, and its half-width is
//! 2·asinh(z·σ/2) for g's standard error σ (R. G. Newcombe, "Logit confidence intervals and
//! the inverse sinh transformation", The American Statistician 55, 2001), with Student's
//! critical value t for z if the error is estimated. So the interval of two agents is that
//! of their score, and has no bound.

use crate::{
    Interval,
    interval::{self, level::Looks},
};

/// The scale for a weight of two-way ties.
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

    /// ln of the odds of the score, from a difference of log strengths.
    pub(super) fn odds(self, difference: f64) -> f64 {
        let side = |x: f64| libm::log(libm::exp(x) + self.half_tie);
        side(difference / 2.0) - side(-difference / 2.0)
    }

    /// The difference of log strengths with these odds: the inverse of [`Self::odds`].
    pub(super) fn difference(self, odds: f64) -> f64 {
        // y² − (ν/2)·(q − 1)·y − q = 0 for y = eˣ and q the odds, at least 1.
        let q = libm::exp(odds.abs());
        let middle = self.half_tie * (q - 1.0) / 2.0;
        let y = middle + (middle * middle + q).sqrt();
        (2.0 * libm::log(y)).copysign(odds)
    }

    /// The partial derivatives of the odds by the difference and by the logarithm of ν.
    pub(super) fn slopes(self, difference: f64) -> (f64, f64) {
        let up = libm::exp(difference / 2.0);
        let down = libm::exp(-difference / 2.0);
        let share = |of: f64, whole: f64| of / (whole + self.half_tie);
        (
            f64::midpoint(share(up, up), share(down, down)),
            share(self.half_tie, up) - share(self.half_tie, down),
        )
    }

    /// The interval of a difference of log strengths, given its variance. Its ends are the
    /// ends of the odds' interval, converted with the corresponding weight of ties and
    /// extended by the remaining uncertainty of that weight. At a difference of 0 there is
    /// no extension, so the interval excludes 0 if the odds' interval does.
    pub(super) fn around(
        self,
        difference: f64,
        spread: Spread,
        (looks, df): (Looks, u64),
    ) -> Option<Interval> {
        let odds = self.odds(difference);
        let slopes = self.slopes(difference);
        let variance = spread.of_odds(slopes);
        let ends = around(odds, variance, (looks, df))?;
        let point = looks.point(interval::level::USUAL, df);
        let with_tie = slopes.0 * spread.with_tie + slopes.1 * spread.of_tie;
        let (share, left) = if variance > 0.0 {
            let share = with_tie / variance;
            (share, (spread.of_tie - share * with_tie).max(0.0).sqrt())
        } else {
            (0.0, 0.0)
        };
        let end = |end: f64| {
            let there = Self {
                half_tie: self.half_tie * libm::exp(share * (end - odds)),
            };
            let at = there.difference(end);
            let (slope, by_tie) = there.slopes(at);
            let open = point * left * by_tie / slope;
            let far = libm::hypot(at - difference, open);
            difference + far.copysign(end - odds)
        };
        Some(ends.map(end).stretched(difference))
    }
}

/// Variance of a difference of log strengths, and its covariance with the logarithm of the
/// tie weight, if that is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub(super) of_difference: f64,
    pub(super) with_tie: f64,
    pub(super) of_tie: f64,
}

impl Spread {
    /// Variance of ln of the odds of a score, given its partial derivatives.
    pub(super) fn of_odds(self, (slope, by_tie): (f64, f64)) -> f64 {
        let apart = slope * slope * self.of_difference;
        (apart + by_tie * (2.0 * slope * self.with_tie + by_tie * self.of_tie)).max(0.0)
    }

    /// The spread of the difference divided by a number.
    pub(super) fn divided(self, by: f64) -> Self {
        Self {
            of_difference: self.of_difference / (by * by),
            with_tie: self.with_tie / by,
            of_tie: self.of_tie,
        }
    }
}

/// The 95 % confidence interval of ln of the odds, given its variance, its kind of validity
/// and its degrees of freedom; `None` without degrees of freedom.
pub(super) fn around(odds: f64, variance: f64, (looks, df): (Looks, u64)) -> Option<Interval> {
    if !variance.is_finite() || df == 0 {
        return None;
    }
    let reach = looks.point(interval::level::USUAL, df) * variance.max(0.0).sqrt();
    let half = 2.0 * libm::asinh(reach / 2.0);
    Some(Interval {
        low: odds - half,
        high: odds + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn davidson_odds_round_trip() {
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
    fn difference_and_odds_intervals_agree() {
        let points = (Looks::One, 20);
        for (tie, with_tie) in [(0.5, 0.0), (2.0, 0.1), (20.0, -0.15), (1e-4, 0.2)] {
            for step in 1..60 {
                let (scale, difference) = (Scale::new(tie), f64::from(step) / 40.0);
                let spread = Spread {
                    of_difference: 0.09,
                    with_tie,
                    of_tie: 0.5,
                };
                let variance = spread.of_odds(scale.slopes(difference));
                let odds = around(scale.odds(difference), variance, points).expect("freedom");
                let ends = scale.around(difference, spread, points).expect("freedom");
                assert_eq!(odds.low > 0.0, ends.low > 0.0, "{tie} {difference}");
                assert!(ends.low < difference && difference < ends.high);
            }
        }
    }

    #[test]
    fn small_variance_gives_normal_interval() {
        for (tie, difference, with_tie) in [(0.5, 0.4, 0.0), (2.0, 1.5, 0.1), (20.0, 3.0, -0.15)] {
            let spread = Spread {
                of_difference: 0.09e-6,
                with_tie: with_tie * 1e-6,
                of_tie: 0.5e-6,
            };
            let points = (Looks::One, 1_000_000);
            let Interval { low, high } = Scale::new(tie)
                .around(difference, spread, points)
                .expect("freedom");
            let expected = 1.96 * 0.3e-3;
            for half in [high - difference, difference - low] {
                assert!((half / expected - 1.0).abs() < 0.01, "{tie}: {half}");
            }
        }
    }

    #[test]
    fn interval_is_wilson() {
        // 7 of 20, z = 1.96: 0.1812 to 0.5671 (R. G. Newcombe, "Two-sided confidence
        // intervals for the single proportion", 1998, by its method 3).
        let share = 7.0_f64 / 20.0;
        let odds = (share / (1.0 - share)).ln();
        let variance = 1.0 / (20.0 * share * (1.0 - share));
        let ends = around(odds, variance, (Looks::One, 1_000_000));
        let Interval { low, high } = ends.expect("blocks");
        let share = |odds: f64| 1.0 / (1.0 + (-odds).exp());
        assert!((share(low) - 0.1812).abs() < 1e-4, "{}", share(low));
        assert!((share(high) - 0.5671).abs() < 1e-4, "{}", share(high));
    }
}
