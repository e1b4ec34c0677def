//! Standings and pairs as comma-separated values, with every key of the JSON.

use arena_wire::v1;
use itertools::Itertools;
use serde::Serialize;
use serde_json::Value;

use super::view;
use crate::{
    error::{ReportError, Result},
    rounds::RoundRow,
    text::csv,
};

/// One line per agent; `rank` numbers the lines, while level agents share a `place`.
/// `raw` leaves formulas as they are, here and below.
pub fn agents(standings: &v1::Standings, raw: bool) -> Result<String> {
    let rows = standings.agents.iter().enumerate().map(|(place, agent)| {
        let mut cells = vec![("rank".to_owned(), (place + 1).to_string())];
        cells.extend(flat(&view::agent(agent))?);
        Ok(cells)
    });
    Ok(text(rows.collect::<Result<_>>()?, raw))
}

/// One line per pair.
pub fn pairs(standings: &v1::Standings, raw: bool) -> Result<String> {
    let rows = standings.pairs.iter().map(|pair| flat(&view::pair(pair)));
    Ok(text(rows.collect::<Result<_>>()?, raw))
}

/// One line per agent and round.
pub fn rounds(rows: &[RoundRow<'_>], raw: bool) -> Result<String> {
    Ok(text(rows.iter().map(flat).collect::<Result<_>>()?, raw))
}

/// A header with the names of the first row, then a line per row.
fn text(rows: Vec<Vec<(String, String)>>, raw: bool) -> String {
    let mut lines = Vec::new();
    for row in rows {
        if lines.is_empty() {
            lines.push(csv(row.iter().map(|(name, _)| name), raw));
        }
        lines.push(csv(row.iter().map(|(_, cell)| cell), raw));
    }
    lines.concat()
}

/// Keys and values as text. An unknown value is empty, a list has a column for each number,
/// and an object is a sequence of `key=value`.
fn flat(value: &impl Serialize) -> Result<Vec<(String, String)>> {
    let value = serde_json::to_value(value).map_err(ReportError::failed)?;
    let mut cells = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let cell = match value {
            Value::Array(numbers) => {
                let numbers = (1..).zip(numbers);
                let numbers = numbers.map(|(place, it)| (format!("{key}_{place}"), it.to_string()));
                cells.extend(numbers);
                continue;
            }
            Value::Object(kinds) => {
                let mut kinds = kinds.iter().map(|(kind, count)| format!("{kind}={count}"));
                kinds.join(" ")
            }
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        cells.push((key.clone(), cell));
    }
    Ok(cells)
}
