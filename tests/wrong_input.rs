use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt};

use arena_tests::{Games, World, errors, repository};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    what: String,
    replace: String,
    by: String,
    words: Vec<String>,
}

const SPEC: &str = "\
name = \"right\"
ruleset = \"cowry\"
seed = \"0x5eed\"
blocks = 2
seats = 2
agents = [\"random\", \"aggressive\"]

[options]

[play]
";

/// Compares every error of the test so far with the reviewed ones.
#[track_caller]
fn errors_read_as_reviewed(test: &str, world: &World) {
    let folder = world.folder().display().to_string();
    let text = errors().replace(&folder, "FOLDER");
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let is_hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let end = &word[bare.len()..];
        if let Some((host, _)) = bare.split_once("127.0.0.1:") {
            format!("{host}127.0.0.1:PORT{end}")
        } else if bare.len() >= 12 && is_hex(bare) {
            format!("CONTENT{end}")
        } else if bare.len() > 2 && bare.chars().all(|c| c.is_ascii_digit()) {
            format!("N{end}")
        } else {
            word.to_owned()
        }
    });
    insta::assert_snapshot!(test, words.collect::<String>());
}

/// A data folder with a finished tournament, which no error may change.
fn kept(world: &World) -> (String, Games) {
    let (id, _, games) = world.tournament(SPEC, "data", &[]);
    (id, games)
}

fn nothing_lost(world: &World, id: &str, games: &Games) {
    let listed = world
        .arena(&["tournament", "list", "--data", "data", "--output", "json"])
        .ok();
    let listed = listed.json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let now = world.export(id, ["--data", "data"]);
    assert_eq!(games.difference(&now), None);
}

#[test]
fn wrong_spec_is_refused_early() {
    let world = World::new();
    let (id, games) = kept(&world);
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("data/wrong_specs.json")).expect("cases");
    for case in cases {
        let text = SPEC.replace(&case.replace, &case.by);
        assert_ne!(text, SPEC, "{}", case.what);
        let spec = world.write("wrong.toml", text);
        let words: Vec<&str> = case.words.iter().map(String::as_str).collect();
        let output = world
            .arena(&["run", &spec, "--data", "data"])
            .fails(2, &words);
        assert!(
            output.stdout.is_empty(),
            "{}: {}",
            case.what,
            output.transcript()
        );
    }
    nothing_lost(&world, &id, &games);
    world.nothing_runs();
    errors_read_as_reviewed("wrong_spec_is_refused_early", &world);
}

#[test]
fn coordinator_refusals_keep_exit_codes() {
    let world = World::new();
    let coordinator = world.coordinator("data", &[]);
    let url = coordinator.url();
    let text = SPEC.replace("aggressive", "agressive");
    let spec = world.write("wrong.toml", text);
    let _ = world
        .arena(&["tournament", "start", &spec, "--coordinator", &url])
        .fails(2, &["agressive", "aggressive"]);
    coordinator.stop();
    errors_read_as_reviewed("coordinator_refusals_keep_exit_codes", &world);
}

#[test]
fn unreadable_spec_is_named() {
    let world = World::new();
    let _ = world
        .arena(&["run", "nowhere.toml", "--data", "data"])
        .fails(2, &["nowhere.toml"]);
    errors_read_as_reviewed("unreadable_spec_is_named", &world);
}

#[test]
fn binary_without_run_bit_is_refused() {
    let world = World::new();
    let (id, games) = kept(&world);
    let agent = world.write("agent", "#!/bin/sh\nexit 0\n");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o644)).expect("a file");
    let _ = world
        .arena(&[
            "agent", "register", "mine", "--binary", &agent, "--data", "data",
        ])
        .fails(2, &["not executable", "chmod +x", &agent]);
    let _ = world
        .arena(&[
            "agent", "register", "mine", "--binary", "nowhere", "--data", "data",
        ])
        .fails(2, &["nowhere"]);
    let _ = world
        .arena(&[
            "agent", "register", "Mine!", "--binary", &agent, "--data", "data",
        ])
        .fails(2, &["Mine!"]);
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("binary_without_run_bit_is_refused", &world);
}

#[test]
fn registration_options_are_checked() {
    let world = World::new();
    let (id, games) = kept(&world);
    let two = "[[agent]]\nname = \"a\"\nbot = \"random\"\n";
    let two = world.write("two.toml", two.repeat(2));
    let far = world.write(
        "far.toml",
        "[[agent]]\nname = \"a\"\nbot = \"b\"\nfrom = \"nobody\"\n",
    );
    let one = "[[agent]]\nname = \"a\"\nbot = \"random\"\n";
    let one = world.write("one.toml", one);
    let _ = world
        .arena(&[
            "agent", "register", "mine", "--bot", "mcts", "--data", "data",
        ])
        .ok();
    let cases: [(&[&str], &[&str]); 16] = [
        (&["x"], &["--bot", "--fragment"]),
        (
            &["x", "--bot", "mcts", "--memory", "100"],
            &["--binary <PATH>"],
        ),
        (
            &["--fragment", &one, "--start-timeout", "3"],
            &["--fragment", "--start-timeout"],
        ),
        (
            &["x", "--endpoint", "unix:/tmp/none", "--memory", "100"],
            &["--endpoint", "--memory"],
        ),
        (
            &["x", "--bot", "mine"],
            &["\"mine\" is a registered agent, not a bot"],
        ),
        (
            &["x", "--bot", "chowka-random-dup", "--option", "lands=true"],
            &["unknown option \"lands\": there is twice"],
        ),
        (
            &["x", "--bot", "oware-minmax"],
            &["oware-minmax", "did you mean \"oware-minimax\"?"],
        ),
        (
            &["x", "--bot", "mcts", "--option", "iteration=5"],
            &["iteration", "iterations"],
        ),
        (
            &["x", "--bot", "mcts", "--option", "iterations=0"],
            &["iterations", "from 1 to"],
        ),
        (
            &["x", "--bot", "mcts", "--option", "iterations"],
            &["iterations", "KEY=VALUE"],
        ),
        (
            &[
                "x",
                "--bot",
                "mcts",
                "--option",
                "iterations=1",
                "--option",
                "iterations=2",
            ],
            &["iterations", "twice"],
        ),
        (
            &["x", "--bot", "oware-minimax", "--option", "weights=[1,2]"],
            &["weights", "12 numbers"],
        ),
        (&["random", "--bot", "greedy"], &["random", "built-in bot"]),
        (&["--fragment", &two], &["two.toml", "2 [[agent]] tables"]),
        (
            &["--fragment", &far],
            &["no agent \"nobody\" is registered"],
        ),
        (&["--fragment", "none.toml"], &["none.toml"]),
    ];
    for (arguments, words) in cases {
        let register = [&["agent", "register"], arguments, &["--data", "data"]].concat();
        let _ = world.arena(&register).fails(2, words);
    }
    for before in [
        ["--endpoint", "unix:/tmp/none"],
        ["--fragment", &one],
        ["--bot", "mcts"],
    ] {
        let start = ["agent", "register", "x", "--data", "data"];
        let register = [&start[..], &before, &["--", "--lost"]].concat();
        let _ = world
            .arena(&register)
            .fails(2, &["ARGS", "--binary <PATH>"]);
    }
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("registration_options_are_checked", &world);
}

#[test]
fn worker_options_are_checked() {
    let world = World::new();
    let worker = ["worker", "--coordinator", "http://127.0.0.1:9"];
    for (more, words) in [
        (
            ["--agent-path", "/nowhere/at/all"],
            "no such file or folder",
        ),
        (
            ["--agent-env", "TOKEN=secret"],
            "takes names of variables alone",
        ),
        (["--agent-env", "1ST"], "names of variables alone"),
    ] {
        let _ = world
            .arena(&[&worker[..], &more].concat())
            .fails(2, &[more[0], words]);
    }
    let program = world.write("program", "");
    let register = ["agent", "register", "x", "--binary", &program];
    let _ = world
        .arena(&[&register[..], &["--memory", "0"]].concat())
        .fails(2, &["--memory"]);
    errors_read_as_reviewed("worker_options_are_checked", &world);
}

#[test]
fn special_endpoints_are_refused() {
    if !arena_test_isolation::leave_network("special_endpoints_are_refused") {
        return;
    }
    let world = World::new();
    let (id, games) = kept(&world);
    for (endpoint, reason) in [
        (
            "http://169.254.169.254:80",
            "169.254.169.254 is a link-local address",
        ),
        ("http://[fd00:ec2::254]:80", "metadata service's address"),
    ] {
        let register = ["agent", "register", "x", "--data", "data", "--endpoint"];
        let register = [&register[..], &[endpoint]].concat();
        let _ = world.arena(&register).fails(2, &[reason]);
    }
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("special_endpoints_are_refused", &world);
}

#[test]
fn dead_endpoint_is_unreachable() {
    let world = World::new();
    let (id, games) = kept(&world);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let url = format!("http://{address}");
    let _ = world
        .arena(&[
            "agent",
            "register",
            "far",
            "--endpoint",
            &url,
            "--data",
            "data",
        ])
        .fails(4, &["far", &address]);
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("dead_endpoint_is_unreachable", &world);
}

#[test]
fn port_in_use_is_named() {
    let world = World::new();
    let (id, games) = kept(&world);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    for (flag, other) in [("--listen", "--metrics"), ("--metrics", "--listen")] {
        let _ = world
            .arena(&[
                "coordinator",
                "--data",
                "data",
                flag,
                &address,
                other,
                "127.0.0.1:0",
            ])
            .fails(1, &[&address, "in use"]);
    }
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("port_in_use_is_named", &world);
}

#[test]
fn used_data_folder_names_its_holder() {
    let world = World::new();
    let (id, games) = kept(&world);
    let coordinator = world.coordinator("data", &[]);
    let holder = format!("process {}", coordinator.id());
    let _ = world
        .arena(&[
            "coordinator",
            "--data",
            "data",
            "--listen",
            "127.0.0.1:0",
            "--metrics",
            "127.0.0.1:0",
        ])
        .fails(1, &["data", "in use", &holder]);
    let spec = world.write("spec.toml", SPEC);
    let _ = world
        .arena(&["run", &spec, "--data", "data"])
        .fails(1, &["in use by a coordinator", "--data data"]);
    // Commands that only read query the coordinator that uses the folder.
    let now = world.export(&id, ["--data", "data"]);
    assert_eq!(games.difference(&now), None);
    coordinator.stop();
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("used_data_folder_names_its_holder", &world);
}

#[test]
fn newer_store_is_left_alone() {
    let world = World::new();
    let (id, games) = kept(&world);
    let label = world.folder().join("data/store.json");
    let text = fs::read_to_string(&label).expect("the store's label");
    let mut newer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    newer["format"] = 999.into();
    fs::write(&label, newer.to_string()).expect("a file");
    let spec = world.write("spec.toml", SPEC);
    let _ = world
        .arena(&["run", &spec, "--data", "data"])
        .fails(1, &["999", "newer"]);
    let _ = world
        .arena(&["export", &id, "--data", "data"])
        .fails(1, &["999", "newer"]);
    fs::write(&label, text).expect("a file");
    nothing_lost(&world, &id, &games);
    errors_read_as_reviewed("newer_store_is_left_alone", &world);
}

#[test]
fn name_in_use_needs_replace() {
    let world = World::with_python();
    let source = repository().join("agents/sdk/python/examples/greedy.py");
    let source = fs::read_to_string(source).expect("the example");
    let register = |text: &str, more: &[&str]| {
        let path = world.write("greedy.py", text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file");
        let arguments = [
            "agent",
            "register",
            "my-greedy",
            "--binary",
            &path,
            "--data",
            "data",
        ];
        world.arena(&[&arguments[..], more].concat())
    };
    let content = |output: arena_tests::Output| {
        let agent = output.ok().json();
        agent["content"].as_str().expect("a content")[..12].to_owned()
    };
    let json = ["--output", "json"];
    let before = content(register(&source, &json));
    let other = format!("{source}\n# changed\n");
    let refused = register(&other, &[]).fails(2, &[&before, "--replace"]);
    assert_eq!(content(register(&source, &json)), before);
    let after = content(register(&other, &[&json[..], &["--replace"]].concat()));
    assert!(refused.stderr.contains(&after), "{}", refused.transcript());
    errors_read_as_reviewed("name_in_use_needs_replace", &world);
}

#[test]
fn folder_without_a_store_is_refused_and_stays_as_it_is() {
    let world = World::new();
    fs::create_dir_all(world.folder().join("wrong")).expect("a folder");
    let commands: [&[&str]; 10] = [
        &["store", "verify"],
        &["store", "backup", "file"],
        &["game", "show", "cup-1/0"],
        &["game", "list", "cup-1"],
        &["export", "cup-1"],
        &["standings", "@last"],
        &["tournament", "list"],
        &["agent", "list"],
        &["audit", "list", "cup-1"],
        &["events", "list"],
    ];
    for folder in ["wrong", "missing"] {
        let path = world.folder().join(folder);
        let shown = path.to_str().expect("text");
        for command in commands {
            let refused = world.arena(&[command, &["--data", folder]].concat());
            let _ = refused.fails(2, &[shown, "contains no store", "--data"]);
        }
        let entries = fs::read_dir(&path).map_or(0, Iterator::count);
        assert_eq!((entries, path.exists()), (0, folder == "wrong"));
    }
}

#[test]
fn coordinator_says_that_its_store_is_new() {
    let world = World::new();
    let refused = ["coordinator", "--require-store", "--data", "data"];
    let path = world.folder().join("data");
    let shown = path.to_str().expect("text");
    let _ = world.arena(&refused).fails(2, &["--require-store", shown]);
    assert!(!path.exists());
    let said = format!("made a new, empty store in {shown}");
    let coordinator = world.coordinator("data", &[]);
    assert!(coordinator.log().contains(&said), "{}", coordinator.log());
    coordinator.stop();
    let again = world.coordinator("data", &["--require-store"]);
    assert!(!again.log().contains("new, empty"), "{}", again.log());
}
