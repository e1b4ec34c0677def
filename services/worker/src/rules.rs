//! Rules that are a package: a process that answers the protocol of `services/games/PROTOCOL.md`.
//!
//! [`PackageGame`] is the game, for the engine and for bots. It asks a `RulesService`, which is a
//! [`RulesHost`] except in tests: sandboxed processes, any of which can answer for any state. Each
//! call waits for its answer; a process that does not answer in time is ended. The first failure of
//! the package is the answer to everything from then on, so that a tournament ends with one reason.

mod board;
mod cache;
mod failure;
mod game;
mod grpc;
mod host;
mod known;
mod lines;
mod loaded;
mod messages;
mod output;
mod pending;
mod probabilities;
mod process;
mod protobuf;
mod question;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};

use arena_engine::options::Options;
use serde::Serialize;

pub(crate) use board::without;
pub use game::PackageGame;
pub use host::{RulesHost, RulesSource};
pub(crate) use question::{excused, watched};

use messages::{Answer, Ask};

/// A game of a package with its options, as its processes know it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OpenGame {
    /// Its number among all of this program.
    #[serde(rename = "game")]
    pub(crate) number: u32,
    seats: usize,
    options: Options,
    /// True if agents see its positions.
    #[serde(skip_serializing_if = "is_true")]
    positions: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_true(value: &bool) -> bool {
    *value
}

impl OpenGame {
    fn new(seats: usize, options: &Options, positions: bool) -> Self {
        static GAMES: AtomicU32 = AtomicU32::new(0);
        Self {
            number: GAMES.fetch_add(1, Ordering::Relaxed),
            seats,
            options: options.clone(),
            positions,
        }
    }
}

/// What answers for the rules.
pub(crate) trait RulesService: Send + Sync {
    /// Waits for the answer.
    fn ask(&self, game: &OpenGame, ask: &Ask<'_>) -> Result<Answer, RulesFailure>;
    /// Waits for the nodes after these events of these states, in their order.
    fn apply_all(
        &self,
        game: &OpenGame,
        events: &[(&str, u32)],
    ) -> Vec<Result<Answer, RulesFailure>> {
        let ask = |&(state, event)| self.ask(game, &Ask::Apply { state, event });
        events.iter().map(ask).collect()
    }
    /// Number of events that may be asked together.
    fn together(&self) -> usize {
        1
    }
    /// The first failure of the package, if any.
    fn failure(&self) -> Option<RulesFailure>;
    /// An answer that the protocol does not allow. Returns the failure from now on.
    fn refuse(&self, failure: RulesFailure) -> RulesFailure;
    /// A board was left out, or a part of it. This is no failure.
    fn report_undrawn(&self, _problem: &str) {}
}

/// What rules fail at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulesCause {
    /// This machine could not start or reach them.
    Host,
    /// They did not start or describe themselves.
    Start,
    /// They ended, were late, or answered something else.
    Answer,
    /// An answer is outside the bounds of the protocol.
    Bounds,
    /// A game is longer than they declare.
    Length,
    /// The same question got two answers.
    Purity,
}

/// Why rules do not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesFailure {
    /// What they failed at.
    pub cause: RulesCause,
    /// What happened, in one line.
    pub message: String,
    /// The question that had no good answer, with its state as the rules wrote it; empty if there was
    /// none.
    pub question: String,
    /// The end of what the package printed, such as a traceback: lines, or empty.
    pub output: String,
}

impl RulesFailure {
    fn new(cause: RulesCause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            question: String::new(),
            output: String::new(),
        }
    }

    /// True if the package did not start here, so that its rules are unknown.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self.cause, RulesCause::Host | RulesCause::Start)
    }

    /// Adds the question, unless there is one.
    fn asked(mut self, ask: &Ask<'_>) -> Self {
        if self.question.is_empty() {
            self.question = ask.to_string();
        }
        self
    }
}

impl fmt::Display for RulesFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RulesFailure {}
