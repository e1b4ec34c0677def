//! Evolution of an agent's options as a client of a coordinator: each generation is a tournament.

mod generations;
mod prepare;
mod report;

pub use generations::Generations;
pub use prepare::{drawn, prepare};
pub use report::EvolutionReporter;
