//! Ids as users type them: complete, an unambiguous prefix, or `@last`.

use arena_wire::{pages::Pages, reasons, v1};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::{
    access::Client,
    failure::{Failure, Outcome},
};

/// The alias of the tournament that was created last.
const LAST: &str = "@last";
/// Maximum number of candidates named for an ambiguous id.
const NAMED_MAX: usize = 5;

/// The id of the tournament that `text` refers to.
pub async fn tournament(client: &mut Client, text: &str) -> Outcome<String> {
    let mut unknown = None;
    if text != LAST {
        let request = v1::GetTournamentRequest {
            tournament_id: text.to_owned(),
        };
        match client.get_tournament(request).await {
            Ok(_) => return Ok(text.to_owned()),
            // Another id may begin with that of a removed tournament.
            Err(status) if is_removed(&status) => return Err(status.into()),
            Err(status) if status.code() == Code::NotFound => unknown = Some(status),
            Err(status) => return Err(status.into()),
        }
    }
    let all = all(client).await?;
    match (chosen(&all, text)?, unknown) {
        (Some(id), _) => Ok(id.to_owned()),
        (None, Some(status)) => Err(status.into()),
        (None, None) => Err(Failure::usage(
            "no tournament yet: start one with `arena run SPEC`",
        )),
    }
}

/// The id of the game that `text` refers to: TOURNAMENT/INDEX.
pub async fn game(client: &mut Client, text: &str) -> Outcome<String> {
    let parts = text.rsplit_once('/');
    let Some((of, index)) = parts.filter(|(_, index)| index.parse::<u64>().is_ok()) else {
        // The coordinator reports what is wrong with it.
        return Ok(text.to_owned());
    };
    Ok(format!("{}/{index}", tournament(client, of).await?))
}

fn is_removed(status: &Status) -> bool {
    let info = status.get_details_error_info();
    info.is_some_and(|info| info.reason == reasons::TOURNAMENT_REMOVED)
}

/// What is left of the removed tournament that `text` refers to; `None` if it is none of them.
pub async fn removed(client: &mut Client, text: &str) -> Outcome<Option<v1::Tournament>> {
    let all = listed(client, true).await?;
    let id = match text {
        LAST => None,
        _ => chosen(&all, text)?.map(str::to_owned),
    };
    let mut all = all.into_iter();
    Ok(id.and_then(|id| all.find(|it| it.tournament_id == id)))
}

/// All tournaments, without specs.
pub async fn all(client: &mut Client) -> Outcome<Vec<v1::Tournament>> {
    listed(client, false).await
}

/// All tournaments without specs, or all that were removed.
pub async fn listed(client: &mut Client, removed: bool) -> Outcome<Vec<v1::Tournament>> {
    let mut tournaments = Vec::new();
    let mut request = v1::ListTournamentsRequest {
        page_size: 200,
        page_token: String::new(),
        removed,
    };
    let mut read = Pages::default();
    loop {
        let page = client.list_tournaments(request.clone()).await?.into_inner();
        let goes_on = read.goes_on(&page, page.tournaments.len(), &page.next_page_token)?;
        tournaments.extend(page.tournaments);
        request.page_token = page.next_page_token;
        if !goes_on {
            return Ok(tournaments);
        }
    }
}

/// The tournament that `text` refers to; `None` if it is none of them.
fn chosen<'a>(all: &'a [v1::Tournament], text: &str) -> Outcome<Option<&'a str>> {
    if text == LAST {
        let last = all.iter().max_by_key(|it| it.created_unix_us);
        return Ok(last.map(|it| it.tournament_id.as_str()));
    }
    if text.is_empty() {
        // It begins each id: a script with an empty variable must not remove the only tournament.
        return Err(Failure::usage(
            "the id of the tournament is empty: name one, or @last for the newest",
        ));
    }
    let ids = all.iter().map(|it| it.tournament_id.as_str());
    let mut found: Vec<&str> = ids.filter(|id| id.starts_with(text)).collect();
    // A whole name comes before a longer one that begins with it.
    let of_name = |id: &&&str| {
        let rest = { id.strip_prefix(text) }.and_then(|rest| rest.strip_prefix('-'));
        let hash = rest.and_then(|rest| rest.as_bytes().get(..10));
        hash.is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
    };
    let named: Vec<&str> = found.iter().filter(of_name).copied().collect();
    if !named.is_empty() {
        found = named;
    }
    match *found {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let named = found[..found.len().min(NAMED_MAX)].join(", ");
            let more = match found.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(Failure::usage(format!(
                "\"{text}\" is ambiguous: it matches {named}{more}; use a longer prefix, or @last \
                 for the newest"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tournaments() -> Vec<v1::Tournament> {
        let of = |(id, created): &(&str, i64)| v1::Tournament {
            tournament_id: (*id).to_owned(),
            created_unix_us: *created as _,
            ..Default::default()
        };
        [("cup-01", 1), ("cup-02", 3), ("league-7f", 2)]
            .iter()
            .map(of)
            .collect()
    }

    #[test]
    fn unique_prefix_is_enough() {
        let all = tournaments();
        assert_eq!(chosen(&all, "league").expect("one"), Some("league-7f"));
        assert_eq!(chosen(&all, "cup-02").expect("one"), Some("cup-02"));
        assert_eq!(chosen(&all, "other").expect("none"), None);
        let ambiguous = chosen(&all, "cup").expect_err("two").to_string();
        assert!(ambiguous.contains("cup-01, cup-02"), "{ambiguous}");
    }

    #[test]
    fn empty_text_is_no_prefix() {
        let only = &tournaments()[..1];
        assert!(chosen(only, "").is_err());
        assert_eq!(chosen(only, "c").expect("one"), Some("cup-01"));
    }

    #[test]
    fn whole_name_is_no_prefix() {
        let of = |id: &&str| v1::Tournament {
            tournament_id: (*id).to_owned(),
            ..Default::default()
        };
        let all = ["dr-0123456789", "drr-0123456789", "drr-abcdef0123-2"].map(|id| of(&id));
        assert_eq!(chosen(&all, "dr").expect("one"), Some("dr-0123456789"));
        assert!(chosen(&all, "drr").is_err(), "two of one name");
    }

    #[test]
    fn last_is_the_newest() {
        assert_eq!(chosen(&tournaments(), LAST).expect("one"), Some("cup-02"));
        assert_eq!(chosen(&[], LAST).expect("none"), None);
    }
}
