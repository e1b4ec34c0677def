use std::cell::Cell;

use arena_engine::{AgentRng, Game, Node};
use arena_games::{
    ChineseLudo, Cowry, Kalah, Ruleset,
    oware::{Abapa, AnanAnan},
};

use super::{Bot, Chosen, Decision, Stop};
use crate::{
    catalogue::bot,
    tests::{game, options},
};

/// The check at which a bot is asked to stop.
const LOOKS: u32 = 1;
/// Maximum number of later checks, while it unwinds the line.
const RETURNS: u32 = 1_000;

/// Asks for a choice and stops it at the first check; returns the choice and the number of
/// checks.
fn stopped<G: Game>(
    bot: &mut dyn Bot<G>,
    game: &G,
    (state, legal): &(G::State, Vec<u16>),
) -> (Chosen, u32) {
    let Node::Decision(seat) = game.node(state) else {
        panic!("no seat chooses in {state:?}");
    };
    let looks = Cell::new(0);
    let over = || {
        looks.set(looks.get() + 1);
        looks.get() >= LOOKS
    };
    let chosen = bot.choose(&Decision {
        game,
        state,
        seat,
        number: 0,
        seed: 5,
        legal,
        stop: Stop::when(&over),
    });
    (chosen, looks.get())
}

/// Positions of a random game in which a seat has several actions.
fn decisions<G: Game>(game: &G, seed: u64) -> Vec<(G::State, Vec<u16>)> {
    let mut rng = AgentRng::new(seed);
    let mut state = game.initial();
    let (mut legal, mut all) = (Vec::new(), Vec::new());
    while all.len() < 60 {
        match game.node(&state) {
            Node::Over(_) => break,
            Node::Chance(_) => {
                let outcome = rng.below(game.weights(&state).len() as u32);
                game.apply_outcome(&mut state, outcome as u16);
            }
            Node::Decision(_) => {
                game.legal(&state, &mut legal);
                if legal.len() > 1 {
                    all.push((state.clone(), legal.clone()));
                }
                game.apply(&mut state, rng.pick(&legal));
            }
        }
    }
    all
}

/// A bot with a very large search stops when asked, and the interrupted search does not
/// change its next choice.
fn check<G: Ruleset>(name: &str, given: &str) {
    let game: G = game("-", 2);
    let make = || bot(name, &options(given), &game).expect("a bot");
    let mut used = make();
    let mut stops = 0;
    // Most positions of Chinese Ludo need few checks.
    for position in (0..40).flat_map(|seed| decisions(&game, seed)) {
        let position = &position;
        let (chosen, looks) = stopped(&mut *used, &game, position);
        assert!(
            looks < LOOKS + RETURNS && position.1.contains(&chosen.action),
            "{name}, {}: {looks} looks, {chosen:?}",
            G::NAME
        );
        assert_eq!(
            (chosen, looks),
            stopped(&mut *make(), &game, position),
            "{name}, {}: not what a new one does",
            G::NAME
        );
        stops += u32::from(looks >= LOOKS);
        if stops == 40 {
            break;
        }
    }
    assert!(stops > 0, "{name}, {}: never stopped", G::NAME);
}

#[test]
fn stopped_search_keeps_no_state() {
    check::<Kalah>("kalah-minimax", "depth=20");
    check::<Kalah>("kalah-alphabeta", "depth=20");
    check::<Abapa>("oware-minimax", "depth=15");
    check::<AnanAnan>("oware-minimax", "depth=15");
    check::<ChineseLudo>("ludo-threat", "plies=3");
    check::<Kalah>("expectimax", "depth=100;nodes=1000000000");
    check::<Cowry>("expectimax", "depth=100;nodes=1000000000");
    check::<Kalah>("mcts", "iterations=1000000");
    check::<Cowry>("mcts", "iterations=1000000;rollout=random");
}

#[test]
fn stop_checks_change_no_search() {
    let game: Kalah = game("-", 2);
    let choose = |position: &(_, Vec<u16>), stop| {
        let mut bot = bot("kalah-alphabeta", &options("depth=7"), &game).expect("a bot");
        bot.choose(&Decision {
            game: &game,
            state: &position.0,
            seat: match game.node(&position.0) {
                Node::Decision(seat) => seat,
                other => panic!("{other:?}"),
            },
            number: 0,
            seed: 5,
            legal: &position.1,
            stop,
        })
    };
    for position in &decisions(&game, 0) {
        let asked = choose(position, Stop::when(&|| false));
        assert_eq!(asked, choose(position, Stop::NEVER));
    }
}
