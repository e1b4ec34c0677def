//! The rules that Arena plays, for programs that search ahead.
//!
//! A [`Game`] is a ruleset with its options and seats. It makes [`State`]s: the initial one, or
//! one from the position of a decision. A state has one type for all rulesets, and checks
//! everything that it gets: a wrong argument is a [`RulesError`] and changes nothing.
//!
//! ```
//! use arena_rules::{Game, Options};
//!
//! let game = Game::new("kalah", &Options::new(), None)?;
//! let mut state = game.initial();
//! while !state.is_over() {
//!     if state.is_chance() {
//!         let likeliest = state.chance()?[0];
//!         state.apply_outcome(likeliest.outcome.into())?;
//!     } else {
//!         let first = state.legal()?[0];
//!         state.apply(first.into())?;
//!     }
//! }
//! assert_eq!(state.values().iter().sum::<i64>(), arena_rules::POINT);
//! # Ok::<(), arena_rules::RulesError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic)]

mod error;
mod game;
mod hash;
mod info;
mod json;
mod position;
mod state;

pub use arena_engine::{
    Ending, Node, PerSeat, Seat,
    options::{Options, Value},
    values::POINT,
};
pub use error::{ErrorKind, RulesError};
pub use game::Game;
pub use hash::hash;
pub use info::Info;
pub use state::{Chance, State};

/// The id of a move, below 32768.
pub type Move = arena_engine::ActionId;

/// The id of a chance outcome, below 32768.
pub type Outcome = arena_engine::OutcomeId;

/// The names of all rulesets, in ascending order.
#[must_use]
pub fn rulesets() -> Vec<&'static str> {
    let rulesets = arena_games::rulesets().iter();
    rulesets.map(|ruleset| ruleset.name).collect()
}
