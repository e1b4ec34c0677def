//! Errors, which all say what was wrong with an argument.

use arena_engine::PositionError;
use arena_games::GamesError;

/// Why a call was refused. The state is as before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// There is no such ruleset, or its options, version or seats are invalid.
    #[error(transparent)]
    Game(#[from] GamesError),
    /// Options that are not a JSON object of texts, numbers and booleans.
    #[error("options: {0}")]
    Options(String),
    /// Bytes that are not a position of this game.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// JSON that is not a position of this game.
    #[error("not a position of {ruleset}: {reason}")]
    Json {
        /// Name of the ruleset.
        ruleset: &'static str,
        /// The problem.
        reason: String,
    },
    /// The move is not legal.
    #[error("move {given} is not legal; legal moves: {}", list(legal))]
    IllegalMove {
        /// The move given.
        given: i64,
        /// The legal moves.
        legal: Vec<u16>,
    },
    /// The outcome is not possible.
    #[error(
        "chance outcome {given} is not possible; possible outcomes: {}",
        list(possible)
    )]
    ImpossibleOutcome {
        /// The outcome given.
        given: i64,
        /// The possible outcomes.
        possible: Vec<u16>,
    },
    /// A decision was expected, and a chance outcome is drawn next.
    #[error("a chance outcome is drawn next, so no seat moves: apply an outcome")]
    ChanceNext,
    /// A chance event was expected, and a seat decides next.
    #[error("seat {0} moves next, so no chance outcome is drawn: apply a move")]
    MoveNext(u8),
    /// The game is over.
    #[error("the game is over")]
    Over,
}

/// The kinds of errors, for languages with codes or classes for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An unknown ruleset or version, or invalid options or seats.
    InvalidGame,
    /// Bytes or JSON that are not a position of the game.
    InvalidPosition,
    /// A move that is not legal, or an outcome that is not possible.
    IllegalMove,
    /// A decision, a chance event or a game in progress was expected, and this is none.
    WrongNode,
}

impl ErrorKind {
    /// Its name, such as `IllegalMove`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidGame => "InvalidGame",
            Self::InvalidPosition => "InvalidPosition",
            Self::IllegalMove => "IllegalMove",
            Self::WrongNode => "WrongNode",
        }
    }
}

impl RulesError {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Game(_) | Self::Options(_) => ErrorKind::InvalidGame,
            Self::Position(_) | Self::Json { .. } => ErrorKind::InvalidPosition,
            Self::IllegalMove { .. } | Self::ImpossibleOutcome { .. } => ErrorKind::IllegalMove,
            Self::ChanceNext | Self::MoveNext(_) | Self::Over => ErrorKind::WrongNode,
        }
    }
}

fn list(ids: &[u16]) -> String {
    let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
