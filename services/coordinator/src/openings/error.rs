//! Why a tournament has no openings.

use arena_games::GamesError;
use arena_model::engine::OpeningError;

use super::BOOK_MAX;

/// Why a tournament has no openings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BookError {
    /// Its ruleset or options are unknown.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// Its games end earlier.
    #[error("opening_plies = {plies} in [play]: {error}; lower it")]
    Opening {
        /// The number in the spec.
        plies: u32,
        /// The cause.
        #[source]
        error: OpeningError,
    },
    /// Drawing them takes too much work.
    #[error(
        "{}the opening book takes more than {most} moves to draw; lower opening_plies or blocks: \
         up to {BOOK_MAX} blocks have openings of their own",
        .plies.map_or_else(String::new, |plies| format!("opening_plies = {plies} in [play]: "))
    )]
    Work {
        /// The number in the spec.
        plies: Option<u32>,
        /// The limit of moves.
        most: u64,
    },
    /// The book of the spec is invalid.
    #[error("book in [play]: {0}")]
    Given(String),
    /// The caller does not wait for them any more.
    #[error("stopped: the caller is gone")]
    Stopped,
}
