mod by_hand;
mod engine;
mod tables;

use arena_engine::Game;
use arena_games::{
    Cowry,
    cowry::{Phase, State, VALUES},
};

use crate::bot::{Decision, Stop};

fn rows(data: &str) -> impl Iterator<Item = Vec<&str>> {
    data.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_whitespace().collect())
}

/// A position for two seats, with the throws of the seat to move.
fn position(game: &Cowry, pieces: [&str; 2], pool: &[u8]) -> State {
    let mut state = game.initial();
    for (seat, pieces) in pieces.into_iter().enumerate() {
        for (piece, index) in pieces.split(',').enumerate() {
            state.pieces[seat][piece] = index.parse().expect("an index");
        }
    }
    for value in pool {
        let index = VALUES.iter().position(|known| known == value);
        state.pool[index.expect("a value of a throw")] += 1;
    }
    state.phase = Phase::Move;
    state
}

/// Asks for a choice of the seat to move.
fn decide<T>(
    game: &Cowry,
    state: &State,
    seed: u64,
    ask: impl FnOnce(&Decision<'_, Cowry>) -> T,
) -> T {
    let mut legal = Vec::new();
    game.legal(state, &mut legal);
    ask(&Decision {
        game,
        state,
        seat: state.to_move,
        number: 0,
        seed,
        legal: &legal,
        stop: Stop::NEVER,
    })
}
