//! Where a store is.

use std::path::PathBuf;

/// Where a store is: the URL of a database, or a data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// `postgres://` or `postgresql://`.
    Database(String),
    /// A data folder.
    Folder(PathBuf),
}

impl From<&str> for Location {
    fn from(text: &str) -> Self {
        match text.starts_with("postgres://") || text.starts_with("postgresql://") {
            true => Self::Database(text.to_owned()),
            false => Self::Folder(text.into()),
        }
    }
}

/// Options for opening a store in a database.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Folder of this process for its cache. It is locked.
    pub data: PathBuf,
    /// This process, for others that want to own the database.
    pub holder: Holder,
    /// Games that may wait for the writer; with more, `append` answers `Busy`.
    pub queue_games: usize,
    /// Bytes of games that may wait for the writer.
    pub queue_bytes: usize,
}

/// The coordinator that owns a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its name: its process and machine.
    pub name: String,
    /// The address under which workers and clients reach it, if it has named one.
    pub address: Option<String>,
}

/// What a database's server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// Its version.
    pub version: String,
    /// Standbys, with their `sync_state`: `sync`, `quorum`, `potential` or `async`; `unknown` if
    /// the user may not read it.
    pub standbys: Vec<(String, String)>,
}
