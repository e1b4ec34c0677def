//! Users find games, tournaments and tables by their properties.

use std::{fs, os::unix::fs::PermissionsExt};

use arena_tests::{Server, World, spec};
use serde_json::Value;

/// Two tournaments in one folder.
fn world() -> World {
    let world = World::new();
    let first = spec("cup", "kalah", 6, &["random", "greedy"], "");
    let first = world.write("cup.toml", first);
    let _ = world.arena(&["run", &first, "--data", "data"]).ok();
    let second = spec(
        "cowry-cup",
        "cowry",
        4,
        &["random", "aggressive", "defensive"],
        "",
    );
    let second = world.write("second.toml", second);
    let _ = world
        .arena(&["run", &second, "--data", "data", "--seed", "0x2"])
        .ok();
    world
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON lines")
}

/// The games of a listing, by index.
fn listed(world: &World, more: &[&str]) -> Vec<u64> {
    let list = [
        "game", "list", "@last", "--data", "data", "--output", "jsonl",
    ];
    let list = world.arena(&[&list[..], more].concat()).ok();
    let index = |game: &Value| {
        let id = game["game_id"].as_str().expect("an id");
        id.rsplit_once('/')
            .expect("an index")
            .1
            .parse()
            .expect("a number")
    };
    lines(&list.stdout).iter().map(index).collect()
}

/// The list agrees with the records.
#[test]
fn games_are_listed_by_agent_result_and_length() {
    let world = world();
    let export = world.arena(&["export", "@last", "--data", "data"]).ok();
    let records = lines(&export.stdout);
    let indices = |wants: &dyn Fn(&Value) -> bool| -> Vec<u64> {
        let wanted = records.iter().filter(|record| wants(record));
        wanted
            .map(|record| record["index"].as_u64().expect("an index"))
            .collect()
    };
    let place = |record: &Value, agent: &str| {
        let seats = record["seats"].as_array().expect("seats");
        let seat = seats.iter().position(|name| name == agent)?;
        record["placement"][seat].as_u64()
    };
    let of = indices(&|record| place(record, "random").is_some());
    assert_eq!(listed(&world, &["--agent", "random", "--limit", "100"]), of);
    let lost = indices(&|record| place(record, "random").is_some_and(|rank| rank > 1));
    assert!(
        !lost.is_empty() && lost.len() < of.len(),
        "{lost:?} of {of:?}"
    );
    let losses = ["--agent", "random", "--result", "loss", "--limit", "100"];
    assert_eq!(listed(&world, &losses), lost);
    assert_eq!(listed(&world, &["--fault", "any"]), Vec::<u64>::new());
    let mut longest = records.clone();
    longest.sort_by_key(|record| {
        let number = |key: &str| record[key].as_i64().expect("a number");
        (-number("plies"), number("index"))
    });
    let longest: Vec<u64> = longest
        .iter()
        .take(5)
        .map(|record| record["index"].as_u64().expect("an index"))
        .collect();
    assert_eq!(
        listed(&world, &["--sort", "plies", "--limit", "5"]),
        longest
    );
    let wrong = [
        "game", "list", "@last", "--data", "data", "--agent", "randm",
    ];
    let _ = world.arena(&wrong).fails(2, &["did you mean \"random\""]);
    let whose = ["game", "list", "@last", "--data", "data", "--result", "win"];
    let _ = world.arena(&whose).fails(2, &["--agent"]);
}

#[test]
fn short_ids_and_last_select_a_tournament() {
    let world = world();
    let show = |id: &str| {
        let show = [
            "tournament",
            "show",
            id,
            "--data",
            "data",
            "--output",
            "json",
        ];
        world.arena(&show).ok().json()["name"].clone()
    };
    assert_eq!(show("@last"), "cowry-cup");
    assert_eq!(show("cup"), "cup");
    let ambiguous = ["standings", "c", "--data", "data"];
    let _ = world
        .arena(&ambiguous)
        .fails(2, &["ambiguous", "cup-", "cowry-cup-"]);
    let unknown = ["standings", "nothing", "--data", "data"];
    let _ = world.arena(&unknown).fails(2, &["nothing"]);
    let game = [
        "game", "show", "cup/3", "--data", "data", "--output", "json",
    ];
    assert_eq!(world.arena(&game).ok().json()["index"], 3);
    let game = ["game", "rerun", "@last/1", "--data", "data"];
    let _ = world.arena(&game).ok();
}

#[test]
fn tournament_list_has_ruleset_format_dates() {
    let world = world();
    let list = |more: &[&str]| {
        let list = ["tournament", "list", "--data", "data"];
        world.arena(&[&list[..], more].concat()).ok()
    };
    let csv = list(&["--output", "csv"]).stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let header = "tournament,state,games,of,ruleset,format,created,finished";
    assert_eq!(rows[0].join(","), header);
    let resolved = |id: &str| {
        let show = ["tournament", "show", id, "--data", "data", "--output=json"];
        world.arena(&show).ok().json()["resolved"].clone()
    };
    let all = list(&["--output", "json"]).json();
    let table = list(&[]).stdout;
    assert_eq!(rows.len(), 3);
    for (row, listed) in rows[1..].iter().zip(all.as_array().expect("a list")) {
        let resolved = resolved(row[0]);
        for (cell, key) in [(4, "ruleset"), (5, "format")] {
            assert_eq!(resolved[key], row[cell], "{row:?}");
            assert_eq!(listed[key], row[cell]);
        }
        let [created, finished] = [row[6], row[7]];
        assert!(created < finished && created.ends_with('Z'), "{row:?}");
        let minute = created[..16].replace('T', " ");
        let line = table.lines().find(|line| line.contains(row[0]));
        let line = line.expect("a line of the table");
        assert!(line.contains(&minute) && line.contains(row[4]), "{line}");
    }
}

#[test]
fn table_rows_name_their_tournament() {
    let world = world();
    for table in ["games", "decisions", "standings"] {
        let export = [
            "export", "--all", "--table", table, "--format", "csv", "--data", "data",
        ];
        let csv = world.arena(&export).ok().stdout;
        let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = rows.next().expect("a header");
        let column = |name: &str| {
            let found = header.iter().position(|known| *known == name);
            found.unwrap_or_else(|| panic!("{table}: no column {name} in {header:?}"))
        };
        let (id, seed) = (column("tournament_id"), column("tournament_seed"));
        let _ = column("spec_sha256");
        if table != "standings" {
            // Standings end with the spec, which contains commas.
            let mut tournaments: Vec<String> = rows
                .map(|row| format!("{} {}", row[id], row[seed]))
                .collect();
            tournaments.dedup();
            assert_eq!(tournaments.len(), 2, "{tournaments:?}");
            assert!(tournaments[0].starts_with("cup-"), "{tournaments:?}");
            assert!(tournaments[1].ends_with(" 0x2"), "{tournaments:?}");
        }
    }
}

#[test]
fn keys_of_a_spec_can_be_set_on_the_command_line() {
    let world = World::new();
    let text = spec("cup", "kalah", 6, &["random", "greedy"], "");
    let path = world.write("cup.toml", text);
    let run = ["run", &path, "--data", "data", "--output", "json"];
    let set = ["--set", "blocks=2", "--set", "play.opening_plies=1"];
    let standings = world.arena(&[&run[..], &set].concat()).ok().json();
    assert_eq!(standings["games"], 4);
    let _ = world
        .arena(&["run", &path, "--data", "data", "--set", "blcks=2"])
        .fails(2, &["blcks", "blocks"]);
}

#[test]
fn formats_are_listed_with_their_settings() {
    let world = World::new();
    let all = world.arena(&["formats", "--output", "json"]).ok().json();
    let formats = arena_model::format::Format::ALL.len();
    assert_eq!(all.as_array().map(Vec::len), Some(formats));
    let sprt = world.arena(&["formats", "sprt"]).ok().stdout;
    for word in ["elo0", "alpha", "0.05", "format = \"sprt\""] {
        assert!(sprt.contains(word), "{sprt}");
    }
    let _ = world
        .arena(&["formats", "swis"])
        .fails(2, &["did you mean \"swiss\""]);
}

#[test]
fn health_comes_from_the_coordinator() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let address = coordinator.metrics_address().to_owned();
    let url = format!("http://{address}/metrics");
    for place in [&address, &url] {
        let health = world.arena(&["health", place]).ok();
        assert_eq!(health.stdout, format!("{address}: ok\n"));
    }
    coordinator.stop();
    let _ = world
        .arena(&["health", &address])
        .fails(4, &["no answer from", &address]);
}

/// Without a terminal, the whole watched game is printed.
#[test]
fn watched_game_shows_every_board() {
    let world = World::new();
    let game = [
        "play",
        "--ruleset",
        "kalah",
        "--seed",
        "7",
        "--seats",
        "random,greedy",
    ];
    let plain = world.arena(&game).ok().stdout;
    let watched = [&game[..], &["--watch", "--delay", "1ms"]].concat();
    let watched = world.arena(&watched).ok().stdout;
    let moves = plain
        .lines()
        .filter(|line| line.contains("random  ") || line.contains("greedy  "));
    let boards = |text: &str| text.matches("\n\n").count();
    assert!(
        boards(&watched) >= boards(&plain) + moves.count() - 1,
        "{watched}"
    );
    let _ = world
        .arena(&[&game[..], &["--delay", "1s"]].concat())
        .fails(2, &["--watch"]);
}

/// A running coordinator, its worker, and a tournament of 80 games that is over.
fn played_cup(world: &World) -> (Server, Server, String) {
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let worker = world.worker(&coordinator, &[]);
    let text = spec("cup", "kalah", 40, &["random", "greedy"], "");
    let id = world.start_tournament("cup", &text, &url);
    world.finish_tournament(&id, &url);
    (coordinator, worker, id)
}

#[test]
fn running_store_is_verified_and_backed_up_by_time() {
    let world = World::new();
    let (coordinator, worker, _) = played_cup(&world);
    let url = coordinator.url();
    let online = ["store", "verify", "--online"];
    for place in [["--data", "data"], ["--coordinator", &url]] {
        let verified = world.arena(&[&online[..], &place].concat()).ok();
        assert!(verified.stdout.contains("80 games"), "{}", verified.stdout);
        assert!(
            verified.stderr.contains("audit trail: whole"),
            "{}",
            verified.stderr
        );
    }
    let _ = world
        .arena(&["store", "verify", "--data", "data"])
        .fails(1, &["in use by process", "--online"]);
    let folder = world.folder().join("backups");
    fs::create_dir(&folder).expect("a folder");
    let old = [
        "2025-01-01T000000Z.arena",
        "2025-01-02T000000Z.arena",
        "mine.arena",
    ];
    for name in old {
        fs::write(folder.join(name), "").expect("a file");
    }
    let backup = [
        "store",
        "backup",
        "--coordinator",
        &url,
        "--into",
        "backups",
        "--keep",
        "2",
    ];
    let made = world
        .arena(&[&backup[..], &["--max-rate", "100"]].concat())
        .ok();
    assert!(made.stdout.contains("80 games"), "{}", made.stdout);
    let names = fs::read_dir(&folder).expect("a folder");
    let names = names.map(|entry| entry.expect("a file").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
    names.sort_unstable();
    let [kept, new, mine] = &names[..] else {
        panic!("{names:?}");
    };
    assert_eq!([kept, mine], [old[1], old[2]]);
    let restore = [
        "store",
        "restore",
        &format!("backups/{new}"),
        "--data",
        "again",
    ];
    let _ = world.arena(&restore).ok();
    let trail = world.folder().join("data/events.jsonl");
    let changed = fs::read_to_string(&trail).expect("lines");
    let changed = changed.replace("StartTournament", "ListTournaments");
    fs::write(&trail, changed).expect("a file");
    let verify = [&online[..], &["--coordinator", &url]].concat();
    let _ = world.arena(&verify).fails(3, &["audit trail", "changed"]);
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}

#[test]
fn copied_folder_has_the_audit_trail() {
    let world = World::new();
    let (coordinator, worker, id) = played_cup(&world);
    worker.stop();
    coordinator.stop();
    let copy = |from: &str, to: &str| world.arena(&["store", "copy", "--from", from, "--to", to]);
    let made = copy("data", "copy").ok();
    assert!(!made.stdout.contains(" 0 events"), "{}", made.stdout);
    assert!(
        made.stderr.contains("audit trail: whole"),
        "{}",
        made.stderr
    );
    let trail = |folder: &str| {
        let file = world.folder().join(folder).join("events.jsonl");
        fs::read_to_string(file).unwrap_or_default()
    };
    assert!(trail("copy").contains(&id) && trail("copy") == trail("data"));
    let verify = ["store", "verify", "--data", "copy"];
    let verified = world.arena(&verify).ok().stderr;
    assert!(verified.contains("audit trail: whole"), "{verified}");
    // The next coordinator continues it, and notices a cut.
    let coordinator = world.coordinator("copy", &[]);
    let next = spec("next", "kalah", 1, &["random", "greedy"], "");
    let _ = world.start_tournament("next", &next, &coordinator.url());
    coordinator.stop();
    let _ = world.arena(&verify).ok();
    let whole = trail("copy");
    assert!(whole.len() > trail("data").len() && whole.starts_with(&trail("data")));
    fs::write(world.folder().join("copy/events.jsonl"), trail("data")).expect("a file");
    let _ = world.arena(&verify).fails(3, &["audit trail", "removed"]);

    let changed = trail("data").replace("StartTournament", "ListTournaments");
    fs::write(world.folder().join("data/events.jsonl"), changed).expect("a file");
    let _ = copy("data", "changed").fails(3, &["audit trail", "changed"]);

    let backup = ["store", "backup", "--data", "copy", "--into", "new/backups"];
    let _ = world.arena(&backup).ok();
}

#[test]
fn running_store_is_backed_up() {
    let world = World::new();
    let (coordinator, worker, id) = played_cup(&world);
    let url = coordinator.url();
    let games = world.export(&id, ["--coordinator", &url]);
    for (file, access) in [
        ("one", ["--data", "data"]),
        ("two", ["--coordinator", &url]),
    ] {
        let backup = ["store", "backup", access[0], access[1], file];
        let said = world.arena(&backup).ok().stdout;
        assert!(said.contains("80 games"), "{said}");
        let mode = fs::metadata(world.folder().join(file)).expect("a backup");
        // It has the seeds of running tournaments.
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        let _ = world.arena(&backup).fails(2, &[file]);
        let restored = format!("restored-{file}");
        let _ = world
            .arena(&["store", "restore", file, "--data", &restored])
            .ok();
        let again = world.export(&id, ["--data", &restored]);
        assert_eq!(games.difference(&again), None);
        let verify = ["store", "verify", "--data", &restored];
        let _ = world.arena(&verify).ok();
        // The audit trail is whole, and the next coordinator continues it.
        let trail = |folder: &str| {
            let file = world.folder().join(folder).join("events.jsonl");
            fs::read_to_string(file).expect("a trail")
        };
        assert!(trail("data").starts_with(&trail(&restored)));
        assert!(trail(&restored).contains("StartTournament"));
        let changed = trail(&restored).replace("StartTournament", "ListTournaments");
        let path = world.folder().join(&restored).join("events.jsonl");
        fs::write(path, changed).expect("a file");
        let _ = world.arena(&verify).fails(3, &["audit trail", "changed"]);
        let broken = format!("broken-{file}");
        let backup = ["store", "backup", "--data", &restored, &broken];
        let _ = world.arena(&backup).ok();
        let again = format!("again-{file}");
        let restore = ["store", "restore", &broken, "--data", &again];
        let _ = world.arena(&restore).fails(3, &["audit trail", "changed"]);
    }
    worker.stop();
    coordinator.stop();
}

#[test]
fn full_stdout_is_named() {
    let world = World::new();
    let mut command = world.command("sh");
    command.args(["-c", "\"$0\" rulesets >/dev/full"]);
    command.arg(arena_tests::arena());
    let _ = world.run(command).fails(1, &["cannot write to stdout"]);
}

#[test]
fn drawn_seed_is_sealed_then_verified() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let unseeded = spec("sealed", "cowry", 20, &["random", "aggressive"], "");
    let unseeded = unseeded.replace("seed = \"0x5eed\"\n", "");
    let id = world.start_tournament("sealed", &unseeded, &url);
    let arena = |command: &str, more: &[&str]| {
        let words: Vec<&str> = command.split(' ').collect();
        world.arena(&[&words[..], &["--coordinator", &url], more].concat())
    };
    let json = ["--output", "json"];
    let running = [
        arena(&format!("tournament show {id}"), &json),
        arena("tournament show @last", &[]),
        arena("tournament list", &json),
        arena("export @last --table standings --format csv", &[]),
        arena("report @last --markdown", &[]),
    ];
    let running = running.map(|output| output.ok().stdout);
    let shown: serde_json::Value = serde_json::from_str(&running[0]).expect("JSON");
    let commitment = shown["seed_commitment"].as_str().expect("a commitment");
    assert!(running[1].contains(commitment), "{}", running[1]);
    let verify = format!("tournament verify-seed {id}");
    let _ = arena(&verify, &[]).fails(2, &["sealed until"]);

    let worker = world.worker(&coordinator, &[]);
    world.end_tournament(&id, &url);
    let verified = arena(&verify, &json).ok().json();
    assert_eq!(verified["verified"], true);
    assert_eq!(verified["seed_commitment"], commitment);
    let seed = verified["seed"].as_str().expect("the seed");
    for text in running.iter().chain([&coordinator.log(), &worker.log()]) {
        assert!(!text.contains(&seed[2..]), "{text}");
    }
    let _ = arena(&verify, &["--commitment", commitment]).ok();
    let other = "0".repeat(64);
    let _ = arena(&verify, &["--commitment", &other]).fails(3, &["another seed"]);
    let given = spec("given", "cowry", 1, &["random", "aggressive"], "");
    let given = world.start_tournament("given", &given, &url);
    let _ = arena(&format!("tournament verify-seed {given}"), &[]).fails(2, &["not drawn"]);
    worker.stop();
    coordinator.stop();
    world.nothing_runs();
}
