//! The state of a tournament, as all of its readers see it.

use arena_model::printable_json;
use arena_report::live::live;
use arena_wire::v1::{self, TournamentState};
use axum::body::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::answer::Outcome;

/// True if no more games will be played.
pub(crate) fn is_over(state: TournamentState) -> bool {
    matches!(
        state,
        TournamentState::Finished | TournamentState::Cancelled
    )
}

/// The state of a tournament, as all of its readers see it.
pub(crate) struct Snapshot {
    pub(crate) tournament: v1::Tournament,
    pub(crate) standings: v1::Standings,
    /// The part of the page that changes.
    pub(crate) live: String,
    /// The same as an event.
    pub(crate) event: Bytes,
    /// The id of that event.
    pub(crate) version: String,
    pub(crate) is_over: bool,
}

impl Snapshot {
    pub(crate) fn new(
        tournament: v1::Tournament,
        standings: Option<v1::Standings>,
    ) -> Outcome<Self> {
        let standings = standings.unwrap_or_default();
        let live = live(&tournament, &standings)?;
        let version = hex::encode(&Sha256::digest(&live)[..8]);
        let is_over = is_over(standings.state());
        let name = if is_over { "end" } else { "standings" };
        // A string of JSON has no line feed, so it is one line of data.
        let data = Value::from(live.as_str()).to_string();
        let data = printable_json(&data);
        let event = format!("event: {name}\nid: {version}\ndata: {data}\n\n");
        Ok(Self {
            event: event.into(),
            tournament,
            standings,
            live,
            version,
            is_over,
        })
    }
}
