use std::fs;

use arena_tests::World;
use serde_json::Value;

/// Makes the rules of the kit with one change.
fn changed(world: &World, name: &str, from: &str, to: &str) {
    let new = ["rulesets", "new", "--lang", "python", name];
    let _ = world.arena(&new).ok();
    let file = world.folder().join(name).join("game.py");
    let text = fs::read_to_string(&file).expect("rules");
    assert!(text.contains(from), "{from} is part of the kit");
    fs::write(&file, text.replace(from, to)).expect("written");
}

/// The failed steps of a check as JSON. Also checks that the text has no dump of Rust.
fn failed_steps(world: &World, name: &str) -> Vec<Value> {
    let check = ["rulesets", "check", name, "--games", "4"];
    let text = world.arena(&check).fails(3, &["1 step of the check failed"]);
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

#[test]
fn exception_in_apply_is_shown_with_its_traceback() {
    fails_one_step(
        (
            "    def end_turn(self, state):",
            "    def end_turn(self, state):\n        raise RuntimeError(\"it rolled away\")",
        ),
        "panics",
        "RuntimeError: it rolled away (game.py, line ",
        "in state {\"points\":",
        &["Traceback", "game.py\", line ", "in end_turn", "RuntimeError: it rolled away"],
    );
}

#[test]
fn wrong_key_is_shown_with_its_traceback() {
    fails_one_step(
        ("state[\"seat\"], {HOLD", "state[\"seta\"], {HOLD"),
        "panics",
        "KeyError: 'seta' (game.py, line ",
        "event ",
        &["game.py\", line ", "in next", "KeyError: 'seta'"],
    );
}

#[test]
fn wrong_type_names_the_field() {
    fails_one_step(
        ("HOLD: \"hold\"", "HOLD: 5"),
        "panics",
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
        (
            "    events_max = 5000",
            "    events_max = 50",
        ),
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
