//! Clocks as chess programs write them: `10s+0.1s`, `40/60s`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::quoted;

/// The time that a seat has for the moves that its agent is asked for. A move that is played without
/// a question, because no other is legal, does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Number of moves for which the base time has to last; then it is added again. None: the base
    /// time has to last for the whole game.
    pub moves: Option<u32>,
    /// The time at the start.
    pub base: Duration,
    /// Added after each move.
    pub increment: Duration,
}

/// Longest base time or increment.
const LONGEST: Duration = Duration::from_secs(86_400);

impl Clock {
    /// Longest time of a move for which a lease is kept: a seat that saved the increments of more
    /// than a hundred moves, or the base time of more than two controls, does not use all of it
    /// for one move.
    #[must_use]
    pub fn longest_move(&self) -> Duration {
        let base = match self.moves {
            Some(_) => self.base * 2,
            None => self.base,
        };
        base + self.increment * 100
    }
}

/// Text that is no clock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a clock; expected for example \"10s+0.1s\" (10 s and 0.1 s more for each move) \
     or \"40/60s\" (60 s for every 40 moves), with at most 24 h"
)]
pub struct ClockError(String);

impl FromStr for Clock {
    type Err = ClockError;

    fn from_str(text: &str) -> Result<Self, ClockError> {
        let parsed = || {
            let (moves, times) = match text.split_once('/') {
                Some((moves, times)) => (Some(moves.trim().parse().ok()?), times),
                None => (None, text),
            };
            let (base, increment) = match times.split_once('+') {
                Some((base, increment)) => (time(base)?, time(increment)?),
                None => (time(times)?, Duration::ZERO),
            };
            let clock = Self {
                moves,
                base,
                increment,
            };
            let possible = !base.is_zero() && moves != Some(0);
            possible.then_some(clock)
        };
        parsed().ok_or_else(|| ClockError(text.to_owned()))
    }
}

/// A decimal number with a unit; seconds if it has none. Rounded to microseconds.
fn time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let decimal = |letter: char| letter.is_ascii_digit() || letter == '.';
    let digits = Some(digits.trim_end()).filter(|it| it.chars().all(decimal))?;
    let seconds: f64 = digits.parse().ok()?;
    let micros = (seconds * unit * 1e6).round();
    let time = Duration::try_from_secs_f64(micros / 1e6).ok()?;
    // A float has too many digits.
    let time = Duration::from_micros((time.as_secs_f64() * 1e6).round() as u64);
    (time <= LONGEST).then_some(time)
}

impl fmt::Display for Clock {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(to, "{moves}/")?;
        }
        write!(to, "{}s", self.base.as_secs_f64())?;
        if self.increment.is_zero() {
            return Ok(());
        }
        write!(to, "+{}s", self.increment.as_secs_f64())
    }
}

impl Serialize for Clock {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Clock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = quoted::deserialize(from, "a clock", "10s+0.1s", "40/60s")?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_and_written() {
        for (text, shown, moves, base, increment) in [
            ("10s+0.1s", "10s+0.1s", None, 10_000, 100),
            ("40/60s", "40/60s", Some(40), 60_000, 0),
            ("40/1m + 500ms", "40/60s+0.5s", Some(40), 60_000, 500),
            ("10+0.1", "10s+0.1s", None, 10_000, 100),
            ("250ms", "0.25s", None, 250, 0),
            ("1h", "3600s", None, 3_600_000, 0),
        ] {
            let clock: Clock = text.parse().expect(text);
            assert_eq!(clock.moves, moves, "{text}");
            assert_eq!(clock.base, Duration::from_millis(base), "{text}");
            assert_eq!(clock.increment, Duration::from_millis(increment), "{text}");
            assert_eq!(clock.to_string(), shown);
            assert_eq!(shown.parse(), Ok(clock));
        }
    }

    #[test]
    fn wrong_clocks_are_refused() {
        for text in [
            "", "0s", "0+1s", "s", "10x", "-1s", "1s+-1s", "0/60s", "x/60s", "/60s", "40/", "1s+",
            "1s+1s+1s", "25h", "1e3s", "nan", "infs", "1..5s",
        ] {
            assert!(text.parse::<Clock>().is_err(), "{text}");
        }
    }
}
