//! The openings of tournaments whose games have no chance.
//!
//! Without chance, agents that do not use their seeds repeat the game of an opening. So each
//! block of a group starts from another opening, taken from a book that follows from ruleset,
//! options and seed.

use arena_games::GamesError;
use arena_model::{
    AgentRef, Openings, Tournament,
    engine::{OpeningBook, OpeningError, OpeningLength},
    format::Format,
};

/// Minimum size of a book, if the game has as many openings.
const BOOK_MIN: u64 = 1_000;
/// Maximum size of a sampled book.
const BOOK_MAX: u64 = 65_536;

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
}

/// Completes a tournament without chance: length and number of its openings and, if no agent
/// uses its seed, at most as many blocks as there are openings. With chance, openings are drawn
/// for each block. A starter drawn by chance only exchanges the seats, so it counts as none.
///
/// # Errors
/// [`BookError`].
pub fn settle(tournament: &mut Tournament) -> Result<(), BookError> {
    let given = tournament.play.opening_plies;
    let game = arena_games::build(&tournament.ruleset, &tournament.options, tournament.seats)?;
    if game.has_chance() && !game.draws_only_starter() {
        tournament.play.opening_plies = Some(given.unwrap_or(0));
        for agent in &mut tournament.agents {
            agent.uses_seed = None;
        }
        return Ok(());
    }
    // Two agents fill all seats of a sequential test.
    let together = match tournament.format {
        Format::Sprt => 2,
        _ => tournament.seats,
    };
    let meet = |matches: fn(&AgentRef) -> bool| {
        let agents = tournament.agents.iter().filter(|agent| matches(agent));
        agents.count() >= together
    };
    let may_be_fixed = meet(|agent| agent.uses_seed != Some(true));
    let is_fixed = tournament
        .agents
        .iter()
        .all(|agent| agent.uses_seed == Some(false));
    if given.is_none() && !may_be_fixed {
        tournament.play.opening_plies = Some(0);
    }
    let book = book(tournament)?;
    let size = book.openings.len() as u64;
    tournament.play.opening_plies = Some(book.plies);
    tournament.openings = Some(Openings {
        size,
        complete: book.complete,
        starter_drawn: game.draws_only_starter(),
    });
    if is_fixed {
        let groups = match tournament.format {
            Format::Sprt => 1 + tournament.seats as u64 % 2,
            _ => 1,
        };
        tournament.blocks = tournament.blocks.min(size.saturating_mul(groups));
    }
    Ok(())
}

/// Plies of the drawn opening of a game without chance whose rules are a package.
const PACKAGE_PLIES: u32 = 2;

/// Completes a tournament whose rules are a package. The coordinator does not start it, so there is
/// no book: openings are drawn for each block.
pub fn settle_package(tournament: &mut Tournament, has_chance: bool) {
    let plies = if has_chance { 0 } else { PACKAGE_PLIES };
    tournament.play.opening_plies.get_or_insert(plies);
    for agent in &mut tournament.agents {
        agent.uses_seed = None;
    }
}

/// The openings of a tournament without chance, in the order of a group's blocks.
///
/// # Errors
/// [`BookError`].
pub fn book(tournament: &Tournament) -> Result<OpeningBook, BookError> {
    let game = arena_games::build(&tournament.ruleset, &tournament.options, tournament.seats)?;
    let (length, want) = match (tournament.play.opening_plies, tournament.openings) {
        (Some(plies), Some(openings)) => (OpeningLength::Plies(plies), openings.size),
        (plies, _) => (
            plies.map_or(OpeningLength::Shortest, OpeningLength::Plies),
            tournament.blocks.clamp(BOOK_MIN, BOOK_MAX),
        ),
    };
    let key = tournament.seed.openings();
    game.opening_book(length, want as usize, &key)
        .map_err(|error| BookError::Opening {
            plies: tournament.play.opening_plies.unwrap_or(0),
            error,
        })
}
