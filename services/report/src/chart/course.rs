//! Chart of ratings or scores over the course of the tournament.

use super::{Scale, escape, line_class, percent};
use crate::{
    report::{Agent, Measure, Report},
    units,
};

/// Maximum number of agents with a line; more lines could not be distinguished.
const LINES: usize = 10;
/// Height of the chart.
const HEIGHT: f64 = 280.0;
/// Percentage of the width for lines; the rest is for their labels.
const WIDTH: f64 = 97.0;
/// Minimum distance between the labels at the end.
const APART: f64 = 15.0;

/// Renders a line for each agent, with its place in the standings at the end.
pub(crate) fn course(report: &Report) -> String {
    let shown = &report.agents[..report.agents.len().min(LINES)];
    // With few games per step, the score jumps between 0 and 1.
    let steps = shown.first().map_or(0, |agent| agent.course.len());
    let settled = steps / 12;
    let values = shown
        .iter()
        .flat_map(|agent| agent.course.iter().skip(settled).flatten().copied());
    let (name, fair, bounds, least) = match report.measure {
        Measure::Rating => ("Rating", 0.0, (f64::MIN, f64::MAX), 20.0),
        Measure::Score => ("Score", 0.5, (0.0, 1.0), 0.05),
    };
    let scale = Scale::around(values, bounds, least);
    let output = |value: f64| match report.measure {
        // Zero has no sign.
        Measure::Rating if value.round() == 0.0 => "0".to_owned(),
        Measure::Rating => format!("{value:+.0}"),
        Measure::Score => format!("{}%", percent(value)),
    };
    let y = |value: f64| (HEIGHT * (1.0 - scale.at(value) / 100.0)).clamp(0.0, HEIGHT);
    let mut out = format!(
        "<figure class=\"course\"><svg width=\"100%\" height=\"{:.0}\" role=\"img\" \
         aria-label=\"{name} of each agent over the tournament; the last values are in the list below\">",
        HEIGHT + 2.0
    );
    for tick in scale.ticks() {
        let at = y(tick);
        let class = line_class(tick, fair);
        out += &format!(
            "<line class=\"{class}\" x1=\"0\" x2=\"{WIDTH}%\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text x=\"0\" y=\"{:.1}\">{}</text>",
            if at < 14.0 { at + 12.0 } else { at - 3.0 },
            output(tick)
        );
    }
    out += &format!(
        "<svg x=\"0\" y=\"0\" width=\"{WIDTH}%\" height=\"{HEIGHT}\" viewBox=\"0 0 {} {HEIGHT}\" \
             preserveAspectRatio=\"none\">",
        steps.saturating_sub(1).max(1)
    );
    // The best agent comes last, so that its line is on top.
    for (place, agent) in shown.iter().enumerate().rev() {
        let mut path = String::new();
        for (step, value) in agent.course.iter().enumerate() {
            let Some(value) = *value else { continue };
            let command = if path.is_empty() { 'M' } else { 'L' };
            path += &format!("{command}{step} {:.1}", y(value));
        }
        out += &format!("<path class=\"c{place}\" d=\"{path}\"/>");
    }
    out += "</svg>";
    for (place, at) in ends(report, shown.len(), y) {
        out += &format!(
            "<text x=\"100%\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            at + 4.0,
            place + 1
        );
    }
    out += "</svg><p class=\"ends\"><span>first game</span><span>last game</span></p><ul class=\"key\">";
    for (place, agent) in shown.iter().enumerate() {
        let last = agent.course.iter().flatten().next_back();
        out += &format!(
            "<li><svg width=\"22\" height=\"8\" aria-hidden=\"true\"><line class=\"c{place}\" x1=\"0\" x2=\"22\" y1=\"4\" y2=\"4\"/></svg>\
                 <span>{} {} <span class=\"soft\">{}</span></span></li>",
            place + 1,
            escape(&agent.standing.agent),
            units::known(last, |value| output(*value))
        );
    }
    out += "</ul>";
    if report.agents.len() > LINES {
        out += &format!(
            "<figcaption>The best {LINES} of {}.</figcaption>",
            report.agents.len()
        );
    }
    out + "</figure>"
}

/// Heights of the labels at the end, without overlap.
fn ends(report: &Report, shown: usize, y: impl Fn(f64) -> f64) -> Vec<(usize, f64)> {
    let end = |(place, agent): (usize, &Agent)| {
        let last = agent.course.iter().flatten().next_back()?;
        Some((place, y(*last)))
    };
    let agents = report.agents[..shown].iter().enumerate();
    let mut ends: Vec<(usize, f64)> = agents.filter_map(end).collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    for place in 1..ends.len() {
        ends[place].1 = ends[place].1.max(ends[place - 1].1 + APART);
    }
    // Labels that were pushed out at the bottom move up again.
    let mut most = HEIGHT - 4.0;
    for end in ends.iter_mut().rev() {
        end.1 = end.1.min(most);
        most = end.1 - APART;
    }
    ends
}
