//! What happened in a game beside its result, read off its events.

mod cowry;
mod ludo;

use std::any::Any;

use arena_engine::{Event, Game, ReplayError};
use arena_games::{ChineseLudo, Cowry};
use arena_model::BlockSeed;

pub(crate) use self::{
    cowry::{CowryHistory, SeatHistory},
    ludo::LudoHistory,
};

/// A game of a ruleset of which more than the result is asked.
#[derive(Clone, Debug)]
pub(crate) enum GameHistory {
    Cowry(CowryHistory),
    Ludo(LudoHistory),
}

/// Follows a game; none for other rulesets, and where nothing of what is asked
/// happened. `seed` is the game's.
pub(crate) fn follow<G: Game>(
    game: &G,
    events: &[Event],
    seed: BlockSeed,
) -> Result<Option<GameHistory>, ReplayError> {
    let game: &dyn Any = game;
    if let Some(game) = game.downcast_ref::<Cowry>() {
        return cowry::follow(game, events)
            .map(GameHistory::Cowry)
            .map(Some);
    }
    if let Some(game) = game.downcast_ref::<ChineseLudo>() {
        return Ok(ludo::follow(game, events, seed)?.map(GameHistory::Ludo));
    }
    Ok(None)
}
