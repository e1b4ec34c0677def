use std::fs;

use arena_tests::{World, arena, sha256, spec};

/// Writes the rules of the kit as a package, and registers it in a data folder.
pub(super) fn register(world: &World, data: &str) {
    if !world.folder().join("pig").exists() {
        let new = ["rulesets", "new", "--lang", "python", "pig"];
        let _ = world.arena(&new).ok();
    }
    let register = ["rulesets", "register", "pig", "--package", "pig"];
    let _ = world
        .arena(&[&register[..], &["--data", data]].concat())
        .ok();
}

#[test]
fn package_plays_the_same_games_on_any_number_of_workers() {
    let world = World::with_python();
    let new = [
        "agent", "new", "--lang", "python", "--name", "holder", "holder",
    ];
    let _ = world.arena(&new).ok();
    let policy = "from arena import serve\n\nserve(lambda decision: \
                  int(decision.position[\"points\"] < 20), name=\"holder\", version=\"1\")\n";
    fs::write(world.folder().join("holder/agent.py"), policy).expect("written");
    let more = "seats = 3\n[options]\ntarget = 30";
    let spec = spec("pig", "pig", 10, &["holder", "random", "second"], more);
    let spec = format!("{spec}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let mut hashes = Vec::new();
    for (data, workers) in [("one", "1"), ("three", "3")] {
        register(&world, data);
        let register = [
            "agent", "register", "holder", "--binary", "holder", "--data", data,
        ];
        let _ = world.arena(&register).ok();
        let (id, standings, games) = world.tournament(&spec, data, &["--workers", workers]);
        assert_eq!(standings["agents"][0]["agent"], "holder", "{standings}");
        assert_eq!(standings["games_clean"], standings["games"], "no faults");
        let digest = games.games[0]["rules_digest"].as_str().expect("a digest");
        assert_eq!(digest.len(), 64);
        let notes = standings["notes"].to_string();
        // With three workers, another one has replayed each record.
        assert_eq!(notes.contains("unverified"), workers == "1", "{notes}");
        assert_eq!(games.games[0]["rules_version"], 1);
        let exported = world.arena(&["export", &id, "--data", data]).ok().stdout;
        hashes.push(sha256(&exported));
        let game = format!("{id}/4");
        for (command, words) in [("replay", "are correct"), ("rerun", "same hash")] {
            let again = world.arena(&["game", command, &game, "--data", data]).ok();
            assert!(again.stdout.contains(words), "{}", again.stdout);
        }
        let shown = world.arena(&["game", "show", &game, "--data", data]).ok();
        assert!(shown.stdout.contains("throw"), "{}", shown.stdout);
        let report = ["report", &id, "--data", data, "--html", "report.html"];
        let _ = world.arena(&report).ok();
        let _ = world.arena(&["store", "verify", "--data", data]).ok();
    }
    assert_eq!(hashes[0], hashes[1]);
    world.nothing_runs();
}

#[test]
fn edited_agents_and_rules_are_named_until_they_are_registered_again() {
    let world = World::with_python();
    register(&world, "data");
    let new = ["agent", "new", "--lang", "python", "mine"];
    let _ = world.arena(&new).ok();
    let register_mine = |more: &[&str]| {
        let register = ["agent", "register", "mine", "--binary", "mine"];
        let register = [&register[..], &["--data", "data"], more].concat();
        let _ = world.arena(&register).ok();
    };
    register_mine(&[]);
    let text = spec("edited", "pig", 2, &["mine", "random"], "seats = 2");
    let path = world.write("edited.toml", text);
    let changed = |output: &str| -> Vec<String> {
        let lines = output
            .lines()
            .filter(|line| line.contains("has changed since"));
        let names = lines.filter_map(|line| Some(line.split_once(':')?.0.to_owned()));
        names.collect()
    };
    let run = || {
        let run = ["run", &path, "--data", "data", "--again"];
        changed(&world.arena(&run).ok().stderr)
    };
    assert_eq!(run(), [] as [&str; 0]);
    for file in ["mine/agent.py", "pig/game.py"] {
        let file = world.folder().join(file);
        let text = fs::read_to_string(&file).expect("text");
        fs::write(&file, format!("{text}\n# edited\n")).expect("written");
    }
    assert_eq!(run(), ["mine", "pig"]);
    register_mine(&["--replace"]);
    assert_eq!(run(), ["pig"]);
    fs::remove_dir_all(world.folder().join("pig")).expect("removed");
    assert_eq!(run(), [] as [&str; 0]);
    world.nothing_runs();
}

/// The steps that a check skips.
pub(super) fn skipped(world: &World, check: &[&str]) -> Vec<String> {
    let checked = world.arena(check).ok().stdout;
    let skipped = checked.lines().filter(|line| line.contains("skipped"));
    let names = skipped.filter_map(|line| line.split_whitespace().nth(1));
    names.map(str::to_owned).collect()
}

#[test]
fn kit_of_rules_passes_its_check() {
    let world = World::with_python();
    let new = ["rulesets", "new", "--lang", "python", "mine"];
    let _ = world.arena(&new).ok();
    let check = ["rulesets", "check", "mine", "--games", "9"];
    let golden = "mine/golden.jsonl";
    let write = [&check[..], &["--write-golden", golden]].concat();
    assert_eq!(skipped(&world, &write), ["values", "golden"]);
    assert_eq!(skipped(&world, &check), ["values"]);
    let rules = world.folder().join("mine/game.py");
    let text = fs::read_to_string(&rules).expect("a game");
    let changed = text.replacen("\"hold\"", "\"keep\"", 1);
    assert_ne!(changed, text);
    fs::write(&rules, changed).expect("written");
    let _ = world.arena(&check).fails(3, &["golden", "after 1 events"]);
}

#[test]
fn misspelt_fields_of_a_class_are_named() {
    let world = World::with_python();
    let new = ["rulesets", "new", "--lang", "python", "mine"];
    let _ = world.arena(&new).ok();
    let rules = world.folder().join("mine/game.py");
    let text = fs::read_to_string(&rules).expect("a game");
    for (field, misspelt) in [("chance", "chanse"), ("events_max", "max_events")] {
        let changed = text.replacen(&format!("    {field} = "), &format!("    {misspelt} = "), 1);
        assert_ne!(changed, text);
        fs::write(&rules, changed).expect("written");
        let words = format!("'{misspelt}'; did you mean '{field}'?");
        let check = ["rulesets", "check", "mine", "--games", "1"];
        let _ = world.arena(&check).fails(3, &[&words]);
    }
}

#[test]
fn rules_that_answer_one_state_of_a_message_play_the_same_games() {
    let world = World::with_python();
    let spec = spec("cup", "pig", 6, &["random", "second"], "");
    let spec = format!("{spec}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let played = |data| {
        register(&world, data);
        let (_, standings, games) = world.tournament(&spec, data, &[]);
        assert_eq!(standings["games_clean"], standings["games"], "no faults");
        let events = games.games.iter().map(|game| game["events"].clone());
        events.collect::<Vec<_>>()
    };
    let before = played("before");
    let file = world.folder().join("pig/arena_game.py");
    let text = fs::read_to_string(&file).expect("the kit");
    let all = "for it in states]}";
    assert!(text.contains(all), "the answer to a message");
    fs::write(&file, text.replace(all, "for it in states][:1]}")).expect("written");
    assert_eq!(played("after"), before);
    let check = ["rulesets", "check", "pig", "--games", "4"];
    let words = " states in one message: an answer does not follow the protocol: 1 nodes for ";
    let _ = world.arena(&check).fails(3, &[words]);
    world.nothing_runs();
}

#[test]
fn registered_package_is_shown_and_checked_by_name() {
    let world = World::with_python();
    register(&world, "data");
    let shown = world
        .arena(&["rulesets", "show", "pig", "--data", "data"])
        .ok();
    for words in [
        "pig (rules version 1): ",
        "seats: 2 to ",
        "target",
        "package: content ",
    ] {
        assert!(shown.stdout.contains(words), "{}", shown.stdout);
    }
    // The package that is registered counts, not the folder of this name.
    fs::write(world.folder().join("pig/game.py"), "broken").expect("written");
    let elsewhere = World::with_python();
    let data = world.folder().join("data");
    let data = data.to_str().expect("UTF-8");
    let check = ["rulesets", "check", "pig", "--games", "9", "--data", data];
    let checked = elsewhere.arena(&check).ok().stdout;
    assert!(
        checked.contains("passed") && !checked.contains("FAILED"),
        "{checked}"
    );
    for command in ["show", "check"] {
        let unknown = ["rulesets", command, "pork", "--data", data];
        let _ = elsewhere
            .arena(&unknown)
            .fails(2, &["pork", "none of this name is registered"]);
        let nowhere = ["rulesets", command, "pork"];
        let _ = elsewhere
            .arena(&nowhere)
            .fails(2, &["pork", "--coordinator URL"]);
    }
    world.nothing_runs();
}

/// Also the untouched agent of `arena agent new`, which looks at moves of built-in rulesets.
#[test]
fn agents_may_play_registered_rulesets_alone() {
    let world = World::with_python();
    let of = ["--data", "data"];
    let arena = |arguments: &[&str]| world.arena(&[arguments, &of].concat()).ok();
    for new in [&["agent", "new"][..], &["rulesets", "new"]] {
        let kit = ["--lang", "python", new[0]];
        let _ = world.arena(&[new, &kit].concat()).ok();
    }
    let file = world.folder().join("agent/agent.py");
    let text = fs::read_to_string(&file).expect("an agent");
    let text = text.replace("    version=", "    rulesets=[\"pig\"],\n    version=");
    fs::write(&file, text).expect("written");
    let register = ["agent", "register", "mine", "--binary", "agent"];
    let early = arena(&register).stderr;
    assert!(early.contains("\"pig\", which is not a ruleset"), "{early}");
    let _ = arena(&["rulesets", "register", "pig", "--package", "rulesets"]);
    let registered = arena(&[&register[..], &["--replace"]].concat()).stderr;
    assert!(!registered.contains("warning"), "{registered}");
    let check = ["agent", "check", "agent"];
    let _ = world.arena(&check).fails(
        2,
        &["nothing was checked", "plays only pig", "--package PATH"],
    );
    let by_path = ["--ruleset", "pig", "--package", "rulesets"];
    let checked = world
        .arena(&[&check[..], &by_path].concat())
        .ok()
        .transcript();
    assert!(checked.contains("games of pig"), "{checked}");
    assert!(!checked.contains("FAILED"), "{checked}");
    let by_name = [&check[..], &["--ruleset", "pig"], &of].concat();
    let checked = world.arena(&by_name).ok().transcript();
    assert!(checked.contains("games of pig"), "{checked}");
    let unknown = [&check[..], &["--ruleset", "snap"], &of].concat();
    let _ = world
        .arena(&unknown)
        .fails(2, &["does not play snap, but pig"]);
    let spec = world.write("pig.toml", spec("pig", "pig", 5, &["mine", "random"], ""));
    let played = arena(&["run", &spec]).transcript();
    assert!(played.contains("10/10 games"), "{played}");
    world.nothing_runs();
}

/// Python is missing on the workers of one owner.
#[test]
fn rules_that_fail_for_one_owner_alone_pause_nothing() {
    let world = World::with_python();
    let coordinator = world.coordinator("data", &["--audit-share", "0"]);
    let url = coordinator.url();
    let of = ["--coordinator", &*url];
    let _ = world
        .arena(&["rulesets", "new", "--lang", "python", "pig"])
        .ok();
    let register = ["rulesets", "register", "pig", "--package", "pig"];
    let _ = world.arena(&[&register[..], &of].concat()).ok();
    let worker = |name: &str, path: Option<&str>| {
        let token = format!("{name}.token");
        let create = ["token", "create", "--role", "worker", "--write", &token];
        let _ = world.arena(&[&create[..], &of].concat()).ok();
        let mut command = world.command(arena());
        if let Some(path) = path {
            command.env("PATH", path);
        }
        command.args(["worker", "--name", name, "--token-file", &token]);
        command.args(["--metrics", "127.0.0.1:0"]);
        command.args(of);
        world.serve(command)
    };
    let able = worker("able", None);
    let lacking = worker("lacking", Some("/nowhere"));
    let text = spec("pig", "pig", 300, &["random", "second"], "");
    let text = format!("{text}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let id = world.start_tournament("pig", &text, &url);
    world.finish_tournament(&id, &url);
    let log = coordinator.log();
    assert!(
        log.contains("the rules do not start on one worker"),
        "{log}"
    );
    // Without another owner, there is nothing to wait for.
    able.stop();
    let id = world.start_tournament(
        "again",
        &text.replace("\"pig\"\nruleset", "\"again\"\nruleset"),
        &url,
    );
    let watched = world.arena(&[&["tournament", "watch", &id][..], &of].concat());
    assert!(
        watched
            .transcript()
            .contains("the rules of pig start on no worker (tried on lacking)"),
        "{}",
        watched.transcript()
    );
    lacking.stop();
}

#[test]
fn registration_is_refused_by_name() {
    let world = World::with_python();
    register(&world, "data");
    let twice = [
        "rulesets",
        "register",
        "pig",
        "--package",
        "pig",
        "--data",
        "data",
    ];
    let _ = world.arena(&twice).ok();
    let other = [&twice[..], &["--", "other"]].concat();
    let _ = world
        .arena(&other)
        .fails(2, &["already registered", "--replace"]);
    let taken = [
        "rulesets",
        "register",
        "kalah",
        "--package",
        "pig",
        "--data",
        "data",
    ];
    let _ = world.arena(&taken).fails(2, &["is a ruleset of Arena"]);
    let wrong = [
        "play",
        "--ruleset",
        "pgi",
        "--seed",
        "1",
        "--seats",
        "random,greedy",
    ];
    let _ = world.arena(&wrong).fails(
        2,
        &["unknown ruleset", "rulesets register", "--data FOLDER"],
    );
    let wrong = [&wrong[..], &["--data", "data"]].concat();
    let _ = world.arena(&wrong).fails(2, &["did you mean \"pig\"?"]);
    let wrong = [
        "play",
        "--ruleset",
        "pig",
        "--seed",
        "1",
        "--seats",
        "random,greedy",
    ];
    let wrong = [&wrong[..], &["--data", "data"]].concat();
    let _ = world.arena(&wrong).fails(2, &["give no values"]);
    let listed = world.arena(&["rulesets", "list", "--data", "data"]).ok();
    assert!(listed.stdout.contains("pig"), "{}", listed.stdout);
    let _ = world
        .arena(&["rulesets", "remove", "pig", "--data", "data"])
        .ok();
    let again = world.arena(&["rulesets", "remove", "pig", "--data", "data"]);
    let _ = again.fails(2, &["no ruleset \"pig\" is registered"]);
}
