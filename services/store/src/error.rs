use std::{io, path::Path, path::PathBuf, time::Duration};

use thiserror::Error;

use crate::{Location, RESERVE_BYTES};

/// Errors of a store. The list is closed on purpose: callers map each to an exit code or a gRPC
/// status once.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The queue of the writer is full. Nothing was accepted: try again later.
    #[error("the store's queue is full ({queued} games are waiting): try again in a moment")]
    Busy {
        /// Waiting games.
        queued: usize,
    },
    /// The disk is full. The store accepts nothing more until it is opened again; acknowledged data
    /// is kept.
    #[error(
        "no space left for the store in {path}: make room ({needed} bytes are needed) and start \
         again; all acknowledged games are kept"
    )]
    Full {
        /// The data folder or the file being written.
        path: PathBuf,
        /// Free bytes that the store requires before it writes.
        needed: u64,
    },
    /// An upload or a change would leave too little free space. Nothing was stored.
    #[error(
        "{bytes} bytes more do not fit: {path} has {free} free bytes, and {needed} are \
         needed with uploads and the space that the store keeps free; make room"
    )]
    NoRoom {
        /// The folder of binaries.
        path: PathBuf,
        /// Size of the change, or announced size of the upload.
        bytes: u64,
        /// Free bytes that are needed.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// The operating system or sled could not read or write.
    #[error("could not {action} {path}: {cause}")]
    Io {
        /// The operation, as a verb: `write`, `open`.
        action: String,
        /// Its object.
        path: PathBuf,
        /// The error of the system.
        cause: String,
    },
    /// Acknowledged data is missing or damaged.
    #[error("the store in {path} is damaged: {damage}; {remedy}")]
    Corrupt {
        /// The data folder.
        path: PathBuf,
        /// What exactly is damaged.
        damage: String,
        /// The command that repairs it.
        remedy: String,
    },
    /// Another process has the data folder open.
    #[error(
        "the data folder {path} is in use by {}: stop it, or choose another folder with --data",
        .holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    Locked {
        /// The data folder.
        path: PathBuf,
        /// The holder's process id, if it could be read.
        holder: Option<u32>,
        /// Time waited for it.
        waited: Duration,
    },
    /// A later release wrote the folder or backup.
    #[error(
        "{path} has format {found}, but this release knows formats up to {known}: use the release \
         that wrote it, or a newer one"
    )]
    NewerVersion {
        /// The data folder or backup.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The latest format this release reads.
        known: u32,
    },
    /// A value is too large.
    #[error("{what} has {bytes} bytes, but the limit is {limit}")]
    TooLarge {
        /// The value.
        what: String,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A binary's content does not match its name.
    #[error("the binary has SHA-256 {found}, but {expected} was announced: upload it again")]
    WrongDigest {
        /// Announced digest, hexadecimal.
        expected: String,
        /// Computed digest, hexadecimal.
        found: String,
    },
    /// A target that must be empty or absent is not.
    #[error("{path} exists and is not empty: {}", make_empty(.path))]
    NotEmpty {
        /// The target.
        path: PathBuf,
    },
    /// The data folder contains no store, because its results are in a database.
    #[error(
        "{path} contains no store, because its results are in the database {database}: name that \
         database with --store (arena coordinator, arena store verify), or its coordinator with \
         --coordinator"
    )]
    InDatabase {
        /// The data folder.
        path: PathBuf,
        /// The URL of the database, without secrets.
        database: String,
    },
    /// The path is no store, or no backup.
    #[error("{path} is not {expected}")]
    NotFound {
        /// The path given.
        path: PathBuf,
        /// What was expected there.
        expected: String,
    },
    /// The database does not fit, or the way to it.
    #[error("the store in {place} cannot be used: {problem}; {remedy}")]
    Unsuitable {
        /// The URL of the database, without secrets.
        place: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// Another coordinator owns the store now. Nothing more can be written.
    #[error(
        "another coordinator has taken over {place}, because this one did not renew its lease in \
         time: start it again, and it stands by"
    )]
    TakenOver {
        /// The URL of the database, without secrets.
        place: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Damage of the store in the data folder `data`.
    pub(crate) fn corrupt(data: &Path, damage: impl Into<String>) -> Self {
        Self::Corrupt {
            path: data.to_owned(),
            damage: damage.into(),
            remedy: remedy(data),
        }
    }
}

/// What to do with a damaged store.
pub(crate) fn remedy(data: &Path) -> String {
    let data = data.display();
    format!(
        "`arena store verify --data {data}` lists the damage, `arena store verify --repair --data \
         {data}` keeps everything readable (lost games are replayed), and `arena store restore \
         BACKUP --data NEW-FOLDER` restores a backup"
    )
}

/// What to do with a target that is not empty.
fn make_empty(path: &Path) -> &'static str {
    match path.to_str().map(Location::from) {
        Some(Location::Database(_)) => {
            "name another database, or drop this one and create it again"
        }
        _ => "choose another place, or move it away",
    }
}

/// Adds the place to an I/O error.
pub(crate) trait At<T> {
    /// The error of `action`, a verb such as `open`, at `path`; a full disk becomes
    /// [`StoreError::Full`].
    fn at(self, action: &str, path: &Path) -> Result<T, StoreError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &str, path: &Path) -> Result<T, StoreError> {
        self.map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full {
                path: path.to_owned(),
                needed: RESERVE_BYTES,
            },
            _ => StoreError::Io {
                action: action.to_owned(),
                path: path.to_owned(),
                cause: error.to_string(),
            },
        })
    }
}
