//! Options of a store in a folder.

use std::time::Duration;

use crate::RESERVE_BYTES;

/// Options for opening a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Maximum time to wait for another process to release the folder.
    pub lock_wait: Duration,
    /// True to create a new store if there is none.
    pub create: bool,
    /// Bytes of the database's cache.
    pub cache_bytes: u64,
    /// Games that may wait for the writer; with more, `append` answers `Busy`.
    pub queue_games: usize,
    /// Bytes of games that may wait for the writer.
    pub queue_bytes: usize,
    /// Free bytes on the disk below which nothing is written.
    pub reserve_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lock_wait: Duration::from_secs(5),
            create: true,
            cache_bytes: 64 << 20,
            queue_games: 16_384,
            queue_bytes: 32 << 20,
            reserve_bytes: RESERVE_BYTES,
        }
    }
}
