//! Standings as people read them, and as spreadsheets do.

use std::iter;

use arena_wire::v1;

use crate::{output, units};

/// What fits a terminal, and a page.
const WIDTH: usize = 100;

/// A column: its head, its cells, and how soon it gives way where the table is
/// too wide; 0: never.
struct Column {
    head: String,
    cells: Vec<String>,
    spare: u8,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().chain(iter::once(&self.head));
        2 + cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

/// The table, no wider than [`WIDTH`] unless all of it is wanted.
pub(super) fn people(standings: &v1::Standings, wide: bool) -> String {
    let agents = &standings.agents;
    let mut columns = Vec::new();
    let mut add = |head: &str, spare: u8, cell: &dyn Fn(&v1::AgentStanding) -> String| {
        columns.push(Column {
            head: head.to_owned(),
            cells: agents.iter().map(cell).collect(),
            spare,
        });
    };
    let seats = agents.iter().map(|agent| agent.ranks.len()).max();
    add("agent", 0, &|agent| agent.agent.clone());
    if agents.iter().any(|agent| agent.rating.is_some()) {
        add("rating [95%]", 0, &|agent| {
            units::rating(agent.rating, agent.rating_low, agent.rating_high)
        });
    }
    add("score [95%]", 0, &|agent| {
        units::interval(agent.score, agent.score_low, agent.score_high)
    });
    if agents.iter().any(|agent| agent.score_adjusted.is_some()) {
        add("less luck [95%]", 1, &|agent| {
            units::interval(
                agent.score_adjusted,
                agent.score_adjusted_low,
                agent.score_adjusted_high,
            )
        });
    }
    if seats > Some(2) {
        let heads = ["1st", "2nd", "3rd", "4th"];
        let head = heads[..seats.unwrap_or_default().min(4)].join("/");
        add(&head, 0, &|agent| {
            let ranks = agent.ranks.iter().map(|&games| units::count(games));
            ranks.collect::<Vec<_>>().join("/")
        });
    } else {
        add("W/D/L", 0, &|agent| {
            [agent.wins, agent.draws, agent.losses]
                .map(units::count)
                .join("/")
        });
    }
    add("games", 0, &|agent| units::count(agent.games));
    let mixed = |agent: &v1::AgentStanding| {
        let share = agent.nash.unwrap_or_default();
        (0.01..0.99).contains(&share)
    };
    if agents.iter().any(mixed) {
        add("Nash", 1, &|agent| {
            let share = agent.nash.map(|share| format!("{:.0}%", share * 100.0));
            share.unwrap_or_else(|| "–".to_owned())
        });
    }
    add("plies", 3, &|agent| units::mean(agent.plies_mean));
    add("move p50", 5, &|agent| units::latency(agent.latency_us_p50));
    add("move p99", 2, &|agent| units::latency(agent.latency_us_p99));
    add("faults", 4, &|agent| agent.faults.to_string());
    if wide {
        add("win rate [95%]", 0, &|agent| {
            units::interval(agent.win_rate, agent.win_rate_low, agent.win_rate_high)
        });
        add("score [95%, any time]", 0, &|agent| {
            units::interval(
                agent.score,
                agent.score_anytime_low,
                agent.score_anytime_high,
            )
        });
        add("blocks", 0, &|agent| units::count(agent.blocks));
        add("voids", 0, &|agent| units::count(agent.voids));
    } else {
        narrow(&mut columns, 2 + agents.len().to_string().len());
    }
    let mut head = vec!["#"];
    head.extend(columns.iter().map(|column| column.head.as_str()));
    let rows: Vec<Vec<String>> = agents
        .iter()
        .enumerate()
        .map(|(row, agent)| {
            let cells = columns.iter().map(|column| column.cells[row].clone());
            iter::once(units::place(agent.place)).chain(cells).collect()
        })
        .collect();
    output::table(&head, &rows)
}

/// Takes columns away until the rest fits beside a first one of this width.
fn narrow(columns: &mut Vec<Column>, first: usize) {
    while first + columns.iter().map(Column::width).sum::<usize>() > WIDTH {
        let spare = columns.iter().map(|column| column.spare).max();
        let Some(spare) = spare.filter(|&spare| spare > 0) else {
            return;
        };
        columns.retain(|column| column.spare != spare);
    }
}

/// Who scored what against whom: the row's score against the column's agent, in
/// the order of the standings; and the same less luck, where that is known and
/// fits, or all of it is wanted.
pub(super) fn crosstable(standings: &v1::Standings, wide: bool) -> String {
    // As the report has it: where results decided what was played, one look is not
    // what happened.
    let mut text = if standings.adaptive {
        scores(standings, "score in % against, at any time", |pair| {
            (pair.score, pair.score_anytime_low, pair.score_anytime_high)
        })
    } else {
        scores(standings, "score in % against", |pair| {
            (pair.score, pair.score_low, pair.score_high)
        })
    };
    let mut pairs = standings.pairs.iter();
    if pairs.any(|pair| pair.score_adjusted.is_some()) {
        let adjusted = scores(standings, "less luck, in % against", |pair| {
            (
                pair.score_adjusted,
                pair.score_adjusted_low,
                pair.score_adjusted_high,
            )
        });
        let mut lines = adjusted.lines();
        if wide || lines.all(|line| line.chars().count() <= WIDTH) {
            text += &format!("\n{adjusted}");
        }
    }
    text
}

/// A table of what each has against each other one, of the interval that a pair
/// has from its first agent's side.
fn scores(
    standings: &v1::Standings,
    head: &str,
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
    let mut heads = vec!["#".to_owned(), head.to_owned()];
    heads.extend((1..=names.len()).map(|number| number.to_string()));
    let rows: Vec<Vec<String>> = cells
        .into_iter()
        .enumerate()
        .map(|(row, mut cells)| {
            cells[row] = "·".to_owned();
            let lead = [(row + 1).to_string(), names[row].to_owned()];
            lead.into_iter().chain(cells).collect()
        })
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    output::table(&heads, &rows)
}

/// What concerns all agents, a line each.
pub(super) fn remarks(standings: &v1::Standings) -> String {
    let mut text = String::new();
    let seats: Vec<String> = standings
        .seats
        .iter()
        .filter(|seat| seat.score.is_some())
        .map(|seat| {
            let score = units::interval(seat.score, seat.score_low, seat.score_high);
            format!("seat {} {score}", seat.seat)
        })
        .collect();
    if !seats.is_empty() {
        let begins = if standings.starter_drawn {
            "who begins is drawn"
        } else {
            "seat 0 begins"
        };
        text += &format!("seats: {} ({begins})\n", seats.join(", "));
    }
    if let Some(pairing) = &standings.pairing {
        text += &format!("{}\n", pairing_told(pairing));
    }
    if standings
        .agents
        .iter()
        .any(|agent| agent.score_low.is_some())
    {
        text += if standings.adaptive {
            "intervals: over blocks, for one look after a number of games fixed beforehand; here \
             results\n  decide what is played or when it ends: --wide has those of scores \
             that hold then too\n"
        } else {
            "intervals: over blocks, for one look after a number of games fixed beforehand; \
             --wide\n  has those that hold however often one looks\n"
        };
    }
    text
}

/// What blocks gained, in words.
fn pairing_told(pairing: &v1::Pairing) -> String {
    let share = pairing.variance_reduction * 100.0;
    let modest = if (0.0..20.0).contains(&share) {
        ", which is modest"
    } else {
        ""
    };
    match pairing.games_saved {
        Some(saved) if saved >= 0 => format!(
            "blocks: the variance of scores is {share:.0}% lower than that of as many single \
             games{modest};\n  {} more of those would have told as much",
            units::count(saved as u64)
        ),
        Some(saved) => format!(
            "blocks: the variance of scores is {:.0}% higher than that of as many single games; \
             {}\n  fewer of those would have told as much",
            -share,
            units::count(saved.unsigned_abs())
        ),
        None => "blocks: all came out alike, single games would not have".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many agents with names of some length, the first two of which met.
    fn standings(agents: usize) -> v1::Standings {
        let name = |number: usize| format!("agent-{number:03}");
        let agent = |number: usize| v1::AgentStanding {
            agent: name(number),
            ..Default::default()
        };
        v1::Standings {
            agents: (0..agents).map(agent).collect(),
            pairs: vec![v1::PairStanding {
                agent: name(0),
                opponent: name(1),
                score: Some(0.75),
                score_low: Some(0.65),
                score_high: Some(0.85),
                score_adjusted: Some(0.703),
                score_adjusted_low: Some(0.65),
                score_adjusted_high: Some(0.75),
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    #[test]
    fn pairs_are_told_less_luck_where_that_fits_or_all_is_wanted() {
        let text = crosstable(&standings(2), false);
        for part in ["score in % against", "75 ±10", "25 ±10"] {
            assert!(text.contains(part), "{text}");
        }
        for part in ["less luck, in % against", "70 ±5", "30 ±5"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!crosstable(&standings(60), false).contains("less luck"));
        assert!(crosstable(&standings(60), true).contains("less luck"));
        let mut skewed = standings(2);
        skewed.pairs[0].score_low = Some(0.6);
        let text = crosstable(&skewed, false);
        for part in ["75 [60, 85]", "25 [15, 40]"] {
            assert!(text.contains(part), "{text}");
        }
        let mut unknown = standings(2);
        unknown.pairs[0].score_adjusted = None;
        assert!(!crosstable(&unknown, true).contains("less luck"));
    }
}
