use std::{
    fs,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use arena_store::server::PostgresServer;
use arena_tests::{World, sha256, spec};
use serde_json::Value;

/// Plays a tournament in the data folder. Returns its id, and the SHA-256 of its export.
fn played(world: &World, name: &str, blocks: u64) -> (String, String) {
    let text = spec(name, "cowry", blocks, &["random", "aggressive"], "");
    let (id, ..) = world.tournament(&text, "data", &[]);
    let digest = exported(world, &id, ["--data", "data"]);
    (id, digest)
}

fn exported(world: &World, id: &str, access: [&str; 2]) -> String {
    let export = world.arena(&["export", id, access[0], access[1]]).ok();
    sha256(&export.stdout)
}

#[test]
fn archive_is_complete_before_the_tournament_is_removed() {
    let world = World::new();
    let (id, digest) = played(&world, "cup", 20);
    let archive = |more: &[&str]| {
        let archive = [
            "tournament",
            "archive",
            &id,
            "--into",
            "archives",
            "--data",
            "data",
        ];
        world.arena(&[&archive[..], more].concat())
    };
    // Where an archive cannot be completed, nothing is removed.
    let _ = world.write("archives", "a file");
    let _ = archive(&["--remove"]).fails(1, &["archives", "was not removed"]);
    fs::remove_file(world.folder().join("archives")).expect("a file");
    let kept = archive(&[]).ok();
    assert!(kept.stdout.contains("40 games"), "{}", kept.stdout);
    let folder = world.folder().join("archives").join(&id);
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).expect("checksums");
    for name in [
        "spec.toml",
        "tournament.json",
        "agents.json",
        "standings.json",
        "games.jsonl",
        "report.html",
    ] {
        let text = fs::read_to_string(folder.join(name)).expect(name);
        let line = format!("{}  {name}\n", sha256(&text));
        assert!(sums.contains(&line), "{name}: {sums}");
    }
    let games = fs::read_to_string(folder.join("games.jsonl")).expect("records");
    assert_eq!(sha256(&games), digest);
    let _ = archive(&["--remove"]).fails(2, &["exists already", "was not removed"]);
    let standings = ["standings", &id, "--data", "data"];
    let _ = world.arena(&standings).ok();

    // One line of the archive is enough to play a game again.
    fs::rename(&folder, world.folder().join("first")).expect("moved");
    let removed = archive(&["--remove", "--output", "json"]).ok().json();
    let found = (&removed["games"], &removed["removed"], &removed["sha256"]);
    assert_eq!(found, (&40.into(), &true.into(), &sha256(&sums).into()));
    let again = fs::read_to_string(folder.join("SHA256SUMS")).expect("checksums");
    assert_eq!(again, sums, "an archive has the same bytes each time");
    let _ = world.write("game.json", games.lines().nth(7).expect("a record"));
    let _ = world.arena(&["game", "replay", "--file", "game.json"]).ok();

    for command in [
        &standings[..],
        &["export", &id, "--data", "data"],
        &["report", &id, "--markdown", "--data", "data"],
        &["game", "show", &format!("{id}/0"), "--data", "data"],
    ] {
        let _ = world
            .arena(command)
            .fails(2, &["was removed on", "by local, after it was archived"]);
    }
    let list = |more: &[&str]| {
        let list = ["tournament", "list", "--data", "data", "--output", "json"];
        world.arena(&[&list[..], more].concat()).ok().json()
    };
    assert_eq!(list(&[]), Value::Array(Vec::new()));
    let listed = list(&["--removed"]);
    assert_eq!(listed[0]["tournament_id"], *id);
    assert_eq!(listed[0]["removed"]["archive_sha256"], sha256(&sums));
    let shown = world
        .arena(&["tournament", "show", "cup", "--data", "data"])
        .ok();
    assert!(
        shown.stdout.contains("removed, 40 of 40 games"),
        "{}",
        shown.stdout
    );
    let events = fs::read_to_string(world.folder().join("data/events.jsonl")).expect("a trail");
    let event = events
        .lines()
        .find(|it| it.contains("RemoveTournament"))
        .expect("an event");
    assert!(
        event.contains(&*id) && event.contains(&sha256(&sums)),
        "{event}"
    );
}

#[test]
fn removed_games_leave_the_store() {
    let world = World::new();
    let (gone, _) = played(&world, "gone", 2_000);
    let (kept, digest) = played(&world, "kept", 100);
    let _ = world
        .arena(&["tournament", "remove", &gone, "--data", "data"])
        .fails(2, &["--yes"]);
    let _ = world
        .arena(&["tournament", "remove", "nothing", "--yes", "--data", "data"])
        .fails(2, &["no tournament \"nothing\""]);
    let remove = [
        "tournament",
        "remove",
        &gone,
        "--yes",
        "--data",
        "data",
        "--output",
        "json",
    ];
    let removed = world.arena(&remove).ok().json();
    assert_eq!(removed[0]["removed"]["by"], "local");
    let _ = world.arena(&remove).fails(2, &["was removed on"]);
    let verify = ["store", "verify", "--data", "data"];
    let noted = world.arena(&verify).ok().stderr;
    assert!(
        noted.contains("4000 games are of removed tournaments"),
        "{noted}"
    );

    let compact = ["store", "compact", "--data", "data", "--output", "json"];
    let coordinator = world.coordinator("data", &[]);
    let _ = world.arena(&compact).fails(1, &["data", "in use"]);
    coordinator.stop();
    let report = world.arena(&compact).ok().json();
    assert_eq!(
        (&report["games"], &report["games_removed"]),
        (&200.into(), &4_000.into())
    );
    // The database grows in steps of 2 MiB, so this one need not be smaller.
    let bytes = |name: &str| report[name].as_u64().expect("a number");
    assert!(bytes("bytes_after") <= bytes("bytes_before"), "{report}");
    let verified = world.arena(&verify).ok();
    assert!(!verified.stderr.contains("removed"), "{}", verified.stderr);
    assert_eq!(exported(&world, &kept, ["--data", "data"]), digest);
    let nothing = world.arena(&["store", "compact", "--data", "data"]).ok();
    assert!(
        nothing.stderr.contains("stays as it is"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn killed_compaction_loses_nothing() {
    let world = World::new();
    let (gone, _) = played(&world, "gone", 1_000);
    let (kept, digest) = played(&world, "kept", 200);
    let _ = world
        .arena(&["tournament", "remove", &gone, "--yes", "--data", "data"])
        .ok();
    let start = || -> Child {
        let mut command = world.command(arena_tests::arena());
        command.args(["store", "compact", "--data", "data"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("it starts")
    };
    for milliseconds in (0..400).step_by(40) {
        let mut compaction = start();
        thread::sleep(Duration::from_millis(milliseconds));
        // It may have ended.
        let _ = compaction.kill();
        let _ = compaction.wait();
        let _ = world.arena(&["store", "verify", "--data", "data"]).ok();
        assert_eq!(
            exported(&world, &kept, ["--data", "data"]),
            digest,
            "{milliseconds} ms"
        );
    }
    let _ = world.arena(&["store", "compact", "--data", "data"]).ok();
    assert_eq!(exported(&world, &kept, ["--data", "data"]), digest);
    let entries = fs::read_dir(world.folder().join("data")).expect("a folder");
    let names = entries.map(|it| {
        it.expect("an entry")
            .file_name()
            .into_string()
            .expect("UTF-8")
    });
    let names: Vec<String> = names.filter(|it| it.starts_with("database")).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
#[expect(clippy::print_stdout, reason = "tests are reported there")]
fn space_of_a_database_is_given_back() {
    let server = match PostgresServer::start(&[]) {
        Ok(server) => server,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let url = server.create("arena");
    let world = World::new();
    let (gone, _) = played(&world, "gone", 2_000);
    let (kept, digest) = played(&world, "kept", 100);
    let _ = world
        .arena(&["store", "copy", "--from", "data", "--to", &url])
        .ok();
    let compact = ["store", "compact", "--store", &url, "--output", "json"];
    let coordinator = world.coordinator("local", &["--store", &url, "--keep-tournaments", "365d"]);
    let access = ["--coordinator", &*coordinator.url()];
    let _ = world
        .arena(&[&["tournament", "remove", &gone, "--yes"][..], &access].concat())
        .ok();
    let _ = world
        .arena(&compact)
        .fails(2, &["owns it", "stop that coordinator"]);
    coordinator.stop();
    let report = world.arena(&compact).ok().json();
    assert_eq!(
        (&report["games"], &report["games_removed"]),
        (&200.into(), &4_000.into())
    );
    let bytes = |name: &str| report[name].as_u64().expect("a number");
    assert!(bytes("bytes_after") < bytes("bytes_before") / 2, "{report}");
    let _ = world.arena(&["store", "verify", "--store", &url]).ok();
    let coordinator = world.coordinator("local", &["--store", &url]);
    assert_eq!(
        exported(&world, &kept, ["--coordinator", &coordinator.url()]),
        digest
    );
    coordinator.stop();
}
