//! Rounds as data.

use serde::Serialize;

use super::{BracketPart, RoundFormat, Rounds};

/// An agent in a round.
#[derive(Debug, Serialize)]
pub struct RoundRow<'a> {
    round: u64,
    /// From 1; `None` for a bye.
    table: Option<usize>,
    part: Option<BracketPart>,
    agent: &'a String,
    /// From 1; knockouts only.
    seed: Option<usize>,
    /// 1 for a seat beaten, ½ for a seat tied; `None` for a bye.
    points: Option<f64>,
    bye: bool,
    /// True if the agent is in the knockout's next round or has won.
    goes_on: Option<bool>,
    /// True if only the seed decided which agents of the table advance.
    by_seed: Option<bool>,
}

/// Every agent in every round, in the order of the tables.
pub fn rows(rounds: &Rounds) -> Vec<RoundRow<'_>> {
    let knockout = rounds.kind == RoundFormat::Knockout;
    let mut rows = Vec::new();
    for round in &rounds.all {
        let row = |agent| RoundRow {
            round: round.round,
            table: None,
            part: None,
            agent,
            seed: rounds.seed(agent),
            points: None,
            bye: false,
            goes_on: knockout.then(|| !round.out.contains(agent)),
            by_seed: None,
        };
        for (number, table) in round.tables.iter().enumerate() {
            for (agent, &points) in table.agents.iter().zip(&table.points) {
                rows.push(RoundRow {
                    table: Some(number + 1),
                    part: table.part,
                    points: Some(points),
                    by_seed: knockout.then_some(table.by_seed),
                    ..row(agent)
                });
            }
        }
        let bye = |agent| RoundRow {
            bye: true,
            ..row(agent)
        };
        rows.extend(round.byes.iter().map(bye));
    }
    rows
}
