//! Plays the first legal move of any game.

use arena_sdk::{Agent, Choice, Question, Refusal};

#[derive(Clone)]
struct First;

impl Agent for First {
    fn choose(&mut self, question: &Question<'_>) -> Result<Choice, Refusal> {
        Ok(question.legal_moves()[0].into())
    }
}

fn main() -> std::process::ExitCode {
    arena_sdk::run(First)
}
