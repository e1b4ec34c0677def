//! Arena's store: durable documents, durable results of games, and agents' binaries. All durability
//! is here, and no other crate names the database.
//!
//! ```
//! use std::sync::Arc;
//! use arena_store::{Collection, MemoryStore, Store, StoredGame};
//!
//! let store: Arc<dyn Store> = Arc::new(MemoryStore::new()?);
//! store.put(Collection::Agents, "random", b"{}")?;
//! store.append_and_wait(vec![StoredGame {
//!     tournament: "cup-0123456789".into(),
//!     index: 7,
//!     hash: [0; 32],
//!     record: vec![1, 2, 3],
//!     side: Vec::new(),
//! }])?;
//! assert_eq!(store.count("cup-0123456789"), 1);
//! # Ok::<(), arena_store::StoreError>(())
//! ```

mod backend;
mod binary;
mod compact;
mod copy;
mod core;
mod documents;
mod error;
mod files;
mod limits;
mod location;
mod mark;
mod memory;
mod ownership;
mod packing;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
mod postgres;
mod repair;
#[cfg(any(test, feature = "fault-injection"))]
#[doc(hidden)]
#[path = "tests/server.rs"]
pub mod server;
mod sled;
mod store;
#[cfg(test)]
#[path = "../tests/suite/mod.rs"]
mod suite;
mod tables;
#[cfg(feature = "fault-injection")]
#[doc(hidden)]
#[path = "tests/faults.rs"]
pub mod testing;
mod writer;

pub use self::sled::{
    backup::{backup, keep_backup, restore},
    folder::has_store,
    options::Options,
    store::SledStore,
};
pub use binary::{BinaryUpload, UploadSpace};
pub use compact::{CompactReport, Selection, compact};
pub use copy::copy;
pub use error::StoreError;
pub use files::{EVENTS_FILE, create_private, events_files, first_event, full_events_file};
pub use location::{Holder, Location, PostgresOptions, ServerReport};
pub use mark::{DATABASE_FILE, database_of};
pub use memory::{Documents, MemoryStore};
pub use ownership::Ownership;
pub use postgres::{Standby, describe_postgres, verify_postgres};
pub use repair::{
    rebuild::repair,
    report::{BackupReport, RepairReport, VerifyReport},
    verify::{Examine, verify, verify_with},
};
pub use store::{
    Change, Collection, Commit, Done, OnLoss, Position, Positions, Stats, Store, StoredGame,
    Watcher,
};
pub use tables::{Replaced, Table, TableChange, TableState, Tables};

/// A SHA-256, raw.
pub type Sha256Digest = [u8; 32];

/// Free bytes on the disk below which a store does not write, so that the database never meets a
/// full disk in the middle of an operation.
pub const RESERVE_BYTES: u64 = 32 << 20;

/// Longest key of a document, bytes.
pub const KEY_BYTES_MAX: usize = 1 << 10;

/// Largest game (record and side), bytes. A document that can grow begins with at most so many.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// Longest value of a document, bytes.
pub const DOCUMENT_BYTES_MAX: usize = 4 << 20;
