//! my-agent: takes as much as it can, and chooses at random between equal moves.

mod arena;

use arena::{serve, About, BotOption, Decision, Value};

/// What a move gains; `captured`, `banked` and `hits` are the names that rulesets use.
fn gain(effects: &Value, again: f64) -> f64 {
    let taken = ["captured", "banked", "hits"].map(|key| effects.get(key).number());
    taken.iter().sum::<f64>() + again * effects.get("moves_again").number()
}

/// Returns the id of one of the legal moves.
fn choose(decision: &mut Decision) -> u32 {
    let again = decision.bot_options.get("again").number();
    let moves = decision.position.get("moves").list();
    let gains: Vec<f64> = moves.iter().map(|effects| gain(effects, again)).collect();
    let best = gains.iter().copied().fold(0.0, f64::max);
    let equal: Vec<usize> = (0..gains.len()).filter(|&at| gains[at] == best).collect();
    decision.legal_moves[*decision.rng.choice(&equal)]
}

fn main() {
    let again = BotOption::integer("again", 1, "what another turn is worth").range(0, 9);
    let about = About::new("my-agent", "1.0.0").deterministic();
    serve(choose, about.uses_seed(true).option(again));
}
