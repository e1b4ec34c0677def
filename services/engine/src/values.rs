//! Values of positions for each seat, in whole numbers.
//!
//! The unit is a millionth of a game's score, which is the share of other seats that a seat
//! beats, ties counting half. The score of a finished game follows from its placement; before
//! that, values are estimates, see [`crate::Game::values`].

use crate::seat::{MAX_SEATS, PerSeat};

/// A whole score: every other seat is beaten.
pub const POINT: i64 = 1_000_000;

/// The score of each seat for the placement of a finished game.
///
/// Numbers that are no whole millionths are rounded to the nearest.
#[must_use]
pub fn of_placement(seats: usize, placement: &PerSeat<u8>) -> PerSeat<i64> {
    pairwise(seats, |one, other| {
        match placement[one].cmp(&placement[other]) {
            std::cmp::Ordering::Less => POINT,
            std::cmp::Ordering::Equal => POINT / 2,
            std::cmp::Ordering::Greater => 0,
        }
    })
}

/// Values from the expected result between each pair of seats.
///
/// `share(one, other)`, from 0 to [`POINT`], is the expected share of seat `one` against seat
/// `other`. It is called for `one < other` only; the other seat has the rest. The sum over the
/// seats is [`POINT`] for each pair, except for rounding: see [`add_up`].
#[inline]
#[must_use]
pub fn pairwise(seats: usize, mut share: impl FnMut(usize, usize) -> i64) -> PerSeat<i64> {
    let mut values = [0; MAX_SEATS];
    if seats == 2 {
        // By far the most frequent case, without rounding.
        values[0] = share(0, 1);
        values[1] = POINT - values[0];
        return values;
    }
    for one in 0..seats {
        for other in one + 1..seats {
            let share = share(one, other);
            values[one] += share;
            values[other] += POINT - share;
        }
    }
    for value in &mut values[..seats] {
        *value = mean(seats, *value);
    }
    values
}

/// The mean of a seat's shares against each other seat, from their sum, rounded to the nearest:
/// 0 to [`POINT`] for each of them, for at most [`MAX_SEATS`] seats.
#[inline]
#[must_use]
pub fn mean(seats: usize, sum: i64) -> i64 {
    // 2^32 divided by the number of others, rounded up: exact for 31 bits, and faster than a
    // division.
    const RECIPROCALS: [u64; MAX_SEATS] = {
        let mut reciprocals = [0; MAX_SEATS];
        let mut others = 1;
        while others < MAX_SEATS {
            reciprocals[others] = (1_u64 << 32).div_ceil(others as u64);
            others += 1;
        }
        reciprocals
    };
    let others = seats - 1;
    (((sum + others as i64 / 2) as u64 * RECIPROCALS[others]) >> 32) as i64
}

/// True if the values of all seats add up to half a [`POINT`] each: exactly with two seats; with more,
/// each may be off by half a millionth, because it is rounded.
#[must_use]
pub fn add_up(values: &[i64]) -> bool {
    let seats = values.len() as i64;
    let sum: i64 = values.iter().sum();
    let rounding = if seats > 2 { seats / 2 } else { 0 };
    (sum - POINT * seats / 2).abs() <= rounding
}

/// Values for scores without further knowledge: in each pair, each seat gets its share of the sum
/// of both scores, with one added to each score so that no result is certain.
#[must_use]
pub fn of_scores(seats: usize, scores: &PerSeat<i64>) -> PerSeat<i64> {
    let least = scores[..seats].iter().copied().min().unwrap_or(0).min(0);
    pairwise(seats, |one, other| {
        let [one, other] = [one, other].map(|seat| i128::from(scores[seat]) - i128::from(least));
        let share = i128::from(POINT) * (one + 1) / (one + other + 2);
        (share as i64).clamp(1, POINT - 1)
    })
}

/// The logistic function at each quarter from 0 on, in millionths.
const LOGISTIC: [i64; 33] = [
    500_000, 562_177, 622_459, 679_179, 731_059, 777_300, 817_574, 851_953, 880_797, 904_651,
    924_142, 939_913, 952_574, 962_673, 970_688, 977_023, 982_014, 985_936, 989_013, 991_423,
    993_307, 994_780, 995_930, 996_827, 997_527, 998_073, 998_499, 998_830, 999_089, 999_290,
    999_447, 999_569, 999_665,
];

/// The logistic function of an advantage in thousandths, in millionths: 0 is an even game, 1000
/// means odds of e to 1. It is strictly between 0 and [`POINT`], linear between quarters, and
/// constant beyond 8000.
#[inline]
#[must_use]
pub fn logistic(advantage: i64) -> i64 {
    const STEP: u32 = 250;
    const LEVEL: u64 = (LOGISTIC.len() as u64 - 1) * STEP as u64 - 1;
    if advantage.unsigned_abs() > LEVEL {
        let top = LOGISTIC[LOGISTIC.len() - 1];
        return if advantage < 0 { POINT - top } else { top };
    }
    let size = advantage.unsigned_abs() as u32;
    let index = (size / STEP) as usize & 31;
    let (low, high) = (LOGISTIC[index] as u32, LOGISTIC[index + 1] as u32);
    let value = i64::from(low + (high - low) * (size % STEP) / STEP);
    if advantage < 0 { POINT - value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled<T: Copy + Default>(of: &[T]) -> PerSeat<T> {
        let mut all = PerSeat::default();
        all[..of.len()].copy_from_slice(of);
        all
    }

    #[test]
    fn placement_value_counts_beaten_and_tied() {
        for (seats, placement, values) in [
            (2, &[1, 2][..], &[1_000_000, 0][..]),
            (2, &[1, 1], &[500_000, 500_000]),
            (3, &[2, 1, 2], &[250_000, 1_000_000, 250_000]),
            (4, &[3, 1, 4, 2], &[333_333, 1_000_000, 0, 666_667]),
            (4, &[1, 1, 3, 4], &[833_333, 833_333, 333_333, 0]),
            (4, &[1, 1, 1, 1], &[500_000; 4]),
            (
                5,
                &[1, 5, 2, 2, 4],
                &[1_000_000, 0, 625_000, 625_000, 250_000],
            ),
            (
                10,
                &[4, 10, 1, 1, 1, 4, 4, 4, 4, 4],
                &[
                    388_889, 0, 888_889, 888_889, 888_889, 388_889, 388_889, 388_889, 388_889,
                    388_889,
                ],
            ),
        ] {
            let found = of_placement(seats, &filled(placement));
            assert_eq!(found[..seats], *values, "{placement:?}");
            assert!(found[seats..].iter().all(|&value| value == 0));
        }
    }

    #[test]
    fn values_of_any_placement_add_up() {
        for seats in 2..=MAX_SEATS {
            let placement: Vec<u8> = (0..seats as u8).map(|seat| 1 + seat * 2 / 3).collect();
            let found = of_placement(seats, &filled(&placement));
            assert!(add_up(&found[..seats]), "{seats}: {found:?}");
        }
        assert!(!add_up(&[500_000, 500_001]));
        assert!(add_up(&[500_000, 500_001, 500_000]));
        assert!(!add_up(&[500_000, 500_001, 500_001]));
    }

    #[test]
    fn means_equal_a_division() {
        for seats in 2..=MAX_SEATS {
            let others = seats as i64 - 1;
            for sum in (0..=others * POINT).step_by(7) {
                assert_eq!(
                    mean(seats, sum),
                    (sum + others / 2) / others,
                    "{seats}: {sum}"
                );
            }
        }
    }

    #[test]
    fn score_value_is_never_certain() {
        for (seats, scores, values) in [
            (2, &[0, 0][..], &[500_000, 500_000][..]),
            (2, &[8, 0, 9, 9], &[900_000, 100_000]),
            (2, &[-3, 5], &[100_000, 900_000]),
            (3, &[4, 4, 4], &[500_000; 3]),
            (10, &[4; 10], &[500_000; 10]),
        ] {
            assert_eq!(
                of_scores(seats, &filled(scores))[..seats],
                *values,
                "{scores:?}"
            );
        }
        for scores in [[i64::MAX, i64::MIN], [i64::MIN, i64::MAX]] {
            let values = of_scores(2, &filled(&scores));
            assert!(values[..2].contains(&1) && values[..2].contains(&999_999));
        }
    }

    #[test]
    fn logistic_is_increasing_and_odd() {
        assert_eq!(logistic(0), 500_000);
        assert_eq!(logistic(1000), 731_059);
        assert_eq!(logistic(125), 531_088);
        assert_eq!(logistic(i64::MAX), 999_665);
        assert_eq!(logistic(i64::MIN), 335);
        for advantage in 0..9000 {
            assert!(logistic(advantage) <= logistic(advantage + 1));
            assert_eq!(logistic(-advantage), POINT - logistic(advantage));
        }
    }
}
