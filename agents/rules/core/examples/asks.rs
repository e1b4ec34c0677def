//! Writes decisions as lines of the protocol, for the example agents to answer: `asks STEP ANSWERS`.
//!
//! The decisions are of random games: one of every STEP-th case of the reference. The file ANSWERS gets
//! what an agent has to answer that chooses by playouts. The last decision has no valid position.

#[path = "../../../../services/games/tests/suite/cases.rs"]
mod cases;

use std::{
    env,
    fs::File,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use arena_engine::{AgentRng, Node};
use arena_rules::{Game, Move, RulesError, State};
use cases::{Case, cases};
use serde_json::{Value, json};

/// Decisions of one game.
const DECISIONS_MAX: usize = 6;

/// Of this many decisions, one is asked.
const ASKED: u32 = 8;

/// The option `playouts` of the agents.
const PLAYOUTS: usize = 40;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [step, answers] = arguments.as_slice() else {
        let _ = writeln!(io::stderr(), "usage: asks STEP ANSWERS");
        return ExitCode::from(2);
    };
    match write(step, answers) {
        Err(error) => {
            let _ = writeln!(io::stderr(), "asks: {error}");
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn write(step: &str, answers: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut answers = BufWriter::new(File::create(answers)?);
    writeln!(out, "{}", json!({ "type": "hello", "protocol": 1 }))?;
    let cases = cases();
    let mut rng = AgentRng::new(1);
    for (context, case) in cases.iter().step_by(step.parse()?).enumerate() {
        let game = Game::new(case.ruleset, &case.options, Some(case.seats))?;
        writeln!(out, "{}", game_message(context, case, &game))?;
        let (mut decisions, mut moves) = (Vec::new(), Vec::new());
        for state in some_decisions(&game, &mut rng)? {
            // Numbers near 2^64 must not overflow.
            let seed = u64::MAX - u64::from(rng.below(20));
            moves.push(best(&state, seed)?);
            decisions.push(decision(context, decisions.len(), &state, seed)?);
        }
        let ask =
            json!({ "type": "ask", "batch": context, "time_budget_us": 0, "decisions": decisions });
        writeln!(out, "{ask}")?;
        let moves: Vec<String> = moves.iter().map(Move::to_string).collect();
        let moves = moves.join(",");
        writeln!(
            answers,
            r#"{{"type":"answer","batch":{context},"moves":[{moves}]}}"#
        )?;
    }
    let invalid = json!({ "slot": 0, "context": 0, "seat": 0, "number": 0, "seed": "1", "legal_moves": [0, 1],
        "position": { "board": [1] } });
    let ask =
        json!({ "type": "ask", "batch": cases.len(), "time_budget_us": 0, "decisions": [invalid] });
    writeln!(out, "{ask}")?;
    out.flush()?;
    answers.flush()?;
    Ok(())
}

fn game_message(context: usize, case: &Case, game: &Game) -> Value {
    let options = case.options.iter();
    let options: serde_json::Map<String, Value> = options
        .map(|(name, value)| (name.clone(), value.to_string().into()))
        .collect();
    json!({ "type": "game", "context": context, "ruleset": case.ruleset, "rules_version": game.info().version,
        "seats": case.seats, "options": options, "bot": "", "bot_options": { "playouts": PLAYOUTS.to_string() },
        "nodes": "0", "label": case.label })
}

/// Some decisions of a random game.
fn some_decisions(game: &Game, rng: &mut AgentRng) -> Result<Vec<State>, RulesError> {
    let (mut state, mut found) = (game.initial(), Vec::new());
    while found.len() < DECISIONS_MAX {
        match state.node() {
            Node::Over(_) => break,
            Node::Chance(_) => {
                let outcome = rng.weighted(state.weights()?);
                state.apply_outcome(outcome as i64)?;
            }
            Node::Decision(_) => {
                if found.is_empty() || rng.below(ASKED) == 0 {
                    found.push(state.clone());
                }
                let action = rng.pick(&state.legal()?);
                state.apply(action.into())?;
            }
        }
    }
    Ok(found)
}

fn decision(
    context: usize,
    slot: usize,
    state: &State,
    seed: u64,
) -> Result<Value, Box<dyn std::error::Error>> {
    let position: Value = serde_json::from_str(&state.to_json(true))?;
    Ok(
        json!({ "slot": slot, "context": context, "seat": state.to_move(), "number": 0, "seed": seed.to_string(),
        "legal_moves": state.legal()?, "notations": [], "position": position }),
    )
}

/// The first of the moves with the highest sum of values.
fn best(state: &State, seed: u64) -> Result<Move, RulesError> {
    let legal = state.legal()?;
    let seat = state.to_move().map_or(0, usize::from);
    let mut sums = Vec::new();
    for &action in &legal {
        let mut after = state.clone();
        after.apply(action.into())?;
        let number = 1.max(PLAYOUTS / legal.len()) as u64;
        let values = |k| after.playout(seed.wrapping_add(k))[seat];
        sums.push((0..number).map(values).sum::<i64>());
    }
    let highest = sums.iter().max().copied().unwrap_or_default();
    let index = sums.iter().position(|&sum| sum == highest);
    Ok(legal[index.unwrap_or_default()])
}
