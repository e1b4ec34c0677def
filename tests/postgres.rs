mod health;
mod tables;

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    process::Command,
    thread,
};

use arena_store::server::PostgresServer;
use arena_tests::{DEADLINE, Games, PAPER_000, Server, World, get, sha256, spec, until, within};

/// Runs a test with a server and a database, or reports it as skipped.
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn on_server(test: impl FnOnce(&mut PostgresServer, &str)) {
    match PostgresServer::start(&[]) {
        Ok(mut server) => {
            let url = server.create("arena");
            test(&mut server, &url);
        }
        Err(reason) => println!("skipped: {reason}"),
    }
}

/// Free addresses on loopback.
fn free_addresses<const N: usize>() -> [String; N] {
    let ports = [(); N].map(|()| TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
    ports.map(|port| port.local_addr().expect("an address").to_string())
}

fn paper_spec(blocks: u64) -> String {
    spec("fleet", "cowry", blocks, &PAPER_000, "")
}

/// Fails if a tournament has other records than in an undisturbed run.
#[track_caller]
fn same(expected: &Games, found: &Games) {
    if let Some(difference) = expected.difference(found) {
        panic!("{difference}");
    }
}

fn durable(coordinator: &Server) -> f64 {
    coordinator.metric("arena_games_total", &[])
}

/// Waits until this number of games is durable since the coordinator's start.
fn wait_durable(server: &PostgresServer, coordinator: &Server, games: f64) {
    let waited = within(DEADLINE, || (durable(coordinator) >= games).then_some(()));
    assert!(
        waited.is_some(),
        "{} of {games} games are durable; sessions:\n{}\nlog of the server:\n{}\n{}",
        durable(coordinator),
        server.sql(
            "arena",
            "SELECT pid, state, wait_event, query FROM pg_stat_activity"
        ),
        server.log(),
        coordinator.metrics(),
    );
}

#[test]
fn database_keeps_same_results_as_folder() {
    on_server(|server, url| {
        let world = World::with_python();
        let agent = world.misbehave();
        let spec = spec("fleet", "cowry", 10, &["random", "aggressive", "mine"], "");
        let results = |world: &World, coordinator: &Server| {
            let address = coordinator.url();
            let access = ["--coordinator", &*address];
            let register = ["agent", "register", "mine", "--binary", &agent];
            let register = [&register[..], &access, &["--", "good"]].concat();
            let _ = world.arena(&register).ok();
            let worker = world.worker(coordinator, &[]);
            let id = world.start_tournament("fleet", &spec, &address);
            world.finish_tournament(&id, &address);
            worker.stop();
            (world.export(&id, access), world.standings(&id, access), id)
        };
        let folder = world.coordinator("folder", &[]);
        let (expected, standings, id) = results(&world, &folder);
        folder.stop();
        let database = world.coordinator("local", &["--store", url]);
        let (found, found_standings, found_id) = results(&world, &database);
        assert_eq!((&found_id, &found_standings), (&id, &standings));
        same(&expected, &found);
        // Also while the coordinator is using it.
        let verified = world.arena(&["store", "verify", "--store", url]).ok();
        assert!(
            verified.stdout.contains(" 1 binaries, "),
            "{}",
            verified.stdout
        );
        database.stop();

        // Into a folder, and from there into another database.
        let second = server.create("second");
        for (from, to, trail) in [
            (url, "copy", "the audit trail is not copied"),
            ("copy", &*second, "the audit trail stays in copy"),
        ] {
            let copied = world.arena(&["store", "copy", "--from", from, "--to", to]);
            let copied = copied.ok().stderr;
            assert!(copied.contains(trail), "{copied}");
        }
        let _ = world
            .arena(&["store", "copy", "--from", "copy", "--to", &second])
            .fails(2, &["exists and is not empty", "another database"]);
        let _ = world.arena(&["store", "verify", "--data", "copy"]).ok();
        let digest = |access: [&str; 2]| {
            let export = world.arena(&["export", &id, access[0], access[1]]);
            sha256(&export.ok().stdout)
        };
        let copied = digest(["--data", "copy"]);
        let again = world.coordinator("other", &["--store", &second]);
        assert_eq!(digest(["--coordinator", &again.url()]), copied);
        assert_eq!(digest(["--data", "folder"]), copied);
        // The binary came along.
        let rerun = [
            "game",
            "rerun",
            &format!("{id}/3"),
            "--coordinator",
            &again.url(),
        ];
        let _ = world.arena(&rerun).ok();
        again.stop();
        world.nothing_runs();
    });
}

#[test]
fn killed_coordinator_and_database_change_no_record() {
    on_server(|server, url| {
        // More games than the worker can play ahead in five starts.
        let spec = paper_spec(200);
        let expected = World::new().tournament(&spec, "one", &[]).2;
        let world = World::new();
        let mut coordinator = world.coordinator("data", &["--store", url]);
        let listen = coordinator.listen().to_owned();
        let address = coordinator.url();
        let id = world.start_tournament("fleet", &spec, &address);
        let worker = world.worker(&coordinator, &["--builtin", "process"]);
        for kill in 0..5 {
            let before = durable(&coordinator);
            wait_durable(server, &coordinator, before + 20.0);
            match kill {
                0 => server.stop_immediately(),
                1 => {
                    // All sessions, those in a commit included.
                    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                               WHERE datname = 'arena' AND pid <> pg_backend_pid()";
                    server.sql("postgres", end);
                }
                2 => server.kill(),
                _ => {}
            }
            if kill < 2 {
                if kill == 0 {
                    server.start_again();
                }
                continue;
            }
            coordinator.kill();
            if kill == 2 {
                server.start_again();
            }
            coordinator = world.coordinator("data", &["--store", url, "--listen", &listen]);
        }
        world.finish_tournament(&id, &address);
        same(&expected, &world.export(&id, ["--coordinator", &address]));
        let _ = world.arena(&["store", "verify", "--store", url]).ok();
        worker.stop();
        coordinator.stop();
        world.nothing_runs();
    });
}

#[test]
fn workers_and_clients_find_the_owner() {
    on_server(|server, url| {
        let spec = paper_spec(40);
        let expected = World::new().tournament(&spec, "one", &[]).2;
        let world = World::new();
        let owner = world.coordinator("one", &["--store", url]);
        let [listen] = free_addresses();
        let arguments = ["coordinator", "--data", "two", "--store", url];
        let listens = ["--listen", &listen, "--metrics", "127.0.0.1:0"];
        let standby = world.start(&[&arguments[..], &listens].concat());
        until("a standby", || {
            standby.stderr().contains("standing by").then_some(())
        });
        // In whichever order.
        let [there, back] = [
            format!("http://{listen},{}", owner.url()),
            format!("{},http://{listen}", owner.url()),
        ];
        let worker = [
            "worker",
            "--coordinator",
            &there,
            "--metrics",
            "127.0.0.1:0",
        ];
        let worker = world.server(&worker);
        let id = world.start_tournament("fleet", &spec, &there);
        let watch = world.start(&["tournament", "watch", &id, "--coordinator", &back]);
        wait_durable(server, &owner, 60.0);
        owner.kill();
        let watched = watch.output().ok();
        assert!(watched.stdout.contains("mixed"), "{}", watched.stdout);
        for urls in [&there, &back] {
            same(&expected, &world.export(&id, ["--coordinator", urls]));
        }
        worker.stop();
        standby.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(standby.output().code, Some(0));
        world.nothing_runs();
    });
}

#[test]
fn standby_takes_over_from_killed_owner() {
    on_server(|_, url| {
        let world = World::new();
        let owner = world.coordinator("one", &["--store", url]);
        let listen = owner.listen().to_owned();
        let spec = paper_spec(1);
        let id = world.start_tournament("fleet", &spec, &owner.url());
        let standby = world.start(&[
            "coordinator",
            "--data",
            "two",
            "--store",
            url,
            "--listen",
            &listen,
            "--metrics",
            "127.0.0.1:0",
        ]);
        until("a standby", || {
            standby.stderr().contains("standing by").then_some(())
        });
        assert!(standby.stdout().is_empty(), "{}", standby.stdout());
        let reported = format!("process {} on ", owner.id());
        assert!(standby.stderr().contains(&reported), "{}", standby.stderr());
        owner.kill();
        until("the standby to listen", || {
            standby.stdout().contains("listen").then_some(())
        });
        // Its clients have the same address.
        let address = format!("http://{listen}");
        let list = world
            .arena(&[
                "tournament",
                "list",
                "--coordinator",
                &address,
                "--token-file",
                "two/admin.token",
            ])
            .ok();
        assert!(list.stdout.contains(&id), "{}", list.stdout);
        standby.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(standby.output().code, Some(0));
        world.nothing_runs();
    });
}

#[test]
fn folder_of_a_database_gets_no_second_store() {
    on_server(|_, url| {
        let world = World::new();
        let run = |arguments: &[&str]| world.arena(arguments);
        let coordinator = world.coordinator("data", &["--store", url]);
        let _ = run(&["store", "verify", "--data", "data"]).fails(1, &["in use by", "--online"]);
        let _ = run(&["store", "verify", "--online", "--data", "data"]).ok();
        let _ = run(&["store", "backup", "--data", "data", "file"]).ok();
        coordinator.stop();

        let mark = world.folder().join("data/store.url");
        let database = fs::read_to_string(&mark).expect("a mark");
        assert!(
            database.starts_with("postgres:///arena?host=/"),
            "{database}"
        );
        let mode = fs::metadata(&mark).expect("a mark").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let listens = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
        let start = [&["coordinator", "--data", "data"][..], &listens].concat();
        let path = world.folder().join("data");
        let shown = path.to_str().expect("UTF-8");
        let words = [shown, database.trim(), "--store", "--data", "store.url"];
        let _ = run(&start).fails(2, &words);
        // A coordinator that was killed leaves its address in the folder.
        world.coordinator("data", &["--store", url]).kill();
        let spec = world.write("cup.toml", paper_spec(1));
        for command in [
            &["tournament", "list"][..],
            &["standings", "@last"],
            &["store", "verify"],
            &["store", "backup", "other"],
            &["run", &spec],
        ] {
            let refused = run(&[command, &["--data", "data"]].concat());
            let words = [shown, database.trim(), "--store", "--coordinator"];
            let _ = refused.fails(2, &words);
        }
        assert!(!path.join("store.json").exists() && !path.join("database-1").exists());

        world.coordinator("folder", &[]).stop();
        let coordinator = world.coordinator("folder", &["--store", url]);
        let log = coordinator.log();
        let warnings = log.lines().filter(|line| line.starts_with("warning: "));
        let warnings: Vec<&str> = warnings.collect();
        assert!(
            matches!(warnings[..], [one] if one.contains("is not used, because --store")),
            "{log}"
        );
        coordinator.stop();
        let coordinator = world.coordinator("folder", &[]);
        let log = coordinator.log();
        assert!(
            log.contains("was used with the database postgres:///arena"),
            "{log}"
        );
        coordinator.stop();
    });
}

#[test]
fn replaced_owner_ends_without_a_write() {
    on_server(|server, url| {
        let world = World::new();
        let mut owner = world.coordinator("data", &["--store", url]);
        server.sql(
            "arena",
            "UPDATE arena.owner SET epoch = epoch + 1, holder = 'another', \
             expires = clock_timestamp() + interval '1 hour'",
        );
        let ended = owner.wait();
        assert_eq!(ended.code(), Some(1), "{}", owner.log());
        let words = "another coordinator has taken over";
        assert!(owner.log().contains(words), "{}", owner.log());
    });
}

#[test]
fn doctor_warns_of_asynchronous_standbys() {
    on_server(|server, url| {
        let world = World::new();
        let doctor = || {
            let report = world
                .arena(&["doctor", "--json", "--store", url])
                .ok()
                .json();
            let checks = report.as_array().expect("checks").iter();
            let check = checks.clone().find(|check| check["name"] == "database");
            check.expect("the check of the database").clone()
        };
        let alone = doctor();
        assert_eq!(alone["state"], "good", "{alone}");
        // It replicates as a standby does.
        let receiver = Command::new("pg_receivewal")
            .args(["--username=arena", "--directory"])
            .arg(world.folder())
            .arg("--host")
            .arg(server.folder().join("socket"))
            .spawn();
        let mut receiver = receiver.expect("pg_receivewal, which is in the packages of PostgreSQL");
        let sessions = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'async'";
        until("replication", || {
            (server.sql("postgres", sessions) == "1").then_some(())
        });
        let followed = doctor();
        assert_eq!(followed["state"], "poor", "{followed}");
        let found = followed["found"].as_str().unwrap_or_default();
        assert!(found.contains("may lack acknowledged results"), "{found}");
        receiver.kill().expect("it runs");
        receiver.wait().expect("a child");
    });
}

#[test]
fn unusable_database_is_reported() {
    let world = World::new();
    for (store, words) in [
        ("mysql://db/arena", &["must be postgres://"][..]),
        (
            "postgres://arena:secret@db.example/arena",
            &["no certificate authority", "sslrootcert"],
        ),
        ("postgres:///arena?password=secret", &["names no host"]),
    ] {
        let output = world.arena(&["coordinator", "--data", "data", "--store", store]);
        let output = output.fails(2, words);
        assert!(!output.stderr.contains("secret"), "{}", output.stderr);
    }
    let absent = "postgres://arena:secret@127.0.0.1:1/arena";
    for arguments in [
        &["coordinator", "--data", "data", "--store", absent][..],
        &["store", "verify", "--store", absent],
        &["store", "copy", "--from", absent, "--to", "copy"],
    ] {
        let output = world.arena(arguments).fails(
            1,
            &["could not connect to postgres://arena@127.0.0.1:1/arena"],
        );
        assert!(!output.stderr.contains("secret"), "{}", output.stderr);
    }
}
