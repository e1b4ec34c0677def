//! Charts of a report, as SVG and tables. Coordinates are percentages of the width, so that
//! text keeps its size on every screen. Every value in a tooltip also appears as text.

mod course;
mod dots;
mod heat;
mod latencies;
pub(crate) mod lengths;
mod sequential;

pub(super) use course::course;
pub(super) use dots::{ratings, scores, seats};
pub(super) use heat::heat;
pub(super) use latencies::latencies;
pub(super) use lengths::lengths;
pub(super) use sequential::sequential_test;

/// Escapes text for HTML content and attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A range of values mapped to the width.
#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// A scale that contains all values with a small margin, within bounds.
    fn around(values: impl Iterator<Item = f64>, bounds: (f64, f64), least: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = bounds;
            return Self { low, high };
        }
        let room = ((high - low) * 0.06).max((least - (high - low)) / 2.0);
        Self {
            low: (low - room).max(bounds.0),
            high: (high + room).min(bounds.1),
        }
    }

    /// Position in percent of the width.
    fn at(self, value: f64) -> f64 {
        if self.high > self.low {
            (value - self.low) / (self.high - self.low) * 100.0
        } else {
            50.0
        }
    }

    /// About five round values within the scale.
    fn ticks(self) -> Vec<f64> {
        let span = self.high - self.low;
        if span <= 0.0 || !span.is_finite() {
            return Vec::new();
        }
        let magnitude = 10f64.powf((span / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * magnitude);
        let step = steps.into_iter().find(|step| span / step <= 5.0);
        let step = step.unwrap_or(10.0 * magnitude);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|tick| tick as f64 * step).collect()
    }
}

/// The class of a grid line, which differs for the value without an advantage.
fn line_class(tick: f64, fair: f64) -> &'static str {
    let is_fair = (tick - fair).abs() < 1e-9;
    if is_fair { "fair" } else { "grid" }
}

/// Text anchor that keeps a label near an edge within the chart.
fn anchor(at: f64) -> &'static str {
    match at {
        at if at < 6.0 => "start",
        at if at > 94.0 => "end",
        _ => "middle",
    }
}

/// Formats a share as a percentage, without an unnecessary zero.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
