//! Tournaments of older versions of rules are read by the rules that played them.

use std::sync::Arc;

use arena_model::{BlockSeed, Tournament};
use arena_store::{Collection, Options, SledStore, Store, StoredGame};
use arena_tests::{World, spec};
use arena_wire::v1;
use arena_worker::{AgentOptions, NoBinaries, play_games};
use prost::Message;
use serde_json::Value;

use crate::records::{copy_store, sealed, text};

/// A store with the tournament of a spec, played with version 1 of its rules.
fn of_rules_1(world: &World, id: &str, games: &[Value], to: &str) -> String {
    let open = |name: &str| {
        let path = world.folder().join(name);
        SledStore::open(path, &Options::default()).expect("a store")
    };
    let stored = open("data")
        .get(Collection::Tournaments, id)
        .expect("readable")
        .expect("there");
    let mut document = v1::Tournament::decode(&stored[..]).expect("a tournament");
    let mut tournament: Tournament =
        serde_json::from_str(&document.spec_json).expect("a resolved spec");
    tournament.rules_version = 1;
    tournament.options.remove("unused").expect("of version 2");
    let old = tournament.id(1);
    let setup = document.setup.as_mut().expect("a setup");
    setup.tournament_id.clone_from(&old);
    setup.rules_version = 1;
    setup.options.retain(|option| option.name != "unused");
    document.tournament_id.clone_from(&old);
    document.spec_json = serde_json::to_string(&tournament).expect("JSON");
    let number = |value: &Value| value.as_u64().expect("a number");
    let assignments = games.iter().map(|game| {
        let seed: BlockSeed = text(&game["seed"]).parse().expect("a seed");
        let place = |seat: &Value| {
            let names = tournament.agents.iter();
            let place = names
                .map(|agent| agent.name.as_str())
                .position(|name| name == text(seat));
            place.expect("an agent") as u32
        };
        v1::GameAssignment {
            index: number(&game["index"]),
            block: number(&game["block"]),
            seed: seed.0,
            seats: game["seats"]
                .as_array()
                .expect("seats")
                .iter()
                .map(place)
                .collect(),
            ..v1::GameAssignment::default()
        }
    });
    let played = play_games(
        document.setup.clone().expect("a setup"),
        assignments.collect(),
        4,
        Arc::new(NoBinaries),
        AgentOptions::of_executable(arena_tests::arena()),
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let reports = runtime.block_on(played).expect("played");
    let games = reports.into_iter().map(|report| {
        let mut record = report.record.expect("a record");
        let hash = std::mem::take(&mut record.hash);
        StoredGame {
            tournament: old.as_str().into(),
            index: record.index,
            hash: hash.try_into().expect("a hash"),
            record: record.encode_to_vec(),
            side: Vec::new(),
        }
    });
    let store = open(to);
    store
        .put(Collection::Tournaments, &old, &document.encode_to_vec())
        .expect("space");
    store.append_and_wait(games.collect()).expect("space");
    old
}

#[test]
fn old_rules_read_old_tournaments() {
    let world = World::new();
    let asked = spec("old", "trial", 3, &["random", "greedy"], "");
    let built = world.arena(&["games", "trial"]);
    assert_eq!(
        built.code,
        Some(0),
        "this arena has no ruleset for tests: run `cargo build --workspace --all-targets`"
    );
    let (new, _, games) = world.tournament(&asked, "data", &[]);
    assert_eq!(games.games[0]["rules_version"], 2);
    let old = of_rules_1(&world, &new, &games.games, "old");
    assert_ne!(old, new);

    let exported = world.export(&old, ["--data", "old"]);
    assert_eq!(exported.games.len(), games.games.len());
    for game in &exported.games {
        assert_eq!(game["rules_version"], 1);
        let moves = game["events"].as_array().expect("events").iter();
        let mut moves = moves.filter_map(|event| event["move"].as_str());
        assert!(moves.all(|notation| ["step", "leap"].contains(&notation)));
    }
    let file = world.write("old.jsonl", &exported.text);
    let at = ["--data", "old"];
    let game = format!("{old}/1");
    for arguments in [
        &["game", "replay", "--file", &file][..],
        &["game", "rerun", "--file", &file],
    ] {
        let _ = world.arena(arguments).ok();
    }
    for arguments in [
        &["game", "replay", &game][..],
        &["game", "show", &game, "--watch"],
        &["game", "rerun", &game],
        &["tournament", "show", &old],
        &["standings", &old],
        &["report", &old, "--markdown"],
        &["store", "verify"],
    ] {
        let _ = world.arena(&[arguments, &at[..]].concat()).ok();
    }
    // A tournament that is started now uses the newest rules.
    let (started, _, again) = world.tournament(&asked, "old", &[]);
    assert_eq!(started, new);
    assert_eq!(again.difference(&games), None);
    let verified = ["store", "verify", "--data", "old", "--output", "json"];
    let verified = world.arena(&verified).ok().json();
    assert_eq!(verified["records"]["records"], 2 * games.games.len());

    // Removed rules: results stay, and commands that need the rules fail with a message.
    let (from, to) = (world.folder().join("old"), world.folder().join("gone"));
    let forget = |document: &mut v1::Tournament| {
        if document.tournament_id == old {
            document.setup.as_mut().expect("a setup").rules_version = 9;
            document.spec_json = document
                .spec_json
                .replace("\"rules_version\":1", "\"rules_version\":9");
        }
    };
    copy_store(&from, &to, forget, |_| {});
    let at = ["--data", "gone"];
    let said = ["trial version 9 is not available", "version 2, version 1"];
    for arguments in [["game", "replay", &game], ["game", "rerun", &game]] {
        let refused = world.arena(&[&arguments[..], &at[..]].concat());
        refused.fails(1, &said);
    }
    for arguments in [&["tournament", "show", &old][..], &["standings", &old]] {
        let _ = world.arena(&[arguments, &at[..]].concat()).ok();
    }
    let verified = world.arena(&[&["store", "verify"], &at[..]].concat()).ok();
    assert!(
        verified.stderr.contains(said[0]),
        "{}",
        verified.transcript()
    );
    let line = exported.text.lines().next().expect("a game");
    let line = sealed(&line.replacen("\"rules_version\":1", "\"rules_version\":9", 1));
    let file = world.write("gone.json", line);
    world
        .arena(&["game", "rerun", "--file", &file])
        .fails(2, &said);
    world.nothing_runs();
}
