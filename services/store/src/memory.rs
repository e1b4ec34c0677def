//! A store in memory, for tests and for runs without results on disk.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;

use crate::{
    BinaryUpload, Change, Collection, Done, Sha256Digest, Stats, Store, StoreError, StoredGame,
    binary::Binaries,
    error::At,
    limits,
    packing::{
        index::{Index, visit_indices},
        pack,
    },
};

/// Documents in memory, for stores that keep nothing on a disk.
#[derive(Debug, Clone, Default)]
pub struct Documents(BTreeMap<(Collection, String), Vec<u8>>);

impl Documents {
    /// Applies changes in their order.
    pub fn apply(&mut self, changes: Vec<Change>) {
        for Change {
            collection,
            key,
            value,
        } in changes
        {
            match value {
                Some(value) => self.0.insert((collection, key), value),
                None => self.0.remove(&(collection, key)),
            };
        }
    }

    /// As [`Store::get`].
    #[must_use]
    pub fn get(&self, collection: Collection, key: &str) -> Option<Vec<u8>> {
        self.0.get(&(collection, key.to_owned())).cloned()
    }

    /// As [`Store::list`].
    #[must_use]
    pub fn list_with(&self, collection: Collection, prefix: &str) -> Vec<(String, Vec<u8>)> {
        let all = self.0.range((collection, prefix.to_owned())..);
        let ours = all.take_while(|((of, key), _)| *of == collection && key.starts_with(prefix));
        ours.map(|((_, key), value)| (key.clone(), value.clone()))
            .collect()
    }
}

/// Keeps the promises of [`Store`] while the process lives. Binaries are in a temporary folder.
#[derive(Debug)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
    binaries: Binaries,
    _folder: TempDir,
}

#[derive(Debug, Default)]
struct Inner {
    documents: Documents,
    games: Vec<StoredGame>,
    index: Index,
    closed: bool,
}

impl MemoryStore {
    /// An empty store.
    ///
    /// # Errors
    /// `Io` or `Full` when the folder for binaries cannot be made.
    pub fn new() -> Result<Self, StoreError> {
        let folder = tempfile::tempdir().at("make a folder in", &std::env::temp_dir())?;
        let binaries = Binaries::open(folder.path().join("binaries"))?;
        Ok(Self {
            inner: Mutex::default(),
            binaries,
            _folder: folder,
        })
    }

    fn writable(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        let inner = self.inner.lock();
        match inner.closed {
            true => Err(StoreError::Closed),
            false => Ok(inner),
        }
    }
}

impl Store for MemoryStore {
    fn put_many(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        limits::changes(&changes)?;
        self.writable()?.documents.apply(changes);
        Ok(())
    }

    fn get(&self, collection: Collection, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.inner.lock().documents.get(collection, key))
    }

    fn list_with(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(self.inner.lock().documents.list_with(collection, prefix))
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
        limits::games(&batch)?;
        let mut inner = self.writable()?;
        for game in batch {
            let place = pack::place(inner.games.len() as u64);
            let place = place.ok_or(StoreError::Busy { queued: 0 })?;
            if inner.index.insert(&game.tournament, game.index, place) {
                inner.games.push(game);
            }
        }
        drop(inner);
        done(Ok(()));
        Ok(())
    }

    fn games(
        &self,
        tournament: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredGame>, StoreError> {
        let inner = self.inner.lock();
        let places = inner.index.range(tournament, from, limit);
        Ok(places
            .iter()
            .map(|&(_, place)| inner.games[place as usize].clone())
            .collect())
    }

    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError> {
        // Locked for one game at a time, so that the visitor may call the store.
        let games = (0..).map_while(|place| self.inner.lock().games.get(place).cloned());
        let ours = games.filter(|game| &*game.tournament == tournament);
        ours.for_each(visit);
        Ok(())
    }

    fn indices(&self, tournament: &str, visit: &mut dyn FnMut(u64)) -> Result<(), StoreError> {
        let index = || MutexGuard::map(self.inner.lock(), |inner| &mut inner.index);
        visit_indices(index, tournament, visit);
        Ok(())
    }

    fn count(&self, tournament: &str) -> u64 {
        self.inner.lock().index.count(tournament)
    }

    fn stats(&self) -> Stats {
        Stats {
            games: self.inner.lock().index.games(),
            ..Stats::default()
        }
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.writable().map(drop)
    }

    fn close(&self) -> Result<(), StoreError> {
        self.inner.lock().closed = true;
        Ok(())
    }
}
