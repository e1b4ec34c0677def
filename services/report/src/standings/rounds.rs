//! Pairings by round.

use arena_wire::v1;

use super::{csv, verdict};
use crate::{
    error::Result,
    rounds::{self, RoundFormat, Rounds},
    text::{Column, fitted, remark, wrapped},
};

/// Maximum number of tables of a knockout that shows its rounds by default.
const TABLES_UNASKED: usize = 31;

fn rounds(standings: &v1::Standings) -> Option<Rounds> {
    Rounds::of(&verdict::object(&standings.verdict_json)?)
}

/// The reason why there are no rounds.
#[must_use]
pub fn absence(standings: &v1::Standings) -> &'static str {
    if standings.verdict_json.is_empty() {
        "rounds: available once the tournament is finished"
    } else {
        "rounds: this format has none"
    }
}

/// A row for each agent and round.
///
/// # Errors The reason, if there are no rounds.
pub fn rows(standings: &v1::Standings) -> Result<Vec<serde_json::Value>, &'static str> {
    let rounds = rounds(standings).ok_or_else(|| absence(standings))?;
    let rows = rounds::rows(&rounds).into_iter();
    Ok(rows
        .map(|row| serde_json::to_value(row).unwrap_or_default())
        .collect())
}

/// All rounds as comma-separated values, empty if there are none.
///
/// # Errors
/// [`crate::ReportError`] if a row cannot be written.
pub fn csv(standings: &v1::Standings) -> crate::error::Result<String> {
    let rounds = rounds(standings);
    csv::rounds(&rounds.as_ref().map(rounds::rows).unwrap_or_default())
}

/// Renders the rounds as text: all if requested, otherwise only if they are short.
#[must_use]
pub fn render(standings: &v1::Standings, asked: bool, width: Option<usize>) -> String {
    let id = &standings.tournament_id;
    let Some(rounds) = rounds(standings) else {
        return match asked {
            true => format!("\n{}\n", absence(standings)),
            false => String::new(),
        };
    };
    let short = rounds.kind == RoundFormat::Knockout && rounds.tables() <= TABLES_UNASKED;
    if !asked && !short {
        return remark(&format!("pairings: arena standings {id} --rounds"), width);
    }
    match rounds.kind {
        RoundFormat::Swiss => format!("\n{}", swiss(standings, &rounds, width)),
        RoundFormat::Knockout => knockout(&rounds, width),
    }
}

/// A line per agent in the order of the standings; opponents are shown by their number in
/// that order.
fn swiss(standings: &v1::Standings, rounds: &Rounds, width: Option<usize>) -> String {
    let agents = standings.agents.iter().map(|agent| agent.agent.as_str());
    let agents: Vec<&str> = agents.collect();
    let cells = rounds::swiss_cells(rounds, &agents, rounds::numbered);
    let numbers = (1..=agents.len()).map(|number| number.to_string());
    let names = agents.iter().map(|&name| name.to_owned());
    let mut columns = vec![
        Column::new("#", numbers),
        Column::new("points (against)", names),
    ];
    let titles = rounds.titles().into_iter().enumerate();
    columns.extend(
        titles.map(|(place, head)| Column::new(head, cells.iter().map(|row| row[place].clone()))),
    );
    fitted(columns, width).0
}

/// Round by round, one table per line.
fn knockout(rounds: &Rounds, width: Option<usize>) -> String {
    let mut text = String::new();
    for (title, lines) in rounds::lines(rounds) {
        text += &format!("\n{title}\n");
        for line in lines {
            let line = format!("  {line}");
            text += &width.map_or(line.clone(), |width| wrapped(&line, width, "    "));
            text.push('\n');
        }
    }
    let seeds = if rounds.seeds.is_empty() {
        ""
    } else {
        "; in brackets: the seed"
    };
    text + &remark(
        &format!(
            "points: one for each seat beaten, a half for each tied; agents that advance come \
             first{seeds}"
        ),
        width,
    )
}
