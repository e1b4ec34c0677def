//! The engine: what a game is, how it is played from a seed, and how it is replayed from its
//! events.
//!
//! There is no IO, clock, thread or floating-point arithmetic here. The same [`Setup`] and the
//! same answers give the same events on every machine.
//!
//! - [`Game`] is what a ruleset implements; [`Node`] is the next event of a position.
//! - [`Match`] is one game in progress, as a state machine: it draws chance events itself and
//!   stops when a seat has to be asked.
//! - [`replay()`] applies the events of a finished game again and checks each of them;
//!   [`check()`] also checks that its chance outcomes follow from its seed.
//! - [`AnyGame`] and [`AnyMatch`] are the same without the type parameter, for code that handles
//!   any ruleset.
//! - [`Adjudicator`] ends games of two seats about which both agents agree.
//! - [`values`] are the values of positions in whole numbers, and [`luck()`] is the effect of
//!   chance on each seat.
//! - [`options`] describes and resolves the options of rulesets and of bots.

#![deny(clippy::float_arithmetic)]

mod adjudicate;
mod book;
mod check;
mod erased;
mod event;
mod fault;
mod game;
mod luck;
mod r#match;
mod openings;
pub mod options;
mod random;
mod replay;
mod seat;
mod stated;
mod testing;
mod transcript;
pub mod values;

pub use adjudicate::{
    ADJUDICATION_MOVES_MAX, Adjudication, AdjudicationRules, AdjudicationVerdict, Adjudicator,
    DrawRule, ResignRule, Score, ScoredMove,
};
pub use book::{
    BOOK_OPENING_BYTES_MAX, BOOK_PLIES_MAX, BookOpening, BookProblem, ReadOpening, read_opening,
};
pub use check::{CheckError, Checked, DiceError, check};
pub use erased::{AnyGame, AnyMatch};
pub use event::Event;
pub use fault::{FaultKind, SeatFault, Termination, forfeit_placement};
pub use game::{Game, Node, PositionError};
pub use r#match::{FaultPolicy, Finished, IllegalAction, Match, Opening, Question, Setup, Status};
pub use openings::{OpeningBook, OpeningError, OpeningLength, WorkLimit, opening_book};
pub use random::{AgentRng, GameKeys, Key, Stream, StreamOf};
pub use replay::{
    Choice, Described, Outcome, ReplayError, ReplayProblem, Step, prepare, replay, resolve_steps,
};
pub use seat::{ActionId, Ending, MAX_SEATS, OutcomeId, PerSeat, Seat, per_seat};
pub use stated::StatedGame;
pub use testing::{luck, perft};
pub use transcript::Transcript;
