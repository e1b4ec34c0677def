use std::fs;

use arena_tests::{World, repository, sha256, spec};
use serde_json::{Value, json};

/// Writes the rules of a card game as a package.
fn write_rules(world: &World, folder: &str, mode: &str) {
    let folder = world.folder().join(folder);
    fs::create_dir(&folder).expect("a folder");
    for (from, name) in [
        ("tests/data/high_card.py", "game.py"),
        ("services/games/kits/python/arena_game.py", "arena_game.py"),
    ] {
        fs::copy(repository().join(from), folder.join(name)).expect(from);
    }
    let manifest = format!("command = [\"python3\", \"game.py\", \"{mode}\"]\n");
    fs::write(folder.join("arena-agent.toml"), manifest).expect("written");
}

fn register(world: &World, data: &str) {
    let player = repository().join("tests/agents/card_player.py");
    let player = player.to_str().expect("UTF-8");
    for command in [
        ["rulesets", "register", "cards", "--package", "rules"],
        ["agent", "register", "mine", "--binary", player],
        ["agent", "register", "twin", "--binary", player],
    ] {
        let _ = world
            .arena(&[&command[..], &["--data", data]].concat())
            .ok();
    }
}

/// Two agents that fail if they see more than their seat.
fn world() -> (World, String) {
    let world = World::with_python();
    write_rules(&world, "rules", "none");
    let agents = ["mine", "twin", "random"];
    (world, spec("cards", "cards", 20, &agents, "seats = 3"))
}

#[test]
fn agents_see_what_their_seats_see() {
    let (world, spec) = world();
    let mut hashes = Vec::new();
    for (data, workers) in [("one", "1"), ("three", "3")] {
        register(&world, data);
        let (id, standings, games) = world.tournament(&spec, data, &["--workers", workers]);
        assert_eq!(standings["games_clean"], standings["games"], "{standings}");
        assert_eq!(games.games.len(), 60);
        let export = world.arena(&["export", &id, "--data", data]).ok().stdout;
        hashes.push(sha256(&export));
        let rerun = ["game", "rerun", &format!("{id}/7"), "--data", data];
        assert!(world.arena(&rerun).ok().stdout.contains("same hash"));
    }
    assert_eq!(hashes[0], hashes[1]);
    world.nothing_runs();
}

#[test]
fn game_show_prints_what_a_seat_saw() {
    let (world, spec) = world();
    register(&world, "data");
    let (id, _, games) = world.tournament(&spec, "data", &[]);
    let game = format!("{id}/7");
    let show = |more: &[&str]| {
        let show = ["game", "show", &game, "--data", "data"];
        world.arena(&[&show[..], more].concat())
    };
    // The cards in the order of the seats, and what the seats before have chosen.
    let events = games.games[7]["events"].as_array().expect("events");
    let of = |key: &str| -> Vec<Value> {
        let events = events.iter();
        events.filter_map(|event| event.get(key).cloned()).collect()
    };
    let (cards, bets) = (of("chance"), of("action"));
    assert_eq!((cards.len(), bets.len()), (3, 6), "{events:?}");
    for seat in 0..3 {
        let shown = show(&["--seat", &seat.to_string(), "--output", "json"])
            .ok()
            .json();
        let card = cards[seat].as_str().expect("a card");
        let card: u64 = card.trim_start_matches("card-").parse().expect("a number");
        let decisions = shown["decisions"].as_array().expect("decisions");
        assert_eq!(decisions.len(), 2);
        for (decision, ply) in decisions.iter().zip([seat, seat + 3]) {
            let seen = json!({"card": card, "bets": bets[..ply]});
            assert_eq!(decision["position"], seen, "{shown}");
            assert_eq!(decision["action"], bets[ply]);
            assert_eq!(decision["ply"], ply);
        }
    }
    let name = games.games[7]["seats"][1]
        .as_str()
        .expect("a name")
        .to_owned();
    let shown = show(&["--seat", &name]).ok().stdout;
    assert!(
        shown.contains(&format!("what seat 1 ({name}) saw at its 2 decisions")),
        "{shown}"
    );
    assert!(!shown.contains("cards ["), "{shown}");
    show(&["--seat", "9"]).fails(2, &["has no seat or agent 9: its seats are 0 to 2"]);
    // The whole game shows everything.
    assert!(show(&[]).ok().stdout.contains("drew card-"));
}

#[test]
fn bots_that_look_at_states_are_refused() {
    let (world, _) = world();
    register(&world, "data");
    let spec = world.write(
        "greedy.toml",
        spec("c", "cards", 1, &["mine", "greedy"], "seats = 2"),
    );
    world.arena(&["run", &spec, "--data", "data"]).fails(
        2,
        &[
            "greedy",
            "it looks at whole states, and seats of cards see only a part of them",
        ],
    );
}

#[test]
fn position_that_hides_nothing_pauses_the_tournament() {
    for (mode, problem) in [
        (
            "nothing",
            "a decision has no position, and information is hidden",
        ),
        (
            "everything",
            "a position is the whole state, and information is hidden",
        ),
    ] {
        let world = World::with_python();
        write_rules(&world, "rules", mode);
        register(&world, "data");
        let text = spec("cards", "cards", 2, &["mine", "random"], "seats = 2");
        let spec = world.write("cards.toml", text);
        world
            .arena(&["run", &spec, "--data", "data"])
            .fails(1, &[problem]);
        world
            .arena(&["rulesets", "check", "rules", "--games", "2"])
            .fails(3, &[problem]);
    }
}

#[test]
fn rulesets_name_their_information() {
    let (world, _) = world();
    register(&world, "data");
    let shown = world
        .arena(&["rulesets", "cards", "--data", "data"])
        .ok()
        .stdout;
    assert!(shown.contains("information: hidden"), "{shown}");
    let about = world
        .arena(&["rulesets", "kalah", "--output", "json"])
        .ok()
        .json();
    assert_eq!(about["information"], "perfect");
}
