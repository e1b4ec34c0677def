//! Damage removes games from a store: they are reported, played again, and have the same records.

use std::{fs, path::Path};

use arena_store::testing::{Piece, pieces};
use arena_tests::{World, spec, until};
use serde_json::Value;

/// Flips a bit in the middle of every place where an entry is.
fn turn(piece: &Piece) {
    for (file, offset, length) in &piece.places {
        let mut bytes = fs::read(file).expect("it was read before");
        bytes[*offset as usize + length / 2] ^= 1;
        fs::write(file, bytes).expect("it can be written");
    }
}

/// The largest pack of a store.
fn largest_pack(data: &Path) -> Piece {
    let pieces = pieces(data).expect("no process uses the store");
    let largest = pieces.into_iter().max_by_key(|piece| piece.games.len());
    largest.expect("a pack")
}

/// The standings of a format, computed from the records.
fn outcome(standings: &Value) -> Value {
    let agents = standings["agents"].as_array().expect("agents");
    let reported = [
        "agent",
        "games",
        "wins",
        "draws",
        "losses",
        "score",
        "score_low",
    ];
    let agents = agents.iter().map(|agent| {
        let reported = reported.map(|key| (key.to_owned(), agent[key].clone()));
        Value::Object(reported.into_iter().collect())
    });
    Value::Array(agents.chain([standings["verdict"].clone()]).collect())
}

#[test]
fn games_lost_by_damage_are_replayed() {
    for format in ["", "format = \"swiss\""] {
        let world = World::new();
        let agents = ["random", "aggressive", "mixed", "defensive"];
        let spec = spec("damaged", "cowry", 20, &agents, format);
        let (id, standings, whole) = world.tournament(&spec, "data", &[]);
        let games = whole.games.len();
        let pack = largest_pack(&world.folder().join("data"));
        turn(&pack);
        let lost = pack.games.len();
        assert!(lost > 0 && lost < games, "{lost} of {games}");

        let verify = ["store", "verify", "--data", "data"];
        world
            .arena(&verify)
            .fails(3, &["arena store verify --repair"]);
        let said = format!("{lost} games and 0 documents are lost");
        world
            .arena(&[&verify[..], &["--repair"]].concat())
            .fails(3, &[&said, "are replayed"]);
        assert_eq!(world.arena(&verify).code, Some(0));
        let show = ["tournament", "show", &id, "--data", "data"];
        let shown = world
            .arena(&[&show[..], &["--output", "json"]].concat())
            .ok()
            .json();
        assert_eq!(shown["state"], "running", "{shown}");

        let (again, after, found) = world.tournament(&spec, "data", &[]);
        assert_eq!(again, id);
        assert_eq!(whole.difference(&found), None, "{format}");
        assert_eq!(outcome(&after), outcome(&standings), "{format}");
        world.nothing_runs();
    }
}

#[test]
fn deleted_database_stops_the_coordinator() {
    let world = World::new();
    let mut coordinator = world.coordinator("data", &[]);
    let spec = spec("deleted", "cowry", 1_000_000, &["random", "mixed"], "");
    let _id = world.start_tournament("deleted", &spec, &coordinator.url());
    let _worker = world.worker(&coordinator, &[]);
    until("games to be durable", || {
        let games = coordinator.metric("arena_games_total", &[]);
        (games >= 100.0).then_some(())
    });
    fs::remove_dir_all(world.folder().join("data/database-1")).expect("it is there");
    let ended = coordinator.wait();
    assert_eq!(ended.code(), Some(1), "{}", coordinator.log());
    assert!(coordinator.log().contains("deleted or replaced"));
}
