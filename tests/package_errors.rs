use std::{fs, io::Write, process::Stdio};

use arena_tests::{World, arena, spec};
use serde_json::Value;

/// Makes the rules of the kit with one change.
fn changed(world: &World, name: &str, from: &str, to: &str) {
    let new = ["rulesets", "new", "--lang", "python", name];
    let _ = world.arena(&new).ok();
    change(world, name, from, to);
}

fn change(world: &World, name: &str, from: &str, to: &str) {
    let file = world.folder().join(name).join("game.py");
    let text = fs::read_to_string(&file).expect("rules");
    assert!(text.contains(from), "{from} is part of the kit");
    fs::write(&file, text.replace(from, to)).expect("written");
}

/// The failed steps of a check as JSON. Also checks that the text has no dump of Rust.
fn failed_steps(world: &World, name: &str) -> Vec<Value> {
    let check = ["rulesets", "check", name, "--games", "4"];
    let text = world.arena(&check).fails(3, &[" of the check failed: "]);
    for dump in ["Known", "PackageState", "Some(", "\\\""] {
        assert!(!text.stdout.contains(dump), "{}", text.stdout);
    }
    assert!(!text.stderr.contains("WARN"), "{}", text.stderr);
    let json = [&check[..], &["--output", "json"]].concat();
    let json = world.arena(&json).fails(3, &[]).json();
    let steps = json["steps"].as_array().expect("steps").iter();
    steps
        .filter(|step| step["result"] == "failed")
        .cloned()
        .collect()
}

/// Checks broken rules: one step fails, with this detail, place and output.
fn fails_one_step(change: (&str, &str), step: &str, detail: &str, at: &str, output: &[&str]) {
    let world = World::with_python();
    changed(&world, "broken-game", change.0, change.1);
    let failed = failed_steps(&world, "broken-game");
    let [failed] = &failed[..] else {
        panic!("one step: {failed:?}");
    };
    let text = |field: &str| failed[field].as_str().unwrap_or_default();
    assert_eq!(text("name"), step, "{failed}");
    assert!(text("detail").contains(detail), "{failed}");
    assert!(text("at").contains(at), "{failed}");
    for words in output {
        assert!(text("output").contains(words), "{failed}");
    }
    world.nothing_runs();
}

/// Checks the steps of a package as JSON: methods that panic, `decode` and `encode` are parts of rulesets in Rust.
fn speaks_of_a_package(json: &str) {
    for words in [
        "panic",
        "method",
        "decode",
        "encode",
        "write_action",
        "one core",
    ] {
        assert!(!json.contains(words), "{words}: {json}");
    }
    for words in [
        "\"answers\"",
        "\"states\"",
        "two processes give the same answers",
    ] {
        assert!(json.contains(words), "{words}: {json}");
    }
}

#[test]
fn exception_in_apply_is_shown_with_its_traceback() {
    fails_one_step(
        (
            "    def end_turn(self, state):",
            "    def end_turn(self, state):\n        raise RuntimeError(\"it rolled away\")",
        ),
        "answers",
        "RuntimeError: it rolled away (game.py, line ",
        "in state {\"points\":",
        &[
            "Traceback",
            "game.py\", line ",
            "in end_turn",
            "RuntimeError: it rolled away",
        ],
    );
}

#[test]
fn failure_of_one_game_among_thousands_is_found() {
    let world = World::with_python();
    let hold = "            state[\"totals\"][state[\"seat\"]] += state[\"points\"]\n";
    let rare = format!("            assert state[\"points\"] < 42, \"a long turn\"\n{hold}");
    changed(&world, "rare", hold, &rare);
    // Short games.
    change(
        &world,
        "rare",
        "100, \"points that win\", min=10, max=200",
        "10, \"points that win\", min=10, max=11",
    );
    let check = |games| ["rulesets", "check", "rare", "--games", games];
    let json = [&check("100")[..], &["--output", "json"]].concat();
    speaks_of_a_package(&world.arena(&json).ok().stdout);
    let failed = ["answers", "AssertionError: a long turn (game.py, line "];
    let _ = world.arena(&check("4000")).fails(3, &failed);
    world.nothing_runs();
}

#[test]
fn wrong_key_is_shown_with_its_traceback() {
    fails_one_step(
        ("state[\"seat\"], {HOLD", "state[\"seta\"], {HOLD"),
        "answers",
        "KeyError: 'seta' (game.py, line ",
        "event ",
        &["game.py\", line ", "in next", "KeyError: 'seta'"],
    );
}

#[test]
fn wrong_type_names_the_field() {
    fails_one_step(
        ("HOLD: \"hold\"", "HOLD: 5"),
        "answers",
        "the field \"moves\" is [5,\"throw\"]: ",
        "in state {\"points\":",
        &[],
    );
}

#[test]
fn empty_list_of_moves_is_shown_with_the_state() {
    fails_one_step(
        ("{HOLD: \"hold\", THROW: \"throw\"}", "{}"),
        "decisions",
        "0 legal actions",
        "in state {\"points\":",
        &[],
    );
}

#[test]
fn endless_game_is_shown_with_the_last_state() {
    fails_one_step(
        ("    events_max = 5000", "    events_max = 50"),
        "end",
        "more than 50 events",
        "in state {\"points\":",
        &[],
    );
}

#[test]
fn rules_that_do_not_start_fail_the_description() {
    fails_one_step(
        ("class Game:", "class Game"),
        "description",
        "SyntaxError",
        "",
        &["class Game", "SyntaxError"],
    );
}

/// Registers the rules of the kit as `pig` in the folder `data`.
fn register_pig(world: &World) {
    let new = ["rulesets", "new", "--lang", "python", "pig"];
    let _ = world.arena(&new).ok();
    let register = ["rulesets", "register", "pig", "--package", "pig"];
    let _ = world.arena(&with_data(&register)).ok();
}

fn with_data<'a>(command: &[&'a str]) -> Vec<&'a str> {
    [command, &["--data", "data"]].concat()
}

#[test]
fn name_alone_shows_a_registered_package() {
    let world = World::with_python();
    register_pig(&world);
    let shown = world.arena(&with_data(&["rulesets", "pig"])).ok().stdout;
    for words in ["pig (rules version 1): ", "target", "package: content "] {
        assert!(shown.contains(words), "{shown}");
    }
    let json = with_data(&["rulesets", "pig", "--output", "json"]);
    let json = world.arena(&json).ok().json();
    assert_eq!(
        (&json["ruleset"], &json["options"][0]["name"]),
        (&"pig".into(), &"target".into())
    );
    let nowhere = ["rulesets", "pork"];
    let _ = world.arena(&nowhere).fails(
        2,
        &["unknown ruleset \"pork\"", "--coordinator URL or --data"],
    );
}

#[test]
fn book_with_rules_of_a_package_is_refused() {
    let world = World::with_python();
    register_pig(&world);
    for book in ["positions.epd", "games.pgn"] {
        let _ = world.write(book, "");
    }
    let refused = |book: &str, remedy: &str| {
        let more = format!("seats = 2\n[play]\nbook = {book}");
        let text = spec("pig", "pig", 1, &["random", "second"], &more);
        let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
        let path = world.write("pig.toml", text);
        for command in [
            &["run"][..],
            &["tournament", "plan"],
            &["tournament", "start"],
        ] {
            let command = with_data(&[command, &[&path]].concat());
            let _ = world
                .arena(&command)
                .fails(2, &["packages take no book", remedy]);
        }
    };
    let other = "remove book from [play], or choose chess";
    refused("\"positions.epd\"", other);
    refused("\"games.pgn\"\nbook_plies = 6", other);
    refused("[\"throw\"]", "remove book from [play]");
    let play = ["play", "--ruleset", "pig", "--seats", "random,random"];
    let book = ["--seed", "1", "--book", "positions.epd"];
    let command = with_data(&[&play[..], &book].concat());
    let _ = world
        .arena(&command)
        .fails(2, &["packages take no book", "remove --book"]);
}

#[test]
fn unregistered_ruleset_is_refused_with_a_remedy() {
    let world = World::new();
    let text = spec("pork", "pork", 1, &["random", "greedy"], "");
    let path = world.write("pork.toml", text);
    for command in [
        &["run"][..],
        &["tournament", "plan"],
        &["tournament", "start"],
    ] {
        let unknown = world.arena(&[command, &[&path]].concat());
        let _ = unknown.fails(
            2,
            &[
                "unknown ruleset \"pork\"",
                "arena rulesets register pork --package PATH",
                "--data",
                "--coordinator",
            ],
        );
    }
}

#[test]
fn person_plays_a_registered_package() {
    let world = World::with_python();
    register_pig(&world);
    let mut command = world.command(arena());
    let play = [
        "play",
        "--ruleset",
        "pig",
        "--option",
        "target=10",
        "--seed",
        "3",
    ];
    command
        .args(with_data(&play))
        .args(["--seats", "human,random", "--output", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().expect("arena");
    let typed = format!("?\n{}", "hold\n".repeat(1000));
    let mut input = running.stdin.take().expect("stdin");
    // It may end before it has read everything.
    let _ = input.write_all(typed.as_bytes());
    drop(input);
    let played = running.wait_with_output().expect("its output");
    let shown = String::from_utf8_lossy(&played.stderr);
    assert_eq!(played.status.code(), Some(0), "{shown}");
    for words in ["points: ", "totals: [0,", "1) hold   2) throw", "no hints"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let record: Value = serde_json::from_slice(&played.stdout).expect("a record");
    assert_eq!(record["termination"], "normal", "{record}");
}

#[test]
fn record_of_a_package_is_played_again_from_a_file() {
    let world = World::with_python();
    register_pig(&world);
    let text = spec("pig", "pig", 1, &["random", "second"], "seats = 2");
    let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let (id, ..) = world.tournament(&text, "data", &[]);
    let lines = world.arena(&with_data(&["export", &id])).ok().stdout;
    let file = world.write("games.jsonl", &*lines);
    let rerun = ["game", "rerun", "--file", &file];
    let again = world.arena(&with_data(&rerun)).ok().stdout;
    assert_eq!(again.matches("same hash").count(), 2, "{again}");
    let _ = world.arena(&rerun).fails(
        2,
        &["the rules of pig are a package with the content", "--data"],
    );
    // Another content of this name is not played.
    let game = world.folder().join("pig/game.py");
    let rules = fs::read_to_string(&game).expect("rules");
    fs::write(&game, format!("{rules}\n# changed\n")).expect("written");
    let register = [
        "rulesets",
        "register",
        "pig",
        "--package",
        "pig",
        "--replace",
    ];
    let _ = world.arena(&with_data(&register)).ok();
    let _ = world
        .arena(&with_data(&rerun))
        .fails(2, &["but the registered package has the content"]);
}

/// No built-in agent is charged for rules that answer differently.
#[test]
fn rerun_names_rules_that_do_not_allow_the_record() {
    let world = World::with_python();
    // The sandbox does not hide that a file exists.
    let other = world.folder().join("other");
    let other = other.display();
    changed(
        &world,
        "pig",
        "[(str(pips), 1) for pips in range(1, 7)]",
        &format!("[(f\"{{pips}}-{{os.path.exists('{other}')}}\", 1) for pips in range(1, 7)]"),
    );
    let file = world.folder().join("pig/game.py");
    let rules = fs::read_to_string(&file).expect("rules");
    fs::write(&file, format!("import os\n{rules}")).expect("written");
    let register = ["rulesets", "register", "pig", "--package", "pig"];
    let _ = world.arena(&with_data(&register)).ok();
    let more = "seats = 2\n[options]\ntarget = 10";
    let text = spec("pig", "pig", 1, &["random", "second"], more);
    let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let (id, ..) = world.tournament(&text, "data", &[]);
    let game = format!("{id}/0");
    let _ = world.write("other", "");
    let again = |command| world.arena(&with_data(&["game", command, &game]));
    let rerun = again("rerun").fails(3, &["the record cannot have happened by its rules"]);
    assert!(!rerun.stderr.contains("agent random"), "{}", rerun.stderr);
    let _ = again("replay").fails(3, &["the record cannot have happened by its rules"]);
}

#[test]
fn folder_of_rules_gets_a_valid_name_that_is_free() {
    let world = World::new();
    let new = |folder: &str| world.arena(&["rulesets", "new", "--lang", "python", folder]);
    let _ = new("kalah").fails(
        2,
        &["cannot make rules in kalah: the name \"kalah\" is taken"],
    );
    assert!(!world.folder().join("kalah").exists(), "nothing is made");
    for (folder, name) in [("my_game", "my-game"), ("2048", "game-2048")] {
        let made = new(folder).ok();
        let note = format!("the ruleset is called {name}, because");
        assert!(made.stderr.contains(&note), "{}", made.stderr);
        let next = format!("rulesets register {name} --package {folder}");
        assert!(made.stdout.contains(&next), "{}", made.stdout);
        let register = ["rulesets", "register", folder, "--package", folder];
        let _ = world
            .arena(&with_data(&register))
            .fails(2, &["cannot be the name of a ruleset"]);
    }
}

#[test]
fn reason_of_a_pause_is_printed_once() {
    let world = World::with_python();
    changed(
        &world,
        "pig",
        "    def end_turn(self, state):",
        "    def end_turn(self, state):\n        raise RuntimeError(\"it rolled away\")",
    );
    let register = ["rulesets", "register", "pig", "--package", "pig"];
    let _ = world.arena(&with_data(&register)).ok();
    let text = spec("pig", "pig", 1, &["random", "second"], "seats = 2");
    let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let path = world.write("pig.toml", text);
    let run = ["--log", "error", "run", &path, "--workers", "1"];
    let run = world.arena(&with_data(&run));
    let printed = format!("{}{}", run.stdout, run.stderr);
    let reason = "the rules of pig failed on worker local-1";
    assert_eq!(printed.matches(reason).count(), 1, "{printed}");
    assert!(printed.contains("RuntimeError: it rolled away (game.py, line"));
    let id = world.arena(&with_data(&["tournament", "list", "--output", "jsonl"]));
    let id = id.ok().json()["tournament_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let report = ["report", &id, "--markdown", "-"];
    let report = world.arena(&with_data(&report)).stdout;
    assert!(
        report.contains(&format!("Reason of the pause: {reason}")),
        "{report}"
    );
}
