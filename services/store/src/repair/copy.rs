//! Copies a store.

use super::walk::Item;
use crate::{Change, StoreError, StoredGame, backend::Backend, core::Core, documents};

/// Games copied at once.
const COPY_GAMES: usize = 1_024;
/// Documents copied at once, by number and by bytes.
const COPY_DOCUMENTS: usize = 256;
const COPY_BYTES: usize = 4 << 20;

/// Copies packs and documents into another store, in large commits.
pub(crate) struct StoreCopy<'a, B: Backend> {
    core: &'a Core<B>,
    games: Vec<StoredGame>,
    changes: Vec<Change>,
    bytes: usize,
    copied: (u64, u64),
    result: Result<(), StoreError>,
}

impl<'a, B: Backend> StoreCopy<'a, B> {
    pub(crate) fn new(core: &'a Core<B>) -> Self {
        Self {
            core,
            games: Vec::new(),
            changes: Vec::new(),
            bytes: 0,
            copied: (0, 0),
            result: Ok(()),
        }
    }

    /// Adds an item. After an error it ignores further ones, until [`StoreCopy::finish`].
    pub(crate) fn take(&mut self, item: &Item<'_>) {
        if self.result.is_err() {
            return;
        }
        match item {
            // Games that cannot be decoded are lost; `verify` reports them.
            Item::Pack { .. } => self.games(item.games().unwrap_or_default()),
            Item::Document(document) => self.document(document.key, document.content),
        }
    }

    /// Adds games.
    pub(crate) fn games(&mut self, games: Vec<StoredGame>) {
        self.games.extend(games);
        if self.result.is_ok() && self.games.len() >= COPY_GAMES {
            self.result = self.write();
        }
    }

    /// Adds a document by its key in the database.
    pub(crate) fn document(&mut self, key: &[u8], content: &[u8]) {
        if self.result.is_err() {
            return;
        }
        if let Some((collection, name)) = documents::parse_key(key) {
            self.changes.push(Change {
                collection,
                key: name.to_owned(),
                value: Some(content.to_vec()),
            });
            self.bytes += content.len();
        }
        if self.changes.len() >= COPY_DOCUMENTS || self.bytes >= COPY_BYTES {
            self.result = self.write();
        }
    }

    /// Writes the rest. Returns the numbers of games and documents copied.
    pub(crate) fn finish(mut self) -> Result<(u64, u64), StoreError> {
        self.write()?;
        Ok(self.copied)
    }

    /// Writes all items taken so far.
    pub(crate) fn write(&mut self) -> Result<(), StoreError> {
        self.result.clone()?;
        self.copied.0 += self.games.len() as u64;
        self.copied.1 += self.changes.len() as u64;
        self.bytes = 0;
        self.core.append_and_wait(std::mem::take(&mut self.games))?;
        self.core.put_many(std::mem::take(&mut self.changes))
    }
}
