//! Standings and pairs as comma-separated values, with every key of the JSON.

use arena_wire::v1;
use serde::Serialize;
use serde_json::Value;

use super::view;
use crate::{
    failure::{Failure, Outcome},
    output::csv_line,
    rounds::Row,
};

/// One line an agent; `rank` numbers the lines, while those who are level share a
/// `place`.
pub(super) fn agents(standings: &v1::Standings) -> Outcome<String> {
    let rows = standings.agents.iter().enumerate().map(|(place, agent)| {
        let mut cells = vec![("rank".to_owned(), (place + 1).to_string())];
        cells.extend(flat(&view::agent(agent))?);
        Ok(cells)
    });
    text(rows.collect::<Outcome<_>>()?)
}

/// One line a pair.
pub(super) fn pairs(standings: &v1::Standings) -> Outcome<String> {
    let rows = standings.pairs.iter().map(|pair| flat(&view::pair(pair)));
    text(rows.collect::<Outcome<_>>()?)
}

/// One line for each agent of each round.
pub(super) fn rounds(rows: &[Row<'_>]) -> Outcome<String> {
    text(rows.iter().map(flat).collect::<Outcome<_>>()?)
}

fn text(rows: Vec<Vec<(String, String)>>) -> Outcome<String> {
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        if place == 0 {
            let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
            text += &csv_line(&names);
        }
        let cells: Vec<&str> = row.iter().map(|(_, cell)| cell.as_str()).collect();
        text += &csv_line(&cells);
    }
    Ok(text)
}

/// Keys and values: what is not known is empty, a list has a column for each
/// number, and an object is `key=value` after `key=value`.
fn flat(value: &impl Serialize) -> Outcome<Vec<(String, String)>> {
    let value = serde_json::to_value(value).map_err(Failure::failed)?;
    let mut cells = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Array(numbers) => {
                let numbers = numbers.iter().enumerate();
                cells.extend(
                    numbers.map(|(place, number)| {
                        (format!("{key}_{}", place + 1), number.to_string())
                    }),
                );
            }
            Value::Object(kinds) => {
                let kinds = kinds.iter().map(|(kind, count)| format!("{kind}={count}"));
                cells.push((key.clone(), kinds.collect::<Vec<_>>().join(" ")));
            }
            Value::String(text) => cells.push((key.clone(), text.clone())),
            Value::Null => cells.push((key.clone(), String::new())),
            other => cells.push((key.clone(), other.to_string())),
        }
    }
    Ok(cells)
}
