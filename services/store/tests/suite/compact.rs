//! Compaction: the games of a selection are gone, everything else stays, and an interrupted one does
//! no harm.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{fs, path::Path};

use sha2::{Digest, Sha256};

use super::{
    contract::{game, games},
    crash::open,
};
use crate::{
    Collection, CompactReport, Selection, Store, StoreError, StoredGame, compact, repair, verify,
};

/// Drops the tournament "gone", and the documents of its games.
#[derive(Default)]
pub(super) struct WithoutGone {
    /// Documents that were shown.
    seen: Vec<String>,
}

impl Selection for WithoutGone {
    fn document(&mut self, _: Collection, key: &str) {
        self.seen.push(key.to_owned());
    }

    fn keeps_document(&self, _: Collection, key: &str) -> bool {
        assert_eq!(self.seen.len(), 2, "all documents are shown before");
        key != "checkpoint"
    }

    fn keeps_games_of(&self, tournament: &str) -> bool {
        assert_eq!(self.seen.len(), 2, "all documents are shown before");
        tournament != "gone"
    }
}

/// A game of the tournament that goes. It cannot be compressed.
fn large(index: u64) -> StoredGame {
    let part = |part: u64| Sha256::digest([index.to_be_bytes(), part.to_be_bytes()].concat());
    StoredGame {
        record: (0..80).flat_map(part).collect(),
        ..game("gone", index)
    }
}

/// Games of three tournaments, mixed, most of them of one that goes; and two documents.
pub(super) fn fill(store: &dyn Store) {
    for start in (0..3_000).step_by(100) {
        let range = start..start + 100;
        let gone = range.clone().map(large).collect();
        store.append_and_wait(gone).unwrap();
        let some = range.start / 10..range.end / 10;
        let mixed = [
            games("cup", some.clone()),
            games("league", some),
            games("gone", 9_000..9_001),
        ];
        store.append_and_wait(mixed.concat()).unwrap();
    }
    store.put(Collection::Agents, "random", b"1").unwrap();
    store
        .put(Collection::Meta, "checkpoint", &[7; 3_000])
        .unwrap();
}

/// All games of the tournaments that stay.
fn kept(store: &dyn Store) -> Vec<StoredGame> {
    let all = ["cup", "league"].map(|it| store.games(it, 0, usize::MAX).unwrap());
    all.concat()
}

/// Fails unless exactly the selected contents are there, and further games can be written.
pub(super) fn check(store: &dyn Store) {
    assert_eq!(
        kept(store),
        [games("cup", 0..300), games("league", 0..300)].concat()
    );
    assert_eq!((store.count("gone"), store.stats().games), (0, 600));
    let agents = store.list(Collection::Agents);
    assert_eq!(agents, Ok(vec![("random".to_owned(), b"1".to_vec())]));
    assert_eq!(store.list(Collection::Meta), Ok(Vec::new()));
    store.append_and_wait(vec![game("cup", 300)]).unwrap();
    assert_eq!(store.game("cup", 300).unwrap(), Some(game("cup", 300)));
}

fn compacted(data: &Path) -> Result<CompactReport, StoreError> {
    compact(&data.to_str().unwrap().into(), &mut WithoutGone::default())
}

fn names(data: &Path) -> Vec<String> {
    let entries = fs::read_dir(data).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("database")).collect();
    names.sort();
    names
}

#[test]
fn compaction_gives_space_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let store = open(&data).unwrap();
    fill(&store);
    let busy = compacted(&data).unwrap_err();
    assert!(matches!(busy, StoreError::Locked { .. }), "{busy}");
    drop(store);
    let report = compacted(&data).unwrap();
    assert_eq!((report.games, report.games_removed), (600, 3_001));
    assert!(report.bytes_after < report.bytes_before / 2, "{report:?}");
    assert_eq!(names(&data), ["database-2"]);
    let verified = verify(&data).unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!((verified.games, verified.documents), (600, 1));
    check(&open(&data).unwrap());
}

/// The document that the selection drops is gone already, so it has to be shown again.
#[test]
fn compaction_without_removed_games_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let store = open(&data).unwrap();
    store.append_and_wait(games("cup", 0..10)).unwrap();
    store.put(Collection::Agents, "random", b"1").unwrap();
    store.put(Collection::Meta, "checkpoint", b"2").unwrap();
    drop(store);
    let report = compacted(&data).unwrap();
    assert_eq!((report.games, report.games_removed), (10, 0));
    assert_eq!(report.bytes_before, report.bytes_after);
    assert_eq!(names(&data), ["database-1"]);
    let store = open(&data).unwrap();
    assert!(store.get(Collection::Meta, "checkpoint").unwrap().is_some());
}

/// The states that a kill leaves: before the new database is complete, before it is the current one, and
/// before the old one is removed.
#[test]
fn interrupted_compaction_loses_nothing() {
    for step in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let store = open(&data).unwrap();
        fill(&store);
        drop(store);
        let whole = folder.path().join("whole");
        super::damage::copy(&data, &whole);
        match step {
            0 => super::damage::copy(
                &data.join("database-1/sled"),
                &data.join("database.unfinished"),
            ),
            1 => {
                compacted(&whole).unwrap();
                super::damage::copy(&whole.join("database-2"), &data.join("database-2"));
                fs::write(data.join("database-1/superseded"), "").unwrap();
            }
            _ => {
                super::damage::copy(&whole.join("database-1"), &data.join("old"));
                compacted(&data).unwrap();
                fs::rename(data.join("old"), data.join("database-1")).unwrap();
                fs::write(data.join("database-1/superseded"), "").unwrap();
            }
        }
        if step < 2 {
            let store = open(&data).unwrap();
            assert_eq!(store.stats().games, 3_601, "step {step}");
            drop(store);
            let report = compacted(&data).unwrap();
            assert_eq!((report.games, report.games_removed), (600, 3_001));
        } else {
            let store = open(&data).unwrap();
            store.put(Collection::Meta, "checkpoint", b"2").unwrap();
            drop(store);
            assert_eq!(compacted(&data).unwrap().games_removed, 0);
            let store = open(&data).unwrap();
            let gone = crate::Change {
                collection: Collection::Meta,
                key: "checkpoint".to_owned(),
                value: None,
            };
            store.put_many(vec![gone]).unwrap();
        }
        assert_eq!(names(&data).len(), 1, "step {step}: {:?}", names(&data));
        check(&open(&data).unwrap());
    }
}

#[test]
fn damaged_store_is_not_compacted() {
    let fallen = super::damage::fallen_back();
    let data = fallen.path().join("data");
    let error = compacted(&data).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("arena store verify"), "{error}");
    // The database that a repair keeps is not removed by a later compaction.
    repair(&data).unwrap();
    let store = open(&data).unwrap();
    store.append_and_wait(games("gone", 0..10)).unwrap();
    store.put(Collection::Meta, "checkpoint", b"2").unwrap();
    drop(store);
    assert_eq!(compacted(&data).unwrap().games_removed, 10);
    assert_eq!(names(&data), ["database-1", "database-3"]);
}
