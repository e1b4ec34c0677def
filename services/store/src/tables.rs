//! Tables that people query with SQL. They are copies of what the store and the coordinator know: no
//! store reads them, so they may be emptied at any time.

use std::collections::BTreeMap;

use crate::StoreError;

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// A row for each tournament.
    Tournaments,
    /// A row for each agent of a tournament.
    Standings,
    /// A row for each registered agent.
    Agents,
    /// A row for each durable game.
    Games,
}

/// The rows that new ones replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replaced {
    /// All of the table.
    All,
    /// Those of a tournament.
    Tournament(String),
    /// None. Rows that the table has already stay as they are.
    None,
}

/// A change of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableChange {
    /// The table.
    pub table: Table,
    /// Rows to remove first.
    pub replaced: Replaced,
    /// New rows: a JSON array of objects with a value for each column, times in microseconds of Unix
    /// time.
    pub rows: String,
}

/// The state of a tournament at which its rows were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableState {
    /// State of the tournament.
    pub state: String,
    /// Generation of its games.
    pub generation: u32,
    /// Number of durable games.
    pub games: u64,
}

/// The tables of a store.
pub trait Tables: Send + Sync {
    /// The tournaments in the tables.
    ///
    /// # Errors
    /// An error of the connection.
    fn tournaments(&self) -> Result<BTreeMap<String, TableState>, StoreError>;

    /// Number of rows in [`Table::Games`] for a tournament.
    ///
    /// # Errors
    /// An error of the connection.
    fn games(&self, tournament: &str) -> Result<u64, StoreError>;

    /// Makes all of these changes or none.
    ///
    /// # Errors
    /// `TakenOver` if another process owns the store, or an error of the connection.
    fn write(&self, changes: Vec<TableChange>) -> Result<(), StoreError>;
}
