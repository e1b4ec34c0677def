//! playouts: chooses the move after which random games end best, in every ruleset.
//!
//! The policy of the Rust kit with Arena's own rules: see "Search ahead" in the README of the kit.

mod arena;

use arena::{serve, About, BotOption, Decision};

/// Returns the legal move with the highest sum of values. Each move has playouts with the same seeds.
fn choose(decision: &mut Decision) -> u32 {
    let state = decision.state().unwrap_or_else(|error| panic!("{error}"));
    let mut child = state.clone();
    let all = decision.bot_options.get("playouts").number() as usize;
    let playouts = (all / decision.legal_moves.len()).max(1) as u64;
    let (mut best, mut best_sum) = (0, -1);
    for &action in &decision.legal_moves {
        child.copy_from(&state);
        child.apply(action.into()).expect("a legal move");
        let values = |k| child.playout(decision.seed.wrapping_add(k))[decision.seat as usize];
        let sum = (0..playouts).map(values).sum();
        if sum > best_sum {
            (best, best_sum) = (action, sum);
        }
    }
    best
}

fn main() {
    let playouts = BotOption::integer("playouts", 100, "random games for each decision");
    let about = About::new("playouts", "1.0.0").deterministic();
    let about = about.uses_seed(true).field("omit_move_details", "true");
    serve(choose, about.option(playouts.range(1, 300)));
}
