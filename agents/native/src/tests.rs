//! Helpers to play games in tests.

use arena_engine::{
    Game, Node, Stream,
    options::{Kind, Options, Value},
};
use arena_games::Ruleset;

use crate::{
    bot::{Bot, Decision, Stop},
    catalogue::{self, BotInfo},
};

/// Options as on a command line: `a=1;b=x`, or `-` for none.
pub(crate) fn options(text: &str) -> Options {
    text.split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect()
}

/// Options of a bot that are fast enough for tests: its defaults with a small search.
pub(crate) fn quick(info: &BotInfo) -> Options {
    let small = |name: &str| match name {
        "depth" | "plies" => Some(2),
        "nodes" => Some(60),
        "iterations" => Some(8),
        _ => None,
    };
    let specs = info.options.iter();
    specs
        .filter_map(|spec| Some((spec.name.clone(), Value::Int(small(&spec.name)?))))
        .collect()
}

/// [`quick`], and a variant for each word and switch of its options.
pub(crate) fn quick_variants(info: &BotInfo) -> Vec<Options> {
    let quick = quick(info);
    let mut variants = vec![quick.clone()];
    for spec in &info.options {
        let values: Vec<Value> = match &spec.kind {
            Kind::Choice(words) => words.iter().map(|word| word.as_str().into()).collect(),
            Kind::Bool => vec![false.into(), true.into()],
            // Mixes the bot's choices with random moves.
            Kind::Real { .. } if spec.name == "explore" => vec![Value::Real(0.5)],
            _ => Vec::new(),
        };
        for value in values.into_iter().filter(|value| *value != spec.default) {
            let mut variant = quick.clone();
            variant.insert(spec.name.clone(), value);
            variants.push(variant);
        }
    }
    variants
}

/// True if a bot plays this variant, given by ruleset, resolved options and seats. Bots
/// that reject a variant of a declared ruleset are listed here.
pub(crate) fn plays(
    info: &BotInfo,
    bot_options: &Options,
    (ruleset, options, seats): (&str, &Options, usize),
) -> bool {
    let made = catalogue::check(info.name, bot_options, ruleset, options, seats);
    let two_on_five = seats == 2 && options.get("board") == Some(&Value::Int(5));
    let expected = match info.name {
        "chowka-naive" | "chowka-expectiminimax" => two_on_five,
        _ => true,
    };
    assert_eq!(
        made.is_ok(),
        expected,
        "{}: {made:?}, {options:?}",
        info.name
    );
    expected
}

/// A game with some of its options.
pub(crate) fn game<G: Ruleset>(given: &str, seats: usize) -> G {
    let (resolved, seats) =
        arena_games::resolve(G::NAME, &options(given), Some(seats)).expect("options that fit");
    G::with_options(&resolved, seats).expect("resolved options")
}

/// The seed of seat `n` at its decision `number`.
pub(crate) fn seed(game: u64, seat: u8, number: u32) -> u64 {
    game.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(seat) << 32 ^ u64::from(number)
}

/// Plays a game, checks each choice, and returns the last position.
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
                    stop: Stop::NEVER,
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
