//! What happened in a game besides its result, read from its events.

mod cowry;
mod ludo;

use std::any::Any;

use arena_engine::{Event, Game, ReplayError};
use arena_games::{ChineseLudo, Cowry};
use arena_model::BlockSeed;

pub(crate) use self::{
    cowry::{CowryHistory, CowrySeatHistory},
    ludo::LudoHistory,
};

/// The history of a game, for rulesets whose tables measure more than results.
#[derive(Clone, Debug)]
pub(crate) enum GameHistory {
    Cowry(CowryHistory),
    Ludo(LudoHistory),
}

/// Reads the history of a game with this seed; none for other rulesets, and none if nothing
/// to measure happened.
pub(crate) fn follow<G: Game>(
    game: &G,
    events: &[Event],
    seed: BlockSeed,
) -> Result<Option<GameHistory>, ReplayError> {
    let game: &dyn Any = game;
    if let Some(game) = game.downcast_ref::<Cowry>() {
        return Ok(Some(GameHistory::Cowry(cowry::follow(game, events)?)));
    }
    if let Some(game) = game.downcast_ref::<ChineseLudo>() {
        return Ok(ludo::follow(game, events, seed)?.map(GameHistory::Ludo));
    }
    Ok(None)
}
