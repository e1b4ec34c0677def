//! Games without types are the same as those with them.

use arena_engine::{Game, Node, replay};
use arena_games::{AddedGame, Visitor, visit};

use crate::{
    cases::{Case, cases},
    nodes::check_node,
    support::{play_at_random, setup},
};

struct Compare<'a>(&'a Case);

impl Visitor for Compare<'_> {
    type Out = ();

    fn visit<G: Game>(self, typed: G) {
        let label = &self.0.label;
        let added = AddedGame::of(typed.clone());
        let played = play_at_random(&added, setup(3));
        assert_eq!(played, play_at_random(&typed, setup(3)), "{label}");
        let mut states = Vec::new();
        let mut number = 0;
        let by_types = replay(&typed, &played.events, |state, _| {
            if number % 17 == 0 {
                states.push((typed.node(state), texts(&typed, state)));
            }
            number += 1;
        });
        let mut states = states.into_iter();
        number = 0;
        let outcome = replay(&added, &played.events, |state, _| {
            if number % 17 == 0 {
                let found = (added.node(state), texts(&added, state));
                assert_eq!(Some(found), states.next(), "{label}");
                check_node(&added, state, label);
            }
            number += 1;
        });
        assert_eq!(outcome, by_types, "{label}");
    }
}

/// What people and agents see of a position.
fn texts<G: Game>(game: &G, state: &G::State) -> (Vec<u8>, String) {
    let (mut bytes, mut text) = (Vec::new(), String::new());
    game.encode(state, true, &mut bytes);
    game.draw(state, &mut text);
    if let Node::Decision(_) = game.node(state) {
        let mut legal = Vec::new();
        game.legal(state, &mut legal);
        for action in legal {
            game.write_action(state, action, &mut text);
        }
    }
    (bytes, text)
}

#[test]
fn added_games_equal_their_originals() {
    for case in cases().iter().step_by(5) {
        let compare = Compare(case);
        visit(case.ruleset, &case.options, case.seats, compare).expect("options are resolved");
    }
}
