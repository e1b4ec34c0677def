//! Verify, repair, backup and restore: readable data is kept, losses are named, and no false
//! data appears.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Collection, Store, StoreError, repair,
    repair::carve::{Carved, Place},
    restore,
    suite::contract::{game, games},
    suite::crash::open,
    suite::damage::{DOCUMENTS, GAMES, all_is_there, copy, fallen_back, files, filled, positions},
    verify,
};

#[test]
fn repair_leaves_sound_store_alone() {
    let folder = filled();
    let data = folder.path().join("data");
    let report = verify(&data).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.games, report.documents), (GAMES, DOCUMENTS));
    let repaired = repair(&data).unwrap();
    assert_eq!(
        (
            repaired.games,
            repaired.before,
            repaired.damage_report.len()
        ),
        (GAMES, None, 0)
    );
    assert!(all_is_there(&open(&data).unwrap()));
}

#[test]
fn repair_keeps_readable_games() {
    let folder = fallen_back();
    let data = folder.path().join("data");
    assert!(!verify(&data).unwrap().is_sound());
    let repaired = repair(&data).unwrap();
    assert_eq!((repaired.games, repaired.documents), (100, 1));
    assert!(
        repaired
            .damage_report
            .iter()
            .any(|line| line.contains("30 acknowledged games"))
    );
    assert_eq!(repaired.before, Some(data.join("database-1")));
    assert!(verify(&data).unwrap().is_sound());
    let store = open(&data).unwrap();
    assert_eq!(
        store.get(Collection::Agents, "random"),
        Ok(Some(b"1".to_vec()))
    );
    store.append_and_wait(games("cup", 100..130)).unwrap();
    assert_eq!(store.games("cup", 0, 999), Ok(games("cup", 0..130)));
}

#[test]
fn repaired_store_is_true() {
    let filled = filled();
    let mut kept = 0;
    for file in files(&filled.path().join("data")) {
        let length = fs::metadata(&file).unwrap().len() as usize;
        for at in positions(length, 6) {
            let scratch = tempfile::tempdir().unwrap();
            let (from, data) = (filled.path().join("data"), scratch.path().join("data"));
            copy(&from, &data);
            let target = data.join(file.strip_prefix(&from).unwrap());
            let mut bytes = fs::read(&target).unwrap();
            bytes[at] ^= 0x55;
            fs::write(&target, bytes).unwrap();
            match repair(&data) {
                // A damaged label may claim a newer format.
                Err(StoreError::NewerVersion { .. }) => continue,
                result => result.unwrap(),
            };
            let store = open(&data).unwrap();
            for found in store.games("cup", 0, usize::MAX).unwrap() {
                assert_eq!(found, game("cup", found.index));
                kept += 1;
            }
        }
    }
    assert!(kept > GAMES * 10, "{kept} games kept in all");
}

/// The number of games whose pack is damaged at all its places in the database files.
fn lost_with(carved: &Carved, damaged: impl Fn(&Place) -> bool) -> u64 {
    let packs = carved.packs.values();
    let lost = packs.filter(|pack| pack.places.iter().all(&damaged));
    lost.map(|pack| pack.games).sum()
}

fn sled(data: &Path) -> PathBuf {
    data.join("database-1/sled")
}

#[test]
fn wrong_byte_costs_one_pack() {
    let filled = filled();
    let from = filled.path().join("data");
    let carved = Carved::of(&sled(&from)).unwrap();
    let log = sled(&from).join("db");
    let whole = fs::read(&log).unwrap();
    let used = whole.iter().rposition(|&byte| byte != 0).unwrap();
    let mut costly = 0;
    for at in positions(used, 60) {
        let scratch = tempfile::tempdir().unwrap();
        let data = scratch.path().join("data");
        copy(&from, &data);
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(sled(&data).join("db"), bytes).unwrap();
        let lost = lost_with(&carved, |place| {
            carved.file(place) == log
                && (place.offset..place.offset + place.length as u64).contains(&(at as u64))
        });
        costly += u64::from(lost > 0);
        let repaired = repair(&data).unwrap();
        assert_eq!(repaired.games, GAMES - lost, "byte {at}: {repaired:?}");
        assert_eq!(repaired.games_lost, lost, "byte {at}: {repaired:?}");
        let documents = open(&data).unwrap().list(Collection::Agents).unwrap();
        let others = documents
            .iter()
            .filter(|(key, value)| key.repeat(20).as_bytes() == value);
        // The byte may also belong to the only copy of one document.
        let kept = others.count() as u64;
        assert!(kept + 1 >= DOCUMENTS, "byte {at}: {repaired:?}");
        let lost = lost > 0 || kept < DOCUMENTS;
        assert_eq!(repaired.has_losses(), lost, "byte {at}: {repaired:?}");
        assert!(verify(&data).unwrap().is_sound());
    }
    assert!(costly > 0, "no byte of a pack was hit");
}

#[test]
fn opening_changes_no_damaged_store() {
    let filled = filled();
    let from = filled.path().join("data");
    let log = sled(&from).join("db");
    let carved = Carved::of(&sled(&from)).unwrap();
    let whole = fs::read(&log).unwrap();
    let used = whole.iter().rposition(|&byte| byte != 0).unwrap();
    let mut refused = 0;
    for at in positions(used, 20) {
        let scratch = tempfile::tempdir().unwrap();
        let data = scratch.path().join("data");
        copy(&from, &data);
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let damaged = sled(&data).join("db");
        fs::write(&damaged, &bytes).unwrap();
        if open(&data).is_ok() {
            continue;
        }
        refused += 1;
        let backup = crate::backup(&data, scratch.path().join("backup"));
        assert!(backup.is_err(), "byte {at}");
        assert!(fs::read(&damaged).unwrap() == bytes, "byte {at}");
        let lost = lost_with(&carved, |place| {
            carved.file(place) == log
                && (place.offset..place.offset + place.length as u64).contains(&(at as u64))
        });
        let repaired = repair(&data).unwrap();
        assert_eq!(repaired.games, GAMES - lost, "byte {at}: {repaired:?}");
    }
    assert!(refused > 0);
}

#[test]
fn unopenable_database_is_salvaged() {
    let folder = filled();
    let data = folder.path().join("data");
    let store = open(&data).unwrap();
    for value in ["first", "second", "third"] {
        store
            .put(Collection::Tournaments, "cup", value.as_bytes())
            .unwrap();
    }
    drop(store);
    for entry in fs::read_dir(sled(&data)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !path.ends_with("db") {
            fs::write(path, b"nonsense").unwrap();
        }
    }
    assert!(!verify(&data).unwrap().is_sound());
    let repaired = repair(&data).unwrap();
    assert!(!repaired.has_losses(), "{repaired:?}");
    assert_eq!((repaired.games, repaired.documents), (GAMES, DOCUMENTS + 1));
    let store = open(&data).unwrap();
    assert!(all_is_there(&store));
    assert_eq!(
        store.get(Collection::Tournaments, "cup"),
        Ok(Some(b"third".to_vec()))
    );
    // Removed documents are still in the files, but they are not restored.
    assert_eq!(store.list(Collection::Meta), Ok(Vec::new()));
}

#[test]
fn interrupted_repair_keeps_database() {
    let folder = tempfile::tempdir().unwrap();
    let (data, half) = (folder.path().join("data"), folder.path().join("half"));
    let first = open(&half).unwrap();
    first.append_and_wait(games("cup", 0..10)).unwrap();
    drop(first);
    let store = open(&data).unwrap();
    store.append_and_wait(games("cup", 0..100)).unwrap();
    drop(store);
    fs::remove_file(data.join("store.json")).unwrap();
    // The unfinished output of a killed repair.
    fs::rename(half.join("database-1"), data.join("database.unfinished")).unwrap();
    assert_eq!(repair(&data).unwrap().games, 100);
    assert_eq!(open(&data).unwrap().count("cup"), 100);
    assert!(!data.join("database.unfinished").exists());
}

#[test]
fn changed_binary_is_named() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let content = b"#!/bin/sh\n";
    let mut upload = store
        .begin_binary(<sha2::Sha256 as sha2::Digest>::digest(content).into())
        .unwrap();
    upload.write_all(content).unwrap();
    let path = upload.commit().unwrap();
    drop(store);
    assert!(verify(folder.path()).unwrap().is_sound());
    fs::write(&path, b"#!/bin/sh\nrm").unwrap();
    let report = verify(folder.path()).unwrap();
    assert!(report.damage_report[0].contains("binary "), "{report:?}");
    repair(folder.path()).unwrap();
    assert!(verify(folder.path()).unwrap().is_sound());
}

#[test]
fn backup_restores_same_store() {
    use std::io::Write;
    let folder = filled();
    let (data, file) = (folder.path().join("data"), folder.path().join("backup"));
    let content = vec![3; 200_000];
    let sha256 = <sha2::Sha256 as sha2::Digest>::digest(&content).into();
    let mut upload = open(&data).unwrap().begin_binary(sha256).unwrap();
    upload.write_all(&content).unwrap();
    upload.commit().unwrap();

    // A line that is being written is no part of it.
    let events = format!("{}\n{{}}\n", "x".repeat(10_000));
    fs::write(
        data.join(crate::EVENTS_FILE),
        format!("{events}{}", "y".repeat(9_000)),
    )
    .unwrap();
    let made = crate::backup(&data, &file).unwrap();
    assert_eq!(
        (made.games, made.documents, made.binaries, made.events),
        (GAMES, DOCUMENTS, 1, 2)
    );
    assert_eq!(made.bytes, fs::metadata(&file).unwrap().len());
    let again = crate::backup(&data, &file);
    assert!(
        matches!(again, Err(StoreError::NotEmpty { .. })),
        "{again:?}"
    );

    let restored_to = folder.path().join("restored");
    let restored = restore(&file, &restored_to).unwrap();
    assert_eq!(
        (
            restored.games,
            restored.documents,
            restored.binaries,
            restored.events
        ),
        (GAMES, DOCUMENTS, 1, 2)
    );
    let trail = restored_to.join(crate::EVENTS_FILE);
    assert_eq!(fs::read_to_string(trail).unwrap(), events);
    let store = open(&restored_to).unwrap();
    assert!(all_is_there(&store));
    assert_eq!(
        fs::read(store.binary_path(&sha256).unwrap()).unwrap(),
        content
    );
    drop(store);
    let again = restore(&file, &restored_to);
    assert!(
        matches!(again, Err(StoreError::NotEmpty { .. })),
        "{again:?}"
    );
    assert!(verify(&restored_to).unwrap().is_sound());
}

/// A backup has all data that is durable when it begins, even if games are written meanwhile.
#[test]
fn online_backup_is_consistent() {
    let folder = filled();
    let (data, file) = (folder.path().join("data"), folder.path().join("backup"));
    let store = open(&data).unwrap();
    let made = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for index in 0..50 {
                store
                    .append_and_wait(vec![game("meanwhile", index)])
                    .unwrap();
                store
                    .put(Collection::Meta, "meanwhile", &index.to_le_bytes())
                    .unwrap();
            }
        });
        let mut out = Vec::new();
        let made = store.backup(&mut out).unwrap().unwrap();
        writing.join().unwrap();
        fs::write(folder.path().join("unfinished"), out).unwrap();
        made
    });
    assert!(made.games >= GAMES && made.games <= GAMES + 50, "{made:?}");
    let unfinished = folder.path().join("unfinished");
    assert_eq!(crate::keep_backup(&unfinished, &file).unwrap(), made.bytes);
    let restored_to = folder.path().join("restored");
    let restored = restore(&file, &restored_to).unwrap();
    assert_eq!(
        (restored.games, restored.documents),
        (made.games, made.documents)
    );
    let restored = open(&restored_to).unwrap();
    assert!(all_is_there(&restored));
    // No document is newer than the games of the backup.
    let last = restored.get(Collection::Meta, "meanwhile").unwrap();
    if let Some(last) = last {
        let last = u64::from_le_bytes(last.try_into().unwrap());
        assert!(restored.game("meanwhile", last).unwrap().is_some());
    }
    fs::write(&unfinished, b"ARENABKP").unwrap();
    let broken = crate::keep_backup(&unfinished, folder.path().join("other"));
    assert!(broken.is_err());
}

#[test]
fn damaged_backup_is_refused() {
    let folder = filled();
    let (data, file) = (folder.path().join("data"), folder.path().join("backup"));
    crate::backup(&data, &file).unwrap();
    let whole = fs::read(&file).unwrap();
    let target = folder.path().join("restored");
    for at in positions(whole.len(), 40) {
        let mut turned = whole.clone();
        turned[at] ^= 4;
        for damaged in [&turned[..], &whole[..at]] {
            fs::write(&file, damaged).unwrap();
            let error = restore(&file, &target).unwrap_err();
            let expected = matches!(
                error,
                StoreError::Corrupt { .. }
                    | StoreError::NotFound { .. }
                    | StoreError::NewerVersion { .. }
            );
            assert!(expected && !target.exists(), "{error}");
        }
    }
}

#[test]
fn interrupted_restore_begins_anew() {
    let folder = filled();
    let (data, file) = (folder.path().join("data"), folder.path().join("backup"));
    crate::backup(&data, &file).unwrap();
    for parts in [&[][..], &["binaries"], &["binaries", "database-1"]] {
        let target = folder.path().join(format!("restored-{}", parts.len()));
        fs::create_dir_all(&target).unwrap();
        fs::write(target.join("arena-restore.unfinished"), "").unwrap();
        for part in parts {
            fs::create_dir(target.join(part)).unwrap();
        }
        let text = [
            open(&target).err(),
            verify(&target).err(),
            repair(&target).err(),
            crate::backup(&target, folder.path().join("none")).err(),
        ];
        for refused in text {
            let named = matches!(&refused, Some(StoreError::Corrupt { damage, remedy, .. })
                if damage.contains("interrupted") && remedy.contains("arena store restore"));
            assert!(named, "{refused:?}");
        }
        restore(&file, &target).unwrap();
        assert!(all_is_there(&open(&target).unwrap()));
        assert!(!target.join("arena-restore.unfinished").exists());
    }
}

#[test]
fn damaged_store_is_not_backed_up() {
    let folder = fallen_back();
    let file = folder.path().join("backup");
    let refused = crate::backup(folder.path().join("data"), &file);
    assert!(
        matches!(refused, Err(StoreError::Corrupt { .. })),
        "{refused:?}"
    );
    fs::remove_file(folder.path().join("data/store.json")).unwrap();
    let refused = crate::backup(folder.path().join("data"), &file);
    assert!(
        matches!(refused, Err(StoreError::Corrupt { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
