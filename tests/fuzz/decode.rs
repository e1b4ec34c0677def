//! Bytes as positions. An input is the number of a table, then a message.

use arena_engine::{AgentRng, Game, Node, Stream};

use crate::{bytes::Bytes, cases::Case, nodes, positions, tables};

/// A position is refused with a reason, or is valid: it encodes to the same bytes, prost decodes
/// the same message, and the rules can play on from it.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes(data);
    let table = tables::at(bytes.short());
    table.read(bytes.0);
}

pub(crate) fn read<G: Game>(game: &G, case: &Case, bytes: &[u8]) {
    let label = &case.label;
    let state = match game.decode(bytes) {
        Ok(state) => state,
        Err(error) => {
            assert_eq!(error.ruleset, game.name(), "{label}");
            assert!(!error.reason.is_empty(), "{label}: no reason");
            return;
        }
    };
    positions::check(game, &state, label);
    // Moves are not read, so errors in them need not be noticed.
    if let Ok((rewritten, _)) = positions::canonical(game.name(), bytes) {
        let by_prost = game.decode(&rewritten);
        assert_eq!(by_prost, Ok(state.clone()), "{label}: prost reads other");
    }
    if !matches!(game.node(&state), Node::Over(_)) {
        nodes::check_node(game, &state, label);
    }
    nodes::check_values(game, &state, label);
    nodes::play_on(game, state, &mut Stream::new(&[bytes.len() as u8; 32]));
}

/// Some positions of a random game, each with and without its moves.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for number in 0..tables::count() {
        for message in tables::at(number).messages() {
            seeds.push([&number.to_le_bytes()[..], &message].concat());
        }
    }
    seeds
}

/// Positions before a game begins, during it, and after its end.
pub(crate) fn messages<G: Game>(game: &G) -> Vec<Vec<u8>> {
    const EVERY: usize = 40;
    const MOST: usize = 400;
    let mut rng = AgentRng::new(1);
    let mut state = game.initial();
    let (mut legal, mut messages) = (Vec::new(), Vec::new());
    for index in 0.. {
        let node = game.node(&state);
        let over = matches!(node, Node::Over(_));
        if over || index % EVERY == 0 && index < MOST {
            let mut message = Vec::new();
            game.encode(&state, index % (2 * EVERY) == 0, &mut message);
            messages.push(message);
        }
        match node {
            Node::Over(_) => break,
            Node::Chance(_) => {
                let outcome = rng.weighted(game.weights(&state));
                game.apply_outcome(&mut state, outcome as u16);
            }
            Node::Decision(_) => {
                game.legal(&state, &mut legal);
                game.apply(&mut state, rng.pick(&legal));
            }
        }
    }
    messages
}
