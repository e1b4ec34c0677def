//! Evolution of an agent's options: a genetic algorithm whose fitness is a tournament.

mod champion;
mod error;
pub mod genetic;
mod genome;
mod spec;

pub use champion::Champion;
pub use error::EvolutionError;
pub use genetic::{Evolution, Fitness, Generation, ranking};
pub use genome::{Evolve, Genome};
pub use spec::{EVOLUTION_KEYS, EvolveSpec, PLAYER_KEYS, Player, parse, player_name, read};
