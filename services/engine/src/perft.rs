//! Counts of positions, which pin down rules.

use crate::game::{Game, Node};

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
