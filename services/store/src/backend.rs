//! What a store needs of a database: entries in the order of their keys, and commits.

use std::ops::Deref;

use crate::{
    Commit, StoreError,
    documents::Summary,
    packing::pack::{self, Tip},
};

/// One of the two kinds of entries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree {
    /// Packs of games; the key is the pack's number, big endian.
    Packs,
    /// Documents and their summary.
    Documents,
}

/// Reads the entries of a database.
pub(crate) trait Entries {
    /// A key or a value.
    type Bytes: Deref<Target = [u8]>;

    fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Self::Bytes>, StoreError>;

    /// Visits entries from `from` on, in the order of keys, until one cannot be read or `visit`
    /// returns false.
    fn visit(
        &self,
        tree: Tree,
        from: &[u8],
        visit: impl FnMut(Self::Bytes, Self::Bytes) -> bool,
    ) -> Result<(), StoreError>;

    /// The values of some documents, in the order of `keys`.
    fn get_documents(&self, keys: &[&[u8]]) -> Result<Vec<Option<Self::Bytes>>, StoreError> {
        let keys = keys.iter();
        keys.map(|key| self.get(Tree::Documents, key)).collect()
    }

    /// Visits the packs at these places in their order. The value is `None` for a missing pack.
    fn visit_packs(
        &self,
        places: &[u32],
        mut visit: impl FnMut(u32, Option<Self::Bytes>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        places.iter().try_for_each(|&place| {
            let pack = self.get(Tree::Packs, &pack::key(u64::from(place)))?;
            visit(place, pack)
        })
    }

    /// Bytes on disk; zero if unknown.
    fn size(&self) -> u64;
}

/// How far a store has acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Acknowledged {
    pub(crate) tip: Tip,
    pub(crate) documents: Summary,
}

/// What a database has recorded as acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    Damaged,
    Whole(Acknowledged),
}

impl Found {
    /// What it names, if it is readable.
    pub(crate) fn acknowledged(self) -> Option<Acknowledged> {
        match self {
            Self::Whole(it) => Some(it),
            Self::Missing | Self::Damaged => None,
        }
    }
}

/// A pack to be written.
#[derive(Debug)]
pub(crate) struct NewPack {
    pub(crate) sequence: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Everything that one commit writes: all of it, or nothing.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) packs: Vec<NewPack>,
    /// Keys and values in the database; `None` removes the key.
    pub(crate) documents: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// The state before the commit.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "sled has one writer, which knows the state")
    )]
    pub(crate) before: Acknowledged,
    /// The state after the commit.
    pub(crate) after: Acknowledged,
}

/// A database that a writer commits to.
pub(crate) trait Backend: Entries + Send + Sync + 'static {
    /// Fails if a commit must not start, for example for lack of space.
    fn check_writable(&self) -> Result<(), StoreError>;

    /// Makes a batch durable, and notes the durations of its phases.
    fn commit(&self, batch: Batch, took: &mut Commit) -> Result<(), StoreError>;

    /// Called once, after the last commit.
    fn finish(&self) -> Result<(), StoreError>;

    /// The error for damage of this database.
    fn corrupt(&self, damage: String) -> StoreError;
}
