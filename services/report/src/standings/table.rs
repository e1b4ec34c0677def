//! Standings as text tables.

use arena_tournament::Estimate;
use arena_wire::v1;
use itertools::Itertools;

use super::columns::{self, IN_TERMINAL, Table};
use crate::{
    estimates,
    text::{Column, fitted, remark},
    units,
};

/// Default width.
const WIDTH: usize = 100;
/// Maximum number of agents with the same identity that are named.
const IDENTICAL_SHOWN: usize = 5;

/// Renders the standings within `width`, or `WIDTH` without a terminal, unless `wide` is
/// set. Lists the hidden columns.
pub fn people(standings: &v1::Standings, wide: bool, width: Option<usize>) -> String {
    let agents = &standings.agents;
    let scores = agents.iter().map(|agent| agent.score);
    let table = Table {
        standings,
        wide,
        swiss: agents.iter().any(|agent| agent.swiss_points.is_some()),
        rated: agents.iter().any(|agent| agent.rating.is_some()),
        by_score: scores.is_sorted_by(|one, next| one >= next),
    };
    let columns = columns::named(IN_TERMINAL).filter_map(|column| {
        let text = |agent| column.text(agent, standings.adaptive);
        Some(Column {
            head: column.head(standings),
            cells: agents.iter().map(text).collect(),
            spare: (column.spare)(&table)?,
        })
    });
    let room = (!wide).then(|| width.unwrap_or(WIDTH));
    let (mut text, left_out) = fitted(columns.collect(), room);
    for line in identities(agents) {
        text += &remark(&line, width);
    }
    if !left_out.is_empty() {
        let (id, left_out) = (&standings.tournament_id, left_out.join(", "));
        let line = format!("hidden columns: {left_out} (use arena standings {id} --wide)");
        text += &remark(&line, width);
    }
    text
}

/// Identities of registered agents; agents with the same identity share a line.
fn identities(agents: &[v1::AgentStanding]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for agent in agents {
        let Some(identity) = units::identity(agent) else {
            continue;
        };
        match lines.iter_mut().find(|(known, _)| *known == identity) {
            Some((_, names)) => names.push(&agent.agent),
            None => lines.push((identity, vec![&agent.agent])),
        }
    }
    let line = |(identity, names): (String, Vec<&str>)| {
        let (shown, more) = names.split_at(names.len().min(IDENTICAL_SHOWN));
        let more = match more.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}: {identity}", shown.join(", "))
    };
    lines.into_iter().map(line).collect()
}

/// Renders the crosstable: the row's score against the column's agent, in the order of the
/// standings. Adds the luck-adjusted scores if they are known and fit, or if `wide` is set.
/// Omits intervals that do not fit.
pub fn crosstable(standings: &v1::Standings, wide: bool, width: Option<usize>) -> String {
    let fits = |text: &str, width: usize| text.lines().all(|line| line.chars().count() <= width);
    let head = if standings.adaptive {
        "score in % against, anytime-valid"
    } else {
        "score in % against"
    };
    let room = width.filter(|_| !wide);
    let mut text = scores(standings, head, room, true, estimates::pair_score);
    if room.is_some_and(|width| !fits(&text, width)) {
        text = scores(standings, head, room, false, estimates::pair_score);
        text += &remark("intervals are hidden (use --crosstable --wide)", width);
    }
    let mut pairs = standings.pairs.iter();
    if pairs.any(|pair| pair.score_adjusted.is_some()) {
        let head = "luck-adjusted score in % against";
        let adjusted = scores(standings, head, room, true, estimates::pair_score_adjusted);
        if wide || fits(&adjusted, width.unwrap_or(WIDTH)) {
            text += &format!("\n{adjusted}");
        }
    }
    text
}

/// Renders a table of each agent against each other agent, with or without the intervals
/// that are valid when the tournament ends. `of` is the estimate from the side of the pair's
/// first agent.
fn scores(
    standings: &v1::Standings,
    head: &str,
    width: Option<usize>,
    with_intervals: bool,
    of: fn(&v1::PairStanding) -> Option<Estimate>,
) -> String {
    let agents = standings.agents.iter();
    let names: Vec<&str> = agents.map(|agent| agent.agent.as_str()).collect();
    let mut cells = vec![vec!["–".to_owned(); names.len()]; names.len()];
    let place = |name: &str| names.iter().position(|known| *known == name);
    let cell = |score: Estimate| {
        let ends = score.interval(standings.adaptive);
        units::percent(score.value, ends.filter(|_| with_intervals))
    };
    for pair in &standings.pairs {
        let (Some(one), Some(other)) = (place(&pair.agent), place(&pair.opponent)) else {
            continue;
        };
        if let Some(score) = of(pair) {
            cells[one][other] = cell(score);
            cells[other][one] = cell(score.turned(1.0));
        }
    }
    for (place, row) in cells.iter_mut().enumerate() {
        row[place] = "·".to_owned();
    }
    let numbers = (1..=names.len()).map(|number| number.to_string());
    fitted(Column::numbered(head, &names, numbers, &cells), width).0
}

/// Remarks about all agents, one paragraph each.
pub fn remarks(standings: &v1::Standings) -> String {
    let mut text = String::new();
    let any = |has: fn(&v1::AgentStanding) -> bool| standings.agents.iter().any(has);
    if any(|agent| agent.swiss_points.is_some()) {
        text += &format!("places: {}\n", swiss_tiebreaks(standings.seats.len()));
    }
    let mut seats = standings.seats.iter().filter_map(|seat| {
        let score = Some(estimates::seat_score(seat)?);
        let score = units::share(score, standings.adaptive);
        Some(format!("seat {} {score}", seat.seat))
    });
    let seats = seats.join(", ");
    if !seats.is_empty() {
        let begins = match standings.starter_drawn {
            true => "the first player is drawn",
            false => "seat 0 moves first",
        };
        text += &format!("mean score by seat: {seats} ({begins})\n");
    }
    if let Some(pairing) = &standings.pairing {
        text += &format!("paired seats: {}\n", pairing_gain(pairing));
    }
    if any(|agent| estimates::score(agent).is_some_and(|score| score.fixed.is_some())) {
        text += if standings.adaptive {
            "intervals: pointwise 95 % confidence intervals over blocks, anytime-valid because results \
             decide what is played or when it ends\n"
        } else {
            "intervals: pointwise 95 % confidence intervals over blocks, for a number of games fixed in \
             advance; --wide adds anytime-valid intervals\n"
        };
        if any(|agent| agent.score_adjusted_is_raw) {
            text += "* too few blocks to adjust for luck: unadjusted score\n";
        }
    }
    text
}

/// The tiebreaks of a Swiss tournament.
pub fn swiss_tiebreaks(seats: usize) -> String {
    let bye = if seats > 2 { "half a round" } else { "a round" };
    format!(
        "by points, then by Buchholz (the sum of all opponents' points); a win is one point, a \
         tie half a point; a bye counts as {bye} won, and not for Buchholz"
    )
}

/// Formats the pairing efficiency.
#[must_use]
pub fn pairing_gain(pairing: &v1::Pairing) -> String {
    let games =
        |games: Option<i64>| games.map_or_else(|| "unlimited".to_owned(), units::signed_count);
    format!(
        "variance reduction {} % over unpaired games [95 % CI {} to {}], equivalent to {} more \
         games [{} to {}]",
        units::whole_percent(pairing.variance_reduction),
        units::whole_percent(pairing.variance_reduction_low),
        units::whole_percent(pairing.variance_reduction_high),
        games(pairing.games_saved),
        games(pairing.games_saved_low),
        games(pairing.games_saved_high)
    )
}

#[cfg(test)]
mod tests;
