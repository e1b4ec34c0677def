//! What every store promises.

use std::{
    fmt,
    io::Write,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use crate::{BackupReport, BinaryUpload, Sha256Digest, StoreError};

/// A kind of document. The numbers are stored: they never change, and a new
/// kind takes the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Collection {
    /// Registered agents, by name.
    Agents = 1,
    /// Tournaments and their state, by id.
    Tournaments = 2,
    /// Answers to requests with an id, so that a retry gets the same.
    Requests = 3,
    /// Reports whose hash differs from the durable game's.
    Differences = 4,
    /// Whatever belongs to the store as a whole.
    Meta = 5,
}

impl Collection {
    /// Every collection, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::Agents,
        Self::Tournaments,
        Self::Requests,
        Self::Differences,
        Self::Meta,
    ];
}

impl fmt::Display for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agents => "agents",
            Self::Tournaments => "tournaments",
            Self::Requests => "requests",
            Self::Differences => "differences",
            Self::Meta => "meta",
        })
    }
}

/// One change of a document, for [`Store::put_many`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which collection.
    pub collection: Collection,
    /// Which document.
    pub key: String,
    /// Its new content; `None` removes it.
    pub value: Option<Vec<u8>>,
}

/// A finished game as it is kept. `record` and `side` are opaque here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGame {
    /// The tournament's id, shared between its games.
    pub tournament: Arc<str>,
    /// The game's index in the tournament.
    pub index: u64,
    /// SHA-256 of the record.
    pub hash: Sha256Digest,
    /// The packed record.
    pub record: Vec<u8>,
    /// What stands beside the record and outside its hash: timing, worker,
    /// details of faults.
    pub side: Vec<u8>,
}

/// Tells where a store's chain of durable results ends, without holding the
/// store itself.
#[derive(Debug, Clone)]
pub struct Positions(Arc<Mutex<Position>>);

impl Positions {
    pub(crate) fn new(position: Position) -> Self {
        Self(Arc::new(Mutex::new(position)))
    }

    /// Where it ends now. In a [`Done`] this is right behind the commit that is
    /// acknowledged, and the same for all that were committed together.
    #[must_use]
    pub fn now(&self) -> Position {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, position: Position) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = position;
    }
}

/// A place in the chain of a store's results, between two commits. What was
/// added up until there holds for as long as the chain has this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Packs before it.
    pub packs: u64,
    /// Checksum of the chain up to it.
    pub link: Sha256Digest,
}

/// Called once, when what was appended is durable or will never be. Runs on
/// the writer's thread, so it must be short and must not call the store's
/// blocking methods.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// What one commit took. Those who wait for it have waited for all of this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Commit {
    /// Games in it that were new.
    pub games: usize,
    /// Its first games waited so long for the commit before.
    pub waited: Duration,
    /// And so long for others to come with them.
    pub gathered: Duration,
    /// Reported apart, packed and compressed.
    pub packed: Duration,
    /// Handed to the database.
    pub applied: Duration,
    /// Written to the database's file.
    pub written: Duration,
    /// `fdatasync` of that file.
    pub synced: Duration,
    /// The commit marker of what is acknowledged.
    pub commit_marker: Duration,
}

impl Commit {
    /// How long it took to make it durable, once it was packed.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.applied + self.written + self.synced + self.commit_marker
    }

    /// All parts by name, in the order in which they happen.
    #[must_use]
    pub fn phases(&self) -> [(&'static str, Duration); 7] {
        [
            ("wait", self.waited),
            ("gather", self.gathered),
            ("pack", self.packed),
            ("apply", self.applied),
            ("write", self.written),
            ("sync", self.synced),
            ("receipt", self.commit_marker),
        ]
    }
}

/// Is reported of every commit, on the writer's thread: it must be short.
pub type Watcher = Box<dyn Fn(&Commit) + Send + Sync>;

/// A store's figures, for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Durable games.
    pub games: u64,
    /// Bytes of the store on disk, binaries excluded.
    pub bytes_on_disk: u64,
    /// Duration of the last write to disk, flush and fdatasync, in seconds.
    pub last_sync_seconds: f64,
    /// Writes to disk since opening.
    pub syncs: u64,
    /// Games that wait for the writer.
    pub queued: usize,
}

/// Durable storage. All calls may block except [`Store::append`], which only
/// hands over; use it from a blocking thread where [`Store::blocks`] says so.
///
/// After an error of the disk ([`StoreError::Full`], [`StoreError::Io`]) a
/// store takes no more writes and answers every one with that error; what it
/// acknowledged before stands.
pub trait Store: Send + Sync {
    /// Whether calls may wait for something. Where they never do, they need no
    /// thread of their own.
    fn blocks(&self) -> bool {
        true
    }

    /// Applies all changes or none, durable before the return.
    ///
    /// # Errors
    /// `TooLarge` for a key over 1 KiB or a value over 1 MiB, or an error of the disk.
    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError>;

    /// Reads a document.
    ///
    /// # Errors
    /// `Corrupt` where it is not as it was written, or an error of the disk.
    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// All documents of a collection in the order of their keys' bytes.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn list(&self, collection: Collection) -> Result<Vec<(String, Vec<u8>)>, StoreError>;

    /// Writes a document, durable before the return.
    ///
    /// # Errors
    /// As [`Store::put_many`].
    fn put(&self, collection: Collection, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.put_many(vec![Change {
            collection,
            key: key.to_owned(),
            value: Some(value.to_vec()),
        }])
    }

    /// Removes a document, durable before the return; absent is fine.
    ///
    /// # Errors
    /// As [`Store::put_many`].
    fn remove(&self, collection: Collection, key: &str) -> Result<(), StoreError> {
        self.put_many(vec![Change {
            collection,
            key: key.to_owned(),
            value: None,
        }])
    }

    /// Starts to take in a binary that is announced to have this SHA-256.
    ///
    /// # Errors
    /// An error of the disk.
    fn begin_binary(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError>;

    /// Where a complete binary lies, if it is here.
    fn binary_path(&self, sha256: &Sha256Digest) -> Option<PathBuf>;

    /// Hands games to the writer. `Ok` means taken: `done` will be called, once,
    /// after they are durable. An error means nothing was taken and `done` will
    /// not be called. Of two games with the same tournament and index the first
    /// stands and the other is passed over.
    ///
    /// # Errors
    /// `Busy` when the queue is full, `TooLarge` for a game over 1 MiB,
    /// `Closed`, or the error of the disk that stopped the store.
    fn append(&self, batch: Vec<StoredGame>, done: Done) -> Result<(), StoreError>;

    /// Appends and waits until it is durable. For tools and tests.
    ///
    /// # Errors
    /// As [`Store::append`].
    fn append_and_wait(&self, batch: Vec<StoredGame>) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.append(
            batch,
            Box::new(move |result| {
                // The receiver waits below; it cannot be gone.
                let _ = sender.send(result);
            }),
        )?;
        receiver.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// One durable game.
    ///
    /// # Errors
    /// `Corrupt` where it is not as it was written, or an error of the disk.
    fn game(&self, tournament: &str, index: u64) -> Result<Option<StoredGame>, StoreError> {
        let found = self.games(tournament, index, 1)?;
        Ok(found.into_iter().next().filter(|game| game.index == index))
    }

    /// The first `limit` durable games from index `from` on, in index order.
    ///
    /// # Errors
    /// As [`Store::game`].
    fn games(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError>;

    /// Every durable game of a tournament once, in the order of arrival.
    ///
    /// # Errors
    /// As [`Store::game`].
    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError>;

    /// Where the chain of durable results ends; `None` for a store that knows
    /// no places.
    fn positions(&self) -> Option<Positions> {
        None
    }

    /// As [`Store::scan`], from a place of the chain on. False, and nothing is
    /// visited, where the chain of this store has no such place.
    ///
    /// # Errors
    /// As [`Store::game`].
    fn scan_from(
        &self,
        tournament: &str,
        position: &Position,
        visit: &mut dyn FnMut(StoredGame),
    ) -> Result<bool, StoreError> {
        let _ = (tournament, position, visit);
        Ok(false)
    }

    /// The indices of a tournament's durable games, ascending.
    ///
    /// # Errors
    /// As [`Store::game`].
    fn indices(&self, tournament: &str, visit: &mut dyn FnMut(u64)) -> Result<(), StoreError> {
        let mut found = Vec::new();
        self.scan(tournament, &mut |game| found.push(game.index))?;
        found.sort_unstable();
        found.into_iter().for_each(visit);
        Ok(())
    }

    /// How many games of a tournament are durable.
    fn count(&self, tournament: &str) -> u64;

    /// Writes everything to `out`, as [`restore`](crate::restore) reads it, while
    /// work goes on: what is durable at one moment between two commits. `None` for a
    /// store that keeps nothing.
    ///
    /// # Errors
    /// As [`Store::game`], or an error of `out`.
    fn backup(&self, out: &mut dyn Write) -> Result<Option<BackupReport>, StoreError> {
        let _ = out;
        Ok(None)
    }

    /// Figures for metrics; cheap.
    fn stats(&self) -> Stats;

    /// Tells of every commit from now on; of a store that knows none, of none.
    /// There is one watcher: later ones are not heard.
    fn watch(&self, watcher: Watcher) {
        drop(watcher);
    }

    /// Waits until all that was handed over before is durable.
    ///
    /// # Errors
    /// The error of the disk that stopped the store, or `Closed`.
    fn flush(&self) -> Result<(), StoreError>;

    /// Flushes and stops the writer; later writes get `Closed`.
    ///
    /// # Errors
    /// As [`Store::flush`].
    fn close(&self) -> Result<(), StoreError>;
}
