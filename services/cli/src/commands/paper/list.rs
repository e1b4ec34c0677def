//! `arena paper list`

use arena_report::units;
use clap::Args;
use serde::Serialize;

use crate::{
    failure::Outcome,
    output::{Format, Listing},
};
use arena_papers::{Paper, PublishedTable, tables};

/// List the published tables that Arena reproduces
#[derive(Debug, Args)]
#[command(after_help = "\
The number of games is the number in the paper; `arena paper run --games` changes it.

Examples:
  arena paper list
  arena paper list --output json      papers, protocols and numbers of cells")]
pub(crate) struct ListArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    output: Format,
}

/// A table, for programs.
#[derive(Serialize)]
pub(super) struct TableSummary<'a> {
    id: &'a str,
    paper: &'a Paper,
    table: &'a str,
    title: &'a str,
    protocol: &'a str,
    /// What the published figures are, if they are not as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    published_is: Option<&'a str>,
    cells: usize,
    games: u64,
}

impl<'a> TableSummary<'a> {
    pub(super) fn of(table: &'a PublishedTable) -> Self {
        Self {
            id: table.id,
            paper: &table.paper,
            table: &table.name,
            title: &table.title,
            protocol: &table.protocol,
            published_is: table.published.as_deref(),
            cells: table.cells.len(),
            games: table.games(None),
        }
    }
}

impl ListArgs {
    pub(super) fn run(self) -> Outcome {
        listing(self.output)?.print(self.output)
    }
}

fn listing(format: Format) -> Outcome<Listing<TableSummary<'static>>> {
    let row = |table: &'static PublishedTable| {
        let cells = vec![
            table.id.to_owned(),
            table.paper.short.clone(),
            table.name.clone(),
            table.title.clone(),
            table.cells.len().to_string(),
            match format {
                Format::Table => units::count(table.games(None)),
                _ => table.games(None).to_string(),
            },
        ];
        (cells, TableSummary::of(table))
    };
    Ok(Listing {
        header: vec!["id", "paper", "table", "what", "cells", "games"],
        rows: tables()?.iter().map(row).collect(),
        empty: "there are no tables",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_readable_numbers_are_digits() {
        let games = |format| -> Vec<String> {
            let listing = listing(format).expect("tables");
            let cells = listing.rows.into_iter().map(|(cells, _)| cells);
            cells.filter_map(|mut cells| cells.pop()).collect()
        };
        let csv = games(Format::Csv);
        assert!(
            csv.iter().all(|games| games.parse::<u64>().is_ok()),
            "{csv:?}"
        );
        assert!(games(Format::Table).contains(&"2,000".to_owned()));
    }
}
