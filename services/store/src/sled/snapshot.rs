//! The content of an open store at one point in time.

/// All documents of an open store, and the length of its chain of packs.
pub(crate) struct Snapshot {
    /// Packs in the chain.
    pub(crate) packs: u64,
    /// Keys and contents.
    pub(crate) documents: Vec<(Vec<u8>, Vec<u8>)>,
}
