//! Standings as text tables.

use arena_wire::v1;

use crate::{
    intervals,
    text::{Column, fitted, wrapped},
    units,
};

/// Default width.
const WIDTH: usize = 100;
/// Maximum number of agents with the same identity that are named.
const IDENTICAL_SHOWN: usize = 5;

/// Renders the standings within `width`, or `WIDTH` without a terminal, unless `wide` is
/// set. Lists the hidden columns.
pub fn people(standings: &v1::Standings, wide: bool, width: Option<usize>) -> String {
    let agents = &intervals::at_the_end(standings);
    // The column that defines the order is hidden last: ratings if scores do not define it.
    let scores = agents.iter().map(|agent| agent.score);
    let by_score = scores.is_sorted_by(|one, next| one >= next);
    let swiss = agents.iter().any(|agent| agent.swiss_points.is_some());
    let mut columns = vec![Column {
        head: "#".to_owned(),
        cells: agents
            .iter()
            .map(|agent| units::place(agent.place))
            .collect(),
        spare: 0,
    }];
    let mut add = |head: &str, spare: usize, cell: &dyn Fn(&v1::AgentStanding) -> String| {
        columns.push(Column {
            head: head.to_owned(),
            cells: agents.iter().map(cell).collect(),
            spare,
        });
    };
    let seats = agents.iter().map(|agent| agent.ranks.len()).max();
    add("agent", 0, &|agent| agent.agent.clone());
    if swiss {
        add("Swiss", 0, &|agent| units::swiss(agent.swiss_points));
        add("Buchholz", 0, &|agent| units::swiss(agent.buchholz));
        add("byes", 2, &|agent| {
            agent.byes.map_or_else(|| "–".to_owned(), units::count)
        });
    }
    if agents.iter().any(|agent| agent.rating.is_some()) {
        add("rating [95%]", usize::from(by_score || swiss), &|agent| {
            units::rating(agent.rating, agent.rating_low, agent.rating_high)
        });
    }
    let rated = agents.iter().any(|agent| agent.rating.is_some());
    add(
        "score [95%]",
        usize::from(swiss || rated && !by_score),
        &|agent| units::interval(agent.score, agent.score_low, agent.score_high),
    );
    if agents.iter().any(|agent| agent.score_adjusted.is_some()) {
        add("adjusted [95%]", 4, &|agent| {
            let shown = units::interval(
                agent.score_adjusted,
                agent.score_adjusted_low,
                agent.score_adjusted_high,
            );
            shown + units::raw(agent.score_adjusted_is_raw)
        });
    }
    if seats > Some(2) {
        let heads = ["1st", "2nd", "3rd", "4th"];
        let head = heads[..seats.unwrap_or_default().min(4)].join("/");
        add(&head, 3, &|agent| {
            let ranks = agent.ranks.iter().map(|&games| units::count(games));
            ranks.collect::<Vec<_>>().join("/")
        });
    } else {
        add("W/D/L", 3, &|agent| {
            [agent.wins, agent.draws, agent.losses]
                .map(units::count)
                .join("/")
        });
    }
    add("games", 2, &|agent| units::count(agent.games));
    let mixed = |agent: &v1::AgentStanding| {
        let share = agent.nash.unwrap_or_default();
        (0.01..0.99).contains(&share)
    };
    if agents.iter().any(mixed) {
        add("Nash", 5, &|agent| {
            let share = agent.nash.map(|share| format!("{:.0}%", share * 100.0));
            share.unwrap_or_else(|| "–".to_owned())
        });
    }
    add("plies", 7, &|agent| units::mean(agent.plies_mean));
    add("move p50", 9, &|agent| units::latency(agent.latency_us_p50));
    add("move p99", 6, &|agent| units::latency(agent.latency_us_p99));
    if wide {
        add("wait p50", 0, &|agent| units::latency(agent.waiting_us_p50));
        add("wait p99", 0, &|agent| units::latency(agent.waiting_us_p99));
    }
    // A column of zeros may be hidden; a column with faults must stay visible.
    let faulty = agents.iter().any(|agent| agent.faults > 0);
    add("faults", if faulty { 0 } else { 8 }, &|agent| {
        units::count(agent.faults)
    });
    if wide {
        let head = if standings.adaptive {
            "win rate"
        } else {
            "win rate [95%]"
        };
        add(head, 0, &|agent| {
            units::interval(agent.win_rate, agent.win_rate_low, agent.win_rate_high)
        });
        // The other intervals, which are not shown yet.
        let looks = if standings.adaptive {
            "fixed n"
        } else {
            "anytime"
        };
        if rated {
            add(&format!("rating [95%, {looks}]"), 0, &|agent| {
                units::rating(
                    agent.rating,
                    agent.rating_anytime_low,
                    agent.rating_anytime_high,
                )
            });
        }
        add(&format!("score [95%, {looks}]"), 0, &|agent| {
            units::interval(
                agent.score,
                agent.score_anytime_low,
                agent.score_anytime_high,
            )
        });
        add("blocks", 0, &|agent| units::count(agent.blocks));
        add("voids", 0, &|agent| units::count(agent.voids));
    }
    let room = (!wide).then(|| width.unwrap_or(WIDTH));
    let (mut text, left_out) = fitted(columns, room);
    for line in identities(agents) {
        text += &remark(&line, width);
    }
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        let id = &standings.tournament_id;
        text += &remark(
            &format!("hidden columns: {left_out} (use arena standings {id} --wide)"),
            width,
        );
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

/// A line below the table, wrapped between words if it is wider than a terminal.
fn remark(text: &str, width: Option<usize>) -> String {
    let text = match width {
        Some(width) => wrapped(text, width, "  "),
        None => text.to_owned(),
    };
    text + "\n"
}

/// Renders the crosstable: the row's score against the column's agent, in the order of the
/// standings. Adds the luck-adjusted scores if they are known and fit, or if `wide` is set.
/// Omits intervals that do not fit.
pub fn crosstable(standings: &v1::Standings, wide: bool, width: Option<usize>) -> String {
    let fits = |text: &str, width: usize| text.lines().all(|line| line.chars().count() <= width);
    // As in the report: if results decided which games were played, fixed-sample intervals
    // are not valid.
    let head = if standings.adaptive {
        "score in % against, anytime-valid"
    } else {
        "score in % against"
    };
    let room = width.filter(|_| !wide);
    let table = |reported: bool| {
        scores(standings, head, room, |pair| {
            match (reported, standings.adaptive) {
                (false, _) => (pair.score, None, None),
                (true, true) => (pair.score, pair.score_anytime_low, pair.score_anytime_high),
                (true, false) => (pair.score, pair.score_low, pair.score_high),
            }
        })
    };
    let mut text = table(true);
    if room.is_some_and(|width| !fits(&text, width)) {
        text = table(false);
        text += &remark("intervals are hidden (use --crosstable --wide)", width);
    }
    let mut pairs = standings.pairs.iter();
    if pairs.any(|pair| pair.score_adjusted.is_some()) {
        let adjusted = scores(
            standings,
            "luck-adjusted score in % against",
            room,
            |pair| {
                let (low, high) = if standings.adaptive {
                    (
                        pair.score_adjusted_anytime_low,
                        pair.score_adjusted_anytime_high,
                    )
                } else {
                    (pair.score_adjusted_low, pair.score_adjusted_high)
                };
                (pair.score_adjusted, low, high)
            },
        );
        if wide || fits(&adjusted, width.unwrap_or(WIDTH)) {
            text += &format!("\n{adjusted}");
        }
    }
    text
}

/// Renders a table of each agent against each other agent. `interval` is the pair's
/// interval from the side of its first agent.
fn scores(
    standings: &v1::Standings,
    head: &str,
    width: Option<usize>,
    of: impl Fn(&v1::PairStanding) -> (Option<f64>, Option<f64>, Option<f64>),
) -> String {
    let names: Vec<&str> = standings
        .agents
        .iter()
        .map(|agent| agent.agent.as_str())
        .collect();
    let mut cells = vec![vec!["–".to_owned(); names.len()]; names.len()];
    let place = |name: &str| names.iter().position(|known| *known == name);
    for pair in &standings.pairs {
        let (Some(one), Some(other)) = (place(&pair.agent), place(&pair.opponent)) else {
            continue;
        };
        let (Some(score), low, high) = of(pair) else {
            continue;
        };
        let interval = low.zip(high);
        let turned = interval.map(|(low, high)| (1.0 - high, 1.0 - low));
        cells[one][other] = units::percent(score, interval);
        cells[other][one] = units::percent(1.0 - score, turned);
    }
    for (place, row) in cells.iter_mut().enumerate() {
        row[place] = "·".to_owned();
    }
    let column = |head: String, cells: Vec<String>| Column {
        head,
        cells,
        spare: 0,
    };
    let numbers = || (1..=names.len()).map(|number| number.to_string());
    let mut columns = vec![
        column("#".to_owned(), numbers().collect()),
        column(
            head.to_owned(),
            names.iter().map(|&name| name.to_owned()).collect(),
        ),
    ];
    columns.extend(numbers().enumerate().map(|(place, head)| {
        let cells = cells.iter().map(|row| row[place].clone());
        column(head, cells.collect())
    }));
    fitted(columns, width).0
}

/// Remarks about all agents, one paragraph each.
pub fn remarks(standings: &v1::Standings) -> String {
    let mut text = String::new();
    if standings
        .agents
        .iter()
        .any(|agent| agent.swiss_points.is_some())
    {
        text += &format!("places: {}\n", swiss_tiebreaks(standings.seats.len()));
    }
    let seats: Vec<String> = standings
        .seats
        .iter()
        .filter(|seat| seat.score.is_some())
        .map(|seat| {
            let (low, high) = intervals::of_seat(seat, standings);
            let score = units::interval(seat.score, low, high);
            format!("seat {} {score}", seat.seat)
        })
        .collect();
    if !seats.is_empty() {
        let begins = if standings.starter_drawn {
            "the first player is drawn"
        } else {
            "seat 0 moves first"
        };
        text += &format!("mean score by seat: {} ({begins})\n", seats.join(", "));
    }
    if let Some(pairing) = &standings.pairing {
        text += &format!("paired seats: {}\n", pairing_gain(pairing));
    }
    if standings
        .agents
        .iter()
        .any(|agent| agent.score_low.is_some())
    {
        text += if standings.adaptive {
            "intervals: pointwise 95 % confidence intervals over blocks, anytime-valid because results \
             decide what is played or when it ends\n"
        } else {
            "intervals: pointwise 95 % confidence intervals over blocks, for a number of games fixed in \
             advance; --wide adds anytime-valid intervals\n"
        };
        let mut agents = standings.agents.iter();
        if agents.any(|agent| agent.score_adjusted_is_raw) {
            text += "* too few blocks to adjust for luck: unadjusted score\n";
        }
    }
    text
}

/// The tiebreaks of a Swiss tournament.
pub fn swiss_tiebreaks(seats: usize) -> String {
    let bye = if seats > 2 { "half a round" } else { "a round" };
    format!(
        "by points, then by Buchholz (the sum of all opponents' points); an opponent beaten is one \
         point, a tie half a point; a bye counts as {bye} won, and not for Buchholz"
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
