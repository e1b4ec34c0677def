//! A store in memory, for tests and for runs without results on disk.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::TempDir;

use crate::{
    BinaryUpload, Change, Collection, Done, Sha256Digest, Stats, Store, StoreError, StoredGame,
    binary::Binaries, limits, packing::index::Index,
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
    pub fn list(&self, collection: Collection) -> Vec<(String, Vec<u8>)> {
        let all = self.0.range((collection, String::new())..);
        let ours = all.take_while(|((of, _), _)| *of == collection);
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
        let folder = tempfile::tempdir()
            .map_err(|e| StoreError::io("make a folder in", &std::env::temp_dir(), &e))?;
        let binaries = Binaries::open(folder.path().join("binaries"))?;
        Ok(Self {
            inner: Mutex::default(),
            binaries,
            _folder: folder,
        })
    }

    /// A panic elsewhere leaves the maps consistent: every change is one step.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writable(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        let inner = self.inner();
        if inner.closed {
            Err(StoreError::Closed)
        } else {
            Ok(inner)
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
        Ok(self.inner().documents.get(collection, key))
    }

    fn list(&self, collection: Collection) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(self.inner().documents.list(collection))
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
            let place = u32::try_from(inner.games.len()).unwrap_or(u32::MAX);
            if place == u32::MAX {
                return Err(StoreError::Busy { queued: 0 });
            }
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
        let inner = self.inner();
        let places = inner.index.range(tournament, from, limit);
        Ok(places
            .iter()
            .map(|&(_, place)| inner.games[place as usize].clone())
            .collect())
    }

    fn scan(&self, tournament: &str, visit: &mut dyn FnMut(StoredGame)) -> Result<(), StoreError> {
        // One at a time, so that the visitor may call the store.
        let mut place = 0;
        loop {
            let Some(game) = self.inner().games.get(place).cloned() else {
                return Ok(());
            };
            if &*game.tournament == tournament {
                visit(game);
            }
            place += 1;
        }
    }

    fn indices(&self, tournament: &str, visit: &mut dyn FnMut(u64)) -> Result<(), StoreError> {
        let mut from = Some(0);
        while let Some(start) = from {
            let page = self.inner().index.page(tournament, start);
            from = page.and_then(|(indices, next)| {
                indices.into_iter().for_each(&mut *visit);
                next
            });
        }
        Ok(())
    }

    fn count(&self, tournament: &str) -> u64 {
        self.inner().index.count(tournament)
    }

    fn stats(&self) -> Stats {
        Stats {
            games: self.inner().index.games(),
            ..Stats::default()
        }
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.writable().map(drop)
    }

    fn close(&self) -> Result<(), StoreError> {
        self.inner().closed = true;
        Ok(())
    }
}
