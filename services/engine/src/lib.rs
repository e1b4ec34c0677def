//! The rules' side of Arena: what a game is, how one is played from a seed, and
//! how it is played again from its events.
//!
//! There is no IO here, no clock, no thread and no floating-point arithmetic.
//! The same [`Setup`] and the same answers give the same events, on every
//! machine and for ever.
//!
//! - [`Game`] is what a ruleset implements; [`Node`] says what comes next.
//! - [`Match`] is one game in progress, as a state machine: it draws chance by
//!   itself and stops where a seat has to be asked.
//! - [`replay()`] applies the events of a finished game again, checking each.
//! - [`AnyGame`] and [`AnyMatch`] are the same without the type parameter, for
//!   code that handles any ruleset.
//! - [`values`] says what positions are worth, in whole numbers, and [`luck()`]
//!   what chance gave to each seat.
//! - [`options`] describes and resolves the options of rulesets and of bots.

#![deny(clippy::float_arithmetic)]

mod erased;
mod fault;
mod game;
mod luck;
mod r#match;
mod openings;
pub mod options;
mod perft;
mod random;
mod replay;
pub mod values;

pub use erased::{AnyGame, AnyMatch};
pub use fault::{FaultKind, SeatFault, Termination};
pub use game::{ActionId, Ending, Game, MAX_SEATS, Node, OutcomeId, PerSeat, PositionError, Seat};
pub use luck::luck;
pub use r#match::{
    Event, FaultPolicy, Finished, IllegalAction, Match, Opening, Question, Setup, Status,
};
pub use openings::{OpeningBook, OpeningError, OpeningLength, opening_book};
pub use perft::perft;
pub use random::{AgentRng, GameKeys, Key, Stream};
pub use replay::{Described, Outcome, ReplayError, Step, replay, resolve_steps};
