//! Audited games whose two records differ.

use arena_wire::v1;
use serde_json::{Value, json};

use crate::listing::Listing;

/// A list of differences, and for programs the number of further ones of each tournament in `unlisted`.
#[must_use]
pub fn listing(differences: &[v1::Difference], unlisted: &[(String, u64)]) -> Listing<Value> {
    let mut rows: Vec<_> = differences.iter().map(row).collect();
    for (id, unlisted) in unlisted {
        let value = json!({ "tournament_id": id, "unlisted": unlisted });
        rows.push((Vec::new(), value));
    }
    Listing {
        header: vec![
            "game", "event", "agent", "worker", "charged", "durable", "other",
        ],
        rows,
        empty: "no game differed",
    }
}

/// The record that a third play confirmed; none if there was no such play.
fn third_play(difference: &v1::Difference) -> Option<&'static str> {
    match difference.third_play() {
        v1::ThirdPlay::Unspecified => None,
        v1::ThirdPlay::Durable => Some("durable"),
        v1::ThirdPlay::Other => Some("other"),
        v1::ThirdPlay::Neither => Some("neither"),
    }
}

/// The agent or worker that is charged, for people.
fn charged(difference: &v1::Difference) -> String {
    let worker = match third_play(difference) {
        None => return "not settled".to_owned(),
        _ if difference.charges_agent => return format!("agent {}", difference.agent),
        Some("durable") => &difference.worker,
        Some(_) => &difference.durable_worker,
    };
    match &**worker {
        "" => "a worker".to_owned(),
        name => format!("worker {name}"),
    }
}

fn row(difference: &v1::Difference) -> (Vec<String>, Value) {
    let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    // Hashes do not show where two games differ.
    let event = (!difference.hash_only).then_some(difference.event);
    let agent = known(&difference.agent);
    let shown = match (&agent, difference.hash_only) {
        (Some(agent), _) => agent.clone(),
        (None, _) if !difference.dice.is_empty() => format!("none: {}", difference.dice),
        (None, true) => "unknown: only hashes are stored".to_owned(),
        (None, false) => String::new(),
    };
    let cells = vec![
        difference.game_id.clone(),
        event.map_or_else(String::new, |event| event.to_string()),
        shown,
        difference.worker.clone(),
        charged(difference),
        difference.durable_hash.clone(),
        difference.other_hash.clone(),
    ];
    let value = json!({
        "game_id": difference.game_id,
        "event": event,
        "agent": agent,
        "dice": known(&difference.dice),
        "worker": difference.worker,
        "durable_worker": known(&difference.durable_worker),
        "third_play": third_play(difference),
        "charges_agent": difference.charges_agent,
        "durable_hash": difference.durable_hash,
        "other_hash": difference.other_hash,
    });
    (cells, value)
}
