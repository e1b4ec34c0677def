//! The interface of all stores.

use std::{
    io::Write,
    path::PathBuf,
    sync::{Arc, mpsc},
    time::Duration,
};

use parking_lot::Mutex;
use strum::{Display, VariantArray};

use crate::{BackupReport, BinaryUpload, Sha256Digest, StoreError, Tables, UploadSpace};

/// A kind of document. The numbers are stored: they never change, and a new kind gets the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, VariantArray)]
#[strum(serialize_all = "lowercase")]
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
    /// Data of the store as a whole.
    Meta = 5,
}

impl Collection {
    /// Every collection, in the order of their numbers.
    pub const ALL: &'static [Self] = Self::VARIANTS;
}

/// One change of a document, for [`Store::put_many`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The collection.
    pub collection: Collection,
    /// The key.
    pub key: String,
    /// Its new content; `None` removes it.
    pub value: Option<Vec<u8>>,
}

/// A stored game. The store does not interpret `record` and `side`.
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
    /// Data beside the record and outside its hash: timing, worker, details of faults.
    pub side: Vec<u8>,
}

/// The end of a store's chain of durable results, without a reference to the store itself.
#[derive(Debug, Clone)]
pub struct Positions(Arc<Mutex<Position>>);

impl Positions {
    pub(crate) fn new(position: Position) -> Self {
        Self(Arc::new(Mutex::new(position)))
    }

    /// The current end. In a [`Done`], this is right behind the acknowledged commit, and the same
    /// for all games of one commit.
    #[must_use]
    pub fn now(&self) -> Position {
        *self.0.lock()
    }

    pub(crate) fn set(&self, position: Position) {
        *self.0.lock() = position;
    }
}

/// A place in the chain of a store's results, between two commits. Sums up to this place are valid
/// as long as the chain has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Number of packs before it.
    pub packs: u64,
    /// Checksum of the chain up to it.
    pub link: Sha256Digest,
}

/// Called once, when the appended games are durable or have failed. It runs on the writer's
/// thread, so it must be short and must not call the store's blocking methods.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Durations of one commit, which everyone who waits for it has waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Commit {
    /// New games in it.
    pub games: usize,
    /// Its first games waited this long for the previous commit,
    pub waited: Duration,
    /// and this long for others to join them.
    pub gathered: Duration,
    /// Deduplicating, packing and compressing.
    pub packed: Duration,
    /// Applying to the database.
    pub applied: Duration,
    /// Writing the database's file.
    pub written: Duration,
    /// `fdatasync` of that file.
    pub synced: Duration,
    /// Writing the commit marker.
    pub commit_marker: Duration,
}

impl Commit {
    /// Duration of making it durable, after packing.
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

/// Called after every commit, on the writer's thread: it must be short.
pub type Watcher = Box<dyn Fn(&Commit) + Send + Sync>;

/// Called once if a store can write no more although no write has failed.
pub type OnLoss = Box<dyn FnOnce(StoreError) + Send + Sync>;

/// Figures of a store, for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Durable games.
    pub games: u64,
    /// Bytes of the store on disk, binaries excluded.
    pub bytes_on_disk: u64,
    /// Writes to disk since opening.
    pub syncs: u64,
    /// Games that wait for the writer.
    pub queued: usize,
}

/// Durable storage. All calls may block except [`Store::append`]; if [`Store::blocks`], use it from
/// a blocking thread.
///
/// After an error of the disk ([`StoreError::Full`], [`StoreError::Io`]), a store accepts no more
/// writes and answers each with that error; acknowledged data is kept.
pub trait Store: Send + Sync {
    /// True if calls may block. Otherwise they need no thread of their own.
    fn blocks(&self) -> bool {
        true
    }

    /// Applies all changes or none; durable before the return.
    ///
    /// # Errors
    /// `TooLarge` for a key over 1 KiB or a value over 4 MiB, or an error of the disk.
    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError>;

    /// Reads a document.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged, or an error of the disk.
    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// All documents of a collection in the order of their keys' bytes.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn list(&self, collection: Collection) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.list_with(collection, "")
    }

    /// The documents of a collection whose keys have a prefix. Others are not read.
    ///
    /// # Errors
    /// As [`Store::get`].
    fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError>;

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

    /// Claims space for an upload of this many bytes. An upload must not use the space that the
    /// store needs itself.
    ///
    /// # Errors
    /// `NoRoom`, or an error of the disk.
    fn reserve_upload(&self, bytes: u64) -> Result<UploadSpace, StoreError> {
        let _ = bytes;
        Ok(UploadSpace::default())
    }

    /// Checks that there is room for a change of this many bytes that a user asks for. The last space is for the
    /// results of games.
    ///
    /// # Errors
    /// As [`Store::reserve_upload`].
    fn check_room(&self, bytes: u64) -> Result<(), StoreError> {
        let _ = bytes;
        Ok(())
    }

    /// Names of binaries that were uploaded longer ago than `age`.
    ///
    /// # Errors
    /// An error of the disk.
    fn old_binaries(&self, age: Duration) -> Result<Vec<String>, StoreError> {
        let _ = age;
        Ok(Vec::new())
    }

    /// Removes a binary, if the store has it.
    ///
    /// # Errors
    /// An error of the disk.
    fn remove_binary(&self, sha256: &str) -> Result<(), StoreError> {
        let _ = sha256;
        Ok(())
    }

    /// Starts an upload of a binary that is announced to have this SHA-256.
    ///
    /// # Errors
    /// An error of the disk.
    fn begin_binary(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError>;

    /// Path of a complete binary, if the store has it. The first call may have to fetch it.
    fn binary_path(&self, sha256: &Sha256Digest) -> Option<PathBuf>;

    /// Size of a complete binary in bytes, if the store has it.
    fn binary_size(&self, sha256: &Sha256Digest) -> Option<u64> {
        let path = self.binary_path(sha256)?;
        Some(std::fs::metadata(path).ok()?.len())
    }

    /// Passes games to the writer. `Ok` means accepted: `done` is called once, after they are
    /// durable. After an error, nothing was accepted and `done` is not called. Of two games with
    /// the same tournament and index, the first is kept and the other ignored.
    ///
    /// # Errors
    /// `Busy` if the queue is full, `TooLarge` for a game over 1 MiB, `Closed`, or the error of the
    /// disk that stopped the store.
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
    /// `Corrupt` if it is damaged, or an error of the disk.
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

    /// Passes on every durable game of a tournament once, in the order of arrival.
    ///
    /// # Errors
    /// As [`Store::game`].
    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError>;

    /// The end of the chain of durable results; `None` for a store without places.
    fn positions(&self) -> Option<Positions> {
        None
    }

    /// As [`Store::scan`], from a place of the chain on. Returns false, without visiting anything,
    /// if the chain has no such place.
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

    /// Number of durable games of a tournament.
    fn count(&self, tournament: &str) -> u64;

    /// Writes everything that is durable at one moment to `out`, in the format of
    /// [`restore`](crate::restore), while work continues. `None` for a store that keeps nothing.
    ///
    /// # Errors
    /// As [`Store::game`], or an error of `out`.
    fn backup(&self, out: &mut dyn Write) -> Result<Option<BackupReport>, StoreError> {
        let _ = out;
        Ok(None)
    }

    /// Tables that people query; `None` for a store without SQL.
    fn tables(&self) -> Option<&dyn Tables> {
        None
    }

    /// Figures for metrics; cheap.
    fn stats(&self) -> Stats;

    /// Sets the function that is called after every commit; a store without commits never calls it.
    /// Only the first one counts.
    fn watch(&self, watcher: Watcher) {
        drop(watcher);
    }

    /// Sets the function that is called if another process takes the store over. A store that no
    /// other process can take never calls it. Only the first one counts.
    fn on_loss(&self, call: OnLoss) {
        drop(call);
    }

    /// Fails while nothing can be written, although the store may recover. Cheap, for supervisors.
    ///
    /// # Errors
    /// Why nothing can be written.
    fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Waits until everything that was passed before is durable.
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
