//! Loading the results of a tournament from the store.

use std::collections::BTreeMap;

use arena_model::GameRecord;
use arena_store::{Position, Store, StoredGame};
use arena_wire::v1;

use crate::{
    checkpoint,
    error::{Error, StartError},
    info::Info,
    ledger::Bitmap,
    results::Results,
    stored_game::{read_record, read_side},
};

/// Loads the results of a tournament for a request; see [`Results::load`].
pub(crate) fn reload(info: &Info, store: &dyn Store) -> Result<(Results, Bitmap), Error> {
    let loaded = Results::load(info, store);
    loaded.map_err(|error| Error::damaged(format!("tournament {}", info.id), error))
}

impl Results {
    /// Loads the results of a tournament from its checkpoint, if there is one, and the games
    /// after it; blocks. Also returns which games the store has. No game of the tournament
    /// may become durable meanwhile.
    pub(crate) fn load(info: &Info, store: &dyn Store) -> Result<(Self, Bitmap), StartError> {
        let resumed = checkpoint::read(info, store);
        if let Some((mut results, position)) = resumed
            && results.add_stored(info, store, Some(&position))?
            && results.tally.games() == store.count(&info.key)
        {
            return results.loaded(info, store);
        }
        let mut results = Self::new(info).map_err(|error| unplayable(info, error))?;
        results.add_stored(info, store, None)?;
        results.loaded(info, store)
    }

    /// Completes loading after all games of the store are added.
    fn loaded(mut self, info: &Info, store: &dyn Store) -> Result<(Self, Bitmap), StartError> {
        self.go_on(info).map_err(|error| unplayable(info, error))?;
        info.follow(self.stages.schedule());
        // Games of stages to come are there where games before them are lost.
        let missing = self.games() < info.games();
        let bound = if missing { info.games_most } else { 0 };
        if let Some((&index, _)) = self.ahead.range(bound..).next() {
            return Err(no_game(info, index));
        }
        let done = indices(info, store, &self.ahead)?;
        Ok((self, done))
    }

    /// Adds the games of a store, all of them or those after a position in its chain;
    /// returns false if there is no such position.
    fn add_stored(
        &mut self,
        info: &Info,
        store: &dyn Store,
        from: Option<&Position>,
    ) -> Result<bool, StartError> {
        let mut damaged = None;
        let mut add = |game: StoredGame| {
            let added =
                read_record(&game).and_then(|record| self.take(record, read_side(&game), info));
            if let Err(error) = added {
                let what = format!("game {}/{}", game.tournament, game.index);
                damaged.get_or_insert_with(|| StartError::unreadable(what, error));
            }
        };
        let found = match from {
            Some(position) => store.scan_from(&info.key, position, &mut add)?,
            None => {
                store.scan(&info.key, &mut add)?;
                true
            }
        };
        damaged.map_or(Ok(found), Err)
    }
}

/// The games of the schedule that are durable. Games in `ahead` are not in the schedule
/// yet.
fn indices(
    info: &Info,
    store: &dyn Store,
    ahead: &BTreeMap<u64, (GameRecord, v1::GameReport)>,
) -> Result<Bitmap, StartError> {
    let mut done = Bitmap::new(info.games());
    let mut outside = None;
    store.indices(&info.key, &mut |index| {
        if !done.insert(index) && !ahead.contains_key(&index) {
            outside = Some(index);
        }
    })?;
    match outside {
        None => Ok(done),
        Some(index) => Err(no_game(info, index)),
    }
}

fn unplayable(info: &Info, error: Error) -> StartError {
    StartError::unreadable(format!("tournament {}", info.id), error)
}

fn no_game(info: &Info, index: u64) -> StartError {
    let game = format!("game {}/{index}", info.id);
    StartError::unreadable(game, "it does not match any game of the schedule")
}
