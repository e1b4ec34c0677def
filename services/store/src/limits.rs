//! Limits of the store's input, checked before anything is accepted.

use crate::{Change, KEY_BYTES_MAX, StoreError, StoredGame, VALUE_BYTES_MAX};

pub(crate) fn changes(changes: &[Change]) -> Result<(), StoreError> {
    changes.iter().try_for_each(|change| {
        let name = || format!("{} \"{:.40}\"", change.collection, change.key);
        within(
            || format!("the key of {}", name()),
            change.key.len(),
            KEY_BYTES_MAX,
        )?;
        let bytes = change.value.as_ref().map_or(0, Vec::len);
        within(
            || format!("the document {}", name()),
            bytes,
            VALUE_BYTES_MAX,
        )
    })
}

pub(crate) fn games(games: &[StoredGame]) -> Result<(), StoreError> {
    games.iter().try_for_each(|game| {
        let name = || format!("{:.80}/{}", game.tournament, game.index);
        within(
            || format!("the tournament id of {}", name()),
            game.tournament.len(),
            KEY_BYTES_MAX,
        )?;
        let bytes = game.record.len() + game.side.len();
        within(|| format!("the game {}", name()), bytes, VALUE_BYTES_MAX)
    })
}

fn within(what: impl Fn() -> String, bytes: usize, limit: usize) -> Result<(), StoreError> {
    if bytes > limit {
        Err(StoreError::TooLarge {
            what: what(),
            bytes,
            limit,
        })
    } else {
        Ok(())
    }
}
