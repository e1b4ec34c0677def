//! Functions for tests and measurements.

use std::collections::BTreeMap;

use crate::{
    event::Event,
    game::{Game, Node},
    luck::Luck,
    random::{AgentRng, GameKeys, Key, StreamOf},
    replay::{ReplayError, replay},
    seat::{MAX_SEATS, Seat},
};

/// The number of paths of `depth` events from a position. Each legal action and each possible
/// chance outcome is one branch; a game that ends earlier counts once.
pub fn perft<G: Game>(game: &G, state: &G::State, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    match game.node(state) {
        Node::Over(_) => 1,
        Node::Chance(_) => (0..game.weights(state).len())
            .filter(|&outcome| game.weights(state)[outcome] > 0)
            .map(|outcome| {
                let mut next = state.clone();
                game.apply_outcome(&mut next, outcome as u16);
                perft(game, &next, depth - 1)
            })
            .sum(),
        Node::Decision(_) => {
            let mut legal = Vec::new();
            game.legal(state, &mut legal);
            legal
                .into_iter()
                .map(|action| {
                    let mut next = state.clone();
                    game.apply(&mut next, action);
                    perft(game, &next, depth - 1)
                })
                .sum()
        }
    }
}

/// The luck of each seat in a finished game, from its events, in millionths of a game's score;
/// empty without a chance node. The luck of all seats sums to zero, up to the rounding of values
/// with more than two seats.
///
/// # Errors
/// [`ReplayError`] at the first impossible event.
pub fn luck<G: Game>(game: &G, events: &[Event]) -> Result<Vec<i32>, ReplayError> {
    let mut luck = Luck::new();
    replay(game, events, |state, described| {
        if !described.event.is_action() {
            luck.add(game, state, described.event.id());
        }
    })?;
    Ok(luck.finish(game.seats()))
}

impl GameKeys {
    /// Keys of a game outside of tournaments, for tests and measurements.
    #[must_use]
    pub fn drawn(rng: &mut AgentRng) -> Self {
        let mut key = || {
            let mut key = Key::default();
            for chunk in key.chunks_exact_mut(8) {
                chunk.copy_from_slice(&rng.word().to_le_bytes());
            }
            key
        };
        let mut keys = BTreeMap::new();
        // The keys of the first four seats come first, so that golden games are those of releases
        // that had no more seats.
        for seats in [0..4, 4..MAX_SEATS as Seat] {
            let first = seats.start == 0;
            let dice = seats.clone().map(StreamOf::Dice);
            let others = [StreamOf::Table, StreamOf::Opening]
                .into_iter()
                .filter(|_| first);
            let agents = seats.clone().map(StreamOf::Agent);
            let substitutes = seats.map(StreamOf::Substitute);
            for of in dice.chain(others).chain(agents).chain(substitutes) {
                keys.insert(of, key());
            }
        }
        Self::new(move |of| keys[&of])
    }
}
