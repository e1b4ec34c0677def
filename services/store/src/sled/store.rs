//! The durable store.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    BackupReport, BinaryUpload, Change, Collection, Done, Position, Positions, Sha256Digest, Stats,
    Store, StoreError, StoredGame, UploadSpace, Watcher,
    binary::Binaries,
    core::Core,
    packing::index::visit_indices,
    repair::verify::beware,
    sled::{
        backend::SledBackend,
        backup::{SnapshotSource, write_snapshot},
        folder::{Folder, LabelState},
        options::Options,
    },
};

/// A store in a data folder. One process at a time; dropping it closes it.
pub struct SledStore {
    core: Core<SledBackend>,
    binaries: Binaries,
    // Dropped last: the folder is locked until the database is closed.
    folder: Folder,
}

impl SledStore {
    /// Opens the store in a data folder and checks all of it: the chain of results, the documents,
    /// and that nothing acknowledged is missing.
    ///
    /// # Errors
    /// `Locked`, `NewerVersion`, `Corrupt`, `NotFound` (unless `create`), or an error of the disk.
    pub fn open(data: impl AsRef<Path>, options: &Options) -> Result<Self, StoreError> {
        let folder = Folder::open(data.as_ref(), options.lock_wait, options.create)?;
        let binaries = Binaries::open(folder.binaries())?;
        let new = folder.label == LabelState::Missing;
        if !new {
            folder.check_label()?;
        }
        beware(&folder)?;
        let database = folder.database(folder.generation);
        let core = SledBackend::open(&database, &folder.path, options, new)?;
        if new && core.empty {
            folder.write_label(folder.generation)?;
        } else {
            folder.check_label()?;
        }
        let store = Self {
            core,
            binaries,
            folder,
        };
        if store.folder.outdated {
            // Before anything is written that an earlier release cannot read.
            store.folder.write_label(store.folder.generation)?;
            store.seal_again()?;
        }
        Ok(store)
    }

    /// Documents of earlier formats are rewritten with their keys.
    fn seal_again(&self) -> Result<(), StoreError> {
        Collection::ALL.iter().try_for_each(|&collection| {
            let change = |(key, value)| Change {
                collection,
                key,
                value: Some(value),
            };
            self.put_many(self.list(collection)?.into_iter().map(change).collect())
        })
    }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        // Callers that need the error call `close`.
        if self.core.close().is_err() || !self.core.shared.db.db.is_synced() {
            self.folder.refused();
        }
    }
}

impl Store for SledStore {
    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.core.put_many(changes)
    }

    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.core.get(collection, key)
    }

    fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.core.list_with(collection, prefix)
    }

    fn reserve_upload(&self, bytes: u64) -> Result<UploadSpace, StoreError> {
        // Commits fail below the reserve, so uploads keep some distance.
        let keep = self.core.shared.db.reserve_bytes.saturating_mul(2);
        self.binaries.reserve(bytes, keep)
    }

    fn check_room(&self, bytes: u64) -> Result<(), StoreError> {
        let reserve = self.core.shared.db.reserve_bytes;
        let least = reserve.saturating_add(reserve / 4);
        self.binaries.reserve(bytes, least).map(drop)
    }

    fn old_binaries(&self, age: Duration) -> Result<Vec<String>, StoreError> {
        self.binaries.old(age)
    }

    fn remove_binary(&self, sha256: &str) -> Result<(), StoreError> {
        self.binaries.remove(sha256)
    }

    fn begin_binary(&self, sha256: Sha256Digest) -> Result<BinaryUpload, StoreError> {
        self.binaries.begin(sha256)
    }

    fn binary_path(&self, sha256: &Sha256Digest) -> Option<PathBuf> {
        self.binaries.path(sha256)
    }

    fn append(&self, batch: Vec<StoredGame>, done: Done) -> Result<(), StoreError> {
        self.core.append(batch, done)
    }

    fn games(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        self.core.games_from(tournament, from, limit)
    }

    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError> {
        self.core.scan(tournament, 0, visit)
    }

    fn positions(&self) -> Option<Positions> {
        Some(self.core.shared.positions.clone())
    }

    fn scan_from(
        &self,
        tournament: &str,
        position: &Position,
        visit: &mut dyn FnMut(StoredGame),
    ) -> Result<bool, StoreError> {
        self.core.scan_from(tournament, position, visit)
    }

    fn indices(&self, tournament: &str, visit: &mut dyn FnMut(u64)) -> Result<(), StoreError> {
        visit_indices(|| self.core.index(), tournament, visit);
        Ok(())
    }

    fn count(&self, tournament: &str) -> u64 {
        self.core.index().count(tournament)
    }

    fn backup(&self, out: &mut dyn Write) -> Result<Option<BackupReport>, StoreError> {
        let snapshot = self.core.snapshot()?;
        let shared = &self.core.shared;
        let binaries = self.folder.binaries();
        let folder = &*self.folder.path;
        let from = SnapshotSource {
            place: folder,
            folder,
            binaries: &binaries,
        };
        write_snapshot(&shared.db, &from, &snapshot, out).map(Some)
    }

    fn stats(&self) -> Stats {
        self.core.stats()
    }

    fn watch(&self, watcher: Watcher) {
        self.core.watch(watcher);
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.core.put_many(Vec::new())
    }

    fn close(&self) -> Result<(), StoreError> {
        self.core.close()
    }
}
