//! The only module that calls sled: opens it with care, turns its errors and panics into errors,
//! and really syncs its file.

use std::{
    fs::{self, File},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

use crate::{
    StoreError,
    backend::{Entries, Tree},
    error::At,
    files::{self, existing, sync_parent},
};

/// sled stores items above a quarter of a segment in files of their own, which it never syncs; with
/// 2 MiB, a leaf full of packs stays below that.
pub(crate) const SEGMENT_BYTES: usize = 2 << 20;

/// sled considers eviction only after 64 accesses to one of 256 shards of its cache, whatever their
/// size. Reading a pack this often instead of once keeps the cache near its capacity; a repeated
/// read costs less than a microsecond.
const TOUCHES: usize = 8;

/// Maximum time for an earlier database of this process to release its file.
const RELEASE_WAIT: Duration = Duration::from_secs(10);

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

impl Database {
    /// Opens or creates the database in `folder`. `data` is the data folder named in errors.
    pub(crate) fn open(folder: &Path, data: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).at("make the folder", folder)?;
        remove_unfinished_snapshots(folder)?;
        await_release(folder, data)?;
        let config = sled::Config::new()
            .path(folder)
            .cache_capacity(cache_bytes)
            .segment_size(SEGMENT_BYTES)
            .flush_every_ms(None);
        let (db, packs, documents) = guarded(data, "open the database in", || {
            let db = config.open()?;
            let packs = db.open_tree("packs")?;
            let documents = db.open_tree("documents")?;
            db.flush()?;
            Ok((db, packs, documents))
        })?;
        let file_path = folder.join("db");
        let file = File::options()
            .write(true)
            .open(&file_path)
            .at("open", &file_path)?;
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
        self.file.sync_data().at("sync", &self.file_path)?;
        Ok([written, started.elapsed() - written])
    }

    /// Fails if sled's file was deleted or moved.
    pub(crate) fn check_in_place(&self) -> Result<(), StoreError> {
        files::check_in_place(&self.file, &self.file_path)
    }

    /// True if the disk has room for what is still to be written.
    pub(crate) fn is_synced(&self) -> bool {
        self.file.sync_all().is_ok()
    }

    /// Syncs values that sled put in files of their own, since sled does not.
    fn sync_blobs(&self) -> Result<(), StoreError> {
        let synced = self.blobs_synced.load(Ordering::Relaxed);
        let mut newest = synced;
        for path in files::entries(&self.blobs)? {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(position) = name.and_then(|name| name.parse().ok()) else {
                continue;
            };
            if position > synced {
                // It may have been replaced by a newer one since the listing.
                existing(File::open(&path).and_then(|blob| blob.sync_all()))
                    .at("sync", &self.blobs)?;
                newest = newest.max(position);
            }
        }
        if newest > synced {
            File::open(&self.blobs)
                .and_then(|folder| folder.sync_all())
                .at("sync", &self.blobs)?;
            self.blobs_synced.store(newest, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Entries for Database {
    type Bytes = sled::IVec;

    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<sled::IVec>, StoreError> {
        guarded(&self.data, "read", || {
            self.touch(tree, key)?;
            self.tree(tree).get(key)
        })
    }

    fn visit(
        &self,
        tree: Tree,
        from: &[u8],
        mut visit: impl FnMut(sled::IVec, sled::IVec) -> bool,
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

    fn size(&self) -> u64 {
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
    for path in files::entries(folder)? {
        if path.extension().is_some_and(|it| it == "generating") {
            fs::remove_file(&path).at("remove", &path)?;
        }
    }
    Ok(())
}

/// sled releases its file in a thread of its own, shortly after it was dropped, and gives up at
/// once if the file is still locked. No other process can take it in between: the data folder has a
/// lock of its own.
fn await_release(folder: &Path, data: &Path) -> Result<(), StoreError> {
    let path = folder.join("db");
    let opened = File::options().read(true).write(true).open(&path);
    let Some(file) = existing(opened).at("open", &path)? else {
        return Ok(());
    };
    if !files::lock(&file, &path, RELEASE_WAIT)? {
        return Err(StoreError::Locked {
            path: data.to_owned(),
            holder: None,
            waited: RELEASE_WAIT,
        });
    }
    // Unlocked explicitly: a process that is being forked just now has the file, too.
    file.unlock().at("unlock", &path)
}

/// Calls sled. It panics on some damage and on some errors of the disk; the process must survive to
/// inform the user.
fn guarded<T>(
    data: &Path,
    action: &str,
    call: impl FnOnce() -> sled::Result<T>,
) -> Result<T, StoreError> {
    let damage = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(sled::Error::Io(error))) => return Err(error).at(action, data),
        Ok(Err(sled::Error::Corruption { .. })) => "cannot read the database".to_owned(),
        Ok(Err(error)) => format!("cannot use the database: {error}"),
        Err(panic) => {
            let cause = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown cause");
            format!("the database failed: {cause}")
        }
    };
    Err(StoreError::corrupt(data, damage))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn released_database_is_awaited() {
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
