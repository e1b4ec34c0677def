//! Standings and pairs as comma-separated values, with every key of the JSON.

use arena_wire::v1;
use serde::Serialize;
use serde_json::Value;

use super::view;
use crate::{
    error::{ReportError, Result},
    rounds::RoundRow,
    text::csv_line,
};

/// One line per agent; `rank` numbers the lines, while level agents share a `place`.
pub fn agents(standings: &v1::Standings) -> Result<String> {
    let rows = standings.agents.iter().enumerate().map(|(place, agent)| {
        let mut cells = vec![("rank".to_owned(), (place + 1).to_string())];
        cells.extend(flat(&view::agent(agent))?);
        Ok(cells)
    });
    Ok(text(rows.collect::<Result<_>>()?))
}

/// One line per pair.
pub fn pairs(standings: &v1::Standings) -> Result<String> {
    let rows = standings.pairs.iter().map(|pair| flat(&view::pair(pair)));
    Ok(text(rows.collect::<Result<_>>()?))
}

/// One line per agent and round.
pub fn rounds(rows: &[RoundRow<'_>]) -> Result<String> {
    Ok(text(rows.iter().map(flat).collect::<Result<_>>()?))
}

/// A header with the names of the first row, then a line per row.
fn text(rows: Vec<Vec<(String, String)>>) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let (names, cells): (Vec<String>, Vec<String>) = row.into_iter().unzip();
        if lines.is_empty() {
            lines.push(csv_line(&names));
        }
        lines.push(csv_line(&cells));
    }
    lines.concat()
}

/// Keys and values as text. An unknown value is empty, a list has a column for each number,
/// and an object is a sequence of `key=value`.
fn flat(value: &impl Serialize) -> Result<Vec<(String, String)>> {
    let value = serde_json::to_value(value).map_err(ReportError::failed)?;
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
