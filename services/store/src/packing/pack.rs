//! A pack: up to 256 games in one value of the database.
//!
//! Layout, numbers little endian, `v` LEB128:
//!
//! ```text
//! u8  version            u64 sequence        u64 games in all packs before
//! [32] link of the pack before (zeros for the first)
//! v tournaments, each: v length, name
//! v games, each: v tournament, v zigzag(index − (index before + 1)), v record length, v side length
//! version 1: of each game: [32] hash, record, side
//! version 2: of each game: [32] hash
//!            then of each game, compressed together with zstd: record, side
//! [32] link: SHA-256 of everything above
//! ```
//!
//! The link is the pack's own checksum and the next pack's `link before`, so a pack that was
//! changed, lost, added or moved breaks the chain. It covers the bytes as they are stored. A pack
//! that would hardly be smaller with compression has version 1.

use std::{borrow::Cow, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{
    Position, Sha256Digest, StoredGame,
    packing::bytes::{Reader, put_varint, unzigzag, zigzag},
    packing::compress::{PackCompressor, RAW_BYTES_MAX, compressed_length, decompress},
};

const VERSION_RAW: u8 = 1;
const VERSION_COMPRESSED: u8 = 2;
const LINK_BYTES: usize = 32;
const HASH_BYTES: usize = 32;

/// A position in the chain, where the next pack is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tip {
    /// Packs so far, which is the next pack's sequence number.
    pub(crate) packs: u64,
    /// Games so far.
    pub(crate) games: u64,
    /// Link of the last pack; zeros before the first.
    pub(crate) link: Sha256Digest,
}

impl Tip {
    /// The position for other modules.
    pub(crate) fn position(&self) -> Position {
        Position {
            packs: self.packs,
            link: self.link,
        }
    }
}

/// A pack's header, without its records.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) sequence: u64,
    pub(crate) games_before: u64,
    pub(crate) previous: Sha256Digest,
    pub(crate) link: Sha256Digest,
    pub(crate) entries: Vec<PackEntry>,
    bodies: Bodies,
}

/// Place of the records in a pack's bytes.
#[derive(Debug, Clone, Copy)]
enum Bodies {
    /// As they are.
    Raw,
    /// Compressed, from this offset on, with the uncompressed length.
    Compressed { offset: usize, length: usize },
}

/// One game of a pack, with the place of its bytes.
#[derive(Debug, Clone)]
pub(crate) struct PackEntry {
    pub(crate) tournament: Arc<str>,
    pub(crate) index: u64,
    hash: Sha256Digest,
    /// Place of its record in the pack's bodies.
    offset: usize,
    record: usize,
    side: usize,
}

impl Pack {
    /// The records of all games; `bytes` are those that this pack was decoded from. `None` if they
    /// cannot be decompressed.
    pub(crate) fn bodies<'a>(&self, bytes: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        match self.bodies {
            Bodies::Raw => Some(Cow::Borrowed(bytes)),
            Bodies::Compressed { offset, length } => {
                let end = bytes.len().checked_sub(LINK_BYTES)?;
                decompress(bytes.get(offset..end)?, length).map(Cow::Owned)
            }
        }
    }

    /// The games of a tournament.
    pub(crate) fn of(&self, tournament: &str) -> impl Iterator<Item = &PackEntry> {
        let entries = self.entries.iter();
        entries.filter(move |entry| &*entry.tournament == tournament)
    }

    /// All games, copied out; `bytes` as in [`Pack::bodies`].
    pub(crate) fn games(&self, bytes: &[u8]) -> Option<Vec<StoredGame>> {
        let bodies = self.bodies(bytes)?;
        self.entries
            .iter()
            .map(|entry| entry.game(&bodies))
            .collect()
    }
}

impl PackEntry {
    /// Copies the game out of its pack's bodies.
    pub(crate) fn game(&self, bodies: &[u8]) -> Option<StoredGame> {
        let mut body = Reader::new(bodies.get(self.offset..)?);
        Some(StoredGame {
            tournament: Arc::clone(&self.tournament),
            index: self.index,
            hash: self.hash,
            record: body.take(self.record)?.to_vec(),
            side: body.take(self.side)?.to_vec(),
        })
    }
}

/// The key of a pack in the database; its order is the order of arrival.
pub(crate) fn key(sequence: u64) -> [u8; 8] {
    sequence.to_be_bytes()
}

/// The place of a pack in the index; `None` if the chain is longer than the index can hold.
pub(crate) fn place(sequence: u64) -> Option<u32> {
    u32::try_from(sequence).ok().filter(|&it| it != u32::MAX)
}

/// Approximate bytes of a game beside its record and side.
pub(crate) const ENTRY_BYTES: usize = 40;

/// Bytes of a game's record and side.
pub(crate) fn body(game: &StoredGame) -> usize {
    game.record.len() + game.side.len()
}

/// Approximate bytes of a game.
pub(crate) fn size(game: &StoredGame) -> usize {
    body(game) + ENTRY_BYTES
}

/// A pack as it is stored.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// The end of the chain with this pack.
    pub(crate) tip: Tip,
    /// Bytes of its bodies as they are stored.
    pub(crate) stored: usize,
}

/// Packs games as the next ones after the tip.
pub(crate) fn encode(games: &[StoredGame], tip: &Tip, compressor: &mut PackCompressor) -> Encoded {
    let length = games.iter().map(body).sum();
    let mut bodies = Vec::with_capacity(length);
    for game in games {
        bodies.extend(&game.record);
        bodies.extend(&game.side);
    }
    let compressed = compressor.compress(&bodies);
    let version = match compressed {
        Some(_) => VERSION_COMPRESSED,
        None => VERSION_RAW,
    };
    let mut out = Vec::with_capacity(128 + games.iter().map(size).sum::<usize>());
    put_header(&mut out, version, games, tip);
    let stored = compressed.as_ref().map_or(length, Vec::len);
    if let Some(compressed) = compressed {
        for game in games {
            out.extend(game.hash);
        }
        out.extend(compressed);
    } else {
        for game in games {
            out.extend(game.hash);
            out.extend(&game.record);
            out.extend(&game.side);
        }
    }
    let link: Sha256Digest = Sha256::digest(&out).into();
    out.extend(link);
    Encoded {
        bytes: out,
        tip: Tip {
            packs: tip.packs + 1,
            games: tip.games + games.len() as u64,
            link,
        },
        stored,
    }
}

/// Everything up to the hashes.
fn put_header(out: &mut Vec<u8>, version: u8, games: &[StoredGame], tip: &Tip) {
    out.push(version);
    out.extend(tip.packs.to_le_bytes());
    out.extend(tip.games.to_le_bytes());
    out.extend(tip.link);

    let mut names: Vec<&str> = Vec::new();
    for game in games {
        if !names.contains(&&*game.tournament) {
            names.push(&game.tournament);
        }
    }
    put_varint(out, names.len() as u64);
    for name in &names {
        put_varint(out, name.len() as u64);
        out.extend(name.as_bytes());
    }

    put_varint(out, games.len() as u64);
    let mut expected = 0_u64;
    for game in games {
        let name = names
            .iter()
            .position(|&name| name == &*game.tournament)
            .unwrap_or(0);
        put_varint(out, name as u64);
        put_varint(out, zigzag(game.index.wrapping_sub(expected) as i64));
        put_varint(out, game.record.len() as u64);
        put_varint(out, game.side.len() as u64);
        expected = game.index.wrapping_add(1);
    }
}

/// Parses the header of an unchanged pack; `None` if it was changed.
pub(crate) fn open(bytes: &[u8]) -> Option<Pack> {
    intact(bytes).then(|| decode(bytes)).flatten()
}

/// True if the bytes are unchanged.
pub(crate) fn intact(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk::<LINK_BYTES>()
        .is_some_and(|(content, link)| <[u8; 32]>::from(Sha256::digest(content)) == *link)
}

/// The link at the end of a pack.
#[cfg(feature = "postgres")]
pub(crate) fn link(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(LINK_BYTES)..]
}

/// Parses the header of a pack that is [`intact`]. `None` if it is invalid.
pub(crate) fn decode(bytes: &[u8]) -> Option<Pack> {
    let (content, link) = bytes.split_last_chunk::<LINK_BYTES>()?;
    let mut header = Reader::new(content);
    let compressed = match header.u8()? {
        VERSION_RAW => false,
        VERSION_COMPRESSED => true,
        _ => return None,
    };
    let (sequence, games_before, previous) = (header.u64()?, header.u64()?, header.array()?);
    let mut entries = entries(&mut header)?;
    let at = |reader: &Reader<'_>| content.len() - reader.left();
    let bodies = if compressed {
        let mut length = 0_usize;
        for entry in &mut entries {
            entry.hash = header.array()?;
            entry.offset = length;
            length = length.checked_add(entry.record)?.checked_add(entry.side)?;
        }
        let offset = at(&header);
        (length <= RAW_BYTES_MAX).then_some(Bodies::Compressed { offset, length })?
    } else {
        for entry in &mut entries {
            entry.hash = header.array()?;
            entry.offset = at(&header);
            header.take(entry.record)?;
            header.take(entry.side)?;
        }
        (header.left() == 0).then_some(Bodies::Raw)?
    };
    Some(Pack {
        sequence,
        games_before,
        previous,
        link: *link,
        entries,
        bodies,
    })
}

/// The valid pack at the start of these bytes, if there is one; anything may follow.
pub(crate) fn find(bytes: &[u8]) -> Option<&[u8]> {
    let pack = bytes.get(..length(bytes)?)?;
    intact(pack).then_some(pack)
}

/// Length of what may be a pack at the start of these bytes.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut pack = Reader::new(bytes);
    let version = pack.u8()?;
    pack.take(16 + LINK_BYTES)?;
    let entries = entries(&mut pack)?;
    for entry in &entries {
        pack.take(HASH_BYTES)?;
        if version == VERSION_RAW {
            pack.take(entry.record)?;
            pack.take(entry.side)?;
        }
    }
    match version {
        VERSION_RAW => {}
        VERSION_COMPRESSED => {
            let bodies = bytes.get(bytes.len() - pack.left()..)?;
            pack.take(compressed_length(bodies)?)?;
        }
        _ => return None,
    }
    (bytes.len() - pack.left()).checked_add(LINK_BYTES)
}

/// Quick check whether a pack may start here: the upper bytes of its counters are never used.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(&(VERSION_RAW | VERSION_COMPRESSED)))
        && bytes.get(5..9) == Some(&[0; 4])
        && bytes.get(14..17) == Some(&[0; 3])
}

/// Start of a pack.
pub(crate) const FIRST_BYTES: [u8; 2] = [VERSION_RAW, VERSION_COMPRESSED];

/// The games of a header, before the place of their bytes is known.
fn entries(header: &mut Reader<'_>) -> Option<Vec<PackEntry>> {
    let names = (0..bounded(header.length()?, header)?)
        .map(|_| {
            let length = header.length()?;
            std::str::from_utf8(header.take(length)?)
                .ok()
                .map(Arc::from)
        })
        .collect::<Option<Vec<Arc<str>>>>()?;
    let mut expected = 0_u64;
    (0..bounded(header.length()?, header)?)
        .map(|_| {
            let tournament = Arc::clone(names.get(header.length()?)?);
            let index = expected.wrapping_add(unzigzag(header.varint()?) as u64);
            expected = index.wrapping_add(1);
            Some(PackEntry {
                tournament,
                index,
                hash: [0; HASH_BYTES],
                offset: 0,
                record: header.length()?,
                side: header.length()?,
            })
        })
        .collect()
}

/// An impossible count (each counted item takes a byte) is refused before anything is allocated.
fn bounded(count: usize, reader: &Reader<'_>) -> Option<usize> {
    (count <= reader.left()).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Games of two tournaments, with records of this length.
    fn games(record: usize) -> Vec<StoredGame> {
        [
            ("cup-a", 5),
            ("cup-a", 6),
            ("cup-b", 0),
            ("cup-a", u64::MAX),
            ("cup-a", 1),
        ]
        .into_iter()
        .map(|(tournament, index): (&str, u64)| StoredGame {
            tournament: tournament.into(),
            index,
            hash: [index as u8; 32],
            record: vec![index as u8; record + (index % 50) as usize],
            side: vec![9; (index % 3) as usize],
        })
        .collect()
    }

    fn encoded(games: &[StoredGame], tip: &Tip) -> Encoded {
        encode(games, tip, &mut PackCompressor::new().expect("memory"))
    }

    /// A raw pack, and a compressed one.
    fn both() -> [Vec<u8>; 2] {
        let packs = [0, 500].map(|record| encoded(&games(record), &Tip::default()).bytes);
        assert_eq!(packs.each_ref().map(|bytes| bytes[0]), [1, 2]);
        packs
    }

    #[test]
    fn pack_round_trips() {
        let before = Tip {
            packs: 3,
            games: 100,
            link: [4; 32],
        };
        for record in [0, 500] {
            let Encoded { bytes, tip, stored } = encoded(&games(record), &before);
            assert!(intact(&bytes));
            assert!(stored < bytes.len());
            let pack = decode(&bytes).expect("decodes");
            assert_eq!(
                (pack.sequence, pack.games_before, pack.previous),
                (3, 100, before.link)
            );
            assert_eq!(
                tip,
                Tip {
                    packs: 4,
                    games: 105,
                    link: pack.link
                }
            );
            assert_eq!(pack.games(&bytes), Some(games(record)));
        }
    }

    #[test]
    fn damaged_pack_is_never_intact() {
        for bytes in both() {
            for bit in 0..bytes.len() * 8 {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(!intact(&changed), "bit {bit}");
                if let Some(pack) = decode(&changed) {
                    pack.games(&changed);
                }
            }
            for length in 0..bytes.len() {
                assert!(!intact(&bytes[..length]));
                if let Some(pack) = decode(&bytes[..length]) {
                    pack.games(&bytes[..length]);
                }
            }
        }
    }

    #[test]
    fn impossible_pack_length_is_refused() {
        let game = |record: usize| StoredGame {
            record: vec![0; record],
            side: Vec::new(),
            ..games(0)[0].clone()
        };
        let [_, good] = both();
        let entries = |length: usize| {
            let mut bytes = Vec::new();
            put_header(
                &mut bytes,
                VERSION_COMPRESSED,
                &[game(length)],
                &Tip::default(),
            );
            bytes.extend([0; HASH_BYTES]);
            bytes.extend(zstd::bulk::compress(&vec![0; length], 1).expect("memory"));
            bytes.extend([0; LINK_BYTES]);
            decode(&bytes).map(|pack| pack.games(&bytes).is_some())
        };
        assert_eq!(entries(RAW_BYTES_MAX), Some(true));
        assert_eq!(entries(RAW_BYTES_MAX + 1), None);
        // A pack of an unknown version.
        assert!(decode(&[&[3], &good[1..]].concat()).is_none());
    }

    /// A pack that a release without compression wrote.
    #[test]
    fn uncompressed_pack_reads() {
        let bytes = hex::decode(include_str!("../../data/pack-1.hex").trim()).expect("hex");
        assert!(intact(&bytes));
        let pack = decode(&bytes).expect("decodes");
        assert_eq!((pack.sequence, pack.games_before), (3, 100));
        assert_eq!(pack.games(&bytes), Some(games(60)));
    }
}
