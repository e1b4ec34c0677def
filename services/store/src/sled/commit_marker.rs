//! The commit marker: a small file beside the database that says how far the store has
//! acknowledged. sled drops a torn end of its log silently; the commit marker shows lost
//! acknowledged data.
//!
//! It is written after the database is durable and before the acknowledgement, so it is never ahead
//! of the database, and exact after a killed process. It is synced only once a second, which halves
//! the cost of a commit: after a power cut it may be behind, which is no damage. It has two slots,
//! each with a checksum. The slot that was synced last is not overwritten, so one is always valid.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use crate::{
    Sha256Digest, StoreError,
    backend::{Acknowledged, Found},
    documents::Summary,
    error::At,
    files::{self, existing},
    packing::{bytes::Reader, pack::Tip},
};

const MAGIC: &[u8; 8] = b"ARENAACK";
/// One slot in each sector of 4 KiB, so that a torn write damages only one.
const SLOT_BYTES: u64 = 4096;
/// Maximum age of the commit marker after a power cut.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
const FILE_BYTES: usize = 2 * SLOT_BYTES as usize;

/// The open commit marker.
#[derive(Debug)]
pub(crate) struct CommitMarker {
    file: File,
    path: PathBuf,
    number: u64,
    /// The slot that is not overwritten, because it is safe on the disk.
    slot_synced: u64,
    synced: Instant,
    /// True if it was written since the last sync.
    written: bool,
}

impl CommitMarker {
    /// Reads what was acknowledged.
    pub(crate) fn read(path: &Path) -> Result<Found, StoreError> {
        let bytes = existing(fs::read(path)).at("read", path)?;
        Ok(bytes.map_or(Found::Missing, |bytes| {
            newest(&bytes).map_or(Found::Damaged, |(_, _, it)| Found::Whole(it))
        }))
    }

    /// Opens a valid commit marker for writing.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .at("open", path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).at("open", path)?;
        let (number, slot_synced) =
            newest(&bytes).map_or((0, 0), |(slot, number, _)| (number, slot));
        file.sync_data().at("open", path)?;
        Ok(Self {
            file,
            path: path.to_owned(),
            number,
            slot_synced,
            synced: Instant::now(),
            written: false,
        })
    }

    /// Creates the commit marker of an empty store atomically, so that it is never found half
    /// written.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        let mut bytes = encode(0, &Acknowledged::default());
        bytes.resize(FILE_BYTES, 0);
        files::replace(path, &bytes)?;
        Self::open(path)
    }

    /// Writes a new commit marker beside the one that was synced last.
    pub(crate) fn write(&mut self, acknowledged: &Acknowledged) -> Result<(), StoreError> {
        self.number += 1;
        let slot = encode(self.number, acknowledged);
        self.file
            .seek(SeekFrom::Start((1 - self.slot_synced) * SLOT_BYTES))
            .and_then(|_| self.file.write_all(&slot))
            .at("write", &self.path)?;
        self.written = true;
        if self.synced.elapsed() >= SYNC_INTERVAL {
            self.sync()
        } else {
            Ok(())
        }
    }

    /// Fails if its file was deleted or moved.
    pub(crate) fn check_in_place(&self) -> Result<(), StoreError> {
        files::check_in_place(&self.file, &self.path)
    }

    /// Makes the last written one survive a power cut.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        if !self.written {
            return Ok(());
        }
        self.file.sync_data().at("sync", &self.path)?;
        self.slot_synced = 1 - self.slot_synced;
        self.synced = Instant::now();
        self.written = false;
        Ok(())
    }
}

/// The newest valid slot: its place, number and content.
fn newest(bytes: &[u8]) -> Option<(u64, u64, Acknowledged)> {
    [0, 1]
        .into_iter()
        .filter_map(|slot| {
            let (number, acknowledged) = decode(bytes.get((slot * SLOT_BYTES) as usize..)?)?;
            Some((slot, number, acknowledged))
        })
        .max_by_key(|(_, number, _)| *number)
}

fn encode(number: u64, acknowledged: &Acknowledged) -> Vec<u8> {
    let Acknowledged { tip, documents } = acknowledged;
    let mut out = MAGIC.to_vec();
    out.extend(number.to_le_bytes());
    out.extend(tip.packs.to_le_bytes());
    out.extend(tip.games.to_le_bytes());
    out.extend(tip.link);
    documents.encode(&mut out);
    let checksum: Sha256Digest = Sha256::digest(&out).into();
    out.extend(checksum);
    out
}

fn decode(bytes: &[u8]) -> Option<(u64, Acknowledged)> {
    let mut reader = Reader::new(bytes);
    if reader.take(MAGIC.len())? != MAGIC {
        return None;
    }
    let number = reader.u64()?;
    let tip = Tip {
        packs: reader.u64()?,
        games: reader.u64()?,
        link: reader.array()?,
    };
    let documents = Summary::decode(&mut reader)?;
    let content = bytes.len() - reader.left();
    let checksum: Sha256Digest = reader.array()?;
    (<[u8; 32]>::from(Sha256::digest(&bytes[..content])) == checksum)
        .then_some((number, Acknowledged { tip, documents }))
}
