//! The sentences of a report.

use arena_tournament::format::listed;
use arena_wire::v1::{self, TournamentState};
use itertools::Itertools;
use serde_json::Value;

use crate::{
    estimates,
    report::Report,
    standings::{audits::format_audits, table::pairing_gain},
    state::{pause_line, state_name},
    units,
};

/// Number of sentences of a summary that are visible; the others are collapsed.
pub(crate) const SHOWN: usize = 3;

/// The main points of a report, most important first.
pub(crate) fn summary(report: &Report) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(progress(report));
    if let Some(pause) = &report.pause {
        said.push(format!("Reason of the pause: {}.", pause_line(pause)));
        said.push(format!("What to do: {}.", pause.advice));
    }
    if report.games == 0 {
        said.push("No game has finished yet.".to_owned());
        said.extend(report.notes.iter().cloned());
        return said;
    }
    let verdict = report.verdict.as_ref().and_then(|it| it.get("text"));
    said.extend(verdict.and_then(Value::as_str).map(str::to_owned));
    said.extend(expected(report));
    let faults = faults(report);
    let leader = leader(report);
    // Problems come before the leader.
    if is_faulty(report) {
        said.extend(faults);
        said.extend(leader);
    } else {
        said.extend(leader);
        said.extend(faults);
    }
    said.extend(undecided(report));
    said.extend(first_seat(report));
    said.extend(lengths(report));
    said.extend(pairing(report));
    said.extend(audits(report));
    said.extend(report.notes.iter().cloned());
    said
}

/// One sentence for the top of the page.
pub(crate) fn headline(report: &Report) -> String {
    let Some(best) = report.agents.first().filter(|_| report.games > 0) else {
        return "No games yet".to_owned();
    };
    if let Some(reported) = report.verdict.as_ref().and_then(of_verdict) {
        return reported;
    }
    let standings = report.agents.iter().map(|agent| &agent.standing);
    let first = standings.filter(|standing| standing.place == Some(1));
    let first: Vec<&str> = first.map(|standing| standing.agent.as_str()).collect();
    let best = &best.standing.agent;
    match first.len() {
        0 => "No agent is ranked".to_owned(),
        // Whether a lead is significant is known of scores and ratings.
        1 if report.agents[0].standing.return_mean.is_some() => {
            format!("{best} is first, by its mean return")
        }
        1 if is_clear(report) => format!("{best} is first, with a significant lead"),
        1 => format!("{best} is first, without a significant lead"),
        _ => format!("{} share first place", listed(&first)),
    }
}

/// The headline of a verdict that is more than an order.
fn of_verdict(verdict: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = verdict.get("kind")?.as_str()?;
    if kind == "winner" {
        let winner = verdict.get("winner").and_then(text)?;
        return Some(format!("{winner} wins the knockout"));
    }
    if kind == "gauntlet" {
        let challengers = verdict.get("challengers")?.as_array()?;
        let [challenger] = &challengers[..] else {
            return None;
        };
        let name = challenger.get("agent").and_then(text)?;
        let met = challenger.get("opponents")?.as_array()?.len();
        let ahead = challenger.get("ahead_of")?.as_u64()?;
        return Some(format!("{name} is ahead of {ahead} of the field of {met}"));
    }
    let agents = verdict.get("agents")?.as_array()?;
    let [one, other] = [0, 1].map(|number| agents.get(number).and_then(text));
    let (one, other) = (one?, other?);
    match kind {
        "h1" => Some(format!("{one} passes the test against {other}")),
        "h0" => Some(format!("{one} fails the test against {other}")),
        "inconclusive" => Some(format!("The test of {one} against {other} is inconclusive")),
        _ => None,
    }
}

fn progress(report: &Report) -> Option<String> {
    (!report.is_whole()).then(|| {
        let rest = match report.state {
            TournamentState::Running => "the figures below cover these games only",
            TournamentState::Paused => "it continues when resumed",
            _ => "it will not continue",
        };
        format!(
            "The tournament is {}: {} of {} games are finished; {rest}.",
            state_name(report.state),
            units::count(report.games),
            units::count(report.games_total),
        )
    })
}

fn expected(report: &Report) -> Option<String> {
    let all = report.verdicts.len();
    let failed = report.verdicts.iter().filter(|verdict| !verdict.holds);
    let so_far = if report.is_whole() { "" } else { " so far" };
    match (all, failed.count()) {
        (0, _) => None,
        (1, 0) => Some(format!("The expectation holds{so_far}.")),
        (_, 0) => Some(format!("All {all} expectations hold{so_far}.")),
        (_, failed) => Some(format!(
            "{failed} of {all} expectations do not hold{so_far}."
        )),
    }
}

/// True if the first agent is ahead of every other one beyond chance.
fn is_clear(report: &Report) -> bool {
    !report.ahead.is_empty() && report.ahead.iter().all(|least| *least > Some(0.0))
}

fn leader(report: &Report) -> Option<String> {
    let (first, rest) = report.agents.split_first()?;
    let standing = &first.standing;
    // The games do not order the agents.
    standing.place?;
    let by_return = standing.return_mean.is_some() && !report.by_rating;
    let shown = |standing: &v1::AgentStanding| {
        if report.by_rating {
            let rating = estimates::rating(standing);
            format!("{} Elo", units::rating_ends(rating, report.adaptive))
        } else if by_return {
            units::mean_return(estimates::return_mean(standing), report.adaptive)
        } else {
            units::share(estimates::score(standing), report.adaptive)
        }
    };
    let games = units::plural(standing.games, "game");
    let (agent, own) = (&standing.agent, shown(standing));
    let mut text = match report.by_rating {
        true => format!("{agent} is first with a rating of {own} over {games}"),
        false if by_return => format!("{agent} has the highest mean return: {own} over {games}"),
        false => format!("{agent} has the best score: {own} over {games}"),
    };
    if let Some(second) = rest.first() {
        let other = &second.standing;
        text += &format!("; {} follows with {}", other.agent, shown(other));
        text += match is_clear(report) {
            _ if by_return => "",
            true => "; the lead over every other agent is significant",
            false => "; the lead is not significant",
        };
    }
    Some(text + ".")
}

/// The pairs without a significant difference.
fn undecided(report: &Report) -> Option<String> {
    let mut all = 0;
    let mut open = 0;
    for (row, pairs) in report.pairs.iter().enumerate() {
        for pair in pairs[row + 1..].iter().flatten() {
            all += 1;
            let ends = pair.score.interval(report.adaptive);
            open += u64::from(ends.is_none_or(|ends| ends.contains(0.5)));
        }
    }
    let differs = match open {
        0 => "the head-to-head score differs significantly from 50 %.",
        _ => "the head-to-head score does not differ significantly from 50 %.",
    };
    match (all, open) {
        (0, _) => None,
        (1, _) => Some(differs.replacen('t', "T", 1)),
        (_, 0) => Some(format!("In all {all} pairs, {differs}")),
        _ => Some(format!("In {open} of {all} pairs, {differs}")),
    }
}

fn first_seat(report: &Report) -> Option<String> {
    let first = (*report.seat_scores.first()?)?;
    let fair = 0.5;
    let ends = first.interval(report.adaptive)?;
    let found = if report.starter_drawn {
        "The first player is drawn and may have any seat;"
    } else if ends.low > fair {
        "Moving first is an advantage:"
    } else if ends.high < fair {
        "Moving first is a disadvantage:"
    } else {
        "No significant first-move advantage:"
    };
    let shown = units::interval(first.value, Some(ends));
    Some(format!("{found} seat 0 scores {shown}."))
}

fn lengths(report: &Report) -> Option<String> {
    let middle = crate::chart::lengths::quantile(&report.lengths, 0.5)?;
    let shortest = report.lengths.keys().next()?;
    let longest = report.lengths.keys().next_back()?;
    Some(format!(
        "The median game has {middle} plies (shortest {shortest}, longest {longest})."
    ))
}

/// The pairing efficiency of blocks.
fn pairing(report: &Report) -> Option<String> {
    let pairing = report.pairing.as_ref()?;
    Some(format!("Paired seats: {}.", pairing_gain(pairing)))
}

/// True if an agent made a fault or a game could not be played.
fn is_faulty(report: &Report) -> bool {
    let mut standings = report.agents.iter().map(|agent| &agent.standing);
    standings.any(|standing| standing.faults > 0) || report.terminations.contains_key("void")
}

fn faults(report: &Report) -> Option<String> {
    let standings = report.agents.iter().map(|agent| &agent.standing);
    let faulty = standings
        .filter(|it| it.faults > 0)
        .map(|it| format!("{} ({})", it.agent, units::count(it.faults)))
        .join(", ");
    let void = report.terminations.get("void").copied().unwrap_or(0);
    let mut text = match faulty.as_str() {
        "" => "No agent made a fault".to_owned(),
        agents => format!("Faults by {agents}"),
    };
    if void > 0 {
        let games = units::plural(void, "game");
        let count = if void == 1 { "is" } else { "are" };
        text += &format!("; {games} could not be played and {count} void");
    }
    Some(text + ".")
}

fn audits(report: &Report) -> Option<String> {
    let text = report.audits.as_ref().map(format_audits)?;
    Some(format!("{}{}.", text[..1].to_uppercase(), &text[1..]))
}
