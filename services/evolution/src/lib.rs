//! Evolution of an agent's options: a genetic algorithm whose fitness is a tournament.

mod champion;
mod error;
mod genetic;
mod genome;
mod spec;

pub use champion::Champion;
pub use error::EvolutionError;
pub use genetic::{Evolution, Fitness, Gene, Generation, Genes, Parents, Settings, ranking};
pub use genome::{EvolveChoice, Genome};
pub use spec::{EVOLUTION_KEYS, EvolveSpec, PLAYER_KEYS, Player, parse, player_name, read};
