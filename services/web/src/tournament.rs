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
    site::{REPORT_GAMES_MAX, Site, is_over},
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
    has_report: bool,
    reload_seconds: u32,
}

impl<'a> Page<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        Self {
            id: &snapshot.tournament.tournament_id,
            name: &snapshot.tournament.name,
            live: &snapshot.live,
            is_over: snapshot.is_over,
            has_report: snapshot.tournament.games_done <= REPORT_GAMES_MAX,
            reload_seconds: RELOAD_SECONDS,
        }
    }
}

/// The page of a tournament.
pub(crate) async fn page(site: &Site, id: &str) -> Outcome {
    let snapshot = site.snapshot(id).await?;
    Ok(Answer::page(&Page::of(&snapshot).render()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reports_that_are_made_have_a_link() {
        for (games_done, has_link) in [(200_000, true), (200_001, false)] {
            let tournament = v1::Tournament {
                tournament_id: "cup-0123456789".to_owned(),
                games_done,
                ..v1::Tournament::default()
            };
            let snapshot = Snapshot::new(tournament, None).expect("standings");
            let page = Page::of(&snapshot).render().expect("a page");
            assert!(page.contains("/t/cup-0123456789/games"), "{page}");
            let found = page.contains("/t/cup-0123456789/report");
            assert_eq!(found, has_link, "{games_done}: {page}");
        }
    }
}
