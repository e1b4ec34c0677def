mod health;

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    process::Command,
    thread,
};

use arena_store::server::PostgresServer;
use arena_tests::{
    DEADLINE, Games, PAPER_000, Server, World, get, repository, sha256, spec, until, within,
};
use serde_json::Value;

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

/// Free addresses on loopback.
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

/// Rows of a query as JSON.
fn rows(server: &PostgresServer, query: &str) -> Vec<Value> {
    let query = format!("SELECT coalesce(json_agg(row), '[]') FROM ({query}) AS row");
    serde_json::from_str(&server.sql("arena", &query)).expect("JSON")
}

/// Waits until the tables have a finished tournament with this number of games as rows.
fn wait_tables(server: &PostgresServer, games: usize) {
    let query = "SELECT (SELECT count(*) FROM arena.games), (SELECT count(*) FROM \
                 arena.leaderboard WHERE state = 'finished')";
    let expected = format!("{games}|3");
    until("the tables to be up to date", || {
        (server.sql("arena", query) == expected).then_some(())
    });
}

/// Fails if the tables differ from the standings and the export.
#[track_caller]
fn tables_are_right(server: &PostgresServer, standings: &Value, games: &Games) {
    let found = rows(
        server,
        "SELECT * FROM arena.standings ORDER BY place, agent",
    );
    let agents = standings["agents"].as_array().expect("agents");
    assert_eq!(found.len(), agents.len());
    for (found, agent) in found.iter().zip(agents) {
        let columns = found.as_object().expect("an object");
        let columns = columns.iter().filter(|(name, _)| *name != "tournament");
        for (name, value) in columns {
            // Times are measured, and not among these standings.
            if !name.starts_with("latency") {
                // JSON of PostgreSQL has 17 for 17.0.
                let equal = value == &agent[name]
                    || value.is_number() && value.as_f64() == agent[name].as_f64();
                assert!(equal, "{name}: {value}: {agent}");
            }
        }
        let of = |sum: &str| {
            let query = format!(
                "SELECT {sum} AS sum FROM arena.game_agents WHERE agent = {}",
                format_args!("'{}'", agent["agent"].as_str().expect("a name"))
            );
            rows(server, &query)[0]["sum"].clone()
        };
        assert_eq!(of("count(*) FILTER (WHERE won)"), agent["wins"]);
        assert_eq!(of("count(*) FILTER (WHERE drawn)"), agent["draws"]);
        let query = format!(
            "SELECT coalesce(sum(faults), 0)::bigint AS sum FROM arena.agent_faults WHERE agent = '{}'",
            agent["agent"].as_str().expect("a name")
        );
        assert_eq!(rows(server, &query)[0]["sum"], agent["faults"]);
    }
    let pairs = "SELECT * FROM arena.pairs";
    for pair in rows(server, pairs) {
        let place = |game: &Value, name: &Value| {
            let seats = game["seats"].as_array().expect("seats");
            let seat = seats.iter().position(|it| it == name)?;
            game["placement"][seat].as_u64()
        };
        let before = games.games.iter().filter(|game| {
            let places = place(game, &pair["agent"]).zip(place(game, &pair["opponent"]));
            places.is_some_and(|(one, other)| one < other)
        });
        assert_eq!(pair["before"], before.count(), "{pair}");
    }
    let found = rows(
        server,
        "SELECT game AS index, block, agents AS seats, placement, scores, plies, termination, hash \
         FROM arena.games ORDER BY game",
    );
    assert_eq!(found.len(), games.games.len());
    for (found, game) in found.iter().zip(&games.games) {
        for (name, value) in found.as_object().expect("an object") {
            assert_eq!(value, &game[name], "{name}: {game}");
        }
    }
}

#[test]
fn tables_for_queries_equal_standings_and_games() {
    on_server(|server, url| {
        let world = World::with_python();
        let agent = world.misbehave();
        let sql = ["--store", url, "--sql-games"];
        let coordinator = world.coordinator("data", &sql);
        let address = coordinator.url();
        let access = ["--coordinator", &*address];
        let register = ["agent", "register", "mine", "--binary", &agent];
        let register = [&register[..], &access, &["--", "illegal"]].concat();
        let _ = world.arena(&register).ok();
        let spec = spec("sql", "cowry", 5, &["random", "aggressive", "mine"], "");
        let worker = world.worker(&coordinator, &[]);
        let id = world.start_tournament("sql", &spec, &address);
        world.end_tournament(&id, &address);
        worker.stop();
        let games = world.export(&id, access);
        let standings = world.standings(&id, access);
        assert_ne!(standings["agents"][2]["faults"], 0, "{standings}");
        wait_tables(server, games.games.len());
        tables_are_right(server, &standings, &games);
        let agents = rows(server, "SELECT agent, kind, content FROM arena.agents");
        assert_eq!(agents.len(), 1, "{agents:?}");
        assert_eq!(
            (&agents[0]["agent"], &agents[0]["kind"]),
            (&"mine".into(), &"binary".into())
        );

        // The queries of the page have answers.
        let page = fs::read_to_string(repository().join("deploy/SQL.md")).expect("a page");
        let queries: Vec<&str> = page.split("```sql\n").skip(1).collect();
        assert!(queries.len() >= 6, "{page}");
        for query in queries {
            let query = query.split("```").next().expect("an end");
            let query = query
                .trim()
                .trim_end_matches(';')
                .replace("$tournament", &id);
            assert!(!rows(server, &query).is_empty(), "no rows: {query}");
        }

        // What is deleted is written again: while the coordinator runs,
        server.sql(
            "arena",
            "TRUNCATE arena.tournaments, arena.standings, arena.games",
        );
        wait_tables(server, games.games.len());
        tables_are_right(server, &standings, &games);
        coordinator.stop();
        // and by the next one. Rows of what the store does not have are removed.
        server.sql("arena", "DELETE FROM arena.games WHERE game % 3 = 0");
        server.sql(
            "arena",
            "DELETE FROM arena.tournaments; INSERT INTO arena.standings \
             SELECT 'gone', agent, place, games, wins, draws, losses, voids, faults, blocks, points, \
             score, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
             NULL, NULL, non_deterministic FROM arena.standings; \
             INSERT INTO arena.tournaments VALUES ('gone', '', '', '', 'finished', '', now(), now(), 1, 1, \
             1, now())",
        );
        let coordinator = world.coordinator("data", &sql);
        wait_tables(server, games.games.len());
        tables_are_right(server, &standings, &games);
        coordinator.stop();
        world.nothing_runs();
    });
}
