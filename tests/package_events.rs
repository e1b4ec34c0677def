use std::fs;

use arena_tests::{World, repository, sha256, spec};
use serde_json::Value;

use crate::package_grpc::{serve_grpc, without_content};

/// Writes the rules as the packages `lines` and `grpc`.
fn write_rules(world: &World) {
    for name in ["lines", "grpc"] {
        let folder = world.folder().join(name);
        fs::create_dir(&folder).expect("a folder");
        for (from, name) in [
            ("tests/data/toll_rules.py", "game.py"),
            ("services/games/kits/python/arena_game.py", "arena_game.py"),
        ] {
            fs::copy(repository().join(from), folder.join(name)).expect(from);
        }
        let manifest = "command = [\"python3\", \"game.py\"]\n";
        fs::write(folder.join("arena-agent.toml"), manifest).expect("written");
    }
    let program = "from arena_agent.rules import serve_rules\nfrom game import Toll\n\n\
                   serve_rules(Toll)\n";
    serve_grpc(world, "grpc", program);
}

/// An agent that takes each toll by the place of this action. It fails if it sees an id of the rules.
fn write_agent(world: &World) {
    let new = [
        "agent", "new", "--lang", "python", "--name", "taker", "taker",
    ];
    let _ = world.arena(&new).ok();
    let policy = "from arena import serve\n\n\n\
                  def choose(decision):\n    \
                  assert decision.legal_moves == [0, 1, 2], decision.legal_moves\n    \
                  toll = decision.position[\"tolls\"][-1]\n    \
                  assert decision.notations == [\"pay\", \"double\", f\"take-{toll}\"], decision.notations\n    \
                  return 2\n\n\n\
                  serve(choose, name=\"taker\", version=\"1\")\n";
    fs::write(world.folder().join("taker/agent.py"), policy).expect("written");
}

#[test]
fn probabilities_and_wide_ids_play_the_same_games_over_lines_and_grpc() {
    let world = World::with_python();
    write_rules(&world);
    write_agent(&world);
    let spec = spec("toll", "toll", 12, &["taker", "random"], "");
    let mut exports = Vec::new();
    for (data, package, workers) in [
        ("lines-one", "lines", "1"),
        ("lines-three", "lines", "3"),
        ("grpc-one", "grpc", "1"),
        ("grpc-three", "grpc", "3"),
    ] {
        let of = ["--data", data];
        let register = ["rulesets", "register", "toll", "--package", package];
        let _ = world.arena(&[&register[..], &of].concat()).ok();
        let register = ["agent", "register", "taker", "--binary", "taker"];
        let _ = world.arena(&[&register[..], &of].concat()).ok();
        let (id, standings, games) = world.tournament(&spec, data, &["--workers", workers]);
        assert_eq!(standings["games_clean"], standings["games"], "{standings}");
        assert_eq!(standings["agents"][0]["agent"], "taker", "{standings}");
        let game = format!("{id}/4");
        for (command, words) in [("replay", "are correct"), ("rerun", "same hash")] {
            let again = [&["game", command, &game][..], &of].concat();
            let again = world.arena(&again).ok();
            assert!(again.stdout.contains(words), "{}", again.stdout);
        }
        exports.push((id, games));
    }
    let [lines, lines_three, grpc, grpc_three] = &exports[..] else {
        panic!("four tournaments");
    };
    assert_eq!(lines.1.difference(&lines_three.1), None);
    assert_eq!(grpc.1.difference(&grpc_three.1), None);
    let [lines_hash, grpc_hash] = [lines, grpc].map(|it| sha256(&without_content(it)));
    assert_eq!(lines_hash, grpc_hash);
    // Outcomes have the weights 2, 1 and 3.
    let mut drawn = [0; 3];
    for game in &lines.1.games {
        let events = game["events"].as_array().expect("events");
        let (tolls, moves): (Vec<&Value>, Vec<&Value>) = events
            .iter()
            .partition(|event| event.get("chance").is_some());
        assert_eq!((tolls.len(), moves.len()), (8, 8), "{events:?}");
        for (toll, action) in tolls.iter().zip(moves) {
            let toll = toll["chance"].as_str().expect("a notation");
            drawn[toll.parse::<usize>().expect("a toll")] += 1;
            // A record has the place of an action, and its notation.
            let known = [
                "pay".to_owned(),
                "double".to_owned(),
                format!("take-{toll}"),
            ];
            let place = action["action"].as_u64().expect("a place") as usize;
            assert_eq!(action["move"], *known[place], "{action}");
        }
    }
    assert!(
        drawn[2] > drawn[0] && drawn[0] > drawn[1] && drawn[1] > 0,
        "{drawn:?}"
    );
    world.nothing_runs();
}

#[test]
fn wrong_probabilities_and_ids_are_named_over_lines_and_grpc() {
    let world = World::with_python();
    write_rules(&world);
    let narrow = "is not below 32768, which it may be if the description has `wide_ids`";
    for (mode, lines, grpc) in [
        (
            "nan",
            "\"probabilities\":[0.5,NaN,0.5]",
            "probabilities[1] is NaN, which is not from 0 to 1",
        ),
        (
            "negative",
            "probabilities[1] is -0.5, which is not from 0 to 1",
            "",
        ),
        ("sum", "the sum of the probabilities is 0.875, not 1", ""),
        (
            "fraction",
            "no fractions with a common denominator below 2^32: probabilities[",
            "",
        ),
        ("both", "has both weights and probabilities: give one", ""),
        ("narrow", narrow, ""),
        ("large", "action 2147483648 is not below 2147483648", ""),
        ("none", "passed", ""),
    ] {
        let code = if mode == "none" { 0 } else { 3 };
        let grpc = if grpc.is_empty() { lines } else { grpc };
        for (package, words) in [("lines", lines), ("grpc", grpc)] {
            let check = ["rulesets", "check", package, "--games", "4", "--", mode];
            let checked = world.arena(&check);
            let text = checked.transcript();
            assert_eq!(checked.code, Some(code), "{mode}: {text}");
            assert!(text.contains(words), "{mode}: {text}");
        }
    }
    world.nothing_runs();
}

#[test]
fn rules_that_take_any_option_fail_the_check() {
    let world = World::with_python();
    write_rules(&world);
    let file = world.folder().join("lines/arena_game.py");
    let text = fs::read_to_string(&file).expect("the kit");
    let refuses = "raise ValueError(f\"unknown option {unknown[0]!r}\")";
    assert!(text.contains(refuses), "the kit refuses unknown options");
    fs::write(&file, text.replace(refuses, "pass")).expect("written");
    let check = ["rulesets", "check", "lines", "--games", "4"];
    let checked = world.arena(&[&check[..], &["--output", "json"]].concat());
    let steps = checked.fails(3, &[]).json();
    let steps = steps["steps"].as_array().expect("steps").iter();
    let failed: Vec<&Value> = steps.filter(|step| step["result"] == "failed").collect();
    let [failed] = &failed[..] else {
        panic!("one step: {failed:?}");
    };
    assert_eq!(failed["name"], "options", "{failed}");
    let detail = failed["detail"].as_str().expect("a text");
    let words = "begin a game with the option \"unknown\", which their description does not have";
    assert!(detail.contains(words), "{failed}");
    world.nothing_runs();
}
