//! Estimates as dots with whiskers, one a row.

use super::{Scale, escape, percent, put};
use crate::{
    report::{Estimate, Report},
    units,
};

/// Height of a row and of the axis below.
const ROW: u32 = 26;
const AXIS: u32 = 22;

/// Scores of the agents.
pub(in crate::report) fn scores(report: &Report) -> String {
    let rows: Vec<(String, Option<Estimate>)> = report
        .agents
        .iter()
        .map(|agent| {
            let standing = &agent.standing;
            let estimate = standing.score.map(|value| Estimate {
                value,
                interval: standing.score_low.zip(standing.score_high),
            });
            (standing.agent.clone(), estimate)
        })
        .collect();
    dots(&rows, "agent", "score")
}

/// Scores of the seats.
pub(in crate::report) fn seats(report: &Report) -> String {
    let rows: Vec<(String, Option<Estimate>)> = report
        .seat_scores
        .iter()
        .enumerate()
        .map(|(seat, estimate)| (format!("seat {seat}"), *estimate))
        .collect();
    dots(&rows, "seat", "score")
}

fn dots(rows: &[(String, Option<Estimate>)], who: &str, what: &str) -> String {
    let values = rows
        .iter()
        .filter_map(|(_, estimate)| *estimate)
        .flat_map(|estimate| {
            let (low, high) = estimate
                .interval
                .unwrap_or((estimate.value, estimate.value));
            [low, high, 0.5]
        });
    let scale = Scale::around(values, (0.0, 1.0), 0.04);
    let ticks = scale.ticks();
    let mut out = format!(
        "<table class=\"dots\"><colgroup><col class=\"who\"><col><col class=\"val\"></colgroup>\
         <thead><tr><th scope=\"col\">{who}</th><th scope=\"col\"><span class=\"out\">drawn</span></th>\
         <th scope=\"col\" class=\"num\">{what} [95%]</th></tr></thead><tbody>"
    );
    for (name, estimate) in rows {
        put(
            &mut out,
            format_args!("<tr><th scope=\"row\">{}</th><td>", escape(name)),
        );
        drawn(&mut out, *estimate, scale, &ticks);
        let shown = estimate.map_or_else(
            || "–".to_owned(),
            |estimate| {
                let (low, high) = estimate.interval.unzip();
                units::interval(Some(estimate.value), low, high)
            },
        );
        put(
            &mut out,
            format_args!("</td><td class=\"num\">{shown}</td></tr>"),
        );
    }
    put(
        &mut out,
        format_args!(
            "</tbody><tfoot aria-hidden=\"true\"><tr><td></td><td><svg width=\"100%\" height=\"{AXIS}\">"
        ),
    );
    for tick in ticks {
        let at = scale.at(tick);
        let anchor = anchor(at);
        put(
            &mut out,
            format_args!(
                "<text x=\"{at:.2}%\" y=\"14\" text-anchor=\"{anchor}\">{}%</text>",
                percent(tick)
            ),
        );
    }
    out + "</svg></td><td></td></tr></tfoot></table>"
}

/// Text near an end stays within the drawing.
pub(super) fn anchor(at: f64) -> &'static str {
    match at {
        at if at < 6.0 => "start",
        at if at > 94.0 => "end",
        _ => "middle",
    }
}

fn drawn(out: &mut String, estimate: Option<Estimate>, scale: Scale, ticks: &[f64]) {
    let middle = ROW / 2;
    put(
        out,
        format_args!("<svg width=\"100%\" height=\"{ROW}\" aria-hidden=\"true\">"),
    );
    for &tick in ticks {
        let class = if (tick - 0.5).abs() < 1e-9 {
            "fair"
        } else {
            "grid"
        };
        let at = scale.at(tick);
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
                    scale.at(low),
                    scale.at(high)
                ),
            );
        }
        put(
            out,
            format_args!(
                "<circle class=\"dot\" cx=\"{:.2}%\" cy=\"{middle}\" r=\"4.5\"/>",
                scale.at(estimate.value)
            ),
        );
    }
    out.push_str("</svg>");
}
