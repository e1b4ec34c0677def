//! Lists of games.

use arena_engine::SeatFault;
use arena_model::GameRecord;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::{game::names, listing::Listing, records::TournamentRecords};

/// A list of games; `empty` is the message if there are none.
#[must_use]
pub fn listing(
    rules: &TournamentRecords,
    games: &[GameRecord],
    empty: &'static str,
) -> Listing<Value> {
    Listing {
        header: vec![
            "game",
            "seats",
            "placement",
            "scores",
            "plies",
            "termination",
            "faults",
        ],
        rows: games.iter().map(|record| row(rules, record)).collect(),
        empty,
    }
}

fn row(rules: &TournamentRecords, record: &GameRecord) -> (Vec<String>, Value) {
    let id = format!("{}/{}", rules.header.tournament_id, record.index);
    let seats = names(rules, record);
    let fault =
        |fault: &SeatFault| format!("{}: {}", seats[usize::from(fault.seat)], fault.kind.name());
    let faults = record.faults.iter().map(fault).collect_vec();
    let cells = vec![
        id.clone(),
        seats.join(", "),
        record.placement.iter().join(" "),
        record.scores.iter().join(" "),
        record.plies.to_string(),
        record.termination.name().to_owned(),
        faults.join(", "),
    ];
    let value = json!({
        "game_id": id,
        "seats": seats,
        "placement": Some(&record.placement).filter(|ranks| !ranks.is_empty()),
        "scores": record.scores,
        "luck": Some(&record.luck).filter(|luck| !luck.is_empty()),
        "plies": record.plies,
        "termination": record.termination.name(),
        "faults": faults,
    });
    (cells, value)
}
