use std::{fs, os::unix::fs::PermissionsExt};

use arena_engine::AgentRng;
use arena_tests::{World, spec};
use serde_json::Value;

/// Tournaments of both rulesets with two to four seats.
fn specs() -> Vec<String> {
    vec![
        spec("duel", "cowry", 4, &["random", "aggressive", "mixed"], ""),
        spec(
            "four",
            "cowry",
            4,
            &["random", "aggressive", "defensive", "move-last"],
            "seats = 4",
        ),
        spec(
            "sowing",
            "kalah",
            4,
            &["random", "kalah-minimax", "kalah-alphabeta"],
            "[play]\nopening_plies = 2",
        ),
    ]
}

#[test]
fn records_replay_from_store_and_line() {
    for spec in specs() {
        let world = World::new();
        let (id, _, games) = world.tournament(&spec, "data", &[]);
        let file = world.write("games.jsonl", &games.text);
        let replayed = world
            .arena(&["game", "replay", "--file", &file, "--output", "jsonl"])
            .ok();
        assert_eq!(replayed.stdout, games.text);
        let game = format!("{id}/1");
        let stored = world
            .arena(&[
                "game", "replay", &game, "--data", "data", "--output", "json",
            ])
            .ok();
        assert_eq!(
            stored.stdout.trim(),
            games.text.lines().nth(1).expect("game 1")
        );
    }
}

#[test]
fn replay_rejects_changed_byte() {
    let mut rng = AgentRng::new(0x5eed);
    for spec in specs() {
        let world = World::new();
        let (_, _, games) = world.tournament(&spec, "data", &[]);
        let line = games.text.lines().next().expect("a game");
        // At any place, and in the seed, where other letters can mean the same number.
        let seed = line.find("\"seed\":").expect("a seed");
        let anywhere = (0..25).map(|_| (rng.word() % line.len() as u64) as usize);
        let places: Vec<usize> = anywhere.chain(seed..seed + 26).collect();
        for (place, mask) in places.into_iter().zip([1, 0x20, 0x80].into_iter().cycle()) {
            let mut bytes = line.as_bytes().to_vec();
            bytes[place] ^= mask;
            let file = world.write("changed.json", &bytes);
            let output = world.arena(&["game", "replay", "--file", &file]);
            let changed = String::from_utf8_lossy(&bytes);
            assert_eq!(
                output.code,
                Some(3),
                "byte {place} of {changed}\n{}",
                output.transcript()
            );
            assert!(
                !output.stderr.trim().is_empty(),
                "nothing said of byte {place}"
            );
            assert!(
                !output.stderr.contains("panicked"),
                "{}",
                output.transcript()
            );
        }
    }
}

#[test]
fn rerun_gives_the_same_record() {
    for spec in specs() {
        let world = World::new();
        let (id, _, games) = world.tournament(&spec, "data", &[]);
        for (index, line) in games.text.lines().enumerate().take(3) {
            let game = format!("{id}/{index}");
            for builtin in ["in-process", "process"] {
                let again = world
                    .arena(&[
                        "game",
                        "rerun",
                        &game,
                        "--data",
                        "data",
                        "--builtin",
                        builtin,
                        "--output",
                        "json",
                    ])
                    .ok();
                assert_eq!(again.stdout.trim(), line, "{builtin}");
            }
        }
        world.nothing_runs();
    }
}

#[test]
fn play_repeats_a_recorded_game() {
    for spec in specs() {
        let world = World::new();
        let (_, _, games) = world.tournament(&spec, "data", &[]);
        for game in games.games.iter().take(3) {
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            let seats: Vec<String> = game["seats"]
                .as_array()
                .expect("seats")
                .iter()
                .map(text)
                .collect();
            let options = game["options"].as_object().expect("options");
            let options: Vec<String> = options
                .iter()
                .map(|(key, value)| match value {
                    Value::String(value) => format!("--option={key}={value}"),
                    value => format!("--option={key}={value}"),
                })
                .collect();
            let (ruleset, seed, seats) =
                (text(&game["ruleset"]), text(&game["seed"]), seats.join(","));
            let events = game["events"].as_array().expect("events");
            let opening = events.iter().filter(|event| event["opening"] == true);
            let opening: Vec<String> = opening.map(|event| event["action"].to_string()).collect();
            let opening = format!("--opening={}", opening.join(","));
            let mut arguments = vec![
                "play",
                "--ruleset",
                &ruleset,
                "--seed",
                &seed,
                "--seats",
                &seats,
                "--output",
                "json",
            ];
            arguments.extend(options.iter().map(String::as_str));
            if !opening.ends_with('=') {
                arguments.push(&opening);
            }
            let mut played = world.arena(&arguments).ok().json();
            let mut expected = game.clone();
            // The game's index in the tournament is not part of the game itself.
            for record in [&mut played, &mut expected] {
                let record = record.as_object_mut().expect("a record");
                for key in ["game_id", "index", "block", "hash"] {
                    record.remove(key);
                }
            }
            assert_eq!(played, expected);
        }
    }
}

#[test]
fn game_can_be_followed_by_a_person() {
    let world = World::new();
    let output = world
        .arena(&[
            "play",
            "--ruleset",
            "cowry",
            "--seed",
            "0x5eed",
            "--seats",
            "random,aggressive",
            "--watch",
        ])
        .ok();
    for word in ["random", "aggressive", "seat 0", "ended after"] {
        assert!(
            output.stdout.contains(word),
            "{word} is missing in {}",
            output.transcript()
        );
    }
}

#[test]
fn rerun_names_nondeterministic_agent() {
    let world = World::with_python();
    let agent = world.misbehave();
    for (mode, said) in [
        ("moody", "is not deterministic"),
        ("openly-moody", "not deterministic"),
    ] {
        let _ = world
            .arena(&[
                "agent", "register", mode, "--binary", &agent, "--data", "data", "--", mode,
            ])
            .ok();
        let spec = spec(mode, "cowry", 1, &["random", mode], "");
        let path = world.write("spec.toml", spec);
        let id = world
            .arena(&["run", &path, "--data", "data", "--output", "json"])
            .ok()
            .tournament_id();
        let game = format!("{id}/0");
        let _ = world
            .arena(&["game", "rerun", &game, "--data", "data"])
            .fails(3, &["differs: expected", "got", mode, said]);
        let _ = world
            .arena(&["game", "replay", &game, "--data", "data"])
            .ok();
    }
    world.nothing_runs();
}

/// Sets what the agent of [`picks`] chooses.
fn pick(world: &World, which: &str) {
    fs::create_dir_all(world.folder().join("shared")).expect("a folder");
    let _ = world.write("shared/pick", which);
}

/// An agent that chooses the least or the greatest id, as the file `pick` beside the data folder
/// says. It is in the folder `shared`, which agents may read.
fn picks(world: &World) -> String {
    let source = format!(
        "#!/usr/bin/env python3\n\
         from arena_agent import Agent, serve\n\n\n\
         class Picks(Agent):\n    name = \"picks\"\n    version = \"1\"\n\
         \x20   rulesets = (\"cowry\",)\n    deterministic = True\n\n\
         \x20   def choose(self, decision):\n\
         \x20       pick = {{\"min\": min, \"max\": max}}[open({file:?}).read()]\n\
         \x20       return pick(move.id for move in decision.moves)\n\n\n\
         serve(Picks())\n",
        file = world.folder().join("shared/pick")
    );
    let path = world.write("picks.py", source);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file");
    path
}

#[test]
fn rerun_names_first_different_ply() {
    let world = World::with_python();
    let path = picks(&world);
    pick(&world, "min");
    let _ = world
        .arena(&[
            "agent", "register", "picks", "--binary", &path, "--data", "data",
        ])
        .ok();
    let spec = world.write(
        "spec.toml",
        spec("picks", "cowry", 1, &["picks", "random"], ""),
    );
    let id = world
        .arena(&["run", &spec, "--data", "data", "--output", "json"])
        .ok()
        .tournament_id();
    let game = format!("{id}/0");
    let rerun = ["game", "rerun", &game, "--data", "data"];
    let _ = world.arena(&rerun).ok();
    pick(&world, "max");
    let _ = world.arena(&rerun).fails(
        3,
        &["ply", "differs: expected", "got", "picks", "always so"],
    );
}

#[test]
fn rerun_uses_the_original_binary() {
    let world = World::with_python();
    pick(&world, "min");
    let path = picks(&world);
    let register = [
        "agent", "register", "picks", "--binary", &path, "--data", "data",
    ];
    let _ = world.arena(&register).ok();
    let spec = world.write(
        "spec.toml",
        spec("picks", "cowry", 1, &["picks", "random"], ""),
    );
    let id = world
        .arena(&["run", &spec, "--data", "data", "--output", "json"])
        .ok()
        .tournament_id();
    let source = fs::read_to_string(&path).expect("the agent");
    let _ = world.write("picks.py", source.replace("\"min\": min", "\"min\": max"));
    let _ = world.arena(&[&register[..], &["--replace"]].concat()).ok();
    let game = format!("{id}/0");
    let _ = world
        .arena(&["game", "rerun", &game, "--data", "data"])
        .ok();
}

#[test]
fn rerun_finds_packages_in_data_folder() {
    let world = World::with_python();
    pick(&world, "min");
    let path = picks(&world);
    let _ = world
        .arena(&["agent", "register", "picks", "--binary", &path])
        .ok();
    let spec = world.write(
        "spec.toml",
        spec("picks", "cowry", 1, &["picks", "random"], ""),
    );
    let id = world
        .arena(&["run", &spec, "--output", "json"])
        .ok()
        .tournament_id();
    let games = world.arena(&["export", &id]).ok();
    let line = games.stdout.lines().next().expect("a game");
    let record = world.write("record.json", line);
    let rerun = ["game", "rerun", "--file", &record];
    let _ = world.arena(&rerun).ok();
    let folder = world.folder().join("arena-data");
    fs::rename(&folder, world.folder().join("elsewhere")).expect("moved");
    let _ = world
        .arena(&rerun)
        .fails(2, &["agent picks", "--agent picks=PATH"]);
}
