//! Games of tournaments whose seed is sealed: a block is shown once all its rotations are durable,
//! because its games share their dice.

use std::collections::{BTreeMap, BTreeSet};

use arena_store::{Store, StoredGame};

use crate::{error::Error, handle::Handle, info::Info};

/// True while the seed of a tournament is sealed.
pub(super) async fn is_sealed(handle: &Handle, info: &Info) -> Result<bool, Error> {
    if !info.is_sealable {
        return Ok(false);
    }
    let id = info.id.clone();
    handle.ask(move |core| core.is_sealed(&id)).await
}

/// True if all games of a game's block are durable.
pub(super) fn is_whole(index: u64, info: &Info, store: &dyn Store) -> Result<bool, Error> {
    let rotations = u64::from(info.schedule().rotations());
    let first = index / rotations * rotations;
    for other in first..first + rotations {
        if store.game(&info.key, other)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The games of a page whose blocks are not durable as a whole.
pub(super) fn hidden(
    games: &[StoredGame],
    info: &Info,
    store: &dyn Store,
) -> Result<BTreeSet<u64>, Error> {
    let rotations = u64::from(info.schedule().rotations());
    let mut blocks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for game in games {
        let block = blocks.entry(game.index / rotations).or_default();
        block.push(game.index);
    }
    let mut hidden = BTreeSet::new();
    for indices in blocks.into_values() {
        // Other games of the block may be on another page.
        let in_page = indices.len() as u64 == rotations;
        if !in_page && !is_whole(indices[0], info, store)? {
            hidden.extend(indices);
        }
    }
    Ok(hidden)
}
