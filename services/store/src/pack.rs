//! A pack: up to 256 games in one value of the database.
//!
//! Layout, version 1, numbers little endian, `v` LEB128:
//!
//! ```text
//! u8  version            u64 sequence        u64 games in all packs before
//! [32] link of the pack before (zeros for the first)
//! v tournaments, each: v length, name
//! v games, each: v tournament, v zigzag(index − (index before + 1)), v record length, v side length
//! then of each game: [32] hash, record, side
//! [32] link: SHA-256 of everything above
//! ```
//!
//! The link is the pack's own checksum and the next pack's `link before`, so a
//! pack that was changed, lost, added or moved breaks the chain.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::{
    Sha256Digest, StoredGame,
    bytes::{Reader, put_varint, unzigzag, zigzag},
};

/// Games in one pack at most.
pub(crate) const PACK_GAMES_MAX: usize = 256;

/// Bytes of records after which a pack is closed. A leaf of the database holds
/// up to 27 packs before it splits; together they stay below the size (512 KiB)
/// from which sled moves a leaf to a file of its own, and sled's cache, which
/// keeps at least one leaf in each of its 256 shards, stays small.
pub(crate) const PACK_BYTES: usize = 16 << 10;

const VERSION: u8 = 1;
const LINK_BYTES: usize = 32;

/// A position in the chain: what the next pack builds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tip {
    /// Packs so far, which is the next pack's sequence number.
    pub(crate) packs: u64,
    /// Games so far.
    pub(crate) games: u64,
    /// Link of the last pack; zeros before the first.
    pub(crate) link: Sha256Digest,
}

/// A pack's header, read without its records.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) sequence: u64,
    pub(crate) games_before: u64,
    pub(crate) previous: Sha256Digest,
    pub(crate) link: Sha256Digest,
    pub(crate) entries: Vec<Entry>,
}

/// One game of a pack: what it is and where its bytes lie.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) tournament: Arc<str>,
    pub(crate) index: u64,
    offset: usize,
    record: usize,
    side: usize,
}

impl Entry {
    /// Copies the game out of its pack's bytes.
    pub(crate) fn game(&self, pack: &[u8]) -> Option<StoredGame> {
        let mut body = Reader::new(pack.get(self.offset..)?);
        Some(StoredGame {
            tournament: Arc::clone(&self.tournament),
            index: self.index,
            hash: body.array()?,
            record: body.take(self.record)?.to_vec(),
            side: body.take(self.side)?.to_vec(),
        })
    }
}

/// The database's key of a pack; its order is the order of arrival.
pub(crate) fn key(sequence: u64) -> [u8; 8] {
    sequence.to_be_bytes()
}

/// How many games from the front of `games` make the next pack.
pub(crate) fn fits(games: &[StoredGame]) -> usize {
    let mut bytes = 0;
    games
        .iter()
        .take(PACK_GAMES_MAX)
        .take_while(|game| {
            let fits = bytes == 0 || bytes + size(game) <= PACK_BYTES;
            bytes += size(game);
            fits
        })
        .count()
}

/// Bytes that a game takes, about.
pub(crate) fn size(game: &StoredGame) -> usize {
    game.record.len() + game.side.len() + 40
}

/// Packs games and moves the tip on.
pub(crate) fn encode(games: &[StoredGame], tip: &mut Tip) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + games.iter().map(size).sum::<usize>());
    out.push(VERSION);
    out.extend(tip.packs.to_le_bytes());
    out.extend(tip.games.to_le_bytes());
    out.extend(tip.link);

    let mut names: Vec<&str> = Vec::new();
    for game in games {
        if !names.contains(&&*game.tournament) {
            names.push(&game.tournament);
        }
    }
    put_varint(&mut out, names.len() as u64);
    for name in &names {
        put_varint(&mut out, name.len() as u64);
        out.extend(name.as_bytes());
    }

    put_varint(&mut out, games.len() as u64);
    let mut expected = 0_u64;
    for game in games {
        let name = names
            .iter()
            .position(|&name| name == &*game.tournament)
            .unwrap_or(0);
        put_varint(&mut out, name as u64);
        put_varint(&mut out, zigzag(game.index.wrapping_sub(expected) as i64));
        put_varint(&mut out, game.record.len() as u64);
        put_varint(&mut out, game.side.len() as u64);
        expected = game.index.wrapping_add(1);
    }
    for game in games {
        out.extend(game.hash);
        out.extend(&game.record);
        out.extend(&game.side);
    }
    let link: Sha256Digest = Sha256::digest(&out).into();
    out.extend(link);
    *tip = Tip {
        packs: tip.packs + 1,
        games: tip.games + games.len() as u64,
        link,
    };
    out
}

/// Whether the bytes are as they were written.
pub(crate) fn intact(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk::<LINK_BYTES>()
        .is_some_and(|(content, link)| <[u8; 32]>::from(Sha256::digest(content)) == *link)
}

/// Reads the header of a pack that is [`intact`]. `None` where it makes no sense.
pub(crate) fn decode(bytes: &[u8]) -> Option<Pack> {
    let (content, link) = bytes.split_last_chunk::<LINK_BYTES>()?;
    let mut header = Reader::new(content);
    if header.u8()? != VERSION {
        return None;
    }
    let (sequence, games_before, previous) = (header.u64()?, header.u64()?, header.array()?);
    let names = (0..bounded(header.length()?, &header)?)
        .map(|_| {
            let length = header.length()?;
            std::str::from_utf8(header.take(length)?)
                .ok()
                .map(Arc::from)
        })
        .collect::<Option<Vec<Arc<str>>>>()?;
    let mut expected = 0_u64;
    let mut offset = 0_usize;
    let mut entries = (0..bounded(header.length()?, &header)?)
        .map(|_| {
            let tournament = Arc::clone(names.get(header.length()?)?);
            let index = expected.wrapping_add(unzigzag(header.varint()?) as u64);
            let (record, side) = (header.length()?, header.length()?);
            let entry = Entry {
                tournament,
                index,
                offset,
                record,
                side,
            };
            offset = offset
                .checked_add(record)?
                .checked_add(side)?
                .checked_add(32)?;
            expected = index.wrapping_add(1);
            Some(entry)
        })
        .collect::<Option<Vec<Entry>>>()?;
    if header.left() != offset {
        return None;
    }
    let body = content.len() - offset;
    for entry in &mut entries {
        entry.offset += body;
    }
    Some(Pack {
        sequence,
        games_before,
        previous,
        link: *link,
        entries,
    })
}

/// A count that cannot be true (each thing counted takes a byte) is refused
/// before anything is allocated for it.
fn bounded(count: usize, reader: &Reader<'_>) -> Option<usize> {
    (count <= reader.left()).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games() -> Vec<StoredGame> {
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
            record: vec![7; (index % 50) as usize],
            side: vec![9; (index % 3) as usize],
        })
        .collect()
    }

    #[test]
    fn games_come_out_of_a_pack_as_they_went_in() {
        let mut tip = Tip {
            packs: 3,
            games: 100,
            link: [4; 32],
        };
        let before = tip;
        let bytes = encode(&games(), &mut tip);
        assert!(intact(&bytes));
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
        let read: Option<Vec<_>> = pack
            .entries
            .iter()
            .map(|entry| entry.game(&bytes))
            .collect();
        assert_eq!(read, Some(games()));
    }

    #[test]
    fn no_changed_or_shortened_pack_is_intact_and_none_panics() {
        let bytes = encode(&games(), &mut Tip::default());
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!intact(&changed), "bit {bit}");
            if let Some(pack) = decode(&changed) {
                for entry in &pack.entries {
                    entry.game(&changed);
                }
            }
        }
        for length in 0..bytes.len() {
            assert!(!intact(&bytes[..length]));
            decode(&bytes[..length]);
        }
    }

    #[test]
    fn packs_are_closed_by_count_and_by_size_but_never_empty() {
        let game = |bytes: usize| StoredGame {
            record: vec![0; bytes],
            ..games()[0].clone()
        };
        assert_eq!(fits(&vec![game(10); 1000]), PACK_GAMES_MAX);
        assert_eq!(fits(&vec![game(PACK_BYTES / 3); 10]), 2);
        assert_eq!(fits(&[game(PACK_BYTES * 4), game(1)]), 1);
        assert_eq!(fits(&[]), 0);
    }
}
