//! Positions as JSON, and their schema.

use std::collections::BTreeMap;

use arena_wire::{games, json::Position};
use prost::Message;

#[test]
fn every_ruleset_has_positions_in_json() {
    for info in arena_games::rulesets() {
        assert!(
            Position::decode(info.name, &[]).is_some_and(|it| it.is_ok()),
            "{}",
            info.name
        );
    }
}

/// The schema of all positions, by ruleset.
fn schema() -> String {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let rulesets: BTreeMap<&str, schemars::Schema> = arena_wire::json::schemas(&mut generator)
        .into_iter()
        .collect();
    for info in arena_games::rulesets() {
        assert!(rulesets.contains_key(info.name), "{}", info.name);
    }
    let document = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Positions in the line protocol, by ruleset",
        "properties": rulesets,
        "$defs": generator.take_definitions(true),
    });
    serde_json::to_string_pretty(&document).expect("JSON") + "\n"
}

#[test]
fn schema_of_positions_is_current() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../agents/positions.schema.json"
    );
    if std::env::var_os("ARENA_UPDATE").is_some() {
        std::fs::write(path, schema()).expect("the schema");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == schema(), "{path} is outdated: set ARENA_UPDATE=1");
}

#[test]
fn values_are_numbers_lists_and_words() {
    let position = games::CowryPosition {
        board: 5,
        pieces: vec![0, 24],
        phase: games::CowryPhase::Move.into(),
        ..games::CowryPosition::default()
    };
    let position = Position::decode("cowry", &position.encode_to_vec());
    let position = position.expect("cowry").expect("a position");
    let json = serde_json::to_value(&position).expect("JSON");
    assert_eq!(json["pieces"], serde_json::json!([0, 24]));
    assert_eq!(
        (&json["phase"], &json["throws"]),
        (&"move".into(), &0.into())
    );
    assert_eq!(json["may_pass"], serde_json::json!([]));
    assert!(
        json.get("moves").is_none(),
        "left out with omit_move_details"
    );
}
