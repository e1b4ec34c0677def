//! Options that the rules do not have.

use arena_engine::options::Options;

use super::{KILLED_MAX, ProcessError, RulesHost};
use crate::rules::{OpenGame, RulesCause, RulesFailure, messages::Ask};

impl RulesHost {
    /// Opens a game with these options and one that the rules do not have. They have to answer with an error:
    /// a game with another name for an option would be another game. Arena plays no such games, so this is no
    /// failure of the package.
    ///
    /// # Errors
    /// If they answer anything else, or not at all.
    pub fn check_unknown_option(
        &self,
        options: &Options,
        seats: usize,
    ) -> Result<(), RulesFailure> {
        let mut name = "unknown".to_owned();
        while options.contains_key(&name) {
            name.push('_');
        }
        let mut options = options.clone();
        options.insert(name.clone(), true.into());
        let game = OpenGame::new(seats, &options, true);
        let mut killed = 0;
        loop {
            let mut process = self.take(false)?;
            let error = match process.ask(&game, &Ask::Initial) {
                Err(ProcessError::Reported(_)) => {
                    self.put_back(process);
                    return Ok(());
                }
                Ok(_) => {
                    self.put_back(process);
                    let problem = format!(
                        "the rules begin a game with the option \"{name}\", which their description does not have"
                    );
                    return Err(RulesFailure::new(RulesCause::Answer, problem));
                }
                Err(error) => error,
            };
            killed += 1;
            let mut failure = self.failure_of(&error, &process);
            let is_final = !process.was_killed() || killed == KILLED_MAX;
            self.end(process);
            if is_final {
                failure.message = format!("with an unknown option, {}", failure.message);
                return Err(failure);
            }
        }
    }
}
