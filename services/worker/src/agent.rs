//! Clients of agents: they send questions in batches or alone, and report the results to the driver.
//!
//! No agent is charged for a failed batch. The unanswered questions of the batch return to the
//! driver, which asks them again alone. Only a question that was asked alone can end in a fault,
//! except for an agent that is given up.

mod alone;
mod batches;
pub(crate) mod client;
mod codec;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod link;
mod load;
mod measure;
pub(crate) mod question;
mod replicas;
mod single;
mod starts;
pub(crate) mod window;

pub(crate) use codec::unreadable as is_garbled;

use std::any::Any;

use arena_engine::{ActionId, FaultKind, Score};
use arena_model::spec::score_of;
use arena_wire::v1;

use crate::clock::Spent;

/// A game that waits for an answer: its place among the active games, and a number that
/// distinguishes successive games in this place.
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

/// The move that an agent chose, and what it reported of its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) move_id: u32,
    pub(crate) score: Option<Score>,
    pub(crate) depth: u32,
    pub(crate) nodes: u64,
}

impl Chosen {
    pub(crate) fn new(move_id: u32, info: &v1::SearchInfo) -> Self {
        Self {
            depth: info.depth.unwrap_or_default(),
            nodes: info.nodes.unwrap_or_default(),
            ..Self::of_score(move_id, info.score)
        }
    }

    /// A move of which nothing else is kept.
    pub(crate) fn of_score(move_id: u32, score: Option<f64>) -> Self {
        Self {
            move_id,
            score: score.and_then(score_of),
            depth: 0,
            nodes: 0,
        }
    }

    /// What a timed game keeps of it.
    pub(crate) fn note(&self) -> v1::SearchNote {
        v1::SearchNote {
            score_thousandths: self.score.map(Score::thousandths),
            depth: self.depth,
            nodes: self.nodes,
        }
    }
}

/// The move of a built-in bot, which reports no score.
impl From<ActionId> for Chosen {
    fn from(action: ActionId) -> Self {
        Self::of_score(action.into(), None)
    }
}

/// The final result of a question.
#[derive(Clone, Debug)]
pub(crate) enum DecisionResult {
    /// A move, and its time.
    Move(Chosen, Spent),
    /// A fault of the agent, and its time.
    Fault(FaultReport, Spent),
    /// The agent does not start or cannot be reached from this worker. Whether the agent or the host
    /// is at fault depends on starts on other workers.
    Unready(FaultReport),
    /// The game cannot be played now, because of this problem of the worker.
    Void(String),
}

/// A game, and the result of its question.
pub(crate) type Answer = (Token, DecisionResult);

/// Messages of agents to the driver.
#[derive(Debug)]
pub(crate) enum Event {
    /// Moves of a batch.
    Moves(Vec<(Token, Chosen)>),
    /// Unanswered questions of a batch.
    Unanswered(Vec<Token>),
    /// Results of questions asked alone, or to a built-in agent.
    Answers(Vec<Answer>),
    /// Games that were played in the pool. There are fewer reports than games if some games were
    /// cancelled meanwhile.
    Games {
        tournament: String,
        lease: u64,
        count: usize,
        reports: Vec<v1::GameReport>,
    },
    /// A defect of Arena: the task of an agent has ended.
    Panicked(Box<dyn Any + Send>),
}
