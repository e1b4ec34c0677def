//! The options of chess.

use std::collections::BTreeSet;

use arena_engine::options::{Kind, OptionError, Options, Spec, Value};
use arena_wire::games::ChessPhase;
use cozy_chess::Board;
use strum::{IntoStaticStr, VariantArray};

use super::{Chess, STARTS, State, fen};
use crate::read::{Reader, choice, int};

/// How castling is written, and which start positions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
enum Variant {
    Standard,
    Chess960,
}

/// Name of the option with the start position as text.
pub(super) const FEN: &str = "fen";
/// The number of the standard start position.
const STANDARD: i64 = 518;
/// Instead of a number: the start position is drawn.
const DRAWN: i64 = -1;

/// All options with their types and defaults.
pub(super) fn specs() -> Vec<Spec> {
    vec![
        choice::<Variant>(
            "variant",
            "standard chess, or Chess960 with its start positions and its castling",
        ),
        int(
            "start",
            (DRAWN, STARTS as i64 - 1),
            STANDARD,
            "number of the start position in Chess960; -1: drawn",
        ),
        Spec::new(
            FEN,
            Kind::Text,
            "",
            "start position in FEN or EPD, instead of `start`; underscores stand for spaces",
        ),
        int(
            "max_plies",
            (1, 1_000_000),
            12_000,
            "number of plies after which the game is drawn",
        ),
    ]
}

/// In Chess960, the start position is drawn unless one is chosen. A FEN is written in one way.
pub(super) fn settle(options: &mut Options, chosen: &BTreeSet<&str>) {
    let chess960 = options.get("variant") == Some(&Variant::Chess960.word());
    let Some(Value::Text(text)) = options.get(FEN) else {
        return;
    };
    if text.is_empty() {
        if chess960 && !chosen.contains("start") {
            options.insert("start".to_owned(), DRAWN.into());
        }
    } else if let Ok(board) = fen::read(text, chess960) {
        let text = fen::text(&board, chess960);
        options.insert(FEN.to_owned(), Value::Text(text));
    }
}

impl Variant {
    fn word(self) -> Value {
        Value::from(<&str>::from(self))
    }
}

/// The game of resolved options.
pub(super) fn read(options: &Options) -> Result<Chess, OptionError> {
    let read = Reader(options);
    let chess960 = read.choice::<Variant>("variant")? == Variant::Chess960;
    let (number, text) = (read.int("start")?, read.word(FEN)?);
    let refuse = |reason: &str| Err(OptionError::Together(reason.to_owned()));
    if number != STANDARD && !text.is_empty() {
        return refuse("`start` and `fen` cannot be combined");
    }
    if number != STANDARD && !chess960 {
        return refuse("`start` needs `variant = \"chess960\"`");
    }
    let start = match number {
        _ if !text.is_empty() => Some(read_start(text, chess960)?),
        DRAWN => None,
        number => Some(Board::chess960_startpos(number as u32)),
    };
    Ok(Chess {
        chess960,
        start,
        plies_max: read.int("max_plies")? as u32,
    })
}

/// A start position in which the game is not over.
fn read_start(text: &str, chess960: bool) -> Result<Board, OptionError> {
    start_board(text, chess960).map_err(|reason| OptionError::Value {
        name: FEN.to_owned(),
        value: format!("\"{text}\""),
        expected: format!("a start position in FEN: {reason}"),
    })
}

/// The same, with the reason why there is none.
pub(super) fn start_board(text: &str, chess960: bool) -> Result<Board, String> {
    let board = fen::read(text, chess960)?;
    let game = Chess {
        chess960,
        start: None,
        plies_max: 1,
    };
    match game.phase_of(&State::new(board.clone(), ChessPhase::Move)) {
        ChessPhase::Move => Ok(board),
        _ => Err("the game is over".to_owned()),
    }
}
