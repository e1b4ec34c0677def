//! Agents as the driver sees them: asked in batches or alone, answered or not.
//!
//! A batch charges nobody. What it leaves unanswered goes back to the driver,
//! which asks again alone; only what happens to that solitary question is a
//! fault.

mod alone;
mod batches;
pub(crate) mod client;
mod codec;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod question;
mod single;
pub(crate) mod window;

use std::{any::Any, time::Duration};

use arena_engine::FaultKind;
use arena_wire::v1;

use crate::native::NativeAnswer;

/// A game that waits for an answer: its place among the active games, and how
/// often that place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) place: u32,
    pub(crate) turn: u32,
}

/// What is known of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultReport {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    /// The last the agent wrote.
    pub(crate) tail: String,
}

/// What came of a question asked alone.
#[derive(Clone, Debug)]
pub(crate) enum DecisionResult {
    /// A move, and how long it took.
    Move(u32, Duration),
    /// The agent's fault, and after how long.
    Fault(FaultReport, Duration),
    /// It does not start or cannot be reached here. Whose fault that is can only
    /// be seen by whether it starts elsewhere.
    Unready(FaultReport),
    /// Ours: why the game cannot be played now.
    Void(String),
}

/// What agents tell the driver.
#[derive(Debug)]
pub(crate) enum Event {
    /// Moves of a batch.
    Moves(Vec<(Token, u32)>),
    /// What a batch left unanswered.
    Unanswered(Vec<Token>),
    /// Of a solitary question.
    Alone(Token, DecisionResult),
    /// Of a native agent, each question by itself.
    NativeAnswers(Vec<NativeAnswer>),
    /// Games that were played in the pool; fewer reports than games where
    /// they are not wanted any more.
    Games {
        tournament: String,
        lease: u64,
        count: usize,
        reports: Vec<v1::GameReport>,
    },
    /// A defect of ours: nobody looks after an agent any more.
    Panicked(Box<dyn Any + Send>),
}
