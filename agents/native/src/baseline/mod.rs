//! Baselines for every game. They use only its rules and its values ([`Game::values`]), so
//! that a new game has them from the start.
//!
//! Budgets count positions or iterations, never time, so that the same decision gets the
//! same action on every machine.

mod expectimax;
mod greedy;
mod mcts;
#[cfg(test)]
mod tests;

use arena_engine::{ActionId, Game, values::POINT};

pub(crate) use self::{
    expectimax::{Expectimax, specs as expectimax_specs},
    greedy::{Greedy, specs as greedy_specs},
    mcts::{Mcts, specs as mcts_specs},
};

/// The position after an action.
#[inline]
fn after<G: Game>(game: &G, state: &G::State, action: ActionId) -> G::State {
    let mut next = state.clone();
    game.apply(&mut next, action);
    next
}

/// A value as a fraction of a point.
fn points(value: i64) -> f64 {
    value as f64 / POINT as f64
}
