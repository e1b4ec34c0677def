//! The openings of tournaments whose games have no chance.
//!
//! Without chance, agents that do not use their seeds repeat the game of an opening. So each
//! block of a group starts from another opening, taken from a book that follows from ruleset,
//! options and seed, or from the book that the spec names.

pub(crate) mod error;
mod given;

pub use error::BookError;
pub(crate) use given::resolve;

use std::sync::{Arc, Mutex, PoisonError, RwLock, atomic::AtomicBool};

use arena_model::{
    AgentRef, Openings, Tournament,
    engine::{BookOpening, BookProblem, OpeningBook, OpeningError, OpeningLength, WorkLimit},
    format::Format,
    rules::RulesDescription,
    spec::Book,
};

/// Minimum size of a book, if the game has as many openings.
const BOOK_MIN: u64 = 1_000;
/// Maximum size of a sampled book.
const BOOK_MAX: u64 = 65_536;
/// Maximum number of moves that are played to draw the book of a new tournament: some seconds of work.
pub(crate) const BOOK_MOVES_MAX: u64 = 4_000_000;

/// Completes a tournament without chance: length and number of its openings and, if no agent
/// uses its seed, at most as many blocks as there are openings. With chance, openings are drawn
/// for each block. A starter drawn by chance only exchanges the seats, so it counts as none. It
/// ends early if `stop` is set.
///
/// # Errors
/// [`BookError`].
pub(crate) fn settle(tournament: &mut Tournament, stop: &AtomicBool) -> Result<(), BookError> {
    let given = tournament.play.opening_plies;
    let game = arena_games::build(&tournament.ruleset, &tournament.options, tournament.seats)?;
    if game.has_chance() && !game.draws_only_starter() {
        if tournament.play.book.is_some() {
            return Err(BookError::Given(BookProblem::Chance.to_string()));
        }
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
    let (size, complete) = match &mut tournament.play.book {
        Some(book) => (given::settle(book, &*game, stop)?, false),
        None => {
            if given.is_none() && !may_be_fixed {
                tournament.play.opening_plies = Some(0);
            }
            let limit = WorkLimit {
                moves: BOOK_MOVES_MAX,
                stop: Some(stop),
            };
            let book = book_within(tournament, limit)?;
            tournament.play.opening_plies = Some(book.plies);
            (book.openings.len() as u64, book.complete)
        }
    };
    tournament.openings = Some(Openings {
        size,
        complete,
        starter_drawn: game.draws_only_starter(),
    });
    if is_fixed {
        let most = size.saturating_mul(groups(tournament));
        tournament.blocks = tournament.blocks.min(most);
    }
    Ok(())
}

/// Plies of the drawn opening of a game whose rules are a package.
const PACKAGE_PLIES: u32 = 2;

/// Completes a tournament whose rules are a package. The coordinator does not start it, so there is
/// no book: openings are drawn for each block, if any.
///
/// Without chance and openings, agents that do not use their seeds would repeat their games, so there
/// is one block, or what a sequential test needs.
pub fn settle_package(tournament: &mut Tournament, description: &RulesDescription) {
    // A seat that sees only a part of a game would not know moves that it has not chosen.
    let has_drawn_openings = !description.chance && description.information.is_perfect();
    let plies = if has_drawn_openings { PACKAGE_PLIES } else { 0 };
    let plies = *tournament.play.opening_plies.get_or_insert(plies);
    let mut agents = tournament.agents.iter();
    if plies == 0 && !description.chance && agents.all(|agent| agent.uses_seed == Some(false)) {
        tournament.blocks = tournament.blocks.min(groups(tournament));
    }
    for agent in &mut tournament.agents {
        agent.uses_seed = None;
    }
}

/// Number of blocks with each opening.
fn groups(tournament: &Tournament) -> u64 {
    match tournament.format {
        Format::Sprt => 1 + tournament.seats as u64 % 2,
        _ => 1,
    }
}

/// The openings of a tournament without chance, by their numbers in its schedule. A tournament that
/// was planned has them, however much work they take. `given` are those of a book in its spec.
///
/// # Errors
/// [`BookError`].
pub fn book(tournament: &Tournament, given: &[String]) -> Result<Vec<BookOpening>, BookError> {
    if tournament.play.book.is_some() {
        return given::book(tournament, given);
    }
    let drawn = book_within(tournament, WorkLimit::NONE)?.openings;
    let openings = drawn
        .into_iter()
        .map(|moves| BookOpening { start: None, moves });
    Ok(openings.collect())
}

fn book_within(tournament: &Tournament, limit: WorkLimit<'_>) -> Result<OpeningBook, BookError> {
    let game = arena_games::build(&tournament.ruleset, &tournament.options, tournament.seats)?;
    let (length, want) = match (tournament.play.opening_plies, tournament.openings) {
        (Some(plies), Some(openings)) => (OpeningLength::Known(plies), openings.size),
        (plies, _) => (
            plies.map_or(OpeningLength::Shortest, OpeningLength::Plies),
            tournament.blocks.clamp(BOOK_MIN, BOOK_MAX),
        ),
    };
    let key = tournament.seed.openings();
    let plies = tournament.play.opening_plies;
    game.opening_book(length, want as usize, &key, limit)
        .map_err(|error| match error {
            OpeningError::Work { moves: most } => BookError::Work { plies, most },
            OpeningError::Stopped => BookError::Stopped,
            error => BookError::Opening {
                plies: plies.unwrap_or(0),
                error,
            },
        })
}

/// The book of a tournament, drawn or read when it is needed.
#[derive(Debug, Default)]
pub(crate) struct OpeningBooks {
    /// The openings of the spec's own book.
    given: Arc<[String]>,
    known: RwLock<Option<Arc<[BookOpening]>>>,
    /// Held while it is drawn.
    drawing: Mutex<()>,
}

impl OpeningBooks {
    /// The book of a spec; none if its openings are drawn.
    pub(crate) fn of(book: Option<&Book>) -> Self {
        let given = match book {
            Some(Book::Openings(openings)) => openings.as_slice().into(),
            None | Some(Book::File(_)) => Arc::default(),
        };
        Self {
            given,
            ..Self::default()
        }
    }

    /// The same book, not yet drawn.
    pub(crate) fn again(&self) -> Self {
        Self {
            given: Arc::clone(&self.given),
            ..Self::default()
        }
    }

    /// The same book; drawn, if it is. Agents do not change it.
    pub(crate) fn shared(&self) -> Self {
        Self {
            known: RwLock::new(self.known()),
            ..self.again()
        }
    }

    /// The book, if it was drawn.
    pub(crate) fn known(&self) -> Option<Arc<[BookOpening]>> {
        let known = self.known.read();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The book, which may take seconds to draw. Without openings, the book is empty.
    pub(crate) fn draw(&self, tournament: &Tournament) -> Arc<[BookOpening]> {
        let _drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.known() {
            return known;
        }
        let drawn = book(tournament, &self.given).unwrap_or_else(|error| {
            tracing::error!(tournament = %tournament.name, %error, "it has no openings");
            Vec::new()
        });
        let drawn: Arc<[BookOpening]> = drawn.into();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Arc::clone(&drawn));
        drawn
    }

    /// Frees the memory of a book that may not be needed any more.
    pub(crate) fn forget(&self) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
