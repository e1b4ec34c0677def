//! The durable store with killed processes, full disks and folders in use.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use sha2::{Digest, Sha256};

use crate::{
    Collection, Options, SledStore, Store, StoreError,
    suite::contract::{game, games},
};

const CHILD_FOLDER: &str = "ARENA_STORE_TEST_FOLDER";

pub(crate) fn open(folder: &Path) -> Result<SledStore, StoreError> {
    let options = Options {
        lock_wait: Duration::from_millis(100),
        ..Options::default()
    };
    SledStore::open(folder, &options)
}

#[test]
#[ignore = "the child of the test below"]
fn child_appends_until_killed() {
    let Ok(folder) = env::var(CHILD_FOLDER) else {
        return;
    };
    let store = SledStore::open(folder, &Options::default()).unwrap();
    let (sender, receiver) = mpsc::channel::<u64>();
    let writer = thread::spawn(move || {
        for index in receiver {
            #[expect(clippy::print_stdout, reason = "the parent reads it")]
            {
                println!("\nacknowledged {index}");
            }
        }
    });
    let start = store.count("cup");
    for index in (start..).step_by(10) {
        let sender = sender.clone();
        let done = Box::new(move |result: Result<(), StoreError>| {
            result.unwrap();
            sender.send(index).unwrap();
        });
        let batch = games("cup", index..index + 10);
        match store.append(batch.clone(), done) {
            Ok(()) => {}
            Err(StoreError::Busy { .. }) => store.append_and_wait(batch).unwrap(),
            Err(error) => panic!("{error}"),
        }
        if index % 500 == 0 {
            store
                .put(Collection::Meta, "at", index.to_string().as_bytes())
                .unwrap();
        }
    }
    drop(sender);
    writer.join().unwrap();
}

#[test]
fn kill_loses_no_acknowledged_game() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut acknowledged = Vec::new();
    for round in 0..12 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "suite::crash::child_appends_until_killed"])
            .args(["--ignored", "--nocapture", "--test-threads", "1"])
            .env(CHILD_FOLDER, &data)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut read = |acknowledged: &mut Vec<u64>| {
            let line = lines.next()?.ok()?;
            acknowledged.extend(
                line.strip_prefix("acknowledged ")
                    .map(|n| n.parse::<u64>().unwrap()),
            );
            Some(())
        };
        // In some rounds, the process is killed while it opens the store.
        for _ in 0..round % 4 * 60 {
            read(&mut acknowledged).unwrap();
        }
        child.kill().unwrap();
        while read(&mut acknowledged).is_some() {}
        child.wait().unwrap();

        let store = open(&data).unwrap();
        for &start in &acknowledged {
            let found = store.games("cup", start, 10).unwrap();
            assert_eq!(found, games("cup", start..start + 10), "round {round}");
        }
        assert_eq!(
            store.games("cup", 0, usize::MAX).unwrap().len() as u64,
            store.count("cup")
        );
    }
    assert!(!acknowledged.is_empty());
}

#[test]
fn unfinished_snapshot_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path())
        .unwrap()
        .append_and_wait(games("cup", 0..10))
        .unwrap();
    let left = folder
        .path()
        .join("database-1/sled/snap.0000000000000123.generating");
    fs::write(&left, b"half").unwrap();
    assert_eq!(open(folder.path()).unwrap().count("cup"), 10);
    assert!(!left.exists());
}

#[test]
fn second_opener_learns_the_holder() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let refused = open(folder.path()).err().unwrap();
    let StoreError::Locked { holder, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(*holder, Some(std::process::id()));
    assert!(
        refused
            .to_string()
            .contains(&format!("process {}", std::process::id()))
    );
    assert!(matches!(
        crate::verify(folder.path()),
        Err(StoreError::Locked { .. })
    ));
    drop(first);
    open(folder.path()).unwrap();
}

#[test]
fn released_folder_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    first.append_and_wait(games("cup", 0..10)).unwrap();
    let path = folder.path().to_owned();
    let second = thread::spawn(move || {
        let options = Options {
            lock_wait: Duration::from_secs(60),
            ..Options::default()
        };
        SledStore::open(path, &options).map(|store| store.count("cup"))
    });
    drop(first);
    assert_eq!(second.join().unwrap(), Ok(10));
}

#[test]
fn newer_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::write(
        folder.path().join("store.json"),
        r#"{"format": 7, "shards": []}"#,
    )
    .unwrap();
    let expected = StoreError::NewerVersion {
        path: folder.path().to_owned(),
        found: 7,
        known: 3,
    };
    assert_eq!(open(folder.path()).err(), Some(expected.clone()));
    assert_eq!(crate::verify(folder.path()).err(), Some(expected.clone()));
    assert_eq!(crate::repair(folder.path()).err(), Some(expected));
}

#[test]
fn reading_creates_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        create: false,
        ..Options::default()
    };
    for path in [folder.path().to_owned(), folder.path().join("absent")] {
        let refused = SledStore::open(&path, &options).err().unwrap();
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn full_queue_refuses_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        queue_games: 10,
        ..Options::default()
    };
    let store = SledStore::open(folder.path(), &options).unwrap();
    let (reached, at_done) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let hold = Box::new(move |_| {
        reached.send(()).unwrap();
        wait.recv().unwrap();
    });
    store.append(games("cup", [0]), hold).unwrap();
    at_done.recv().unwrap();
    store
        .append(games("cup", 1..11), Box::new(|result| result.unwrap()))
        .unwrap();
    let refused = store.append(
        games("cup", 11..12),
        Box::new(|_| panic!("called for nothing")),
    );
    assert_eq!(refused, Err(StoreError::Busy { queued: 10 }));
    go_on.send(()).unwrap();
    store.flush().unwrap();
    assert_eq!((store.count("cup"), store.stats().queued), (11, 0));
    // A batch larger than the queue is accepted if nothing waits.
    store.append_and_wait(games("cup", 0..40)).unwrap();
}

#[test]
fn full_disk_keeps_acknowledged_games() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path())
        .unwrap()
        .append_and_wait(games("cup", 0..10))
        .unwrap();
    let no_room = Options {
        reserve_bytes: u64::MAX,
        ..Options::default()
    };
    let store = SledStore::open(folder.path(), &no_room).unwrap();
    let is_full = |result| assert!(matches!(result, Err(StoreError::Full { .. })), "{result:?}");
    is_full(store.append_and_wait(games("cup", 10..20)));
    is_full(store.append_and_wait(games("cup", 20..30)));
    is_full(store.put(Collection::Meta, "key", b"value"));
    is_full(store.flush());
    assert_eq!(store.games("cup", 0, 99).unwrap(), games("cup", 0..10));
    is_full(store.close());
    drop(store);
    let store = open(folder.path()).unwrap();
    store.append_and_wait(games("cup", 10..20)).unwrap();
    assert_eq!(store.games("cup", 0, 99).unwrap(), games("cup", 0..20));
}

#[test]
fn open_uploads_share_the_free_space() {
    let folder = tempfile::tempdir().unwrap();
    let no_reserve = Options {
        reserve_bytes: 0,
        ..Options::default()
    };
    let store = SledStore::open(folder.path(), &no_reserve).unwrap();
    let Err(StoreError::NoRoom { free, .. }) = store.reserve_upload(u64::MAX) else {
        panic!("no disk is that large");
    };
    let first = store.reserve_upload(free / 4 * 3).unwrap();
    let second = store.reserve_upload(free / 2);
    assert!(
        matches!(second, Err(StoreError::NoRoom { .. })),
        "{second:?}"
    );
    drop(first);
    store.reserve_upload(free / 2).unwrap();
}

#[test]
fn deleted_files_stop_the_store() {
    for lost in [
        "database-1/sled/db",
        "database-1/acknowledged",
        "database-1",
        "",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let store = open(&data).unwrap();
        store.append_and_wait(games("cup", 0..10)).unwrap();
        fs::rename(data.join(lost), folder.path().join("elsewhere")).unwrap();
        let noticed = store.append_and_wait(games("cup", 10..20));
        let text = noticed.unwrap_err().to_string();
        assert!(text.contains("deleted or replaced"), "{lost}: {text}");
        store.append_and_wait(games("cup", 20..30)).unwrap_err();
        store.put(Collection::Meta, "key", b"value").unwrap_err();
        assert_eq!(store.count("cup"), 10, "{lost}");
    }
}

/// A small file system, if the process may mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(mebibytes: u32) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"])
            .arg(folder.path())
            .output()
            .map_err(|e| format!("no mount command: {e}"))?;
        match mounted.status.success() {
            true => Ok(Self(folder)),
            false => Err(String::from_utf8_lossy(&mounted.stderr).trim().to_owned()),
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // After a failed unmount, the temporary folder stays and is visible.
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// A record that does not compress.
fn large(index: u64) -> Vec<u8> {
    (0..125_u64)
        .flat_map(|part| Sha256::digest([index, part].map(u64::to_le_bytes).concat()))
        .collect()
}

/// Fills a disk through a store until the store reports it; returns the number of
/// acknowledged games.
fn fill(disk: &Path, options: &Options) -> u64 {
    let store = SledStore::open(disk.join("data"), options).unwrap();
    let filler = disk.join("filler");
    for start in (0..).step_by(100) {
        let batch = (start..start + 100).map(|index| crate::StoredGame {
            record: large(index),
            ..game("cup", index)
        });
        match store.append_and_wait(batch.collect()) {
            Ok(()) => fs::write(&filler, vec![0; 1 << 20]).unwrap_or(()),
            Err(StoreError::Full { .. }) => return start,
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("a small disk is full at some time")
}

#[test]
fn full_disk_is_named_and_recovers() {
    for reserve_bytes in [crate::RESERVE_BYTES, 0] {
        let disk = match SmallDisk::mount(72) {
            Ok(disk) => disk,
            #[expect(clippy::print_stderr, reason = "who reads the log should know")]
            Err(reason) => {
                eprintln!("skipped: no small file system can be mounted here ({reason})");
                return;
            }
        };
        let acknowledged = fill(
            disk.0.path(),
            &Options {
                reserve_bytes,
                ..Options::default()
            },
        );
        assert!(acknowledged > 0);
        fs::remove_file(disk.0.path().join("filler")).unwrap();
        let remounted = Command::new("mount")
            .args(["-o", "remount,size=256m"])
            .arg(disk.0.path())
            .status()
            .unwrap();
        assert!(remounted.success());
        let store = open(&disk.0.path().join("data")).unwrap();
        let found = store.games("cup", 0, usize::MAX).unwrap();
        assert!(
            found.len() as u64 >= acknowledged,
            "{} of {acknowledged}",
            found.len()
        );
        for (index, game) in (0..).zip(&found) {
            assert_eq!((game.index, &game.record), (index, &large(index)));
        }
        let shared: Arc<dyn Store> = Arc::new(store);
        shared.append_and_wait(games("bowl", 0..100)).unwrap();
        assert_eq!(shared.count("bowl"), 100);
    }
}

#[test]
fn commit_is_reported_once_with_its_games() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&reported);
    store.watch(Box::new(move |commit| {
        heard.lock().unwrap().push((commit.games, commit.took()));
    }));
    for start in [0, 10, 20] {
        store
            .append_and_wait(games("cup", start..start + 10))
            .unwrap();
    }
    // Known already: nothing is written.
    store.append_and_wait(games("cup", 0..30)).unwrap();
    store.put(Collection::Agents, "random", b"{}").unwrap();
    let reported = reported.lock().unwrap();
    let counted: Vec<usize> = reported.iter().map(|(games, _)| *games).collect();
    assert_eq!(counted, [10, 10, 10, 0]);
    assert!(reported.iter().all(|(_, took)| !took.is_zero()));
    assert_eq!(store.stats().syncs, reported.len() as u64);
}

#[test]
fn dead_holder_leaves_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("lock");
    let store = open(folder.path()).unwrap();
    let own = std::process::id().to_string();
    assert_eq!(fs::read_to_string(&lock).unwrap(), own);
    drop(store);
    assert_eq!(fs::read_to_string(&lock).unwrap(), "", "closed well");
    let held = crate::sled::folder::Folder::open(folder.path(), Duration::ZERO, false).unwrap();
    held.refused();
    drop(held);
    assert_eq!(
        fs::read_to_string(&lock).unwrap(),
        own,
        "not to be believed"
    );
    drop(open(folder.path()).unwrap());
    assert_eq!(
        fs::read_to_string(&lock).unwrap(),
        "",
        "read from the disk since"
    );
}
