//! Measures moves and playouts in a second of CPU time: `speed`. `python/examples/speed.py` measures the same from
//! Python.

use std::{
    fs,
    hint::black_box,
    io::{self, Write},
};

use arena_engine::{AgentRng, Node};
use arena_rules::{Game, Options, State, rulesets};

/// Seconds of CPU time of each measurement.
const SECONDS: f64 = 1.0;

/// CPU time of this thread in seconds.
fn cpu_time() -> io::Result<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text
        .split(' ')
        .next()
        .and_then(|word| word.parse::<f64>().ok());
    nanoseconds
        .map(|time| time / 1e9)
        .ok_or_else(|| io::Error::other("schedstat has no CPU time"))
}

/// Calls of a function in a second of CPU time.
fn rate(mut call: impl FnMut(u64)) -> io::Result<f64> {
    let (start, mut calls, mut passed) = (cpu_time()?, 0, 0.0);
    while passed < SECONDS {
        // Few looks at the clock.
        for _ in 0..1.max(calls / 16) {
            call(calls);
            calls += 1;
        }
        passed = cpu_time()? - start;
    }
    Ok(calls as f64 / passed)
}

fn main() -> io::Result<()> {
    for ruleset in rulesets() {
        let game = Game::new(ruleset, &Options::new(), None).map_err(io::Error::other)?;
        let state = game.initial();
        let playouts = rate(|seed| {
            black_box(state.playout(seed));
        })?;
        let events = record(&game);
        let applied = events.len() as f64 * rate(|_| replay(&game, &events))?;
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
