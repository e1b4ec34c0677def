//! Dot plots of estimates with error bars, one per row.

use super::{Scale, anchor, escape, percent, put};
use crate::{report::Estimate, report::Report, units, words};

/// Height of a row and of the axis below it.
const ROW: u32 = 26;
const AXIS: u32 = 22;

/// A row: the label, the estimate, and the estimate as text.
struct Row {
    name: String,
    estimate: Option<Estimate>,
    shown: String,
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

/// Renders the scores of the agents.
pub(crate) fn scores(report: &Report) -> String {
    let rows = report.agents.iter().map(|agent| {
        let standing = &agent.standing;
        let estimate = standing.score.map(|value| Estimate {
            value,
            interval: standing.score_low.zip(standing.score_high),
        });
        share(standing.agent.clone(), estimate)
    });
    shares("agent", &rows.collect::<Vec<_>>())
}

/// Renders the scores of the seats.
pub(crate) fn seats(report: &Report) -> String {
    let rows = report.seat_scores.iter().enumerate();
    let rows = rows.map(|(seat, estimate)| share(format!("seat {seat}"), *estimate));
    shares("seat", &rows.collect::<Vec<_>>())
}

/// Renders the ratings of the agents, if there are any.
pub(crate) fn ratings(report: &Report) -> Option<String> {
    report.ratings.as_ref()?;
    let rows: Vec<Row> = report
        .agents
        .iter()
        .map(|agent| {
            let standing = &agent.standing;
            Row {
                name: standing.agent.clone(),
                estimate: standing.rating.map(|value| Estimate {
                    value,
                    interval: standing.rating_low.zip(standing.rating_high),
                }),
                shown: words::rating(standing),
            }
        })
        .collect();
    let axis = Axis {
        who: "agent",
        what: "Elo [95%]",
        scale: Scale::around(ends(&rows), (f64::MIN, f64::MAX), 20.0),
        even: 0.0,
        tick: |elo| {
            if elo == 0.0 {
                "0".to_owned()
            } else {
                format!("{elo:+.0}")
            }
        },
    };
    Some(dots(&rows, &axis))
}

fn share(name: String, estimate: Option<Estimate>) -> Row {
    let shown = estimate.map_or_else(
        || "–".to_owned(),
        |estimate| {
            let (low, high) = estimate.interval.unzip();
            units::interval(Some(estimate.value), low, high)
        },
    );
    Row {
        name,
        estimate,
        shown,
    }
}

fn shares(who: &'static str, rows: &[Row]) -> String {
    let axis = Axis {
        who,
        what: "score [95%]",
        scale: Scale::around(ends(rows).chain([0.5]), (0.0, 1.0), 0.04),
        even: 0.5,
        tick: |share| format!("{}%", percent(share)),
    };
    dots(rows, &axis)
}

/// All numbers that must be visible.
fn ends(rows: &[Row]) -> impl Iterator<Item = f64> + '_ {
    rows.iter()
        .filter_map(|row| row.estimate)
        .flat_map(|estimate| {
            let (low, high) = estimate
                .interval
                .unwrap_or((estimate.value, estimate.value));
            [low, high]
        })
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
        put(
            &mut out,
            format_args!(
                "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{}</th><td class=\"drawn\" role=\"cell\">",
                escape(&row.name)
            ),
        );
        drawn(&mut out, row.estimate, axis, &ticks);
        put(
            &mut out,
            format_args!(
                "</td><td class=\"num\" role=\"cell\">{}</td></tr>",
                row.shown
            ),
        );
    }
    put(
        &mut out,
        format_args!(
            "</tbody><tfoot aria-hidden=\"true\"><tr><td></td><td class=\"drawn\"><svg width=\"100%\" height=\"{AXIS}\">"
        ),
    );
    for tick in ticks {
        let at = axis.scale.at(tick);
        put(
            &mut out,
            format_args!(
                "<text x=\"{at:.2}%\" y=\"14\" text-anchor=\"{}\">{}</text>",
                anchor(at),
                (axis.tick)(tick)
            ),
        );
    }
    out + "</svg></td><td></td></tr></tfoot></table>"
}

fn drawn(out: &mut String, estimate: Option<Estimate>, axis: &Axis, ticks: &[f64]) {
    let middle = ROW / 2;
    put(
        out,
        format_args!("<svg width=\"100%\" height=\"{ROW}\" aria-hidden=\"true\">"),
    );
    for &tick in ticks {
        let even = (tick - axis.even).abs() < 1e-9;
        let class = if even { "fair" } else { "grid" };
        let at = axis.scale.at(tick);
        put(
            out,
            format_args!(
                "<line class=\"{class}\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"0\" y2=\"{ROW}\"/>"
            ),
        );
    }
    if let Some(estimate) = estimate {
        if let Some((low, high)) = estimate.interval {
            put(
                out,
                format_args!(
                    "<line class=\"whisker\" x1=\"{:.2}%\" x2=\"{:.2}%\" y1=\"{middle}\" y2=\"{middle}\"/>",
                    axis.scale.at(low),
                    axis.scale.at(high)
                ),
            );
        }
        put(
            out,
            format_args!(
                "<circle class=\"dot\" cx=\"{:.2}%\" cy=\"{middle}\" r=\"4.5\"/>",
                axis.scale.at(estimate.value)
            ),
        );
    }
    out.push_str("</svg>");
}
