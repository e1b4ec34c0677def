//! How documents lie in the database: each with its own checksum, and one
//! summary over all of them, so that a lost one is noticed too.
//!
//! Key: the collection's number, then the document's key. Value: 32 bytes of
//! checksum, then the content. The summary lies under the key `[0]`.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::{Change, Collection, Sha256Digest, bytes::Reader};

/// Where the summary lies; no collection has number 0.
pub(crate) const SUMMARY_KEY: [u8; 1] = [0];

/// What all documents come to. The digest is the exclusive or of their
/// checksums: it follows changes one by one, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Summary {
    /// Commits that changed a document.
    pub(crate) version: u64,
    pub(crate) count: u64,
    pub(crate) digest: Sha256Digest,
}

impl Summary {
    pub(crate) fn add(&mut self, checksum: &Sha256Digest) {
        self.count += 1;
        self.toggle(checksum);
    }

    pub(crate) fn remove(&mut self, checksum: &Sha256Digest) {
        self.count = self.count.saturating_sub(1);
        self.toggle(checksum);
    }

    fn toggle(&mut self, checksum: &Sha256Digest) {
        for (byte, other) in self.digest.iter_mut().zip(checksum) {
            *byte ^= other;
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.version.to_le_bytes());
        out.extend(self.count.to_le_bytes());
        out.extend(self.digest);
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            version: reader.u64()?,
            count: reader.u64()?,
            digest: reader.array()?,
        })
    }

    /// The summary as a value of the database, checksummed like a document.
    pub(crate) fn seal(&self) -> Vec<u8> {
        let mut content = Vec::new();
        self.encode(&mut content);
        seal(&SUMMARY_KEY, &content).1
    }

    /// Undoes [`Summary::seal`].
    pub(crate) fn open(value: &[u8]) -> Option<Self> {
        let (_, content) = open(&SUMMARY_KEY, value)?;
        Self::decode(&mut Reader::new(content))
    }
}

/// The database's key of a document.
pub(crate) fn key(collection: Collection, key: &str) -> Vec<u8> {
    let mut out = vec![collection as u8];
    out.extend(key.as_bytes());
    out
}

/// The collection and key of a database key; `None` for what is no document.
pub(crate) fn parse_key(key: &[u8]) -> Option<(Collection, &str)> {
    let (&number, name) = key.split_first()?;
    let collection = Collection::ALL.into_iter().find(|&it| it as u8 == number)?;
    Some((collection, std::str::from_utf8(name).ok()?))
}

/// A document's checksum and its value in the database.
pub(crate) fn seal(key: &[u8], content: &[u8]) -> (Sha256Digest, Vec<u8>) {
    let checksum = checksum(key, content);
    let mut value = Vec::with_capacity(32 + content.len());
    value.extend(checksum);
    value.extend(content);
    (checksum, value)
}

/// The checksum and content of a value; `None` if it is not as it was written.
pub(crate) fn open<'a>(key: &[u8], value: &'a [u8]) -> Option<(Sha256Digest, &'a [u8])> {
    let (expected, content) = value.split_first_chunk::<32>()?;
    (checksum(key, content) == *expected).then_some((*expected, content))
}

fn checksum(key: &[u8], content: &[u8]) -> Sha256Digest {
    Sha256::new()
        .chain_update((key.len() as u64).to_le_bytes())
        .chain_update(key)
        .chain_update(content)
        .finalize()
        .into()
}

/// Changes of one commit by database key; of several to one key the last holds.
pub(crate) fn fold(
    changes: impl IntoIterator<Item = Change>,
) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
    changes
        .into_iter()
        .map(|change| (key(change.collection, &change.key), change.value))
        .collect()
}
