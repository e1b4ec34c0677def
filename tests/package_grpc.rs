//! Rules that are a package, over gRPC: as over lines.

use std::{
    fs,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use arena_tests::{Games, World, repository, sha256, spec};

use crate::{
    hidden_information::write_rules,
    package_promises::{hostile, package_fails},
    package_rules::skipped,
};

/// Makes the package in a folder serve gRPC, by a program of this text.
pub(super) fn serve_grpc(world: &World, folder: &str, program: &str) {
    let folder = world.folder().join(folder);
    fs::write(folder.join("serve_grpc.py"), program).expect("written");
    let manifest = "command = [\"python3\", \"serve_grpc.py\"]\nprotocol = \"grpc\"\n";
    fs::write(folder.join("arena-agent.toml"), manifest).expect("written");
}

/// The rules of the kit over gRPC, in a new folder `pig-grpc`.
fn pig(world: &World) {
    let new = ["rulesets", "new", "--lang", "python", "pig-grpc"];
    let _ = world.arena(&new).ok();
    let program = "from arena_agent.rules import serve_rules\nfrom game import Game\n\n\
                   serve_rules(Game)\n";
    serve_grpc(world, "pig-grpc", program);
    // The name is part of the description alone.
    let file = world.folder().join("pig-grpc/game.py");
    let text = fs::read_to_string(&file).expect("rules");
    fs::write(&file, text.replace("\"pig-grpc\"", "\"pig\"")).expect("written");
}

/// The lines of an export without what depends on the content of the package.
pub(super) fn without_content((id, games): &(String, Games)) -> String {
    let mut text = games.text.replace(id, "");
    for game in &games.games {
        for field in ["rules_digest", "hash"] {
            let digest = game[field].as_str().expect(field);
            assert_eq!(digest.len(), 64);
            text = text.replace(digest, "");
        }
    }
    text
}

#[test]
fn grpc_and_lines_play_the_same_games_on_any_number_of_workers() {
    let world = World::with_python();
    pig(&world);
    let _ = world
        .arena(&["rulesets", "new", "--lang", "python", "pig"])
        .ok();
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
    let mut exports = Vec::new();
    for (data, package, workers) in [
        ("lines", "pig", "1"),
        ("one", "pig-grpc", "1"),
        ("two", "pig-grpc", "2"),
    ] {
        let of = ["--data", data];
        let register = ["rulesets", "register", "pig", "--package", package];
        let _ = world.arena(&[&register[..], &of].concat()).ok();
        let register = ["agent", "register", "holder", "--binary", "holder"];
        let _ = world.arena(&[&register[..], &of].concat()).ok();
        let (id, standings, games) = world.tournament(&spec, data, &["--workers", workers]);
        assert_eq!(standings["games_clean"], standings["games"], "no faults");
        let game = format!("{id}/4");
        for (command, words) in [("replay", "are correct"), ("rerun", "same hash")] {
            let again = [&["game", command, &game][..], &of].concat();
            let again = world.arena(&again).ok();
            assert!(again.stdout.contains(words), "{}", again.stdout);
        }
        exports.push((id, games));
    }
    let [lines, one, two] = &exports[..] else {
        panic!("three tournaments");
    };
    assert_eq!(one.1.difference(&two.1), None);
    assert_ne!(one.0, lines.0);
    assert_eq!(
        sha256(&without_content(one)),
        sha256(&without_content(lines))
    );
    world.nothing_runs();
}

#[test]
fn rules_over_grpc_pass_their_check() {
    let world = World::with_python();
    pig(&world);
    let check = ["rulesets", "check", "pig-grpc", "--games", "9"];
    assert_eq!(skipped(&world, &check), ["values", "golden"]);
    world.nothing_runs();
}

#[test]
fn hidden_information_and_returns_over_grpc_are_checked() {
    for (mode, reason) in [
        ("none", None),
        (
            "nothing",
            Some("a decision has no position, and information is hidden"),
        ),
        (
            "bounds",
            Some("but `returns` of the description allow 0 to 4"),
        ),
    ] {
        let world = World::with_python();
        write_rules(&world, "cards", mode);
        let program = "from arena_agent.rules import serve_rules\nfrom game import HighCard\n\n\
                       serve_rules(HighCard)\n";
        serve_grpc(&world, "cards", program);
        let check = ["rulesets", "check", "cards", "--games", "20", "--", mode];
        let checked = world.arena(&check);
        let code = if reason.is_some() { 3 } else { 0 };
        let text = checked.transcript();
        assert_eq!(checked.code, Some(code), "{text}");
        assert!(text.contains(reason.unwrap_or("passed")), "{text}");
        world.nothing_runs();
    }
}

#[test]
fn exception_over_grpc_names_its_place() {
    let world = World::with_python();
    pig(&world);
    let file = world.folder().join("pig-grpc/game.py");
    let text = fs::read_to_string(&file).expect("rules");
    let text = text.replace("state[\"seat\"], {HOLD", "state[\"seta\"], {HOLD");
    fs::write(&file, text).expect("written");
    let check = ["rulesets", "check", "pig-grpc", "--games", "4"];
    let place = "KeyError: 'seta' (game.py, line ";
    let checked = world.arena(&check).fails(3, &[]).transcript();
    assert!(checked.contains(place), "{checked}");
    assert!(checked.contains("in next"), "{checked}");
    world.nothing_runs();
}

/// The section of the SDK's README, exactly as written.
#[test]
fn commands_of_the_rules_in_the_python_readme_work() {
    let readme = repository().join("agents/sdk/python/README.md");
    let readme = fs::read_to_string(readme).expect("a README");
    let (_, section) = readme
        .split_once("## Rules of a game\n")
        .expect("a section");
    let block = |language: &str| {
        let (_, rest) = section
            .split_once(&format!("```{language}\n"))
            .expect("a block");
        rest.split("```").next().expect("its end").to_owned()
    };
    let world = World::with_python();
    let _ = world
        .arena(&["rulesets", "new", "--lang", "python", "my-game"])
        .ok();
    let folder = world.folder().join("my-game");
    fs::write(folder.join("serve_grpc.py"), block("python")).expect("written");
    fs::write(folder.join("arena-agent.toml"), block("toml")).expect("written");
    let mut commands = 0;
    for command in block("sh").lines() {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let _ = world.arena(&words).ok();
        commands += 1;
    }
    assert_eq!(commands, 2);
    world.nothing_runs();
}

/// Makes a package of rules over gRPC that break a promise, in a folder of this name.
fn hostile_grpc(world: &World, mode: &str) {
    hostile(world, mode);
    let program = repository().join("tests/data/hostile_grpc.py");
    serve_grpc(world, mode, &fs::read_to_string(program).expect("rules"));
}

/// The rules pass their registration and fail in play: the tournament pauses with this reason, and
/// no agent is charged.
fn fails_in_play(mode: &str, reason: &str) {
    let world = World::with_python();
    hostile_grpc(&world, mode);
    package_fails(&world, "second", mode, reason);
}

#[test]
fn grpc_rules_that_crash_are_named() {
    fails_in_play("crash", "exit code 3; its last output: the rules give up");
}

#[test]
fn grpc_rules_that_hang_are_named() {
    fails_in_play("hang", "did not answer in time");
}

#[test]
fn grpc_rules_that_report_an_error_are_named() {
    fails_in_play("error", "ValueError: a wrong turn (game.py, line ");
}

#[test]
fn grpc_rules_that_change_their_answers_are_named() {
    fails_in_play(
        "changes",
        "two processes answer the same question differently",
    );
}

#[test]
fn grpc_rules_with_an_action_outside_the_bounds_are_named() {
    fails_in_play("action", "action 40000 is not below 32768");
}

#[test]
fn grpc_rules_with_a_huge_answer_are_named() {
    fails_in_play("huge", "a message exceeds 4194304 bytes");
}

#[test]
fn grpc_rules_with_very_many_nodes_are_named() {
    fails_in_play("many", "the answer to Apply has more than 1024 fields");
}

#[test]
fn grpc_rules_with_too_few_nodes_are_named() {
    fails_in_play("fewer", "0 nodes for 1 state");
}

#[test]
fn grpc_rules_with_a_garbled_answer_are_named() {
    fails_in_play("garbage", "the answer to Apply is not its message");
}

#[test]
fn grpc_rules_with_a_garbled_node_are_named() {
    fails_in_play(
        "node",
        "the field \"next\" is 0, which is not one of its values",
    );
}

#[test]
fn grpc_rules_with_a_garbled_position_are_named() {
    fails_in_play("position", "the field \"position_json\" is no JSON");
}

#[test]
fn grpc_rules_without_a_method_are_named() {
    fails_in_play(
        "unimplemented",
        "it answers UNIMPLEMENTED to arena.v1.RulesService/Apply",
    );
}

#[test]
fn grpc_rules_that_are_not_available_are_named() {
    fails_in_play("unavailable", "come back later (gRPC status UNAVAILABLE)");
}

#[test]
fn grpc_rules_that_print_without_end_are_named() {
    fails_in_play("prints", "exceeded its output limit");
}

#[test]
fn grpc_rules_with_two_descriptions_are_named() {
    fails_in_play("describes", "the package describes itself differently here");
}

#[test]
fn grpc_rules_that_do_not_listen_fail_their_check() {
    let world = World::with_python();
    hostile_grpc(&world, "deaf");
    let check = ["rulesets", "check", "deaf", "--games", "4", "--", "deaf"];
    let checked = world.arena(&check).fails(3, &[]).transcript();
    for words in [
        "it did not answer SERVING to a health check in time: it does not listen on ARENA_LISTEN",
        "its last output: not listening",
    ] {
        assert!(checked.contains(words), "{checked}");
    }
    world.nothing_runs();
}

#[test]
fn grpc_rules_that_the_system_kills_start_again() {
    let world = World::with_python();
    hostile_grpc(&world, "killed");
    let until = SystemTime::now() + Duration::from_millis(1500);
    let until = until.duration_since(UNIX_EPOCH).expect("a date");
    let until = until.as_secs_f64().to_string();
    let check = ["rulesets", "check", "killed", "--games", "4"];
    let check = [&check[..], &["--", "killed", &until]].concat();
    let _ = world.arena(&check).ok();
    world.nothing_runs();
}
