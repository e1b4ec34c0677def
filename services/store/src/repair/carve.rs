//! Finds packs and documents in the raw bytes of a database's files. Each has its type, its length
//! and a SHA-256 of itself, so they are found whatever happened to the database around them.
//!
//! A file also has old versions of documents, removed ones, and packs that are there several times
//! or were never acknowledged.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use crate::{
    DOCUMENT_BYTES_MAX, Sha256Digest, StoreError,
    documents::{self, Summary},
    error::At,
    files,
    packing::pack,
};

/// Maximum size of a pack or a document: the largest game or value, a few names, and lengths.
const PIECE_BYTES_MAX: usize = DOCUMENT_BYTES_MAX + (64 << 10);
/// Bytes that are searched at a time.
const WINDOW_BYTES: usize = 8 << 20;

/// The place of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the file.
    pub(crate) file: usize,
    pub(crate) offset: u64,
    pub(crate) length: usize,
}

/// A pack, perhaps at several places.
#[derive(Debug)]
pub(crate) struct FoundPack {
    pub(crate) sequence: u64,
    pub(crate) games_before: u64,
    pub(crate) games: u64,
    pub(crate) previous: Sha256Digest,
    pub(crate) places: Vec<Place>,
}

/// One version of a document, or of the summary of all.
#[derive(Debug)]
pub(crate) struct FoundDocument {
    pub(crate) version: u64,
    pub(crate) places: Vec<Place>,
}

/// Everything found in a database's files.
#[derive(Debug, Default)]
pub(crate) struct Carved {
    files: Vec<PathBuf>,
    /// By link.
    pub(crate) packs: HashMap<Sha256Digest, FoundPack>,
    /// By key, then by checksum.
    pub(crate) documents: BTreeMap<Vec<u8>, HashMap<Sha256Digest, FoundDocument>>,
    /// The newest one.
    pub(crate) summary: Option<Summary>,
}

impl Carved {
    /// Searches a database's files, before anything opens it.
    pub(crate) fn of(sled: &Path) -> Result<Self, StoreError> {
        let mut carved = Self::default();
        for folder in [sled, &sled.join("blobs")] {
            let paths = files::entries(folder)?.into_iter();
            carved.files.extend(paths.filter(|path| path.is_file()));
        }
        carved.files.sort();
        for file in 0..carved.files.len() {
            let path = carved.files[file].clone();
            carved.look_through(file, &path).at("read", &path)?;
        }
        Ok(carved)
    }

    fn look_through(&mut self, file: usize, path: &Path) -> io::Result<()> {
        let mut bytes = File::open(path)?;
        let mut window = Vec::with_capacity(WINDOW_BYTES);
        // Start of the window, and end of the known pieces.
        let (mut begin, mut known) = (0, 0);
        loop {
            let wanted = (WINDOW_BYTES - window.len()) as u64;
            let last = (&mut bytes).take(wanted).read_to_end(&mut window)? as u64 == 0;
            // A piece that starts later may not end in this window.
            let until = match last {
                true => window.len(),
                false => window.len().saturating_sub(PIECE_BYTES_MAX),
            };
            let [raw, compressed] = pack::FIRST_BYTES;
            for at in memchr::memchr3_iter(raw, compressed, documents::MAGIC[0], &window[..until]) {
                let offset = begin + at as u64;
                if offset < known {
                    continue;
                }
                let place = |length| Place {
                    file,
                    offset,
                    length,
                };
                known = offset + self.take(&window[at..], place) as u64;
            }
            if last {
                return Ok(());
            }
            window.drain(..until);
            begin += until as u64;
        }
    }

    /// Handles the piece that starts here. Returns its length.
    fn take(&mut self, bytes: &[u8], place: impl Fn(usize) -> Place) -> usize {
        if bytes.starts_with(documents::MAGIC)
            && let Some(found) = documents::find(bytes)
        {
            if found.key == documents::SUMMARY_KEY {
                let summary = Summary::open(&bytes[..found.length]);
                let version = |it: &Option<Summary>| it.map(|it| it.version);
                if version(&summary) > version(&self.summary) {
                    self.summary = summary;
                }
            }
            let versions = self.documents.entry(found.key.to_vec()).or_default();
            let document = versions
                .entry(found.checksum)
                .or_insert_with(|| FoundDocument {
                    version: found.version,
                    places: Vec::new(),
                });
            document.places.push(place(found.length));
            return found.length;
        }
        if pack::may_begin(bytes)
            && let Some(found) = pack::find(bytes)
            && let Some(pack) = pack::decode(found)
        {
            let known = self.packs.entry(pack.link).or_insert_with(|| FoundPack {
                sequence: pack.sequence,
                games_before: pack.games_before,
                games: pack.entries.len() as u64,
                previous: pack.previous,
                places: Vec::new(),
            });
            known.places.push(place(found.len()));
            return found.len();
        }
        0
    }

    /// The bytes at a place.
    pub(crate) fn read(&self, place: &Place) -> Result<Vec<u8>, StoreError> {
        let path = &self.files[place.file];
        let mut bytes = vec![0; place.length];
        File::open(path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(place.offset))?;
                file.read_exact(&mut bytes)
            })
            .at("read", path)?;
        Ok(bytes)
    }

    /// The file of a place.
    #[cfg(any(test, feature = "fault-injection"))]
    pub(crate) fn file(&self, place: &Place) -> &Path {
        &self.files[place.file]
    }
}
