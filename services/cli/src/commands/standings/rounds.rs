//! Who met whom, round by round.

use arena_wire::v1;

use super::{csv, verdict};
use crate::{
    failure::Outcome,
    output::{self, Column},
    rounds::{self, Kind, Rounds},
};

/// A knockout of so many tables shows its rounds unasked.
const TABLES_UNASKED: usize = 31;

fn rounds(standings: &v1::Standings) -> Option<Rounds> {
    Rounds::of(&verdict::object(&standings.verdict_json)?)
}

/// Why there are no rounds.
fn absence(standings: &v1::Standings) -> &'static str {
    if standings.verdict_json.is_empty() {
        "rounds: available once the tournament is finished"
    } else {
        "rounds: this format has none"
    }
}

/// Rounds, or a note on stderr why there are none.
fn rounds_or_note(standings: &v1::Standings) -> Option<Rounds> {
    let rounds = rounds(standings);
    if rounds.is_none() {
        output::note(absence(standings));
    }
    rounds
}

/// Everybody in every round, a JSON object a line.
pub(super) fn json_lines(standings: &v1::Standings) -> Outcome {
    let rounds = rounds_or_note(standings);
    let rows = rounds.iter().flat_map(rounds::rows);
    rows.into_iter().try_for_each(|row| output::json_line(&row))
}

/// The same as comma-separated values.
pub(super) fn csv(standings: &v1::Standings) -> Outcome<String> {
    let rounds = rounds_or_note(standings);
    csv::rounds(&rounds.as_ref().map(rounds::rows).unwrap_or_default())
}

/// The same for people: all where it is asked for, else where it is short.
pub(super) fn people(standings: &v1::Standings, asked: bool, width: Option<usize>) -> String {
    let id = &standings.tournament_id;
    let Some(rounds) = rounds(standings) else {
        return match asked {
            true => format!("\n{}\n", absence(standings)),
            false => String::new(),
        };
    };
    let short = rounds.kind == Kind::Knockout && rounds.tables() <= TABLES_UNASKED;
    if !asked && !short {
        return output::remark(&format!("who met whom: arena standings {id} --rounds"));
    }
    match rounds.kind {
        Kind::Swiss => format!("\n{}", swiss(standings, &rounds, width)),
        Kind::Knockout => knockout(&rounds, width),
    }
}

/// A line for each agent, in the order of the standings, by whose numbers its
/// opponents are reported.
fn swiss(standings: &v1::Standings, rounds: &Rounds, width: Option<usize>) -> String {
    let agents = standings.agents.iter().map(|agent| agent.agent.as_str());
    let agents: Vec<&str> = agents.collect();
    let cells = rounds::swiss_cells(rounds, &agents, rounds::numbered);
    let column = |head: String, cells: Vec<String>| Column {
        head,
        cells,
        spare: 0,
    };
    let numbers = (1..=agents.len()).map(|number| number.to_string());
    let mut columns = vec![
        column("#".to_owned(), numbers.collect()),
        column(
            "points (against)".to_owned(),
            agents.iter().map(|&name| name.to_owned()).collect(),
        ),
    ];
    columns.extend(
        rounds
            .titles()
            .into_iter()
            .enumerate()
            .map(|(place, head)| {
                let cells = cells.iter().map(|row| row[place].clone());
                column(head, cells.collect())
            }),
    );
    output::fitted(columns, width).0
}

/// Round by round, a table a line.
fn knockout(rounds: &Rounds, width: Option<usize>) -> String {
    let mut text = String::new();
    for (title, lines) in rounds::lines(rounds) {
        text += &format!("\n{title}\n");
        for line in lines {
            let line = format!("  {line}");
            text += &width.map_or(line.clone(), |width| output::wrapped(&line, width, "    "));
            text.push('\n');
        }
    }
    let seeds = if rounds.seeds.is_empty() {
        ""
    } else {
        "; in brackets: the seed"
    };
    text + &output::remark(&format!(
        "points: one for each seat beaten, a half for each tied; who goes on comes first{seeds}"
    ))
}
