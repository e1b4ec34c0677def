//! Openings that a user gives, as text.
//!
//! An opening is a list of moves in the notation of the ruleset, separated by spaces. A start position
//! other than that of the options stands before them in brackets: `[8/8/8/4k3/8/8/4P3/4K3 w - -] e4`.

use crate::{
    game::{Game, Node},
    openings::start,
    seat::ActionId,
};

/// Maximum bytes of the text of an opening.
pub const BOOK_OPENING_BYTES_MAX: usize = 8192;
/// Maximum number of moves of an opening.
pub const BOOK_PLIES_MAX: usize = 1000;

/// How a game of an opening begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookOpening {
    /// The start position as [`Game::with_start`] returns it; none if it is that of the options.
    pub start: Option<Box<str>>,
    /// The moves from there.
    pub moves: Vec<ActionId>,
}

/// An opening that the rules allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOpening {
    /// The opening.
    pub opening: BookOpening,
    /// Its text in the notation of records.
    pub text: String,
    /// The position after it as [`Game::encode`] writes it: two openings with the same one are the
    /// same.
    pub position: Vec<u8>,
}

/// Why a text is no opening.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookProblem {
    /// The start position has no end.
    #[error("\"]\" is missing after the start position")]
    Bracket,
    /// The start position is invalid.
    #[error("{0}")]
    Start(String),
    /// Openings do not determine the rest of the game.
    #[error("the game has chance, so that openings do not determine it")]
    Chance,
    /// A move is not legal.
    #[error("\"{text}\" is not a legal move {}", after(.before))]
    Move {
        /// Its number, from 0.
        number: usize,
        /// Its text.
        text: String,
        /// The moves before it.
        before: String,
    },
    /// There is nothing to play.
    #[error("the game is over {}", after(.moves))]
    Over {
        /// Number of moves.
        plies: usize,
        /// The moves.
        moves: String,
    },
    /// There are too many moves.
    #[error("an opening has at most {BOOK_PLIES_MAX} moves and {BOOK_OPENING_BYTES_MAX} bytes")]
    Long,
}

fn after(moves: &str) -> String {
    match moves {
        "" => "in the start position".to_owned(),
        moves => format!("after {moves}"),
    }
}

/// Reads an opening.
///
/// # Errors
/// [`BookProblem`].
pub fn read_opening<G: Game>(game: &G, text: &str) -> Result<ReadOpening, BookProblem> {
    if text.len() > BOOK_OPENING_BYTES_MAX {
        return Err(BookProblem::Long);
    }
    let (position, moves) = match text.trim_start().strip_prefix('[') {
        None => (None, text),
        Some(rest) => {
            let (position, moves) = rest.split_once(']').ok_or(BookProblem::Bracket)?;
            (Some(position), moves)
        }
    };
    match position {
        None => read_moves(game, None, moves),
        Some(position) => {
            let (game, position) = game.with_start(position).map_err(BookProblem::Start)?;
            read_moves(&game, Some(position.into()), moves)
        }
    }
}

fn read_moves<G: Game>(
    game: &G,
    position: Option<Box<str>>,
    text: &str,
) -> Result<ReadOpening, BookProblem> {
    let mut state = start(game);
    let mut notations = String::new();
    let mut moves = Vec::new();
    let mut words = text.split_whitespace();
    loop {
        match game.node(&state) {
            Node::Decision(_) => {}
            Node::Chance(_) => return Err(BookProblem::Chance),
            Node::Over(_) => {
                return Err(BookProblem::Over {
                    plies: moves.len(),
                    moves: notations,
                });
            }
        }
        let Some(word) = words.next() else { break };
        if moves.len() == BOOK_PLIES_MAX {
            return Err(BookProblem::Long);
        }
        let Some(action) = game.find_action(&state, word) else {
            return Err(BookProblem::Move {
                number: moves.len(),
                text: word.to_owned(),
                before: notations,
            });
        };
        if !notations.is_empty() {
            notations.push(' ');
        }
        game.write_action(&state, action, &mut notations);
        game.apply(&mut state, action);
        moves.push(action);
    }
    let mut encoded = Vec::new();
    game.encode(&state, false, &mut encoded);
    let text = match (&position, &*notations) {
        (None, moves) => moves.to_owned(),
        (Some(position), "") => format!("[{position}]"),
        (Some(position), moves) => format!("[{position}] {moves}"),
    };
    Ok(ReadOpening {
        opening: BookOpening {
            start: position,
            moves,
        },
        text,
        position: encoded,
    })
}
