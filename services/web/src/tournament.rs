//! The page of a tournament.

use arena_report::standings::view;
use askama::Template;
use serde_json::{Value, json};

use crate::{
    answer::{Answer, Outcome},
    lists,
    site::{REPORT_GAMES_MAX, Site},
    snapshot::Snapshot,
};

/// Seconds after which a browser without scripts loads the page of a running tournament again.
const RELOAD_SECONDS: u32 = 30;

impl Snapshot {
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
    use arena_wire::v1;

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
