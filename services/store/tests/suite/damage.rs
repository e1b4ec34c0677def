//! The durable store with damage: acknowledged data is complete, or an error names the
//! damage.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{
    Collection, SledStore, Store, StoreError, repair, suite::contract::games, suite::crash::open,
    verify,
};

pub(crate) const GAMES: u64 = 1_500;
pub(crate) const DOCUMENTS: u64 = 30;

/// A store with games and documents in many commits, opened more than once.
pub(crate) fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for session in 0..3 {
        let store = open(&folder.path().join("data")).unwrap();
        let (first, last) = (session * GAMES / 3, (session + 1) * GAMES / 3);
        for start in (first..last).step_by(50) {
            store
                .append_and_wait(games("cup", start..start + 50))
                .unwrap();
            let key = format!("agent-{}", start / 50);
            store
                .put(Collection::Agents, &key, key.repeat(20).as_bytes())
                .unwrap();
        }
    }
    folder
}

pub(crate) fn all_is_there(store: &SledStore) -> bool {
    let documents = store.list(Collection::Agents).unwrap_or_default();
    store.games("cup", 0, usize::MAX) == Ok(games("cup", 0..GAMES))
        && documents.len() as u64 == DOCUMENTS
        && documents
            .iter()
            .all(|(key, value)| key.repeat(20).as_bytes() == value)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The files of a store in which damage has an effect.
pub(crate) fn files(data: &Path) -> Vec<PathBuf> {
    let database = data.join("database-1");
    let mut files: Vec<PathBuf> = fs::read_dir(database.join("sled"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.push(database.join("acknowledged"));
    files.push(data.join("store.json"));
    files.retain(|path| path.is_file());
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    files
}

/// Changes one file of a copy of a filled store and opens it. Returns the error.
fn after(filled: &TempDir, file: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Option<StoreError> {
    let scratch = tempfile::tempdir().unwrap();
    let (from, to) = (filled.path().join("data"), scratch.path().join("data"));
    copy(&from, &to);
    let target = to.join(file.strip_prefix(&from).unwrap());
    let mut bytes = fs::read(&target).unwrap();
    change(&mut bytes);
    fs::write(&target, bytes).unwrap();
    match open(&to) {
        Ok(store) => {
            assert!(
                all_is_there(&store),
                "something was lost in silence: {}",
                file.display()
            );
            None
        }
        Err(error) => {
            match &error {
                StoreError::Corrupt { damage, remedy, .. } => {
                    assert!(
                        !damage.is_empty() && remedy.contains("arena store verify"),
                        "{error}"
                    );
                }
                // A damaged label may claim a newer format.
                StoreError::NewerVersion { .. } if file.ends_with("store.json") => {}
                _ => panic!("{error}"),
            }
            Some(error)
        }
    }
}

/// Positions spread over a file, with more of them at its start and end.
pub(crate) fn positions(length: usize, count: usize) -> Vec<usize> {
    let spread = (0..count).map(|n| n * length / count);
    let ends = (1..=8).flat_map(|n| [n, length.saturating_sub(n)]);
    let mut positions: Vec<usize> = spread.chain(ends).filter(|&at| at < length).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

#[test]
fn truncated_file_is_survived_or_named() {
    let filled = filled();
    let mut named = 0;
    for file in files(&filled.path().join("data")) {
        let length = fs::metadata(&file).unwrap().len() as usize;
        for at in positions(length, 24) {
            named += u32::from(after(&filled, &file, |bytes| bytes.truncate(at)).is_some());
        }
    }
    assert!(named > 20, "{named} cuts were named");
}

#[test]
fn flipped_bit_is_survived_or_named() {
    let filled = filled();
    let mut named = 0;
    for file in files(&filled.path().join("data")) {
        let length = fs::metadata(&file).unwrap().len() as usize;
        for (n, at) in positions(length, 100).into_iter().enumerate() {
            named += u32::from(after(&filled, &file, |bytes| bytes[at] ^= 1 << (n % 8)).is_some());
        }
    }
    assert!(named > 20, "{named} turned bits were named");
}

#[test]
fn missing_file_is_survived_or_named() {
    let filled = filled();
    for file in files(&filled.path().join("data")) {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (filled.path().join("data"), scratch.path().join("data"));
        copy(&from, &to);
        fs::remove_file(to.join(file.strip_prefix(&from).unwrap())).unwrap();
        match open(&to) {
            Ok(store) => assert!(all_is_there(&store), "without {}", file.display()),
            Err(error) => assert!(matches!(error, StoreError::Corrupt { .. }), "{error}"),
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let to = scratch.path().join("data");
    copy(&filled.path().join("data"), &to);
    fs::remove_dir_all(to.join("database-1")).unwrap();
    let error = open(&to).err().unwrap().to_string();
    assert!(error.contains("the commit marker is missing"), "{error}");
    fs::remove_dir_all(&to).unwrap();
    copy(&filled.path().join("data"), &to);
    fs::remove_dir_all(to.join("database-1/sled")).unwrap();
    let error = open(&to).err().unwrap().to_string();
    assert!(
        error.contains("1500 acknowledged games are missing"),
        "{error}"
    );
    assert!(
        error.contains("changes of documents are missing"),
        "{error}"
    );
}

/// A store whose database is older than the acknowledged state.
pub(crate) fn fallen_back() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (data, early) = (folder.path().join("data"), folder.path().join("early"));
    let store = open(&data).unwrap();
    store.append_and_wait(games("cup", 0..100)).unwrap();
    store.put(Collection::Agents, "random", b"1").unwrap();
    drop(store);
    copy(&data.join("database-1/sled"), &early);
    let store = open(&data).unwrap();
    store.append_and_wait(games("cup", 100..130)).unwrap();
    store.put(Collection::Agents, "random", b"2").unwrap();
    drop(store);
    fs::remove_dir_all(data.join("database-1/sled")).unwrap();
    fs::rename(early, data.join("database-1/sled")).unwrap();
    folder
}

#[test]
fn lost_acknowledged_games_are_counted() {
    let folder = fallen_back();
    let error = open(&folder.path().join("data")).err().unwrap().to_string();
    assert!(
        error.contains("30 acknowledged games are missing"),
        "{error}"
    );
    assert!(
        error.contains("the last 1 changes of documents are missing"),
        "{error}"
    );
    assert!(
        error.contains("arena store verify --repair --data"),
        "{error}"
    );
}

#[test]
fn positions_belong_to_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let [data, other] = ["data", "other"].map(|name| folder.path().join(name));
    let store = open(&data).unwrap();
    let begin = store.positions().unwrap().now();
    let mut places = Vec::new();
    for start in [0, 300, 900] {
        places.push((start, store.positions().unwrap().now()));
        store
            .append_and_wait(games("cup", start..start + 300))
            .unwrap();
        store
            .append_and_wait(games("bowl", start..start + 5))
            .unwrap();
    }
    let end = store.positions().unwrap().now();
    let from = |store: &SledStore, place: &crate::Position| {
        let mut seen = Vec::new();
        let known = store.scan_from("cup", place, &mut |game| seen.push(game));
        known.unwrap().then_some(seen)
    };
    let tail = |start: u64| {
        let all = [0, 300, 900].map(|start| start..start + 300);
        games(
            "cup",
            all.into_iter().flatten().filter(|&index| index >= start),
        )
    };
    let all_known = |store: &SledStore| {
        for (start, place) in &places {
            assert_eq!(from(store, place), Some(tail(*start)));
        }
        assert_eq!(from(store, &end), Some(Vec::new()));
    };
    all_known(&store);
    drop(store);
    all_known(&open(&data).unwrap());
    // Another history of the same length, and invalid positions.
    let store = open(&other).unwrap();
    assert_eq!(store.positions().unwrap().now(), begin);
    for start in [0, 300, 900] {
        store
            .append_and_wait(games("cup", start + 1..start + 301))
            .unwrap();
        store
            .append_and_wait(games("bowl", start..start + 5))
            .unwrap();
    }
    for (_, place) in &places[1..] {
        assert_eq!(from(&store, place), None);
    }
    for packs in [1, end.packs, end.packs + 1, u64::MAX] {
        let wrong = crate::Position { packs, ..end };
        assert_eq!(from(&store, &wrong), None, "{packs}");
    }
    let wrong = crate::Position {
        packs: 0,
        link: end.link,
    };
    assert_eq!(from(&store, &wrong), None);
}

#[test]
fn earlier_format_is_upgraded() {
    let folder = filled();
    let data = folder.path().join("data");
    let label = data.join("store.json");
    let now = fs::read_to_string(&label).unwrap();
    assert!(now.contains("\"format\":3"), "{now}");
    let check = hex::encode(&Sha256::digest("arena store 1 1")[..8]);
    let before = format!("{{\"format\":1,\"generation\":1,\"check\":\"{check}\"}}\n");
    fs::write(&label, &before).unwrap();
    assert!(verify(&data).unwrap().is_sound());
    assert_eq!(fs::read_to_string(&label).unwrap(), before);
    assert!(all_is_there(&open(&data).unwrap()));
    // The label is updated, because an earlier release would report compressed packs as damage.
    assert_eq!(fs::read_to_string(&label).unwrap(), now);
    assert!(all_is_there(&open(&data).unwrap()));
}

#[test]
fn misplaced_label_is_no_new_store() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path())
        .unwrap()
        .append_and_wait(games("cup", 0..10))
        .unwrap();
    let label = folder.path().join("store.json");
    let text = fs::read_to_string(&label).unwrap();
    fs::write(&label, text.replace("\"generation\":1", "\"generation\":2")).unwrap();
    let error = open(folder.path()).err().unwrap().to_string();
    assert!(
        error.contains("store.json has changed since it was written"),
        "{error}"
    );
    assert_eq!(repair(folder.path()).unwrap().games, 10);
    assert_eq!(open(folder.path()).unwrap().count("cup"), 10);
}

#[test]
fn repeated_games_leave_an_intact_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    store.append_and_wait(games("cup", [3, 1, 3, 2])).unwrap();
    store.append_and_wait(games("cup", [2, 4, 3])).unwrap();
    drop(store);
    let report = verify(folder.path()).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(report.games, 4);
}

#[test]
fn torn_commit_marker_slot_is_tolerated() {
    let folder = tempfile::tempdir().unwrap();
    let commit_marker = folder.path().join("database-1/acknowledged");
    for start in [0, 10, 20] {
        open(folder.path())
            .unwrap()
            .append_and_wait(games("cup", start..start + 10))
            .unwrap();
        let whole = fs::read(&commit_marker).unwrap();
        for slot in [0, 4_096] {
            let mut torn = whole.clone();
            torn[slot + 20..slot + 60].fill(0xee);
            fs::write(&commit_marker, torn).unwrap();
            assert_eq!(open(folder.path()).unwrap().count("cup"), start + 10);
            fs::write(&commit_marker, &whole).unwrap();
        }
    }
}

#[test]
fn commit_marker_may_lag() {
    let folder = tempfile::tempdir().unwrap();
    let commit_marker = folder.path().join("database-1/acknowledged");
    open(folder.path())
        .unwrap()
        .append_and_wait(games("cup", 0..100))
        .unwrap();
    let early = fs::read(&commit_marker).unwrap();
    open(folder.path())
        .unwrap()
        .append_and_wait(games("cup", 100..200))
        .unwrap();
    fs::write(&commit_marker, early).unwrap();
    let store = open(folder.path()).unwrap();
    store.append_and_wait(games("cup", 200..300)).unwrap();
    drop(store);
    assert_eq!(
        open(folder.path()).unwrap().games("cup", 0, 999),
        Ok(games("cup", 0..300))
    );
}

#[test]
fn deleted_database_fails_commits() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let store = open(&data).unwrap();
    store.append_and_wait(games("cup", 0..10)).unwrap();
    fs::remove_dir_all(data.join("database-1")).unwrap();
    let error = store.append_and_wait(games("cup", 10..20)).unwrap_err();
    assert!(error.to_string().contains("deleted or replaced"), "{error}");
}
