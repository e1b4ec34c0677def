//! The crosstable as a heat map.

use super::escape;
use crate::{report::Pair, units};

/// Renders the score of each row's agent against each column's agent, as a table of
/// numbers. The pairs are by row and column; `adaptive` selects anytime-valid intervals.
pub(crate) fn heat(agents: &[&str], pairs: &[Vec<Option<Pair>>], adaptive: bool) -> String {
    let mut out =
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Scores of all pairs\">\
                   <table class=\"heat\"><colgroup><col class=\"who\">"
            .to_owned();
    out += &"<col>".repeat(agents.len());
    out += "</colgroup><thead><tr><th scope=\"col\"><span class=\"out\">agent</span></th>";
    for (place, agent) in agents.iter().enumerate() {
        let name = escape(agent);
        out += &format!(
            "<th scope=\"col\"><abbr title=\"{name}\" aria-label=\"against {name}\">{}</abbr></th>",
            place + 1
        );
    }
    out += "</tr></thead><tbody>";
    for (place, (agent, pairs)) in agents.iter().zip(pairs).enumerate() {
        let name = escape(agent);
        out += &format!(
            "<tr><th scope=\"row\" title=\"{name}\"><span class=\"soft\">{}</span> {name}</th>",
            place + 1
        );
        for (column, pair) in pairs.iter().enumerate() {
            match pair {
                Some(pair) => cell(&mut out, [agent, agents[column]], pair, adaptive),
                None => out += "<td class=\"none\">·</td>",
            }
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

fn cell(out: &mut String, [name, other]: [&str; 2], pair: &Pair, adaptive: bool) {
    let score = pair.score;
    let step = (score.value * 11.0).floor().clamp(0.0, 10.0) as u32;
    let ends = score.interval(adaptive);
    let sure = ends.is_some_and(|ends| !ends.contains(0.5));
    let [before, with, behind] = pair.results.map(units::count);
    let text = escape(&format!(
        "{name} against {other}: {} over {}; {before} won, {with} drawn, {behind} lost",
        units::interval(score.value, ends),
        units::plural(pair.games, "game"),
    ));
    *out += &format!(
        "<td class=\"h{step}{}\" title=\"{text}\">{}</td>",
        if sure { " sure" } else { "" },
        units::percent(score.value, None)
    );
}
