//! The only module that calls sled: opens it with care, turns its errors and panics into errors,
//! and really syncs its file.

use std::{
    fs::{self, File, TryLockError},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

use crate::{StoreError, binary::sync_parent, remedy};

/// sled stores items above a quarter of a segment in files of their own, which it never syncs; with
/// 2 MiB, a leaf full of packs stays below that.
pub(crate) const SEGMENT_BYTES: usize = 2 << 20;

/// sled considers eviction only after 64 accesses to one of 256 shards of its cache, whatever their
/// size. Reading a pack this often instead of once keeps the cache near its capacity; a repeated
/// read costs less than a microsecond.
const TOUCHES: usize = 8;

/// Maximum time for an earlier database of this process to release its file.
const RELEASE_WAIT: Duration = Duration::from_secs(10);
const RELEASE_RETRY: Duration = Duration::from_millis(5);

/// A key or value of the database.
pub(crate) type Bytes = sled::IVec;

/// The two trees of a database, and the handle that makes it durable.
pub(crate) struct Database {
    db: sled::Db,
    packs: sled::Tree,
    documents: sled::Tree,
    /// sled's own file, opened once more: `flush` alone leaves data in the drive's cache and the
    /// file's length in the journal.
    file: File,
    file_path: PathBuf,
    blobs: PathBuf,
    /// Name (a log position) of the newest synced blob.
    blobs_synced: AtomicI64,
    data: PathBuf,
}

/// The tree.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree {
    Packs,
    Documents,
}

impl Database {
    /// Opens or creates the database in `folder`. `data` is the data folder named in errors.
    pub(crate) fn open(folder: &Path, data: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|e| StoreError::io("make the folder", folder, &e))?;
        remove_unfinished_snapshots(folder)?;
        await_release(folder, data)?;
        let config = sled::Config::new()
            .path(folder)
            .cache_capacity(cache_bytes)
            .segment_size(SEGMENT_BYTES)
            .flush_every_ms(None);
        let opened = guarded(data, "open the database in", || {
            let db = config.open()?;
            let packs = db.open_tree("packs")?;
            let documents = db.open_tree("documents")?;
            db.flush()?;
            Ok((db, packs, documents))
        });
        let (db, packs, documents) = opened?;
        let file_path = folder.join("db");
        let file = File::options()
            .write(true)
            .open(&file_path)
            .map_err(|e| StoreError::io("open", &file_path, &e))?;
        let database = Self {
            db,
            packs,
            documents,
            file,
            file_path,
            blobs: folder.join("blobs"),
            blobs_synced: AtomicI64::new(-1),
            data: data.to_owned(),
        };
        database.sync()?;
        for path in [&database.file_path, folder] {
            sync_parent(path)?;
        }
        Ok(database)
    }

    fn tree(&self, tree: Tree) -> &sled::Tree {
        match tree {
            Tree::Packs => &self.packs,
            Tree::Documents => &self.documents,
        }
    }

    pub(crate) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        guarded(&self.data, "read", || {
            self.touch(tree, key)?;
            self.tree(tree).get(key)
        })
    }

    /// Visits entries from `from` on, in the order of keys, until one cannot be read or `visit`
    /// returns false.
    pub(crate) fn visit(
        &self,
        tree: Tree,
        from: &[u8],
        mut visit: impl FnMut(Bytes, Bytes) -> bool,
    ) -> Result<(), StoreError> {
        guarded(&self.data, "read", || {
            for entry in self.tree(tree).range(from..) {
                let (key, value) = entry?;
                self.touch(tree, &key)?;
                if !visit(key, value) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn touch(&self, tree: Tree, key: &[u8]) -> sled::Result<()> {
        match tree {
            Tree::Packs => (0..TOUCHES).try_for_each(|_| self.packs.contains_key(key).map(drop)),
            Tree::Documents => Ok(()),
        }
    }

    /// Applies a batch to one tree atomically. It is durable after [`Database::sync`].
    pub(crate) fn apply(
        &self,
        tree: Tree,
        batch: impl IntoIterator<Item = (Vec<u8>, Option<Vec<u8>>)>,
    ) -> Result<(), StoreError> {
        let mut applied = sled::Batch::default();
        for (key, value) in batch {
            match value {
                Some(value) => applied.insert(key, value),
                None => applied.remove(key),
            }
        }
        guarded(&self.data, "write", || self.tree(tree).apply_batch(applied))
    }

    /// Makes everything applied before survive a power cut. Returns the durations of writing and of
    /// syncing.
    pub(crate) fn sync(&self) -> Result<[Duration; 2], StoreError> {
        let started = Instant::now();
        guarded(&self.data, "write", || self.db.flush())?;
        let written = started.elapsed();
        self.sync_blobs()?;
        self.file
            .sync_data()
            .map_err(|e| StoreError::io("sync", &self.file_path, &e))?;
        Ok([written, started.elapsed() - written])
    }

    /// True if the disk has room for what is still to be written.
    pub(crate) fn is_synced(&self) -> bool {
        self.file.sync_all().is_ok()
    }

    /// Syncs values that sled put in files of their own, since sled does not.
    fn sync_blobs(&self) -> Result<(), StoreError> {
        let error = |e: std::io::Error| StoreError::io("sync", &self.blobs, &e);
        let synced = self.blobs_synced.load(Ordering::Relaxed);
        let mut newest = synced;
        for entry in fs::read_dir(&self.blobs).map_err(error)? {
            let entry = entry.map_err(error)?;
            let Some(position) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            if position > synced {
                match File::open(entry.path()) {
                    Ok(blob) => blob.sync_all().map_err(error)?,
                    // Replaced by a newer one since the listing.
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                    Err(e) => return Err(error(e)),
                }
                newest = newest.max(position);
            }
        }
        if newest > synced {
            File::open(&self.blobs)
                .and_then(|folder| folder.sync_all())
                .map_err(error)?;
            self.blobs_synced.store(newest, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Bytes on disk; zero if unknown.
    pub(crate) fn size(&self) -> u64 {
        guarded(&self.data, "read", || self.db.size_on_disk()).unwrap_or(0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // sled syncs its file when its last handle is dropped, and panics if the disk fails. In
        // that case the handle is leaked until the process ends.
        if self.file.sync_all().is_err() {
            std::mem::forget(self.db.clone());
        }
    }
}

/// sled writes a snapshot under this name before it renames it. If it is killed in between, it
/// never opens again while the file is there.
fn remove_unfinished_snapshots(folder: &Path) -> Result<(), StoreError> {
    let error = |e: std::io::Error| StoreError::io("list", folder, &e);
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "generating")
        {
            fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, &e))?;
        }
    }
    Ok(())
}

/// sled releases its file in a thread of its own, shortly after it was dropped, and gives up at
/// once if the file is still locked. No other process can take it in between: the data folder has a
/// lock of its own.
fn await_release(folder: &Path, data: &Path) -> Result<(), StoreError> {
    let path = folder.join("db");
    let file = match File::options().read(true).write(true).open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("open", &path, &e)),
    };
    let started = Instant::now();
    loop {
        match file.try_lock() {
            // Unlocked explicitly: a process that is being forked just now has the file, too.
            Ok(()) => {
                return file
                    .unlock()
                    .map_err(|e| StoreError::io("unlock", &path, &e));
            }
            Err(TryLockError::WouldBlock) if started.elapsed() < RELEASE_WAIT => {
                std::thread::sleep(RELEASE_RETRY);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    path: data.to_owned(),
                    holder: None,
                    waited: RELEASE_WAIT,
                });
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", &path, &e)),
        }
    }
}

/// Calls sled. It panics on some damage and on some errors of the disk; the process must survive to
/// inform the user.
fn guarded<T>(
    data: &Path,
    action: &str,
    call: impl FnOnce() -> sled::Result<T>,
) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(sled::Error::Io(error))) => Err(StoreError::io(action, data, &error)),
        Ok(Err(sled::Error::Corruption { .. })) => {
            Err(corrupt(data, "the database cannot be read".to_owned()))
        }
        Ok(Err(error)) => Err(corrupt(
            data,
            format!("the database cannot be used: {error}"),
        )),
        Err(panic) => {
            let cause = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown cause");
            Err(corrupt(data, format!("the database broke off: {cause}")))
        }
    }
}

/// Damage of the store in the data folder `data`.
pub(crate) fn corrupt(data: &Path, damage: String) -> StoreError {
    StoreError::Corrupt {
        path: data.to_owned(),
        damage,
        remedy: remedy(data),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_database_that_is_let_go_a_moment_later_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        drop(Database::open(folder.path(), folder.path(), 1 << 20).unwrap());
        let held = File::open(folder.path().join("db")).unwrap();
        held.lock().unwrap();
        let holder = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            drop(held);
        });
        Database::open(folder.path(), folder.path(), 1 << 20).unwrap();
        holder.join().unwrap();
    }
}
