//! Pairings by round.

use arena_wire::v1;

use super::verdict;
use crate::{
    rounds::{self, RoundFormat, Rounds},
    text::{Column, fitted, remark, wrapped},
};

/// Maximum number of tables of a knockout that shows its rounds by default.
const TABLES_UNASKED: usize = 31;

/// The rounds of a finished tournament, if its format has any.
#[must_use]
pub fn rounds(standings: &v1::Standings) -> Option<Rounds> {
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
    let columns = Column::numbered("points (against)", &agents, rounds.titles(), &cells);
    fitted(columns, width).0
}

/// Round by round, one table per line.
fn knockout(rounds: &Rounds, width: Option<usize>) -> String {
    let mut text = String::new();
    for (title, lines) in rounds::lines(rounds) {
        text += &format!("\n{title}\n");
        for line in lines {
            let line = format!("  {line}");
            let line = width.map_or(line.clone(), |width| wrapped(&line, width, "    "));
            text += &format!("{line}\n");
        }
    }
    let mut note = "points: one for each seat beaten, a half for each tied; agents that advance \
     come first"
        .to_owned();
    if !rounds.seeds.is_empty() {
        note += "; in brackets: the seed";
    }
    text + &remark(&note, width)
}
