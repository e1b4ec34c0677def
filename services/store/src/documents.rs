//! Documents in the database: each has its own checksum, and a summary covers all of them, so that
//! a lost one is noticed.
//!
//! The key is the collection's number, then the document's key. The value repeats them, so that it
//! can be found in the raw bytes of the database's files:
//!
//! ```text
//! "ARENADOC"   u64 version: which commit of documents wrote it
//! v key length, key   v content length, content   (v: LEB128)
//! [32] SHA-256 of everything above
//! ```
//!
//! Until format 2, it was 32 bytes of checksum over key and content, then the content. The
//! summary is under the key `[0]`.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::{
    Change, Collection, Sha256Digest,
    packing::bytes::{Reader, put_varint},
};

/// Key of the summary; no collection has number 0.
pub(crate) const SUMMARY_KEY: [u8; 1] = [0];

/// Summary of all documents. The digest is the exclusive or of their checksums, so that single
/// changes update it in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Summary {
    /// Number of commits that changed a document.
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

    /// The summary as a value of the database, sealed like a document.
    pub(crate) fn seal(&self) -> Vec<u8> {
        let mut content = Vec::new();
        self.encode(&mut content);
        seal(&SUMMARY_KEY, self.version, &content).1
    }

    /// The inverse of [`Summary::seal`].
    pub(crate) fn open(value: &[u8]) -> Option<Self> {
        let sealed = open(&SUMMARY_KEY, value)?;
        Self::decode(&mut Reader::new(sealed.content))
    }
}

/// The key of a document in the database.
pub(crate) fn key(collection: Collection, key: &str) -> Vec<u8> {
    let mut out = vec![collection as u8];
    out.extend(key.as_bytes());
    out
}

/// The collection and key of a database key; `None` if it is no document.
pub(crate) fn parse_key(key: &[u8]) -> Option<(Collection, &str)> {
    let (&number, name) = key.split_first()?;
    let collection = Collection::ALL.into_iter().find(|&it| it as u8 == number)?;
    Some((collection, std::str::from_utf8(name).ok()?))
}

/// Start of a value.
pub(crate) const MAGIC: &[u8; 8] = b"ARENADOC";
const CHECKSUM_BYTES: usize = 32;

/// A valid value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sealed<'a> {
    /// Its key in the database.
    pub(crate) key: &'a [u8],
    /// The commit that wrote it; 0 before format 3.
    pub(crate) version: u64,
    pub(crate) content: &'a [u8],
    pub(crate) checksum: Sha256Digest,
    /// Bytes of the value.
    pub(crate) length: usize,
}

/// A document's checksum and its value in the database.
pub(crate) fn seal(key: &[u8], version: u64, content: &[u8]) -> (Sha256Digest, Vec<u8>) {
    let mut value = Vec::with_capacity(64 + key.len() + content.len());
    value.extend(MAGIC);
    value.extend(version.to_le_bytes());
    put_varint(&mut value, key.len() as u64);
    value.extend(key);
    put_varint(&mut value, content.len() as u64);
    value.extend(content);
    let checksum: Sha256Digest = Sha256::digest(&value).into();
    value.extend(checksum);
    (checksum, value)
}

/// Parses the value of a key; `None` if it is damaged.
pub(crate) fn open<'a>(key: &'a [u8], value: &'a [u8]) -> Option<Sealed<'a>> {
    if value.starts_with(MAGIC) {
        return find(value).filter(|it| it.key == key && it.length == value.len());
    }
    let (expected, content) = value.split_first_chunk::<CHECKSUM_BYTES>()?;
    (old_checksum(key, content) == *expected).then_some(Sealed {
        key,
        version: 0,
        content,
        checksum: *expected,
        length: value.len(),
    })
}

/// The valid value at the start of these bytes, if there is one; anything may follow.
pub(crate) fn find(bytes: &[u8]) -> Option<Sealed<'_>> {
    let mut reader = Reader::new(bytes);
    if reader.take(MAGIC.len())? != MAGIC {
        return None;
    }
    let version = reader.u64()?;
    let length = reader.length()?;
    let key = reader.take(length)?;
    let length = reader.length()?;
    let content = reader.take(length)?;
    let sealed = bytes.len() - reader.left();
    let checksum: Sha256Digest = reader.array()?;
    (<[u8; 32]>::from(Sha256::digest(&bytes[..sealed])) == checksum).then_some(Sealed {
        key,
        version,
        content,
        checksum,
        length: sealed + CHECKSUM_BYTES,
    })
}

fn old_checksum(key: &[u8], content: &[u8]) -> Sha256Digest {
    Sha256::new()
        .chain_update((key.len() as u64).to_le_bytes())
        .chain_update(key)
        .chain_update(content)
        .finalize()
        .into()
}

/// Changes of one commit by database key; of several changes of a key, the last one counts.
pub(crate) fn fold(
    changes: impl IntoIterator<Item = Change>,
) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
    changes
        .into_iter()
        .map(|change| (key(change.collection, &change.key), change.value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_intact_documents_are_found() {
        let (checksum, value) = seal(b"\x01random", 7, b"content");
        let behind = [&value[..], b"else"].concat();
        let found = find(&behind).expect("it begins there");
        let reported = (found.key, found.version, found.content, found.length);
        assert_eq!(
            reported,
            (&b"\x01random"[..], 7, &b"content"[..], value.len())
        );
        assert_eq!(found.checksum, checksum);
        assert_eq!(open(b"\x01random", &value), Some(found));
        assert_eq!(open(b"\x01other", &value), None);
        assert_eq!(open(b"\x01random", &behind), None);
        for bit in 0..value.len() * 8 {
            let mut turned = value.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(find(&turned), None, "bit {bit}");
            assert_eq!(open(b"\x01random", &turned), None, "bit {bit}");
        }
    }

    #[test]
    fn old_document_reads() {
        let checksum = old_checksum(b"\x01random", b"content");
        let value = [&checksum[..], b"content"].concat();
        let read = open(b"\x01random", &value).expect("it is whole");
        assert_eq!((read.version, read.content), (0, &b"content"[..]));
        assert_eq!(read.checksum, checksum);
        assert_eq!(open(b"\x01other", &value), None);
    }
}
