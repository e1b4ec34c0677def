//! sled under a store: a commit is durable when its file is synced and the commit marker names it.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::{
    Commit, Options, RESERVE_BYTES, StoreError,
    backend::{Backend, Batch, Entries, Found, Tree},
    core::Core,
    error::At,
    packing::pack,
    repair::walk::walk,
    sled::{commit_marker::CommitMarker, database::Database},
    writer::Step,
};

/// The database of one generation, and its commit marker.
pub(crate) struct SledBackend {
    pub(crate) db: Database,
    commit_marker: Mutex<CommitMarker>,
    /// The data folder.
    data: PathBuf,
    pub(crate) reserve_bytes: u64,
}

impl SledBackend {
    /// Opens the database of a generation, checks all of it, and starts its writer.
    pub(crate) fn open(
        folder: &Path,
        data: &Path,
        options: &Options,
        new: bool,
    ) -> Result<Core<Self>, StoreError> {
        let db = Database::open(&folder.join("sled"), data, options.cache_bytes)?;
        let commit_marker = folder.join("acknowledged");
        let found = CommitMarker::read(&commit_marker)?;
        let walk = walk(&db, found, new, |_| {});
        walk.check(data)?;
        let commit_marker = match found {
            Found::Missing => CommitMarker::create(&commit_marker)?,
            Found::Whole(_) | Found::Damaged => CommitMarker::open(&commit_marker)?,
        };
        let backend = Self {
            db,
            commit_marker: Mutex::new(commit_marker),
            data: data.to_owned(),
            reserve_bytes: options.reserve_bytes,
        };
        let queue = [options.queue_games, options.queue_bytes];
        Core::start(backend, data, walk, queue)
    }

    /// Writing starts only with room to spare: sled must not meet a full disk.
    fn check_space(&self) -> Result<(), StoreError> {
        let free = fs4::available_space(&self.data).at("ask for the free space of", &self.data)?;
        if free < self.reserve_bytes {
            return Err(StoreError::Full {
                path: self.data.clone(),
                needed: RESERVE_BYTES,
            });
        }
        Ok(())
    }
}

impl Entries for SledBackend {
    type Bytes = <Database as Entries>::Bytes;

    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Self::Bytes>, StoreError> {
        self.db.get(tree, key)
    }

    fn visit(
        &self,
        tree: Tree,
        from: &[u8],
        visit: impl FnMut(Self::Bytes, Self::Bytes) -> bool,
    ) -> Result<(), StoreError> {
        self.db.visit(tree, from, visit)
    }

    fn size(&self) -> u64 {
        self.db.size()
    }
}

impl Backend for SledBackend {
    fn check_writable(&self) -> Result<(), StoreError> {
        self.db.check_in_place()?;
        self.check_space()
    }

    fn commit(&self, batch: Batch, took: &mut Commit) -> Result<(), StoreError> {
        let mut step = Step::begin();
        if !batch.packs.is_empty() {
            let packs = batch.packs.into_iter();
            let packs = packs.map(|new| (pack::key(new.sequence).to_vec(), Some(new.bytes)));
            self.db.apply(Tree::Packs, packs)?;
        }
        if !batch.documents.is_empty() {
            self.db.apply(Tree::Documents, batch.documents)?;
        }
        took.applied = step.next();
        [took.written, took.synced] = self.db.sync()?;
        step.next();
        let mut commit_marker = self.commit_marker.lock();
        commit_marker.write(&batch.after)?;
        // What was written to deleted files must not be acknowledged.
        self.db.check_in_place()?;
        commit_marker.check_in_place()?;
        took.commit_marker = step.next();
        Ok(())
    }

    fn finish(&self) -> Result<(), StoreError> {
        self.commit_marker.lock().sync()
    }

    fn corrupt(&self, damage: String) -> StoreError {
        StoreError::corrupt(&self.data, damage)
    }
}
