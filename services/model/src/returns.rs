//! Returns: what a game is worth to each seat, such as the chips that it wins.

use std::ops::RangeInclusive;

use arena_engine::{Termination, options::nearest};
use serde::{Deserialize, Serialize};

use crate::result::GameResult;

/// Maximum distance of the bounds, in parts: sums of squares over blocks have to fit 64 bits.
const UNITS_MAX: u64 = 100_000;
/// Maximum absolute bound, and maximum number of parts.
const BOUND_MAX: i64 = 1_000_000;

/// The bounds of the returns of a ruleset. A return is the score of a seat at the end of its game,
/// divided by `parts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returns {
    /// Minimum of a return.
    pub min: i64,
    /// Maximum of a return.
    pub max: i64,
    /// Number of parts of 1, so that all returns are whole numbers of parts.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub parts: u32,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_one(parts: &u32) -> bool {
    *parts == 1
}

impl Returns {
    /// Checks the bounds.
    ///
    /// # Errors
    /// A sentence that names the field.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { min, max, parts } = *self;
        let within = -BOUND_MAX..=BOUND_MAX;
        if !(min < max && within.contains(&min) && within.contains(&max)) {
            return Err(format!(
                "returns are {min} to {max}, but min has to be below max, and both within \
                 -{BOUND_MAX} to {BOUND_MAX}"
            ));
        }
        if !(1..=BOUND_MAX).contains(&i64::from(parts)) || self.units_max() > UNITS_MAX {
            return Err(format!(
                "returns from {min} to {max} have {parts} parts: use 1 or more, and at most \
                 {UNITS_MAX} between the bounds"
            ));
        }
        Ok(())
    }

    /// The bounds of a score at the end of a game.
    #[must_use]
    pub fn scores(&self) -> RangeInclusive<i64> {
        let parts = i64::from(self.parts);
        self.min * parts..=self.max * parts
    }

    /// Number of parts between the bounds.
    #[must_use]
    pub fn units_max(&self) -> u64 {
        (self.max - self.min) as u64 * u64::from(self.parts)
    }

    /// The return of each seat in parts above the minimum; empty for a void game.
    ///
    /// A seat that forfeited has the minimum. If its game ended with that, the other seat has the
    /// maximum, because the rest of the game is unknown.
    #[must_use]
    pub fn units(&self, result: &GameResult) -> Vec<u64> {
        let is_forfeit = result.termination == Termination::Forfeit;
        let has_fault = |seat| result.faults_of(seat).next().is_some();
        let seats = result.placement.len();
        let scores = (0..seats).map(|seat| result.scores.get(seat).copied());
        self.units_of(scores, is_forfeit, &has_fault).collect()
    }

    /// As [`units`](Self::units), from the score of each seat.
    fn units_of(
        &self,
        scores: impl ExactSizeIterator<Item = Option<i64>>,
        is_forfeit: bool,
        has_fault: &dyn Fn(usize) -> bool,
    ) -> impl Iterator<Item = u64> {
        let seats = scores.len();
        scores.enumerate().map(move |(seat, score)| {
            if is_forfeit && has_fault(seat) {
                return 0;
            }
            if is_forfeit && seats == 2 {
                return self.units_max();
            }
            let (least, most) = self.scores().into_inner();
            (score.unwrap_or(least).clamp(least, most) - least) as u64
        })
    }

    /// The return of each seat of a game that is not void.
    pub fn values(
        &self,
        scores: &[i64],
        is_forfeit: bool,
        has_fault: &dyn Fn(usize) -> bool,
    ) -> Vec<f64> {
        let scores = scores.iter().copied().map(Some);
        let units = self.units_of(scores, is_forfeit, has_fault);
        units.filter_map(|units| self.mean(units, 1)).collect()
    }

    /// The mean return of some seats, from the sum of their units: the number that is nearest to the
    /// exact quotient. `None` without a seat.
    #[must_use]
    pub fn mean(&self, units: u64, seats: u64) -> Option<f64> {
        let parts = i128::from(seats) * i128::from(self.parts);
        let sum = i128::from(units) + i128::from(self.min) * parts;
        (seats > 0).then(|| sum as f64 / parts as f64)
    }

    /// The return at a share of the way from the minimum to the maximum.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        self.min as f64 + share * (self.max - self.min) as f64
    }
}

/// The bounds of the returns of some games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub struct ReturnsOfSeats {
    /// Number of seats; none: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<usize>,
    /// The bounds.
    #[serde(flatten)]
    pub returns: Returns,
}

impl ReturnsOfSeats {
    pub(crate) fn are_of(&self, seats: usize) -> bool {
        self.seats.is_none_or(|own| own == seats)
    }
}

impl TryFrom<serde_json::Value> for ReturnsOfSeats {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        const KEYS: [&str; 4] = ["seats", "min", "max", "parts"];
        let fields = value.as_object().ok_or_else(|| {
            format!("returns: {value} is no object such as {{\"min\": -13, \"max\": 13}}")
        })?;
        if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let near = nearest(key, KEYS).map(|near| format!(", did you mean \"{near}\"?"));
            let near = near.unwrap_or_else(|| format!("; known keys: {}", KEYS.join(", ")));
            return Err(format!("returns: unknown key \"{key}\"{near}"));
        }
        let whole = |key: &str| {
            match fields.get(key) {
            None => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| {
                format!(
                    "returns: {key} is {value}, but has to be a whole number; for fractions, multiply \
                     scores and state `parts`"
                )
            }),
        }
        };
        let needed = |key| whole(key)?.ok_or_else(|| format!("returns: {key} is missing"));
        let count = |key: &str| match whole(key)? {
            None => Ok(None),
            Some(number) => u32::try_from(number)
                .map(Some)
                .map_err(|_| format!("returns: {key} is {number}, but has to be 1 or more")),
        };
        Ok(Self {
            seats: count("seats")?.map(|seats| seats as usize),
            returns: Returns {
                min: needed("min")?,
                max: needed("max")?,
                parts: count("parts")?.unwrap_or(1),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use arena_engine::{FaultKind, SeatFault};

    use super::*;
    use crate::Beginning;

    const CHIPS: Returns = Returns {
        min: -13,
        max: 13,
        parts: 2,
    };

    fn result(scores: &[i64], termination: Termination, faults: &[u8]) -> GameResult {
        let fault = |&seat: &u8| SeatFault {
            ply: 3,
            seat,
            kind: FaultKind::Crash,
        };
        GameResult {
            index: 0,
            block: 0,
            seats: (0..scores.len() as u16).collect(),
            placement: vec![1; scores.len()],
            scores: scores.to_vec(),
            luck: Vec::new(),
            plies: 3,
            termination,
            faults: faults.iter().map(fault).collect(),
            course: 0,
            beginning: Beginning::default(),
        }
    }

    #[test]
    fn units_count_from_the_minimum() {
        let ended = result(&[-26, 25], Termination::Normal, &[]);
        assert_eq!(CHIPS.units(&ended), [0, 51]);
        // A worker that reports other scores moves no mean beyond the bounds.
        let beyond = result(&[i64::MIN, i64::MAX], Termination::Normal, &[]);
        assert_eq!(CHIPS.units(&beyond), [0, 52]);
        assert_eq!(CHIPS.mean(51, 1), Some(12.5));
        assert_eq!(CHIPS.mean(0, 0), None);
        let tenths = Returns {
            min: -1,
            max: 1,
            parts: 10,
        };
        assert_eq!(tenths.mean(13, 1), Some(0.3));
    }

    #[test]
    fn forfeit_costs_the_minimum() {
        let ended = result(&[4, -4], Termination::Forfeit, &[0]);
        assert_eq!(CHIPS.units(&ended), [0, 52]);
        // The other seats played on.
        let ended = result(&[4, -4, 0], Termination::Forfeit, &[0]);
        assert_eq!(CHIPS.units(&ended), [0, 22, 26]);
        // One move was drawn instead.
        let ended = result(&[4, -4], Termination::Normal, &[0]);
        assert_eq!(CHIPS.units(&ended), [30, 22]);
        assert_eq!(CHIPS.values(&[3, -3], false, &|_| true), [1.5, -1.5]);
        assert_eq!(
            CHIPS.values(&[3, -3], true, &|seat| seat == 1),
            [13.0, -13.0]
        );
        let mut void = result(&[0, 0], Termination::Void, &[]);
        void.placement.clear();
        assert!(CHIPS.units(&void).is_empty());
    }

    #[test]
    fn wrong_bounds_are_named() {
        for (min, max, parts, problem) in [
            (1, 1, 1, "min has to be below max"),
            (-2_000_000, 1, 1, "within"),
            (0, 1, 0, "have 0 parts"),
            (0, 100_001, 1, "at most 100000"),
            (-1_000_000, 1_000_000, 1_000_000, "at most 100000"),
        ] {
            let error = Returns { min, max, parts }.check().expect_err(problem);
            assert!(error.contains(problem), "{error}");
        }
        assert_eq!(CHIPS.check(), Ok(()));
    }
}
