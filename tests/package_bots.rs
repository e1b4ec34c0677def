//! Built-in bots at rules that are a package.

use arena_tests::{World, sha256, spec};

use crate::package_rules::register;

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
