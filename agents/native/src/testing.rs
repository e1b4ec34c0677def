//! Playing in tests.

use arena_engine::{
    Game, Node, Stream,
    options::{Options, Value},
};
use arena_games::Ruleset;

use crate::bot::{Bot, Decision};

/// Options as on a command line: `a=1;b=x`, or `-` for none.
pub(crate) fn options(text: &str) -> Options {
    text.split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect()
}

/// A game with some of its options.
pub(crate) fn game<G: Ruleset>(given: &str, seats: usize) -> G {
    let (resolved, seats) =
        arena_games::resolve(G::NAME, &options(given), Some(seats)).expect("options that fit");
    G::with_options(&resolved, seats).expect("resolved options")
}

/// The number that seat `n` would be given at its decision `number`.
pub(crate) fn seed(game: u64, seat: u8, number: u32) -> u64 {
    game.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(seat) << 32 ^ u64::from(number)
}

/// Plays a game, checks each choice, and gives the last position.
pub(crate) fn play<G: Game>(game: &G, bots: &mut [Box<dyn Bot<G>>], number: u64) -> G::State {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    let mut chance = Stream::new(&key);
    let mut state = game.initial();
    let mut legal = Vec::new();
    let mut decisions = 0;
    loop {
        match game.node(&state) {
            Node::Over(_) => return state,
            Node::Chance(_) => {
                let outcome = chance.weighted(game.weights(&state)) as u16;
                game.apply_outcome(&mut state, outcome);
            }
            Node::Decision(seat) => {
                game.legal(&state, &mut legal);
                let chosen = bots[usize::from(seat)].choose(&Decision {
                    game,
                    state: &state,
                    seat,
                    number: decisions,
                    seed: seed(number, seat, decisions),
                    legal: &legal,
                });
                assert!(
                    legal.contains(&chosen.action),
                    "game {number}, seat {seat}: {} is not one of {legal:?}",
                    chosen.action,
                );
                decisions += 1;
                game.apply(&mut state, chosen.action);
            }
        }
    }
}
