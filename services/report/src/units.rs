//! Number formats for display.

use std::time::{Duration, UNIX_EPOCH};

use arena_model::printable_line;
use arena_tournament::{Estimate, Interval};
use arena_wire::v1;

/// A value as text; a dash if it is unknown.
pub fn known<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), text)
}

/// The first digits of a digest.
pub fn digest(hex: &str) -> &str {
    hex.get(..12).unwrap_or(hex)
}

/// A time in microseconds since 1970: `2026-01-31T12:00:00.000Z`.
pub fn utc(unix_us: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_micros(unix_us));
    known(time, |time| {
        humantime::format_rfc3339_millis(time).to_string()
    })
}

/// The minute of a time in microseconds since 1970, in UTC: `2026-01-31 12:00`.
pub fn minute(unix_us: u64) -> String {
    let utc = utc(unix_us);
    utc.get(..16).unwrap_or(&utc).replace('T', " ")
}

/// Identity of a tournament's agent, with its version; `None` for a built-in bot.
pub fn identity(agent: &v1::AgentStanding) -> Option<String> {
    let version = match agent.version.as_str() {
        "" => String::new(),
        version => format!("version {}, ", printable_line(version)),
    };
    match agent.registered_unix_us {
        Some(at) => Some(format!("{version}endpoint registered {}", utc(at))),
        None if agent.content.is_empty() => None,
        None => Some(format!("{version}content {}", digest(&agent.content))),
    }
}

/// A share with the interval that is valid when a tournament ends.
pub fn share(share: Option<Estimate>, adaptive: bool) -> String {
    known(share, |share| {
        interval(share.value, share.interval(adaptive))
    })
}

/// A share in percent with its interval: `51.2% [48.0, 54.4]`.
pub fn interval(share: f64, interval: Option<Interval>) -> String {
    let ends = interval.map(|it| it.map(|end| end * 100.0));
    let ends = ends.map(|Interval { low, high }| format!(" [{low:.1}, {high:.1}]"));
    format!("{:.1}%{}", share * 100.0, ends.unwrap_or_default())
}

/// The nearest whole number, without a minus sign before zero.
pub fn whole(value: f64) -> f64 {
    value.round() + 0.0
}

/// A rating with its interval: `+51 ± 20`, or `+51 [+28, +80]` if the interval is
/// asymmetric.
pub fn rating(rating: Option<Estimate>, adaptive: bool) -> String {
    let half = rating.and_then(|of| half(of.value, of.interval(adaptive)?));
    match rating.zip(half) {
        Some((of, half)) => format!("{:+.0} ± {half:.0}", whole(of.value)),
        None => rating_ends(rating, adaptive),
    }
}

/// A rating with the ends of its interval: `+51 [+28, +80]`.
pub fn rating_ends(rating: Option<Estimate>, adaptive: bool) -> String {
    known(rating.map(|rating| rating.map(whole)), |of| {
        let ends = of.interval(adaptive);
        let ends = ends.map(|Interval { low, high }| format!(" [{low:+.0}, {high:+.0}]"));
        format!("{:+.0}{}", of.value, ends.unwrap_or_default())
    })
}

/// A mean return with the ends of its interval: `+0.13 [-0.01, +0.26]`. The width of the interval decides
/// the decimals.
pub fn mean_return(mean: Option<Estimate>, adaptive: bool) -> String {
    known(mean, |of| {
        let ends = of.interval(adaptive);
        let width = ends.map_or(0.0, |ends| ends.high - ends.low);
        let digits = match width > 0.0 {
            true => (2.0 - width.log10().floor()).clamp(0.0, 6.0) as usize,
            false => 3,
        };
        let ends =
            ends.map(|Interval { low, high }| format!(" [{low:+.digits$}, {high:+.digits$}]"));
        format!("{:+.digits$}{}", of.value, ends.unwrap_or_default())
    })
}

/// A share in whole percent with its interval: `75 ±10`, or `75 [63, 84]` if the interval
/// is asymmetric.
pub fn percent(share: f64, interval: Option<Interval>) -> String {
    let value = 100.0 * share;
    let Some(ends) = interval.map(|ends| ends.map(|end| 100.0 * end)) else {
        return format!("{:.0}", whole(value));
    };
    match half(value, ends) {
        Some(half) => format!("{:.0} ±{half:.0}", whole(value)),
        None => {
            let Interval { low, high } = ends.map(whole);
            format!("{:.0} [{low:.0}, {high:.0}]", whole(value))
        }
    }
}

/// The half-width of an interval, if the rounded interval is symmetric.
fn half(value: f64, ends: Interval) -> Option<f64> {
    let (up, down) = (ends.high - value, value - ends.low);
    let alike = (up - down).abs() < f64::min(1.0, 0.1 * (up + down)) || up == down;
    alike.then(|| f64::midpoint(up, down).round())
}

/// A mean with one decimal.
pub fn mean(value: Option<f64>) -> String {
    known(value, |value| format!("{value:.1}"))
}

/// A latency given in microseconds, in the unit that fits.
pub fn latency(us: Option<f64>) -> String {
    known(us, |us| match us {
        us if us < 1.0 => format!("{:.0} ns", us * 1e3),
        us if us < 1e3 => format!("{us:.1} µs"),
        us if us < 1e6 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.1} s", us / 1e6),
    })
}

/// Formats seconds as `1h 02m`, `3m 20s`, `12s`.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

/// A place in standings.
pub fn place(place: Option<u64>) -> String {
    known(place, |place| place.to_string())
}

/// A rate per second: an integer, or two digits if it is small.
pub fn rate(value: f64) -> String {
    match value {
        10.0.. => count(value.round() as u64),
        1.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `12,345`
pub fn count(value: u64) -> String {
    let mut text = value.to_string();
    for place in (1..text.len()).rev().skip(2).step_by(3) {
        text.insert(place, ',');
    }
    text
}

/// `-12,345`
pub fn signed_count(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", count(value.unsigned_abs()))
}

/// Points, in steps of one half: `12`, `1,012.5`.
pub fn points(value: f64) -> String {
    let half = if value.fract() < 0.25 { "" } else { ".5" };
    count(value as u64) + half
}

/// Points of a Swiss tournament; a dash if unknown.
pub fn swiss(value: Option<f64>) -> String {
    known(value, points)
}

/// The mark of a score without luck adjustment.
pub fn raw(is_raw: bool) -> &'static str {
    if is_raw { "*" } else { "" }
}

/// A signed share in whole percent, without the percent sign.
pub fn whole_percent(share: f64) -> String {
    // No minus sign before zero.
    format!("{:.0}", (100.0 * share).round() + 0.0)
}

/// A signed share as `+1.25%`.
pub fn signed_percent(share: f64) -> String {
    // No minus sign before zero.
    format!("{:+.2}%", (share * 1e4).round() / 100.0 + 0.0)
}

/// Replaces the spaces in `[a, b]` by no-break spaces, so that no line breaks inside an
/// interval.
pub fn unbroken(text: &str) -> String {
    let number = |c: char| c.is_ascii_digit() || " .,+-%".contains(c);
    let pieces = text.split_inclusive(']').map(|piece| {
        let interval = piece.strip_suffix(']').and_then(|it| it.rsplit_once('['));
        match interval.filter(|(_, inside)| inside.chars().all(number)) {
            Some((before, inside)) => format!("{before}[{}]", inside.replace(' ', HELD)),
            None => piece.to_owned(),
        }
    });
    pieces.collect()
}

/// No-break space.
pub const HELD: &str = "\u{a0}";

/// `1st`, `2nd`, `3rd`, `4th`, …: a rank in a game.
pub fn ordinal(place: usize) -> String {
    match place {
        1 => "1st".to_owned(),
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        _ => format!("{place}th"),
    }
}

/// `1 game`, `2 games`
pub fn plural(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_with_a_line_feed_stays_on_its_line() {
        let agent = v1::AgentStanding {
            version: "1.0\nsecond: version 2.0".to_owned(),
            content: "0123456789abcdef".to_owned(),
            ..v1::AgentStanding::default()
        };
        let line = "version 1.0\\x0asecond: version 2.0, content 0123456789ab";
        assert_eq!(identity(&agent).as_deref(), Some(line));
    }

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(
            [1234.5, 10.0, 9.95, 0.25].map(rate),
            ["1,235", "10", "9.9", "0.25"]
        );
        assert_eq!([2191, -2191, 0].map(signed_count), ["2,191", "-2,191", "0"]);
        assert_eq!(
            [0.0125, -0.000_01, -0.1].map(signed_percent),
            ["+1.25%", "+0.00%", "-10.00%"]
        );
        assert_eq!([12.0, 1012.5, 0.0].map(points), ["12", "1,012.5", "0"]);
        assert_eq!(duration(59.6), "1m 00s");
        assert_eq!(duration(3725.0), "1h 02m");
        assert_eq!(latency(Some(1500.0)), "1.5 ms");
        let of = |value: f64, ends: Option<(f64, f64)>| {
            Some(Estimate {
                value,
                fixed: ends.map(|(low, high)| Interval { low, high }),
                anytime: None,
            })
        };
        assert_eq!(rating(of(-0.2, Some((-10.2, 9.8))), false), "+0 ± 10");
        assert_eq!(rating(of(12.6, None), false), "+13");
        let skewed = of(120.0, Some((80.0, 200.0)));
        assert_eq!(rating(skewed, false), "+120 [+80, +200]");
        let ends = |low: f64, high: f64| Some(Interval { low, high });
        assert_eq!(percent(0.75, ends(0.646, 0.854)), "75 ±10");
        assert_eq!(percent(0.75, ends(0.6, 0.85)), "75 [60, 85]");
        assert_eq!(percent(0.996, None), "100");
        assert_eq!(percent(0.625, None), "63");
        assert_eq!(percent(0.996, ends(0.989, 0.999)), "100 [99, 100]");
        // Both ends are 77.5 away, which three rounded numbers would hide.
        assert_eq!(rating(of(7.6, Some((-69.9, 85.1))), false), "+8 ± 78");
        assert_eq!(rating(of(0.0, Some((0.0, 0.0))), false), "+0 ± 0");
        assert_eq!(
            share(of(0.5, Some((0.25, 0.75))), false),
            "50.0% [25.0, 75.0]"
        );
        assert_eq!(share(of(0.5, Some((0.25, 0.75))), true), "50.0%");
    }

    #[test]
    fn only_interval_blanks_are_unbreakable() {
        assert_eq!(
            unbroken("+5 [-1, +11] Elo, 51.2% [48.0, 54.4] of [two, three] [1, 2"),
            "+5 [-1,\u{a0}+11] Elo, 51.2% [48.0,\u{a0}54.4] of [two, three] [1, 2"
        );
    }
}
