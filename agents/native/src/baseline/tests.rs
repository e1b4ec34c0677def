//! Common properties of all baselines.

pub(super) mod helpers;
pub(super) mod toy;

use arena_engine::{Game, options::OptionError};
use arena_games::{Cowry, Kalah};

use self::helpers::{ask, decisions};
use crate::{
    bot::Bot,
    catalogue::{BotError, bot},
    tests::{game, options},
};

const BASELINES: [(&str, &str); 5] = [
    ("greedy", "-"),
    ("expectimax", "nodes=500"),
    ("mcts", "iterations=60"),
    ("mcts", "iterations=60;rollout=plies"),
    ("mcts", "iterations=20;rollout=random"),
];

#[test]
fn earlier_questions_change_no_choice() {
    fn check<G: Game>(game: &G) {
        for (name, given) in BASELINES {
            let make = || -> Box<dyn Bot<G>> { bot(name, &options(given), game).expect("a bot") };
            let mut used = make();
            for (seed, state) in decisions(game, 5).iter().enumerate().step_by(5) {
                let seed = seed as u64;
                let fresh = ask(&mut *make(), game, state, seed);
                assert_eq!(ask(&mut *used, game, state, seed), fresh, "{name} {given}");
            }
        }
    }
    check::<Kalah>(&game("-", 2));
    check::<Cowry>(&game("-", 4));
    check::<Cowry>(&game("preset=doubles", 2));
}

#[test]
fn out_of_range_options_are_named() {
    let game: Kalah = game("-", 2);
    for (name, given, option) in [
        ("greedy", "tie=last", "tie"),
        ("expectimax", "depth=0", "depth"),
        ("expectimax", "depth=101", "depth"),
        ("expectimax", "nodes=0", "nodes"),
        ("expectimax", "nodes=many", "nodes"),
        ("mcts", "iterations=0", "iterations"),
        ("mcts", "iterations=1000001", "iterations"),
        ("mcts", "exploration=-0.1", "exploration"),
        ("mcts", "exploration=nan", "exploration"),
        ("mcts", "rollout=far", "rollout"),
        ("mcts", "rollout_plies=0", "rollout_plies"),
    ] {
        match bot(name, &options(given), &game).err() {
            Some(BotError::Options {
                error: OptionError::Value { name, .. },
                ..
            }) => assert_eq!(name, option),
            other => panic!("{name} {given}: {other:?}"),
        }
    }
}
