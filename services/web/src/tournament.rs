//! The page of a tournament.

use arena_model::printable_json;
use arena_report::{live::live, standings::view};
use arena_wire::v1;
use askama::Template;
use axum::body::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    answer::{Answer, Outcome},
    lists,
    site::{Site, is_over},
};

/// Seconds after which a browser without scripts loads the page of a running tournament again.
const RELOAD_SECONDS: u32 = 30;

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

    /// The tournament with its standings, as `arena standings --output json` has them.
    pub(crate) fn json(&self) -> Value {
        let mut value = lists::tournament(&self.tournament);
        value["standings"] = json!(view::view(&self.standings));
        value
    }
}

#[derive(Template)]
#[template(path = "tournament.html")]
struct Page<'a> {
    id: &'a str,
    name: &'a str,
    live: &'a str,
    is_over: bool,
    reload_seconds: u32,
}

/// The page of a tournament.
pub(crate) async fn page(site: &Site, id: &str) -> Outcome {
    let snapshot = site.snapshot(id).await?;
    let page = Page {
        id: &snapshot.tournament.tournament_id,
        name: &snapshot.tournament.name,
        live: &snapshot.live,
        is_over: snapshot.is_over,
        reload_seconds: RELOAD_SECONDS,
    };
    Ok(Answer::page(&page.render()?))
}
