//! Changes behind a store, for tests: entries are read and written as in the database, without the
//! store's checks and sums. The database's own checksums match what was written.

use std::path::{Path, PathBuf};

use crate::{
    Options, StoreError,
    backend::{Entries, Tree},
    packing::pack,
    repair::carve::{Carved, Place},
    repair::verify::LOCK_WAIT,
    sled::database::Database,
    sled::folder::Folder,
};

/// An entry of the database under a store.
#[derive(Debug, Clone)]
pub struct Entry {
    tree: Tree,
    /// Its key in the database.
    pub key: Vec<u8>,
    /// Its value in the database.
    pub value: Vec<u8>,
}

impl Entry {
    /// Number of the results pack; none for a document.
    #[must_use]
    pub fn pack(&self) -> Option<u64> {
        match self.tree {
            Tree::Packs => self.key.as_slice().try_into().ok().map(u64::from_be_bytes),
            Tree::Documents => None,
        }
    }

    /// An entry of the same kind.
    #[must_use]
    pub fn alike(&self, key: Vec<u8>, value: Vec<u8>) -> Self {
        Self {
            tree: self.tree,
            key,
            value,
        }
    }
}

/// The database of a store that is not open.
pub struct FaultInjection {
    db: Database,
    // Dropped last: the folder is locked until the database is closed.
    _folder: Folder,
}

impl FaultInjection {
    /// Opens the database of a data folder without checks.
    ///
    /// # Errors
    /// `Locked`, `NotFound`, `NewerVersion`, or an error of the database.
    pub fn open(data: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
        let database = folder.database(folder.generation).join("sled");
        let db = Database::open(&database, &folder.path, Options::default().cache_bytes)?;
        Ok(Self {
            db,
            _folder: folder,
        })
    }

    /// All entries: results packs, then documents and their summary.
    ///
    /// # Errors
    /// An error of the database.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for tree in [Tree::Packs, Tree::Documents] {
            self.db.visit(tree, &[], |key, value| {
                entries.push(Entry {
                    tree,
                    key: key.to_vec(),
                    value: value.to_vec(),
                });
                true
            })?;
        }
        Ok(entries)
    }

    /// Writes an entry, in place of the one under its key; durable.
    ///
    /// # Errors
    /// An error of the database or the disk.
    pub fn put(&self, entry: &Entry) -> Result<(), StoreError> {
        let value = (entry.key.clone(), Some(entry.value.clone()));
        self.db.apply(entry.tree, [value])?;
        self.db.sync().map(drop)
    }

    /// Removes the entry under the key of this one; durable.
    ///
    /// # Errors
    /// An error of the database or the disk.
    pub fn remove(&self, entry: &Entry) -> Result<(), StoreError> {
        self.db.apply(entry.tree, [(entry.key.clone(), None)])?;
        self.db.sync().map(drop)
    }
}

/// A results pack or a version of a document in the bare files.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Its games, by tournament and index; none for a document.
    pub games: Vec<(String, u64)>,
    /// The document's key in the database; none for a pack.
    pub key: Vec<u8>,
    /// For a document, the commit that wrote it.
    pub version: u64,
    /// Its place: file, first byte, and length.
    pub places: Vec<(PathBuf, u64, usize)>,
}

/// Everything that a repair could take from the raw files of a data folder.
///
/// # Errors
/// As [`FaultInjection::open`].
pub fn pieces(data: impl AsRef<Path>) -> Result<Vec<Piece>, StoreError> {
    let folder = Folder::open(data.as_ref(), LOCK_WAIT, false)?;
    let carved = Carved::of(&folder.database(folder.generation).join("sled"))?;
    let reported = |places: &[Place]| {
        let reported = places.iter();
        reported
            .map(|it| (carved.file(it).to_owned(), it.offset, it.length))
            .collect()
    };
    let mut pieces = Vec::new();
    for pack in carved.packs.values() {
        let bytes = carved.read(&pack.places[0])?;
        let entries = pack::decode(&bytes).map(|pack| pack.entries);
        let games = entries.into_iter().flatten();
        pieces.push(Piece {
            games: games
                .map(|game| (game.tournament.to_string(), game.index))
                .collect(),
            key: Vec::new(),
            version: 0,
            places: reported(&pack.places),
        });
    }
    for (key, versions) in &carved.documents {
        pieces.extend(versions.values().map(|document| Piece {
            games: Vec::new(),
            key: key.clone(),
            version: document.version,
            places: reported(&document.places),
        }));
    }
    Ok(pieces)
}
