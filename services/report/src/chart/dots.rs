//! Dot plots of estimates with error bars, one per row.

use arena_tournament::{Estimate, Interval};
use arena_wire::v1::AgentStanding;

use super::{Scale, anchor, escape, line_class, percent};
use crate::{estimates, report::Report, units};

/// Height of a row and of the axis below it.
const ROW: u32 = 26;
const AXIS: u32 = 22;

/// A row: the label, a number with its interval, and both as text.
struct Row {
    name: String,
    number: Option<(f64, Option<Interval>)>,
    shown: String,
}

impl Row {
    fn new(name: String, of: Option<Estimate>, adaptive: bool, shown: String) -> Self {
        Self {
            name,
            number: of.map(|of| (of.value, of.interval(adaptive))),
            shown,
        }
    }
}

/// The range and the labels of an axis.
struct Axis {
    who: &'static str,
    what: &'static str,
    scale: Scale,
    /// The value at which neither side has an advantage.
    even: f64,
    tick: fn(f64) -> String,
}

/// Renders the scores of the agents; `adaptive` selects anytime-valid intervals.
pub(crate) fn scores<'a>(
    agents: impl Iterator<Item = &'a AgentStanding>,
    adaptive: bool,
) -> String {
    let scores = agents.map(|it| (it.agent.clone(), estimates::score(it)));
    shares("agent", scores, adaptive)
}

/// Renders the scores of the seats.
pub(crate) fn seats(report: &Report) -> String {
    let scores = report.seat_scores.iter().enumerate();
    let scores = scores.map(|(seat, score)| (format!("seat {seat}"), *score));
    shares("seat", scores, report.adaptive)
}

/// Renders the ratings of the agents.
pub(crate) fn ratings<'a>(
    agents: impl Iterator<Item = &'a AgentStanding>,
    adaptive: bool,
) -> String {
    let row = |agent: &AgentStanding| {
        let rating = estimates::rating(agent);
        let shown = units::rating_ends(rating, adaptive);
        Row::new(agent.agent.clone(), rating, adaptive, shown)
    };
    let rows: Vec<Row> = agents.map(row).collect();
    let axis = Axis {
        who: "agent",
        what: "Elo [95%]",
        scale: Scale::around(ends(&rows), (f64::MIN, f64::MAX), 20.0),
        even: 0.0,
        tick: |elo| match elo {
            0.0 => "0".to_owned(),
            _ => format!("{elo:+.0}"),
        },
    };
    dots(&rows, &axis)
}

fn shares(
    who: &'static str,
    scores: impl Iterator<Item = (String, Option<Estimate>)>,
    adaptive: bool,
) -> String {
    let row = |(name, score)| Row::new(name, score, adaptive, units::share(score, adaptive));
    let rows: Vec<Row> = scores.map(row).collect();
    let axis = Axis {
        who,
        what: "score [95%]",
        scale: Scale::around(ends(&rows).chain([0.5]), (0.0, 1.0), 0.04),
        even: 0.5,
        tick: |share| format!("{}%", percent(share)),
    };
    dots(&rows, &axis)
}

/// All numbers that must be visible.
fn ends(rows: &[Row]) -> impl Iterator<Item = f64> + '_ {
    rows.iter()
        .filter_map(|row| row.number)
        .flat_map(|(value, ends)| ends.map_or([value; 2], |ends| [ends.low, ends.high]))
}

fn dots(rows: &[Row], axis: &Axis) -> String {
    let ticks = axis.scale.ticks();
    // The roles are explicit, because small screens lay out rows as grids.
    let mut out = format!(
        "<table class=\"dots\" role=\"table\"><colgroup><col class=\"who\"><col><col class=\"val\"></colgroup>\
         <thead role=\"rowgroup\"><tr role=\"row\"><th scope=\"col\" role=\"columnheader\">{}</th>\
         <th scope=\"col\" role=\"columnheader\"><span class=\"out\">drawn</span></th>\
         <th scope=\"col\" class=\"num\" role=\"columnheader\">{}</th></tr></thead><tbody role=\"rowgroup\">",
        axis.who, axis.what
    );
    for row in rows {
        out += &format!(
            "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{}</th><td class=\"drawn\" role=\"cell\">",
            escape(&row.name)
        );
        drawn(&mut out, row.number, axis, &ticks);
        let shown = &row.shown;
        out += &format!("</td><td class=\"num\" role=\"cell\">{shown}</td></tr>");
    }
    out += &format!(
        "</tbody><tfoot aria-hidden=\"true\"><tr><td></td><td class=\"drawn\"><svg width=\"100%\" height=\"{AXIS}\">"
    );
    for tick in ticks {
        let at = axis.scale.at(tick);
        out += &format!(
            "<text x=\"{at:.2}%\" y=\"14\" text-anchor=\"{}\">{}</text>",
            anchor(at),
            (axis.tick)(tick)
        );
    }
    out + "</svg></td><td></td></tr></tfoot></table>"
}

fn drawn(out: &mut String, number: Option<(f64, Option<Interval>)>, axis: &Axis, ticks: &[f64]) {
    let middle = ROW / 2;
    *out += &format!("<svg width=\"100%\" height=\"{ROW}\" aria-hidden=\"true\">");
    for &tick in ticks {
        let class = line_class(tick, axis.even);
        let at = axis.scale.at(tick);
        *out += &format!(
            "<line class=\"{class}\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"{ROW}\"/>"
        );
    }
    if let Some((value, ends)) = number {
        if let Some(Interval { low, high }) = ends.map(|ends| ends.map(|end| axis.scale.at(end))) {
            *out += &format!(
                "<line class=\"whisker\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{middle}\" y2=\"{middle}\"/>"
            );
        }
        let at = axis.scale.at(value);
        *out += &format!("<circle class=\"dot\" cx=\"{at:.2}%\" cy=\"{middle}\" r=\"4.5\"/>");
    }
    out.push_str("</svg>");
}
