//! The receipt: a small file beside the database that says how far the store
//! has acknowledged. sled drops a torn end of its log without a word; the
//! receipt is how lost acknowledged data is noticed.
//!
//! Two slots, written in turn, each with its own checksum, so that one is
//! whole at any moment. It is written after the database is durable and before
//! the acknowledgement, so it is never ahead of the database.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    Sha256Digest, StoreError, binary::sync_parent, bytes::Reader, documents::Summary, pack::Tip,
};

const MAGIC: &[u8; 8] = b"ARENAACK";
/// One slot in each sector of 4 KiB, so that a torn write hits one only.
const SLOT_BYTES: u64 = 4096;
const FILE_BYTES: usize = 2 * SLOT_BYTES as usize;

/// How far the store has acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Acknowledged {
    pub(crate) tip: Tip,
    pub(crate) documents: Summary,
}

/// The open receipt.
#[derive(Debug)]
pub(crate) struct Receipt {
    file: File,
    path: PathBuf,
    number: u64,
}

impl Receipt {
    /// Reads what was acknowledged.
    pub(crate) fn read(path: &Path) -> Result<Found, StoreError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
            Err(e) => return Err(StoreError::io("read", path, &e)),
        };
        Ok(newest(&bytes).map_or(Found::Damaged, |(_, acknowledged)| {
            Found::Whole(acknowledged)
        }))
    }

    /// Opens a whole receipt to go on with it.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let error = |e: io::Error| StoreError::io("open", path, &e);
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .map_err(error)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(error)?;
        let number = newest(&bytes).map_or(0, |(number, _)| number);
        Ok(Self {
            file,
            path: path.to_owned(),
            number,
        })
    }

    /// Makes the receipt of a store that has acknowledged nothing yet, all at
    /// once, so that it is never found half made.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        let new = path.with_extension("new");
        let mut bytes = vec![0; FILE_BYTES];
        let slot = encode(0, &Acknowledged::default());
        bytes[..slot.len()].copy_from_slice(&slot);
        File::create(&new)
            .and_then(|mut file| {
                file.write_all(&bytes)?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&new, path))
            .map_err(|e| StoreError::io("write", &new, &e))?;
        sync_parent(path)?;
        Self::open(path)
    }

    /// Writes a new receipt over the older slot; `sync` makes it survive a power
    /// cut, without it a killed process.
    pub(crate) fn write(
        &mut self,
        acknowledged: &Acknowledged,
        sync: bool,
    ) -> Result<(), StoreError> {
        self.number += 1;
        let slot = encode(self.number, acknowledged);
        let result = (|| {
            self.file
                .seek(SeekFrom::Start(self.number % 2 * SLOT_BYTES))?;
            self.file.write_all(&slot)?;
            if sync { self.file.sync_data() } else { Ok(()) }
        })();
        result.map_err(|e| StoreError::io("write", &self.path, &e))
    }
}

/// What a receipt's file said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    Damaged,
    Whole(Acknowledged),
}

/// The newest whole slot: its number and content.
fn newest(bytes: &[u8]) -> Option<(u64, Acknowledged)> {
    [0, SLOT_BYTES as usize]
        .into_iter()
        .filter_map(|at| decode(bytes.get(at..)?))
        .max_by_key(|(number, _)| *number)
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
