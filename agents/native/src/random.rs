//! The agent that plays any game at random.

use arena_engine::{Game, options::Options};

use crate::{
    bot::{Bot, Chosen, Decision},
    make::{BotResult, UniversalBot},
};

/// Chooses uniformly among the legal actions. In cowry each is a pair of a value and a
/// piece, as in the first paper; in Kalah it is a pit that is not empty.
pub(crate) struct Random;

impl<G: Game> Bot<G> for Random {
    #[inline]
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        decision.rng().pick(decision.legal).into()
    }
}

impl UniversalBot for Random {
    fn make<G: Game>(_: &Options, _: &G) -> BotResult<G> {
        Ok(Box::new(Self))
    }
}
