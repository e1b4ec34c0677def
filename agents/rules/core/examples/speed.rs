//! Measures moves and playouts, to compare the bindings with: `speed`.

use std::{
    hint::black_box,
    io::{self, Write},
    time::Instant,
};

use arena_engine::{AgentRng, Node};
use arena_rules::{Game, Options, State, rulesets};

const PLAYOUTS: u64 = 20_000;

fn main() -> io::Result<()> {
    for ruleset in rulesets() {
        let game = Game::new(ruleset, &Options::new(), None).map_err(io::Error::other)?;
        let start = Instant::now();
        let state = game.initial();
        for seed in 0..PLAYOUTS {
            black_box(state.playout(seed));
        }
        let playouts = PLAYOUTS as f64 / start.elapsed().as_secs_f64();
        let events = record(&game);
        let start = Instant::now();
        for _ in 0..200 {
            replay(&game, &events);
        }
        let applied = 200.0 * events.len() as f64 / start.elapsed().as_secs_f64();
        writeln!(
            io::stdout(),
            "{ruleset:16} {playouts:9.0} playouts/s {applied:11.0} events/s"
        )?;
    }
    Ok(())
}

/// The events of some random games; true for a chance outcome.
fn record(game: &Game) -> Vec<(bool, u16)> {
    let mut rng = AgentRng::new(1);
    let mut events = Vec::new();
    for _ in 0..100 {
        let mut state = game.initial();
        loop {
            let event = match state.node() {
                Node::Over(_) => break,
                Node::Decision(_) => (false, rng.pick(&state.legal().expect("a decision"))),
                Node::Chance(_) => {
                    let weights = state.weights().expect("a chance node");
                    (true, rng.weighted(weights) as u16)
                }
            };
            apply(&mut state, event);
            events.push(event);
        }
    }
    events
}

fn apply(state: &mut State, (chance, id): (bool, u16)) {
    match chance {
        true => state.apply_outcome(id.into()),
        false => state.apply(id.into()),
    }
    .expect("a possible event");
}

fn replay(game: &Game, events: &[(bool, u16)]) {
    let mut state = game.initial();
    for &event in events {
        if state.is_over() {
            state = game.initial();
        }
        apply(&mut state, event);
    }
    black_box(state);
}
