//! The openings of a game without chance: positions a few plies from the start, each with moves
//! that lead to it.
//!
//! Two sequences of moves that lead to one position are the same opening, because the rest of
//! the game is the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    game::{Game, Node},
    random::{Key, Stream},
    seat::ActionId,
};

/// Maximum number of positions of one length that are enumerated; with more, they are sampled.
const LISTED_MAX: usize = 200_000;

/// Maximum number of random games played to find one new position.
const TRIES: usize = 20;

/// Length of the openings of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningLength {
    /// This many plies.
    Plies(u32),
    /// This many plies, for a book that was drawn before: the required number of openings exists,
    /// however long a sample takes to find them.
    Known(u32),
    /// The fewest plies with the required number of openings; if no length has as many, the length
    /// with the most.
    Shortest,
}

/// Openings in an order drawn with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningBook {
    /// Number of moves of each opening.
    pub plies: u32,
    /// The moves of each opening, no two of which lead to the same position.
    pub openings: Vec<Vec<ActionId>>,
    /// True if these are all openings of that length; else they are those that random games
    /// reached.
    pub complete: bool,
}

/// Why a game has no book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    /// The opening does not determine the rest of the game.
    #[error("the game has chance")]
    Chance,
    /// The rules are not part of this program.
    #[error("this program does not have the rules")]
    NoRules,
    /// Every game ends earlier.
    #[error("all games under these rules end within {plies} plies")]
    Over {
        /// The required number.
        plies: u32,
    },
    /// The work exceeds its limit.
    #[error("drawing the openings takes more than {moves} moves")]
    Work {
        /// The limit.
        moves: u64,
    },
    /// The caller does not need the book any more.
    #[error("stopped")]
    Stopped,
}

/// How much work a book may take.
#[derive(Clone, Copy, Debug)]
pub struct WorkLimit<'a> {
    /// Maximum number of moves that are played. It does not depend on the machine: a book is either
    /// always within this limit or never.
    pub moves: u64,
    /// Set by a caller that does not need the book any more; none if it always does.
    pub stop: Option<&'a AtomicBool>,
}

impl WorkLimit<'_> {
    /// No limit.
    pub const NONE: Self = Self {
        moves: u64::MAX,
        stop: None,
    };
}

/// The moves played so far.
struct Work<'a> {
    limit: WorkLimit<'a>,
    moves: u64,
}

impl Work<'_> {
    /// Counts a move.
    fn count(&mut self) -> Result<(), OpeningError> {
        self.check(1)?;
        self.moves += 1;
        match self.limit.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(OpeningError::Stopped),
            _ => Ok(()),
        }
    }

    /// Fails if so many more moves exceed the limit.
    fn check(&self, more: u64) -> Result<(), OpeningError> {
        match self.moves.saturating_add(more) > self.limit.moves {
            true => Err(OpeningError::Work {
                moves: self.limit.moves,
            }),
            false => Ok(()),
        }
    }
}

/// The moves to each position of one length, by its encoding, which identifies it. Positions are
/// played again when they are needed: they would take most of the memory.
type Level = BTreeMap<Box<[u8]>, Box<[ActionId]>>;

/// At least `want` openings if there are as many, in an order drawn with the key. Positions in
/// which the game is over are left out. The limit decides only whether there is a book, not which.
///
/// # Errors
/// [`OpeningError`].
pub fn opening_book<G: Game>(
    game: &G,
    length: OpeningLength,
    want: usize,
    key: &Key,
    limit: WorkLimit<'_>,
) -> Result<OpeningBook, OpeningError> {
    let (length, tries) = match length {
        OpeningLength::Known(plies) => (OpeningLength::Plies(plies), usize::MAX),
        length => (length, want.saturating_mul(TRIES)),
    };
    let mut work = Work { limit, moves: 0 };
    let mut stream = Stream::new(key);
    let mut level = Level::from([(encoded(game, &start(game)), Box::default())]);
    let mut plies = 0;
    loop {
        let enough = match length {
            OpeningLength::Plies(asked) | OpeningLength::Known(asked) => plies == asked,
            OpeningLength::Shortest => level.len() >= want,
        };
        if enough {
            break;
        }
        let next = next_level(game, &level, &mut work)?;
        match (next, length) {
            (Some(next), OpeningLength::Plies(plies)) if next.is_empty() => {
                return Err(OpeningError::Over { plies });
            }
            // In games that end early, longer openings become fewer again.
            (Some(next), OpeningLength::Shortest) if next.len() < level.len() => break,
            (Some(next), _) => level = next,
            (None, _) => {
                let plies = match length {
                    OpeningLength::Plies(plies) | OpeningLength::Known(plies) => plies,
                    OpeningLength::Shortest => plies + 1,
                };
                return sampled(game, plies, (want, tries), &mut stream, &mut work);
            }
        }
        plies += 1;
    }
    let mut openings: Vec<_> = level.into_values().map(Vec::from).collect();
    for last in (1..openings.len()).rev() {
        openings.swap(last, stream.below(last as u32 + 1) as usize);
    }
    Ok(OpeningBook {
        plies,
        openings,
        complete: true,
    })
}

/// The first position. If only the starter is drawn, openings are the same for each.
pub(crate) fn start<G: Game>(game: &G) -> G::State {
    let mut state = game.initial();
    if game.draws_only_starter() && matches!(game.node(&state), Node::Chance(_)) {
        game.apply_outcome(&mut state, 0);
    }
    state
}

/// The position after these moves.
fn after<G: Game>(game: &G, moves: &[ActionId]) -> G::State {
    let mut state = start(game);
    for &action in moves {
        game.apply(&mut state, action);
    }
    state
}

fn encoded<G: Game>(game: &G, state: &G::State) -> Box<[u8]> {
    let mut bytes = Vec::new();
    game.encode(state, false, &mut bytes);
    bytes.into()
}

/// The positions one ply further in which the game is not over; none if there are too many to
/// enumerate.
fn next_level<G: Game>(
    game: &G,
    level: &Level,
    work: &mut Work<'_>,
) -> Result<Option<Level>, OpeningError> {
    let mut next = Level::new();
    let mut legal = Vec::new();
    for line in level.values() {
        let position = after(game, line);
        match game.node(&position) {
            Node::Decision(_) => game.legal(&position, &mut legal),
            Node::Chance(_) => return Err(OpeningError::Chance),
            Node::Over(_) => continue,
        }
        for &action in &legal {
            work.count()?;
            let mut state = position.clone();
            game.apply(&mut state, action);
            match game.node(&state) {
                Node::Decision(_) => {}
                Node::Chance(_) => return Err(OpeningError::Chance),
                Node::Over(_) => continue,
            }
            let moves = || line.iter().copied().chain([action]);
            let known = next.entry(encoded(game, &state));
            known
                .and_modify(|known| {
                    // Of several ways to a position, the one whose moves come first in order.
                    if moves().lt(known.iter().copied()) {
                        *known = moves().collect();
                    }
                })
                .or_insert_with(|| moves().collect());
            if next.len() > LISTED_MAX {
                return Ok(None);
            }
        }
    }
    Ok(Some(next))
}

/// Positions that games of uniformly random moves reach, each once.
fn sampled<G: Game>(
    game: &G,
    plies: u32,
    (want, tries): (usize, usize),
    stream: &mut Stream,
    work: &mut Work<'_>,
) -> Result<OpeningBook, OpeningError> {
    // So many openings take at least these moves.
    work.check((want as u64).saturating_mul(plies.into()))?;
    let mut known = BTreeSet::new();
    let mut openings = Vec::new();
    let mut legal = Vec::new();
    for _ in 0..tries {
        let mut state = start(game);
        let mut moves = Vec::with_capacity(plies as usize);
        while let (Node::Decision(_), true) = (game.node(&state), moves.len() < plies as usize) {
            work.count()?;
            game.legal(&state, &mut legal);
            let action = legal[stream.below(legal.len() as u32) as usize];
            game.apply(&mut state, action);
            moves.push(action);
        }
        match game.node(&state) {
            Node::Decision(_) => {}
            Node::Chance(_) => return Err(OpeningError::Chance),
            Node::Over(_) => continue,
        }
        if known.insert(encoded(game, &state)) {
            openings.push(moves);
        }
        if openings.len() == want {
            break;
        }
    }
    if openings.is_empty() {
        return Err(OpeningError::Over { plies });
    }
    Ok(OpeningBook {
        plies,
        openings,
        complete: false,
    })
}
