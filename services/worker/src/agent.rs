//! Agents as the driver sees them: asked in batches or alone, with or without an answer.
//!
//! A batch charges no agent. Its unanswered questions return to the driver, which asks them
//! again alone; only what happens to such a question is a fault.

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

/// A game that waits for an answer: its place among the active games, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) place: u32,
    pub(crate) number: u32,
}

/// Details of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultReport {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    /// The agent's last output.
    pub(crate) tail: String,
}

impl FaultReport {
    /// A fault without output.
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            tail: String::new(),
        }
    }
}

/// The final result of a question.
#[derive(Clone, Debug)]
pub(crate) enum DecisionResult {
    /// A move, and its time.
    Move(u32, Duration),
    /// A fault of the agent, and its time.
    Fault(FaultReport, Duration),
    /// The agent does not start or cannot be reached here. Only starts on other workers show
    /// whether it or the host is at fault.
    Unready(FaultReport),
    /// A problem of this worker: why the game cannot be played now.
    Void(String),
}

/// A game, and the result of its question.
pub(crate) type Answer = (Token, DecisionResult);

/// Messages of agents to the driver.
#[derive(Debug)]
pub(crate) enum Event {
    /// Moves of a batch.
    Moves(Vec<(Token, u32)>),
    /// Unanswered questions of a batch.
    Unanswered(Vec<Token>),
    /// Results of questions asked alone, or to a built-in agent.
    Answers(Vec<Answer>),
    /// Games that were played in the pool; fewer reports than games if some are not wanted any
    /// more.
    Games {
        tournament: String,
        lease: u64,
        count: usize,
        reports: Vec<v1::GameReport>,
    },
    /// A defect of Arena: the task of an agent has ended.
    Panicked(Box<dyn Any + Send>),
}
