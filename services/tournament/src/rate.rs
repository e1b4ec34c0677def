//! How often something happens, and whether it happens more often in one place than in another.

use statrs::function::factorial::ln_binomial;

/// Number of games, and of those in which something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// All games.
    pub games: u64,
    /// Those in which it happened: at most all of them.
    pub events: u64,
}

impl Rate {
    /// Adds a game.
    pub fn add(&mut self, event: bool) {
        self.games += 1;
        self.events += u64::from(event);
    }

    /// True if the rate is higher than the other one by more than chance explains: the one-sided test of
    /// R. A. Fisher ("Statistical Methods for Research Workers", 5th edition, 1934, §21.02) gives at most
    /// `level`. False if one of them has no game.
    #[must_use]
    pub fn is_higher(self, other: Self, level: f64) -> bool {
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        if wide(self.events, other.games) <= wide(other.events, self.games) {
            return false;
        }
        other.games > 0 && self.tail(other) <= level
    }

    /// Probability of at least so many events in these games, given the events in all of them together.
    fn tail(self, other: Self) -> f64 {
        let events = self.events + other.events;
        let ways = ln_binomial(self.games, self.events) + ln_binomial(other.games, other.events);
        let mut term = (ways - ln_binomial(self.games + other.games, events)).exp();
        let mut sum = term;
        for k in self.events..self.games.min(events) {
            let more = (events - k) as f64 * (self.games - k) as f64;
            let fewer = (k + 1) as f64 * (other.games + k + 1 - events) as f64;
            term *= more / fewer;
            sum += term;
            // Above the mean, terms fall ever faster.
            if term < sum * 1e-12 {
                break;
            }
        }
        sum
    }
}

impl std::iter::Sum for Rate {
    fn sum<I: Iterator<Item = Self>>(rates: I) -> Self {
        rates.fold(Self::default(), |sum, rate| Self {
            games: sum.games + rate.games,
            events: sum.events + rate.events,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate([events, games]: [u64; 2]) -> Rate {
        Rate { games, events }
    }

    /// Events and games of both, with `scipy.stats.fisher_exact(..., alternative="greater")` of SciPy 1.17.1.
    const TAILS: [([u64; 2], [u64; 2], f64); 8] = [
        ([1, 1], [1, 100], 0.019_801_980_198_019_8),
        ([7, 100], [0, 100], 0.007_008_882_758_187_659),
        ([3, 10], [1, 10], 0.291_021_671_826_625_4),
        ([568, 1136], [1, 1200], 8.188_064_289_519_297e-219),
        ([60, 1000], [40, 1000], 0.025_380_064_935_174_37),
        (
            [30_000, 100_000],
            [29_000, 100_000],
            4.831_508_031_161_419e-7,
        ),
        ([20, 20], [1, 5], 0.000_395_256_916_996_047_4),
        ([12, 100], [1, 100], 0.001_269_748_727_932_350_3),
    ];

    #[test]
    fn tails_are_those_of_scipy() {
        for (one, other, expected) in TAILS {
            let found = rate(one).tail(rate(other));
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "{one:?} {other:?}: {found}"
            );
        }
    }

    #[test]
    fn few_events_are_no_difference() {
        for (one, other, expected) in [
            ([1, 1], [1, 100], false),
            ([6, 100], [0, 100], false),
            ([7, 100], [0, 100], true),
            ([0, 100], [7, 100], false),
            ([5, 100], [5, 100], false),
            ([20, 20], [0, 0], false),
        ] {
            assert_eq!(
                rate(one).is_higher(rate(other), 0.01),
                expected,
                "{one:?} {other:?}"
            );
        }
    }
}
