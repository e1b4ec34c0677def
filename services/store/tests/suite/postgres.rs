//! What only a database can do to a store: other owners, lost connections, a killed server.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    io::Write,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use sha2::{Digest, Sha256};

use super::contract::{game, games, postgres};
use crate::{
    Collection, Examine, Holder, Location, MemoryStore, Options, Ownership, PostgresOptions,
    Replaced, SledStore, Standby, Store, StoreError, StoredGame, Table, TableChange, copy,
    server::PostgresServer, verify_postgres,
};

/// Runs a test on a server with these settings, or reports it as skipped.
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn on_server(settings: &[&str], test: impl FnOnce(PostgresServer)) {
    match PostgresServer::start(settings) {
        Ok(server) => test(server),
        Err(reason) => println!("skipped: {reason}"),
    }
}

fn options(data: &Path, name: &str) -> PostgresOptions {
    PostgresOptions {
        data: data.to_owned(),
        holder: Holder {
            name: name.to_owned(),
            address: Some(format!("http://{name}")),
        },
        queue_games: Options::default().queue_games,
        queue_bytes: Options::default().queue_bytes,
    }
}

fn refused(url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let error = Standby::connect(url, options(folder.path(), "a"))
        .and_then(Standby::own)
        .err();
    error.unwrap().to_string()
}

/// Receives nothing of a verified store.
struct Ignore;

impl Examine for Ignore {
    fn document(&mut self, _: Collection, _: &str, _: &[u8]) {}
    fn game(&mut self, _: &StoredGame) {}
}

fn damage(url: &str) -> String {
    verify_postgres(url, &mut Ignore)
        .unwrap()
        .damage_report
        .join("\n")
}

#[test]
fn server_that_can_lose_results_is_refused() {
    on_server(&["fsync=off"], |server| {
        let error = refused(&server.create("arena"));
        assert!(error.contains("fsync=off"), "{error}");
        assert!(error.contains("set fsync=on"), "{error}");
    });
    on_server(&["full_page_writes=off"], |server| {
        let error = refused(&server.create("arena"));
        assert!(error.contains("full_page_writes=off"), "{error}");
    });
}

#[test]
fn database_of_a_later_release_is_refused() {
    on_server(&[], |server| {
        let url = server.create("arena");
        drop(postgres(&url));
        server.sql("arena", "INSERT INTO arena.migration VALUES (99)");
        let error = refused(&url);
        assert!(error.contains("has format 99"), "{error}");
        let error = verify_postgres(&url, &mut Ignore).unwrap_err();
        assert!(matches!(error, StoreError::NewerVersion { .. }), "{error}");
        let error = verify_postgres(&server.url("postgres"), &mut Ignore).unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    });
}

#[test]
fn reopened_database_has_everything() {
    on_server(&[], |server| {
        let url = server.create("arena");
        let content = vec![3; 3_000_000];
        let sha256 = Sha256::digest(&content).into();
        let first = postgres(&url);
        first.store.append_and_wait(games("cup", 0..2_000)).unwrap();
        first.store.put(Collection::Agents, "random", b"1").unwrap();
        let mut upload = first.store.begin_binary(sha256).unwrap();
        upload.write_all(&content).unwrap();
        upload.commit().unwrap();
        let end = first.store.positions().unwrap().now();
        first.store.close().unwrap();
        drop(first);
        // Another machine, whose cache is empty.
        let second = postgres(&url);
        assert_eq!(second.store.positions().unwrap().now(), end);
        assert_eq!(
            second.store.games("cup", 0, usize::MAX).unwrap(),
            games("cup", 0..2_000)
        );
        let read = second.store.get(Collection::Agents, "random").unwrap();
        assert_eq!(read.as_deref(), Some(&b"1"[..]));
        assert_eq!(second.store.binary_size(&sha256), Some(3_000_000));
        let path = second.store.binary_path(&sha256).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), content);
        assert_eq!(damage(&url), "");
        second.store.remove_binary(&hex::encode(sha256)).unwrap();
        assert_eq!(second.store.binary_path(&sha256), None);
    });
}

#[test]
fn results_survive_a_killed_server() {
    on_server(&[], |mut server| {
        let url = server.create("arena");
        let opened = postgres(&url);
        let stop = Arc::new(AtomicBool::new(false));
        let (store, ended) = (Arc::clone(&opened.store), Arc::clone(&stop));
        let writer = thread::spawn(move || {
            let mut next = 0;
            while !ended.load(Ordering::Relaxed) {
                store
                    .append_and_wait(games("cup", next..next + 20))
                    .unwrap();
                store
                    .put(Collection::Meta, "next", &next.to_le_bytes())
                    .unwrap();
                next += 20;
            }
            next
        });
        for round in 0..4 {
            let before = opened.store.count("cup");
            while opened.store.count("cup") < before + 100 {
                thread::yield_now();
            }
            match round % 2 {
                0 => server.stop_immediately(),
                _ => server.kill(),
            }
            server.start_again();
        }
        stop.store(true, Ordering::Relaxed);
        let appended = writer.join().unwrap();
        assert_eq!(
            opened.store.games("cup", 0, usize::MAX).unwrap(),
            games("cup", 0..appended)
        );
        assert_eq!(damage(&url), "");
    });
}

#[test]
fn commit_whose_answer_is_lost_counts_once() {
    // Commits wait for a standby that does not exist, until they are canceled.
    on_server(&[], |server| {
        let url = server.create("arena");
        let opened = postgres(&url);
        opened.store.append_and_wait(games("cup", 0..10)).unwrap();
        server.sql(
            "postgres",
            "ALTER SYSTEM SET synchronous_standby_names = 'none'",
        );
        server.sql("postgres", "SELECT pg_reload_conf()");
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' \
                       AND query = 'COMMIT'";
        // A renewal of the lease that waits as well keeps the row that the commit has to read.
        let renewals = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                        WHERE wait_event = 'SyncRep' AND query LIKE 'UPDATE arena.owner %'";
        // A commit before the server has read the setting does not wait.
        let mut first = 10;
        let writer = loop {
            let store = Arc::clone(&opened.store);
            let more = games("cup", first..first + 10);
            let writer = thread::spawn(move || store.append_and_wait(more));
            while !writer.is_finished() && server.sql("postgres", waiting) == "0" {
                server.sql("postgres", renewals);
            }
            if !writer.is_finished() {
                break writer;
            }
            writer.join().unwrap().unwrap();
            first += 10;
        };
        let end = first + 10;
        // The transaction is durable, and the client gets no answer.
        server.sql(
            "postgres",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'COMMIT'",
        );
        while server.sql("postgres", waiting) != "0" {
            thread::yield_now();
        }
        server.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
        server.sql("postgres", "SELECT pg_reload_conf()");
        writer.join().unwrap().unwrap();
        assert_eq!(
            opened.store.games("cup", 0, end as usize).unwrap(),
            games("cup", 0..end)
        );
        opened
            .store
            .append_and_wait(games("cup", end..end + 10))
            .unwrap();
        let packs = (end / 10 + 1).to_string();
        assert_eq!(
            server.sql("arena", "SELECT count(*) FROM arena.pack"),
            packs
        );
        assert_eq!(damage(&url), "");
    });
}

#[test]
fn owner_that_was_replaced_writes_nothing() {
    on_server(&[], |server| {
        let url = server.create("arena");
        let old = postgres(&url);
        old.store.append_and_wait(games("cup", 0..10)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let standby = Standby::connect(&url, options(folder.path(), "new")).unwrap();
        let standby = match standby.own().unwrap() {
            Ownership::Ours(_) => panic!("it is owned"),
            Ownership::Theirs(standby, holder) => {
                assert_eq!(holder.name, "a test");
                standby
            }
        };
        // As after a pause of the old owner.
        server.sql(
            "arena",
            "UPDATE arena.owner SET expires = clock_timestamp() - interval '1 s'",
        );
        let Ownership::Ours(new) = standby.own().unwrap() else {
            panic!("the lease has expired");
        };
        let refused = old.store.append_and_wait(games("cup", 10..20));
        assert!(
            matches!(refused, Err(StoreError::TakenOver { .. })),
            "{refused:?}"
        );
        let refused = old.store.put(Collection::Meta, "key", b"");
        assert!(
            matches!(refused, Err(StoreError::TakenOver { .. })),
            "{refused:?}"
        );
        let mut upload = old.store.begin_binary(Sha256::digest(b"x").into()).unwrap();
        upload.write_all(b"x").unwrap();
        assert!(matches!(upload.commit(), Err(StoreError::TakenOver { .. })));
        let row = r#"[{"agent": "a", "version": "", "kind": "", "bot": "", "content": "", "owner": "",
                      "registered_us": 0}]"#;
        let write = |store: &dyn Store| {
            let change = TableChange {
                table: Table::Agents,
                replaced: Replaced::All,
                rows: row.to_owned(),
            };
            store.tables().unwrap().write(vec![change])
        };
        let refused = write(old.store.as_ref());
        assert!(
            matches!(refused, Err(StoreError::TakenOver { .. })),
            "{refused:?}"
        );
        assert_eq!(
            server.sql("arena", "SELECT count(*) FROM arena.agents"),
            "0"
        );
        write(new.as_ref()).unwrap();
        assert_eq!(
            server.sql("arena", "SELECT count(*) FROM arena.agents"),
            "1"
        );
        assert_eq!(new.games("cup", 0, 99).unwrap(), games("cup", 0..10));
        new.append_and_wait(games("cup", 10..30)).unwrap();
        new.close().unwrap();
        assert_eq!(damage(&url), "");
        assert_eq!(
            server.sql("arena", "SELECT count(*) FROM arena.binary_chunk"),
            "0"
        );
    });
}

#[test]
fn verification_finds_changed_rows() {
    on_server(&[], |server| {
        let url = server.create("arena");
        let opened = postgres(&url);
        for start in [0, 10, 20, 30] {
            opened
                .store
                .append_and_wait(games("cup", start..start + 10))
                .unwrap();
        }
        opened
            .store
            .put(Collection::Agents, "random", b"1")
            .unwrap();
        let sha256 = Sha256::digest(b"binary").into();
        let mut upload = opened.store.begin_binary(sha256).unwrap();
        upload.write_all(b"binary").unwrap();
        upload.commit().unwrap();
        drop(opened);
        assert_eq!(damage(&url), "");
        for (change, found) in [
            (
                "UPDATE arena.pack SET body = set_byte(body, 100, get_byte(body, 100) # 1) \
              WHERE seq = 2",
                "results pack 2 has changed since it was written",
            ),
            (
                "DELETE FROM arena.pack WHERE seq = 1",
                "results pack 1 is missing",
            ),
            (
                "DELETE FROM arena.pack WHERE seq = 3",
                "results pack 3 is missing",
            ),
            (
                "UPDATE arena.pack SET seq = 9 WHERE seq = 3",
                "results packs 3 to 8 are missing",
            ),
            (
                "DELETE FROM arena.document WHERE collection = 1",
                "documents are intact, 1 were stored",
            ),
            (
                "UPDATE arena.document SET value = value || 'x' WHERE collection = 1",
                "the document \"random\" of agents has changed",
            ),
            (
                "UPDATE arena.binary_chunk SET body = 'other'",
                "has changed since it was written: register",
            ),
        ] {
            server.sql("postgres", "CREATE DATABASE damaged TEMPLATE arena");
            server.sql("damaged", change);
            let report = damage(&server.url("damaged"));
            assert!(report.contains(found), "{change}: {report}");
            if !change.contains("binary") {
                let error = refused(&server.url("damaged"));
                assert!(error.contains(found), "{change}: {error}");
            }
            server.sql("postgres", "DROP DATABASE damaged WITH (FORCE)");
        }
    });
}

#[test]
fn copies_go_both_ways() {
    on_server(&[], |server| {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Location::Folder(folder.path().join(name));
        let memory = MemoryStore::new().unwrap();
        let sha256 = Sha256::digest(b"binary").into();
        {
            let store = SledStore::open(folder.path().join("a"), &Options::default()).unwrap();
            for store in [&store as &dyn Store, &memory] {
                store.append_and_wait(games("cup", 0..3_000)).unwrap();
                store.append_and_wait(vec![game("bowl", 7)]).unwrap();
                store.put(Collection::Agents, "a\0b", b"1").unwrap();
                store.put(Collection::Meta, "", &[0; 300_000]).unwrap();
                let mut upload = store.begin_binary(sha256).unwrap();
                upload.write_all(b"binary").unwrap();
                upload.commit().unwrap();
            }
        }
        let url = server.create("arena");
        let database = Location::from(&*url);
        let report = copy(&at("a"), &database).unwrap();
        assert_eq!(
            (report.games, report.documents, report.binaries),
            (3_001, 2, 1)
        );
        let refused = copy(&at("a"), &database);
        assert!(
            matches!(refused, Err(StoreError::NotEmpty { .. })),
            "{refused:?}"
        );
        copy(&database, &at("b")).unwrap();
        let refused = copy(&database, &at("b"));
        assert!(
            matches!(refused, Err(StoreError::NotEmpty { .. })),
            "{refused:?}"
        );
        let opened = postgres(&url);
        let store = SledStore::open(folder.path().join("b"), &Options::default()).unwrap();
        for store in [&*opened.store, &store as &dyn Store] {
            for tournament in ["cup", "bowl"] {
                assert_eq!(
                    store.games(tournament, 0, usize::MAX).unwrap(),
                    memory.games(tournament, 0, usize::MAX).unwrap()
                );
            }
            for &collection in Collection::ALL {
                assert_eq!(
                    store.list(collection).unwrap(),
                    memory.list(collection).unwrap()
                );
            }
            let path = store.binary_path(&sha256).unwrap();
            assert_eq!(std::fs::read(path).unwrap(), b"binary");
        }
        // A copy from a database that is in use is that of one moment.
        copy(&database, &at("c")).unwrap();
        let refused = copy(&at("c"), &database).unwrap_err().to_string();
        assert!(refused.contains("a test owns it"), "{refused}");
    });
}

#[test]
fn interrupted_copy_starts_again() {
    on_server(&[], |server| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let store = SledStore::open(&path, &Options::default()).unwrap();
        store.append_and_wait(games("cup", 0..100)).unwrap();
        drop(store);
        let url = server.create("arena");
        let half = postgres(&url);
        half.store.append_and_wait(games("cup", 0..50)).unwrap();
        half.store.put(Collection::Meta, "half", b"").unwrap();
        half.store.close().unwrap();
        server.sql("arena", "UPDATE arena.owner SET unfinished = true");
        let error = refused(&url);
        assert!(error.contains("a copy into it was interrupted"), "{error}");
        copy(&Location::Folder(path), &Location::from(&*url)).unwrap();
        let whole = postgres(&url);
        assert_eq!(
            whole.store.games("cup", 0, 999).unwrap(),
            games("cup", 0..100)
        );
        assert_eq!(whole.store.list(Collection::Meta).unwrap(), []);
    });
}

#[test]
fn compaction_gives_space_of_a_database_back() {
    use super::compact::{WithoutGone, check, fill};
    on_server(&[], |server| {
        let url = server.create("arena");
        let opened = postgres(&url);
        fill(&*opened.store);
        let compacted = || crate::compact(&url.as_str().into(), &mut WithoutGone::default());
        let owned = compacted().unwrap_err().to_string();
        assert!(owned.contains("a test owns it"), "{owned}");
        opened.store.close().unwrap();
        drop(opened);
        // An interrupted compaction leaves its table.
        server.sql(
            "arena",
            "CREATE TABLE arena.pack_compacted (LIKE arena.pack)",
        );
        server.sql(
            "arena",
            "CREATE ROLE reader; GRANT SELECT ON arena.pack TO reader",
        );
        let report = compacted().unwrap();
        assert_eq!((report.games, report.games_removed), (600, 3_001));
        assert!(report.bytes_after < report.bytes_before / 2, "{report:?}");
        assert_eq!(damage(&url), "");
        let allowed = "SELECT has_table_privilege('reader', 'arena.pack', 'SELECT')";
        assert_eq!(server.sql("arena", allowed), "t");
        let left = "SELECT to_regclass('arena.pack_compacted') IS NULL";
        assert_eq!(server.sql("arena", left), "t");
        let opened = postgres(&url);
        check(&*opened.store);
        opened.store.close().unwrap();
        drop(opened);
        assert_eq!(damage(&url), "");
    });
}
