//! Helpers to query baselines in tests.

use std::collections::BTreeMap;

use arena_engine::{ActionId, AgentRng, Game, Node, options};

use crate::{
    bot::{Bot, Chosen, Decision, Stop},
    catalogue::bot_info,
    make::UniversalBot,
    tests,
};

/// A bot for any game, in the catalogue or not.
pub(in crate::baseline) fn make<B: UniversalBot, G: Game>(
    name: &str,
    given: &str,
    game: &G,
) -> Box<dyn Bot<G>> {
    let specs = &bot_info(name).expect("a bot").options;
    let resolved = options::resolve(specs, &[], &tests::options(given)).expect("options fit");
    B::make(&resolved, game).expect("a bot")
}

/// The choice of a bot in a decision position.
pub(in crate::baseline) fn ask<G: Game>(
    bot: &mut dyn Bot<G>,
    game: &G,
    state: &G::State,
    seed: u64,
) -> Chosen {
    let Node::Decision(seat) = game.node(state) else {
        panic!("no seat chooses in {state:?}");
    };
    let mut legal = Vec::new();
    game.legal(state, &mut legal);
    bot.choose(&Decision {
        game,
        state,
        seat,
        number: 0,
        seed,
        legal: &legal,
        stop: Stop::NEVER,
    })
}

/// Number of choices of each action with the seeds from 0.
pub(in crate::baseline) fn choices<G: Game>(
    bot: &mut dyn Bot<G>,
    game: &G,
    state: &G::State,
    seeds: u64,
) -> BTreeMap<ActionId, u64> {
    let mut choices = BTreeMap::new();
    for seed in 0..seeds {
        *choices
            .entry(ask(bot, game, state, seed).action)
            .or_default() += 1;
    }
    choices
}

/// The positions of a random game in which a seat has several actions.
pub(in crate::baseline) fn decisions<G: Game>(game: &G, seed: u64) -> Vec<G::State> {
    let mut rng = AgentRng::new(seed);
    let mut state = game.initial();
    let (mut legal, mut all) = (Vec::new(), Vec::new());
    loop {
        match game.node(&state) {
            Node::Over(_) => return all,
            Node::Chance(_) => {
                let outcome = rng.weighted(game.weights(&state));
                game.apply_outcome(&mut state, outcome as u16);
            }
            Node::Decision(_) => {
                game.legal(&state, &mut legal);
                if legal.len() > 1 {
                    all.push(state.clone());
                }
                game.apply(&mut state, rng.pick(&legal));
            }
        }
    }
}
