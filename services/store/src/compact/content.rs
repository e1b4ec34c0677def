//! What a compaction keeps, and the contents of a store, to compare two databases.

use std::path::PathBuf;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{Collection, StoredGame, packing::index::Index, repair::walk::Item};

/// What is wrong if a compacted database has other contents.
pub(crate) const DIFFERS: &str =
    "the compacted database is not equal to the old one, which stays as it was";

/// Decides what a compaction keeps.
pub trait Selection {
    /// A document of the store. All of them come before the first decision.
    fn document(&mut self, collection: Collection, key: &str);
    /// True if a document stays.
    fn keeps_document(&self, collection: Collection, key: &str) -> bool;
    /// True if the games of a tournament stay.
    fn keeps_games_of(&self, tournament: &str) -> bool;
}

/// The result of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CompactReport {
    /// The store.
    pub path: PathBuf,
    /// Games that stay.
    pub games: u64,
    /// Games that were dropped.
    pub games_removed: u64,
    /// Bytes of the database on the disk, without binaries.
    pub bytes_before: u64,
    /// The same, after the compaction.
    pub bytes_after: u64,
}

/// The games of an index that a selection drops.
pub(crate) fn dropped(index: &Index, selection: &dyn Selection) -> u64 {
    let counts = index.counts();
    let dropped = counts.filter(|(tournament, _)| !selection.keeps_games_of(tournament));
    dropped.map(|(_, games)| games).sum()
}

/// A sum over the contents of a store, whatever their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    items: u64,
    sum: [u64; 4],
}

impl Content {
    pub(crate) fn game(&mut self, game: &StoredGame) {
        let StoredGame {
            tournament,
            index,
            hash,
            record,
            side,
        } = game;
        let index = index.to_be_bytes();
        self.add(&[tournament.as_bytes(), &index, hash, record, side]);
    }

    /// Adds a document, or the games of a pack.
    pub(crate) fn item(&mut self, item: &Item<'_>) {
        match item {
            Item::Document(document) => self.add(&[document.key, document.content]),
            Item::Pack { .. } => {
                let games = item.games().unwrap_or_default();
                games.iter().for_each(|game| self.game(game));
            }
        }
    }

    fn add(&mut self, parts: &[&[u8]]) {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        let digest: [u8; 32] = digest.finalize().into();
        for (sum, word) in self.sum.iter_mut().zip(digest.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_be_bytes(*word));
        }
        self.items += 1;
    }
}
