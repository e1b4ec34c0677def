//! Built-in bots at rules that are a package.

use std::time::{Duration, Instant};

use arena_tests::{Output, World, sha256, spec};
use serde_json::Value;

use crate::{package_promises::hostile, package_rules::register};

const SEARCH: &str = "[[agent]]\nname = \"search\"\nbot = \"mcts\"\n\
                      options = { rollout = \"random\", iterations = 60, exploration = 0.5 }\n";

/// What the rules have answered before differs by worker and by run.
#[test]
fn search_plays_the_same_games_on_any_number_of_workers() {
    let world = World::with_python();
    let more = format!("seats = 3\n[options]\ntarget = 20\n{SEARCH}");
    let spec = spec("searched", "pig", 2, &["search", "random", "second"], &more);
    let spec = format!("{spec}\n[[agent]]\nname = \"second\"\nbot = \"random\"\n");
    let mut exports = Vec::new();
    for (data, workers) in [("one", "1"), ("three", "3")] {
        register(&world, data);
        let (id, standings, _) = world.tournament(&spec, data, &["--workers", workers]);
        assert_eq!(standings["games_clean"], standings["games"], "no faults");
        let exported = world.arena(&["export", &id, "--data", data]).ok().stdout;
        exports.push(sha256(&exported));
        let game = format!("{id}/4");
        let again = world.arena(&["game", "rerun", &game, "--data", data]).ok();
        assert!(again.stdout.contains("same hash"), "{}", again.stdout);
    }
    assert_eq!(exports[0], exports[1]);
    world.nothing_runs();
}

#[test]
fn search_without_values_needs_games_to_the_end() {
    let world = World::with_python();
    register(&world, "data");
    for (name, options) in [
        ("default", "{}"),
        ("plies", "{ rollout = \"plies\", rollout_plies = 5 }"),
    ] {
        let more = format!("[[agent]]\nname = \"mine\"\nbot = \"mcts\"\noptions = {options}\n");
        let text = spec(name, "pig", 1, &["mine", "random"], &more);
        let path = world.write("spec.toml", text);
        let run = ["run", &path, "--data", "data"];
        let _ = world
            .arena(&run)
            .fails(2, &["\"mine\"", "give no values", "rollout = \"random\""]);
    }
}

/// Plays a search against `random` at rules that break a promise. Returns the command and the standings.
fn searched(mode: &str, iterations: u32, play: &str) -> (Output, Value) {
    let world = World::with_python();
    hostile(&world, mode);
    let register = [
        "rulesets",
        "register",
        "hostile",
        "--package",
        mode,
        "--data",
        "data",
    ];
    let _ = world.arena(&[&register[..], &["--", mode]].concat()).ok();
    let more = format!(
        "[play]\n{play}\nopening_plies = 0\n[[agent]]\nname = \"search\"\nbot = \"mcts\"\n\
         options = {{ rollout = \"random\", iterations = {iterations} }}\n"
    );
    let text = spec("searched", "hostile", 1, &["search", "random"], &more);
    let path = world.write("searched.toml", text);
    let run = world.arena(&["run", &path, "--data", "data", "--workers", "1"]);
    let shown = ["standings", "@last", "--data", "data", "--output", "json"];
    let standings = world.arena(&shown).ok().json();
    world.nothing_runs();
    (run, standings)
}

fn faults(standings: &Value) -> Vec<u64> {
    let agents = standings["agents"].as_array().expect("agents");
    let faults = agents.iter().map(|agent| agent["faults"].as_u64());
    faults.map(|faults| faults.expect("a number")).collect()
}

/// The time of the search is over before the rules count as failed.
#[test]
fn search_is_not_charged_for_rules_that_hang() {
    let (run, standings) = searched("hang", 60, "move_time = \"300ms\"");
    let words = "did not answer in time";
    assert!(run.transcript().contains(words), "{}", run.transcript());
    assert_eq!(standings["state"], "paused", "{standings}");
    assert_eq!(standings["games"], 0, "{standings}");
    assert_eq!(faults(&standings), [0, 0], "{standings}");
}

#[test]
fn search_is_not_charged_for_starts_of_rules() {
    let (run, standings) = searched("ends", 30, "move_time = \"1s\"");
    let transcript = run.ok().transcript();
    assert!(
        transcript.contains("asking another process"),
        "{transcript}"
    );
    assert_eq!(standings["games_clean"], 2, "{standings}");
    assert_eq!(faults(&standings), [0, 0], "{standings}");
}

/// A thousand positions would take more than a minute.
#[test]
fn search_at_slow_rules_ends_with_its_time() {
    let start = Instant::now();
    let (_, standings) = searched("slow", 100_000, "move_time = \"300ms\"");
    let took = start.elapsed();
    assert!(took < Duration::from_secs(40), "{took:?}");
    assert_eq!(faults(&standings).iter().sum::<u64>(), 2, "{standings}");
}
