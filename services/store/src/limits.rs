//! Limits of the store's input, checked before anything is accepted.

use crate::{Change, DOCUMENT_BYTES_MAX, KEY_BYTES_MAX, StoreError, StoredGame, VALUE_BYTES_MAX};

pub(crate) fn changes(changes: &[Change]) -> Result<(), StoreError> {
    changes.iter().try_for_each(|change| {
        let name = || format!("{} \"{:.40}\"", change.collection, change.key);
        check("key of", name, change.key.len(), KEY_BYTES_MAX)?;
        let bytes = change.value.as_ref().map_or(0, Vec::len);
        check("document", name, bytes, DOCUMENT_BYTES_MAX)
    })
}

pub(crate) fn games(games: &[StoredGame]) -> Result<(), StoreError> {
    games.iter().try_for_each(|game| {
        let name = || format!("{:.80}/{}", game.tournament, game.index);
        check(
            "tournament id of",
            name,
            game.tournament.len(),
            KEY_BYTES_MAX,
        )?;
        let bytes = game.record.len() + game.side.len();
        check("game", name, bytes, VALUE_BYTES_MAX)
    })
}

fn check(
    what: &str,
    name: impl Fn() -> String,
    bytes: usize,
    limit: usize,
) -> Result<(), StoreError> {
    if bytes <= limit {
        return Ok(());
    }
    Err(StoreError::TooLarge {
        what: format!("the {what} {}", name()),
        bytes,
        limit,
    })
}
