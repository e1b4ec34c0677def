//! Search one action ahead.

use arena_engine::{
    ActionId, Game,
    options::{Kind, Options, Spec},
};

use super::after;
use crate::{
    bot::{Bot, Chosen, Decision},
    make::{BotResult, UniversalBot},
    read,
};

/// Takes the action with the best resulting position for its seat. The position is
/// evaluated directly after the action, before any throw.
pub(crate) struct Greedy {
    draws_ties: bool,
    best: Vec<ActionId>,
}

/// Its options.
pub(crate) fn specs() -> Vec<Spec> {
    vec![Spec::new(
        "tie",
        Kind::choice(&["random", "first"]),
        "random",
        "tie-break between equally good moves: draw one, or take the first",
    )]
}

impl UniversalBot for Greedy {
    fn make<G: Game>(options: &Options, _: &G) -> BotResult<G> {
        Ok(Box::new(Self {
            draws_ties: read::text(options, "tie") == "random",
            best: Vec::new(),
        }))
    }
}

impl<G: Game> Bot<G> for Greedy {
    fn choose(&mut self, decision: &Decision<'_, G>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let mut greatest = i64::MIN;
        self.best.clear();
        for &action in decision.legal {
            let next = after(decision.game, decision.state, action);
            let value = decision.game.values(&next)[usize::from(decision.seat)];
            if value > greatest {
                greatest = value;
                self.best.clear();
            }
            if value == greatest {
                self.best.push(action);
            }
        }
        Chosen {
            action: if self.draws_ties {
                decision.rng().pick(&self.best)
            } else {
                self.best[0]
            },
            score: Some(super::points(greatest)),
            depth: Some(1),
            nodes: Some(decision.legal.len() as u64),
        }
    }
}

#[cfg(test)]
mod tests;
