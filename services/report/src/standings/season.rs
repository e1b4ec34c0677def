//! The agents of an open ladder.

use arena_wire::v1;
use serde_json::{Value, json};

use crate::{listing::Listing, standings::view};

/// The agents of an open ladder, with their ratings.
#[must_use]
pub fn listing(standings: &v1::Standings) -> Listing<Value> {
    let rows = view::season(standings).unwrap_or_default();
    let rows = rows.into_iter().map(|row| {
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let elo = |value: Option<f64>| value.map_or_else(String::new, |it| format!("{it:+.0}"));
        let cells = vec![
            row.place
                .map_or_else(String::new, |place| place.to_string()),
            row.agent.to_owned(),
            row.state.to_owned(),
            elo(row.rating),
            elo(row.rating_low),
            elo(row.rating_high),
            row.blocks.to_string(),
            text(row.predecessor),
            text(row.successor),
            text(row.reason),
        ];
        (cells, json!(row))
    });
    Listing {
        header: vec![
            "place",
            "agent",
            "state",
            "rating",
            "low",
            "high",
            "blocks",
            "predecessor",
            "successor",
            "reason",
        ],
        rows: rows.collect(),
        empty: "not an open ladder: its agents are fixed",
    }
}
