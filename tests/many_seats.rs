//! Games with more than four seats, by rules that are a package.

use std::fs;

use arena_tests::{World, sha256, spec};

use crate::package_rules::register;

/// The rules of the kit, for up to ten seats, registered in a data folder.
fn register_ten(world: &World, data: &str) {
    let folder = world.folder().join("pig");
    if !folder.exists() {
        let new = ["rulesets", "new", "--lang", "python", "pig"];
        let _ = world.arena(&new).ok();
        let rules = fs::read_to_string(folder.join("game.py")).expect("a file");
        let more = rules.replace("seats = (2, 4)", "seats = (2, 10)");
        assert_ne!(rules, more, "the kit has the seats on one line");
        fs::write(folder.join("game.py"), more).expect("written");
    }
    register(world, data);
}

/// A spec of bots that play at random.
fn random(name: &str, agents: usize, blocks: u64, more: &str) -> String {
    let names: Vec<String> = (0..agents).map(|agent| format!("bot{agent}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tables = names
        .iter()
        .map(|name| format!("[[agent]]\nname = \"{name}\"\nbot = \"random\"\n"));
    let tables: String = tables.collect();
    let more = format!("{more}\n[options]\ntarget = 20\n{tables}");
    spec(name, "pig", blocks, &names, &more)
}

#[test]
fn ten_seats_are_played_rated_and_replayed() {
    let world = World::with_python();
    let spec = random("ten", 10, 3, "seats = 10");
    let mut exports = Vec::new();
    for (data, workers) in [("one", "1"), ("three", "3")] {
        register_ten(&world, data);
        let (id, standings, games) = world.tournament(&spec, data, &["--workers", workers]);
        let exported = world.arena(&["export", &id, "--data", data]).ok().stdout;
        exports.push(sha256(&exported));
        assert_eq!(games.games.len(), 30);
        for standing in standings["agents"].as_array().expect("agents") {
            let name = standing["agent"].as_str().expect("a name");
            let (mut beaten, mut ranks) = (0.0, [0; 10]);
            for game in &games.games {
                let of = |key: &str| game[key].as_array().expect("a list").clone();
                let seat = of("seats")
                    .iter()
                    .position(|it| it["agent"] == name || it == name);
                let placement = of("placement");
                let ranked = |seat: usize| placement[seat].as_u64().expect("a rank");
                let own = ranked(seat.expect("a seat"));
                ranks[own as usize - 1] += 1;
                for other in (0..10).filter(|&other| Some(other) != seat) {
                    beaten += match ranked(other).cmp(&own) {
                        std::cmp::Ordering::Greater => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Less => 0.0,
                    };
                }
            }
            assert_eq!(standing["ranks"], serde_json::json!(ranks), "{name}");
            let score = standing["score"].as_f64().expect("a score");
            assert!(
                (score - beaten / 9.0 / 30.0).abs() < 1e-12,
                "{name}: {score}"
            );
            assert!(standing["rating"].is_number(), "{standing}");
        }
        let printed = world
            .arena(&["standings", &id, "--data", data, "--wide"])
            .ok();
        assert!(
            printed.stdout.contains("1st/2nd/…/10th"),
            "{}",
            printed.stdout
        );
        let game = format!("{id}/7");
        for (command, words) in [("replay", "are correct"), ("rerun", "same hash")] {
            let again = world.arena(&["game", command, &game, "--data", data]).ok();
            assert!(again.stdout.contains(words), "{}", again.stdout);
        }
    }
    assert_eq!(exports[0], exports[1]);
}

#[test]
fn every_format_takes_five_seats() {
    let world = World::with_python();
    register_ten(&world, "data");
    for (format, agents) in [
        ("swiss", 6),
        ("knockout", 6),
        ("ladder", 6),
        ("gauntlet", 6),
        ("sprt", 2),
    ] {
        let more = format!("format = \"{format}\"\nseats = 5");
        let spec = random(format, agents, 2, &more);
        let (_, standings, games) = world.tournament(&spec, "data", &[]);
        assert_eq!(standings["games_clean"], standings["games"], "{format}");
        let seats = |game: &serde_json::Value| game["seats"].as_array().map(Vec::len);
        assert!(
            games.games.iter().all(|game| seats(game) == Some(5)),
            "{format}"
        );
    }
}

#[test]
fn too_many_seats_or_games_are_refused() {
    let world = World::with_python();
    register_ten(&world, "data");
    for (spec, words) in [
        (
            random("eleven", 11, 1, "seats = 11"),
            "pig is for 2 to 10 seats, not 11",
        ),
        (
            random("large", 5, 200_001, "seats = 5"),
            "1000005 games exceed the limit of 1000000",
        ),
    ] {
        let path = world.write("spec.toml", spec);
        let _ = world
            .arena(&["run", &path, "--data", "data"])
            .fails(2, &[words]);
    }
}
