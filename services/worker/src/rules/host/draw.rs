//! Boards that the processes of a package draw.

use std::sync::Mutex;

use super::{ProcessError, RulesHost};
use crate::{
    lock,
    rules::{
        OpenGame, RulesFailure,
        messages::{Answer, Ask},
    },
};

/// What went wrong with boards.
#[derive(Default)]
pub(super) struct Boards {
    /// Why the package draws no more boards.
    stopped: Mutex<Option<RulesFailure>>,
    /// The first problem of a board.
    problem: Mutex<Option<String>>,
}

impl Boards {
    pub(super) fn report(&self, problem: &str) {
        lock(&self.problem).get_or_insert_with(|| problem.to_owned());
    }
}

impl RulesHost {
    /// The first problem of a board, if any. It is no failure of the package.
    #[must_use]
    pub fn board_problem(&self) -> Option<String> {
        lock(&self.boards.problem).clone()
    }

    /// Asks a process for a board. Games do not need it, so a failure fails nothing else. A process that
    /// ends or does not answer is not asked for another one: each could take as long.
    pub(super) fn draw(&self, game: &OpenGame, ask: &Ask<'_>) -> Result<Answer, RulesFailure> {
        if let Some(failure) = lock(&self.boards.stopped).clone() {
            return Err(failure);
        }
        let mut process = self.take(false)?;
        let error = match process.ask(game, ask) {
            Ok(answer) => {
                self.put_back(process);
                return Ok(answer);
            }
            Err(error) => error,
        };
        let is_alive = matches!(error, ProcessError::Reported(_));
        let failure = self.failure_of(&error, &process);
        if is_alive {
            self.put_back(process);
        } else {
            tracing::warn!(ruleset = self.name, "it draws no more boards: {failure}");
            self.end(process);
            *lock(&self.boards.stopped) = Some(failure.clone());
        }
        Err(failure)
    }
}
