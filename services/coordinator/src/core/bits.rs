//! Stored sets of games: 4,096 games in a document, one bit per game and set.

use std::collections::BTreeMap;

use arena_store::{Change, Collection};

use super::change;
use crate::ledger::Bitmap;

/// Games of a document.
const GAMES: u64 = 4096;
const BYTES: usize = GAMES as usize / 8;

/// Documents of one tournament, by number.
pub(super) type Documents = BTreeMap<u64, Vec<u8>>;

/// All documents below a prefix, by tournament.
pub(super) fn read(meta: &[(String, Vec<u8>)], prefix: &str) -> BTreeMap<String, Documents> {
    let mut found: BTreeMap<String, Documents> = BTreeMap::new();
    for (key, bytes) in meta {
        let place = key
            .strip_prefix(prefix)
            .and_then(|rest| rest.rsplit_once('/'));
        if let Some((tournament, number)) = place
            && let Ok(number) = number.parse()
        {
            let documents = found.entry(tournament.to_owned()).or_default();
            documents.insert(number, bytes.clone());
        }
    }
    found
}

/// Documents with these games in one of the sets.
pub(super) fn only(number: usize, games: impl IntoIterator<Item = u64>) -> Documents {
    let mut documents = Documents::new();
    for index in games {
        let bytes = documents.entry(document_of(index)).or_default();
        bytes.resize((number + 1) * BYTES, 0);
        let place = index % GAMES;
        bytes[number * BYTES + (place / 8) as usize] |= 1 << (place % 8);
    }
    documents
}

/// One of the sets of a tournament with this many games; sets are numbered from 0.
pub(super) fn set(documents: &Documents, number: usize, games: u64) -> Bitmap {
    set_where(documents, number, games, |_| true)
}

/// As [`set`], of these games only.
pub(super) fn set_where(
    documents: &Documents,
    number: usize,
    games: u64,
    keep: impl Fn(u64) -> bool,
) -> Bitmap {
    let mut set = Bitmap::new(games);
    for (document, bytes) in documents {
        for place in 0..GAMES {
            let byte = bytes.get(number * BYTES + (place / 8) as usize);
            let index = document * GAMES + place;
            if byte.is_some_and(|byte| byte >> (place % 8) & 1 == 1) && keep(index) {
                set.insert(index);
            }
        }
    }
    set
}

/// The document of a game.
pub(super) fn document_of(index: u64) -> u64 {
    index / GAMES
}

/// The change that stores a document of `SETS` sets; `is_in` returns true for the sets that
/// contain a game.
pub(super) fn store<const SETS: usize>(
    prefix: &str,
    tournament: &str,
    document: u64,
    is_in: impl Fn(u64) -> [bool; SETS],
) -> Change {
    let mut bytes = vec![0; SETS * BYTES];
    for place in 0..GAMES {
        let (byte, bit) = ((place / 8) as usize, 1 << (place % 8));
        let sets = is_in(document * GAMES + place);
        for (number, _) in sets.into_iter().enumerate().filter(|(_, is_in)| *is_in) {
            bytes[number * BYTES + byte] |= bit;
        }
    }
    put(prefix, tournament, document, bytes)
}

/// The change that stores a document.
pub(super) fn put(prefix: &str, tournament: &str, document: u64, bytes: Vec<u8>) -> Change {
    let key = format!("{prefix}{tournament}/{document:0>12}");
    change(Collection::Meta, key, Some(bytes))
}
