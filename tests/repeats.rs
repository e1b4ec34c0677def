//! Games that repeat count once, and games without chance start from openings.

use arena_tests::{World, repository};
use serde_json::Value;

/// A sequential test between two searches that do not use their seeds.
fn sprt(play: &str) -> String {
    format!(
        "name = \"repeats\"\nruleset = \"kalah\"\nseed = \"0x5eed\"\nformat = \"sprt\"\n\
         blocks = 400\nagents = [\"d2\", \"d4\"]\nexpect = [\"d2 passes\"]\n\
         [[agent]]\nname = \"d2\"\nbot = \"kalah-alphabeta\"\noptions = {{ depth = 2 }}\n\
         [[agent]]\nname = \"d4\"\nbot = \"kalah-alphabeta\"\noptions = {{ depth = 4 }}\n\
         [play]\n{play}\n"
    )
}

fn run(world: &World, spec: &str, data: &str, code: i32) -> Value {
    let path = world.write(&format!("{data}.toml"), spec);
    let ran = world.arena(&["run", &path, "--data", data, "--output", "json"]);
    let ran = match code {
        0 => ran.ok(),
        code => ran.fails(code, &[]),
    };
    ran.json()
}

#[test]
fn sprt_without_openings_is_inconclusive() {
    let world = World::new();
    let standings = run(&world, &sprt("opening_plies = 0"), "start", 3);
    assert_eq!(standings["verdict"]["kind"], "inconclusive", "{standings}");
    assert_eq!(standings["games"], 2);
    let pair = &standings["pairs"][0];
    assert_eq!([&pair["blocks"], &pair["blocks_played"]], [1, 1]);
    assert_eq!(standings["openings"]["size"], 1);
}

#[test]
fn test_from_openings_finds_the_weaker_agent() {
    let world = World::new();
    let standings = run(&world, &sprt(""), "book", 3);
    assert_eq!(standings["verdict"]["kind"], "h0", "{standings}");
    let pair = &standings["pairs"][0];
    let blocks = pair["blocks"].as_u64().expect("a number");
    assert_eq!(pair["blocks_played"], blocks);
    assert!(pair["distinct_games"].as_u64() > Some(blocks), "{pair}");
    assert!(standings["openings"]["size"].as_u64() >= Some(1000));
    let note = standings["notes"][0].as_str().expect("a note");
    assert!(note.contains("a different opening"), "{note}");
}

/// A drawn starter only exchanges the seats of the same two games.
#[test]
fn drawn_starter_makes_no_new_games() {
    let world = World::new();
    let spec = |play: &str| {
        format!(
            "name = \"starter\"\nruleset = \"oware-abapa\"\nseed = \"0x5eed\"\n\
             format = \"sprt\"\nblocks = 400\nagents = [\"m1\", \"s1\"]\n\
             expect = [\"m1 passes\"]\n[options]\nstarter = \"random\"\n\
             [[agent]]\nname = \"m1\"\nbot = \"oware-minimax\"\noptions = {{ depth = 1 }}\n\
             [[agent]]\nname = \"s1\"\nbot = \"oware-minimax\"\n\
             options = {{ depth = 1, weights = \"score\" }}\n[play]\n{play}\n"
        )
    };
    let book = run(&world, &spec(""), "book", 3);
    assert_eq!(book["verdict"]["kind"], "h0", "{book}");
    assert!(book["openings"]["size"].as_u64() >= Some(1000), "{book}");
    let start = run(&world, &spec("opening_plies = 0"), "start", 3);
    assert_eq!(start["verdict"]["kind"], "inconclusive", "{start}");
    let pair = &start["pairs"][0];
    let found = ["blocks", "distinct_games"].map(|key| pair[key].as_u64());
    assert_eq!(found, [Some(1), Some(2)], "{pair}");
}

/// The plan names the openings, and shows that blocks were lowered.
#[test]
fn plan_names_its_openings() {
    let world = World::new();
    let plan = |name: &str, play: &str| {
        let path = world.write(name, sprt(play));
        let plan = [
            "tournament",
            "plan",
            &path,
            "--measure",
            "0",
            "--output",
            "json",
        ];
        world.arena(&plan).ok().json()
    };
    let book = plan("book.toml", "");
    assert!(book["openings"].as_u64() >= Some(1000), "{book}");
    assert_eq!([&book["blocks"], &book["blocks_asked"]], [400, 400]);
    let start = plan("start.toml", "opening_plies = 0");
    assert_eq!([&start["openings"], &start["blocks"]], [1, 1]);
    assert_eq!(start["blocks_asked"], 400);
}

/// An agent that ignores its seed without declaring it.
#[test]
fn undeclared_repeats_count_once() {
    let world = World::with_python();
    let file = repository().join("tests/agents/silent.py");
    let file = file.to_str().expect("UTF-8");
    let register = ["agent", "register", "--data", "silent", "--binary", file];
    for words in [&["silent"][..], &["liar", "--", "yes"]] {
        let registered = world.arena(&[&register[..], words].concat()).ok();
        assert!(
            registered.stdout.contains(words[0]),
            "{}",
            registered.transcript()
        );
    }
    let spec = "name = \"silent\"\nruleset = \"kalah\"\nseed = \"0x5eed\"\nblocks = 20\n\
                agents = [\"silent\", \"liar\"]\n[play]\nopening_plies = 0\n";
    let standings = run(&world, spec, "silent", 0);
    let pair = &standings["pairs"][0];
    let found = ["blocks", "blocks_played", "distinct_games"].map(|key| pair[key].as_u64());
    // Both choose the same moves, so that the game does not depend on the starter.
    assert_eq!(found, [Some(1), Some(20), Some(1)], "{pair}");
    assert_eq!(standings["agents"][0]["games_repeated"], 38);
    assert_eq!(
        pair["score_low"].as_f64().map(|low| low < 0.2),
        Some(true),
        "{pair}"
    );

    let test = spec.replace("blocks = 20", "blocks = 2000\nformat = \"sprt\"");
    let standings = run(&world, &test, "silent", 0);
    assert_eq!(standings["verdict"]["kind"], "inconclusive", "{standings}");
}

/// Blocks are not lowered if an agent uses its seed: its games do not repeat.
#[test]
fn seeded_games_count_beside_repeats() {
    let world = World::new();
    let spec = "name = \"mixed\"\nruleset = \"kalah\"\nseed = \"0x5eed\"\nblocks = 30\n\
                agents = [\"random\", \"d2\", \"d3\"]\n\
                [[agent]]\nname = \"d2\"\nbot = \"kalah-alphabeta\"\noptions = { depth = 2 }\n\
                [[agent]]\nname = \"d3\"\nbot = \"kalah-alphabeta\"\noptions = { depth = 3 }\n\
                [play]\nopening_plies = 0\n";
    let standings = run(&world, spec, "mixed", 0);
    let blocks = |one: &str, other: &str| {
        let pairs = standings["pairs"].as_array().expect("pairs");
        let pair = pairs
            .iter()
            .find(|pair| pair["agent"] == one && pair["opponent"] == other);
        pair.expect("a pair")["blocks"].as_u64()
    };
    assert_eq!(blocks("random", "d2"), Some(30), "{standings}");
    assert_eq!(blocks("random", "d3"), Some(30), "{standings}");
    assert_eq!(blocks("d2", "d3"), Some(1), "{standings}");
    // Blocks that are known to repeat are not played again.
    assert_eq!(standings["games"], 2 * (30 + 30 + 1), "{standings}");
    let path = world.write("plan.toml", spec);
    let plan = ["tournament", "plan", &path, "--output", "json"];
    let plan = world.arena(&plan).ok().json();
    assert_eq!(plan["games_expected"], 122, "{plan}");
    assert_eq!(plan["games_left_out"], 58, "{plan}");
}

/// Pairs that repeat count one block and others count all, so that scores weight opponents
/// differently.
#[test]
fn places_follow_ratings_if_pairs_repeat() {
    let world = World::new();
    let depths = [1, 2, 3, 4];
    let names: Vec<String> = depths.iter().map(|depth| format!("\"d{depth}\"")).collect();
    let variants: String = depths
        .iter()
        .map(|depth| {
            format!(
                "[[agent]]\nname = \"d{depth}\"\nbot = \"kalah-alphabeta\"\n\
                 options = {{ depth = {depth} }}\n"
            )
        })
        .collect();
    let spec = format!(
        "name = \"uneven\"\nruleset = \"kalah\"\nseed = \"0x5eed\"\nblocks = 20\n\
         agents = [\"random\", {}]\n{variants}[play]\nopening_plies = 0\n",
        names.join(", ")
    );
    let standings = run(&world, &spec, "uneven", 0);
    let agents = standings["agents"].as_array().expect("agents");
    let ratings: Vec<f64> = { agents.iter() }
        .map(|agent| agent["rating"].as_f64().expect("a rating"))
        .collect();
    assert!(
        ratings.is_sorted_by(|one, other| one >= other),
        "{standings}"
    );
    let notes = standings["notes"].to_string();
    assert!(notes.contains("places follow ratings"), "{notes}");
}
