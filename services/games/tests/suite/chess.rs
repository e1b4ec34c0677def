//! Rules of chess: moves, their ids and notations, draws, start positions.

mod draws;
mod moves;
mod starts;

use arena_engine::{ActionId, Ending, Game, Node};
use arena_games::{Chess, chess::State};
use arena_wire::games::{ChessMove, ChessPosition};
use prost::Message;

use crate::support::game;

/// Standard chess from a position.
pub(crate) fn from_fen(fen: &str) -> Chess {
    game(&format!("fen={}", fen.replace(' ', "_")), 2)
}

/// Chess960 from a position.
pub(crate) fn from_fen_960(fen: &str) -> Chess {
    let fen = fen.replace(' ', "_");
    game(&format!("variant=chess960 fen={fen}"), 2)
}

/// The message of a position.
pub(crate) fn message(game: &Chess, state: &State) -> ChessPosition {
    let mut bytes = Vec::new();
    game.encode(state, true, &mut bytes);
    ChessPosition::decode(&bytes[..]).expect("a message")
}

/// The legal move of this SAN.
pub(crate) fn named(game: &Chess, state: &State, san: &str) -> ChessMove {
    let moves = message(game, state).moves;
    let known: Vec<String> = moves.iter().map(|step| step.san.clone()).collect();
    let found = moves.into_iter().find(|step| step.san == san);
    found.unwrap_or_else(|| panic!("{san} is none of {known:?}"))
}

/// Plays moves in SAN. Returns each position after the first one.
pub(crate) fn line(game: &Chess, moves: &str) -> Vec<State> {
    let mut state = game.initial();
    let mut states = Vec::new();
    for san in moves.split_whitespace() {
        assert!(
            matches!(game.node(&state), Node::Decision(_)),
            "over before {san}"
        );
        let step = named(game, &state, san);
        game.apply(&mut state, step.id as ActionId);
        states.push(state.clone());
    }
    states
}

/// How the position after these moves is over; none if it is not.
pub(crate) fn ending(game: &Chess, moves: &str) -> Option<Ending> {
    match game.node(line(game, moves).last().expect("a move")) {
        Node::Over(ending) => Some(ending),
        _ => None,
    }
}
