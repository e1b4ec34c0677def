//! Rolls, sixes, the order of turns, and the drawn starter.

use arena_engine::{Game, Node, replay};
use arena_games::{
    ChineseLudo,
    ludo::{PASS, Phase},
};

use super::planes;
use crate::support::{game, play_at_random, setup};

#[test]
fn starter_is_seat_0_or_drawn_from_the_table() {
    let first: ChineseLudo = game("", 2);
    assert_eq!(first.node(&first.initial()), Node::Chance(Some(0)));
    for words in ["starter=random", "preset=hz2022"] {
        let drawn: ChineseLudo = game(words, 2);
        let start = drawn.initial();
        assert_eq!(drawn.node(&start), Node::Chance(None));
        assert_eq!(drawn.weights(&start), [1, 1]);
        for seat in 0..2 {
            let mut state = start;
            drawn.apply_outcome(&mut state, seat);
            assert_eq!(drawn.node(&state), Node::Chance(Some(seat as u8)));
            assert_eq!(drawn.weights(&state), [1; 6]);
            assert_eq!(state.rolls, 0);
        }
    }
}

#[test]
fn six_rolls_again_used_or_not() {
    let game: ChineseLudo = game("", 2);
    for (own, action) in [("h h h h", 0), ("55 56 56 56", PASS), ("1 h h h", 0)] {
        let mut state = game.position([planes(own), planes("h h h h")], 0, 6);
        game.apply(&mut state, action);
        assert_eq!(game.node(&state), Node::Chance(Some(0)), "{own}");
        game.apply_outcome(&mut state, 4);
        assert_eq!(state.die, 5);
    }
}

#[test]
fn third_six_follows_the_options() {
    for (words, expected, next) in [
        ("three_sixes=none", "p 34 55 56", 0),
        ("three_sixes=end-turn", "p 8 55 56", 1),
        ("three_sixes=hangar", "h h h 56", 1),
    ] {
        let game: ChineseLudo = game(words, 2);
        let mut state = game.initial();
        state.r[0] = planes("h 2 55 56");
        let mut legal = Vec::new();
        // Out of the hangar, then from 2 to 8, then from 8 by flight to 34.
        for action in [0, 1, 1] {
            assert_eq!(game.node(&state), Node::Chance(Some(0)), "{words}");
            game.apply_outcome(&mut state, 5);
            game.legal(&state, &mut legal);
            game.apply(&mut state, if legal == [PASS] { PASS } else { action });
        }
        let passed = legal == [PASS];
        assert_eq!(passed, game.punishes_third_six(), "{words}: {legal:?}");
        assert_eq!(state.r[0], planes(expected), "{words}");
        assert_eq!(game.node(&state), Node::Chance(Some(next)), "{words}");
        assert_eq!(state.sixes, 0, "{words}");
    }
}

#[test]
fn sixes_count_only_within_a_turn() {
    let game: ChineseLudo = game("three_sixes=end-turn", 2);
    let mut state = game.initial();
    for outcomes in [[5, 5, 0], [5, 5, 1]] {
        for outcome in outcomes {
            game.apply_outcome(&mut state, outcome);
            let mut legal = Vec::new();
            game.legal(&state, &mut legal);
            assert_ne!(legal, [PASS], "{state:?}");
            game.apply(&mut state, legal[0]);
        }
        assert_eq!(state.sixes, 0);
    }
    assert_eq!(state.to_move, 0, "both have had their turn");
}

#[test]
fn roll_without_a_legal_move_is_passed_once() {
    let game: ChineseLudo = game("", 2);
    let mut passes = 0;
    for seed in 0..50 {
        let finished = play_at_random(&game, setup(seed));
        let mut rolls = 0u32;
        replay(&game, &finished.events, |state, described| {
            match state.phase {
                Phase::Roll => rolls += 1,
                _ => passes += u32::from(described.event.id() == PASS),
            }
            let next = state.phase == Phase::Roll;
            assert_eq!(next, !described.event.is_action());
        })
        .expect("as played");
        assert_eq!(rolls, finished.plies, "one ply for each roll");
    }
    assert!(passes > 500, "{passes}");
}

#[test]
fn cap_ends_the_game_after_the_last_roll() {
    let game: ChineseLudo = game("max_rolls=7", 2);
    let finished = play_at_random(&game, setup(3));
    assert_eq!(finished.plies, 7);
    assert_eq!(finished.termination.name(), "cap");
}

#[test]
fn impossible_positions_are_refused() {
    let pad: ChineseLudo = game("", 2);
    let ring: ChineseLudo = game("start=ring1", 2);
    for (game, own, other, die, reason) in [
        (&pad, "5 h h h", "31 h h h", 3, "both seats share a square"),
        (&ring, "p h h h", "h h h h", 3, "planes start on the ring"),
        (&pad, "56 56 56 56", "h h h h", 3, "phase contradicts"),
        (&pad, "5 h h h", "h h h h", 0, "phase contradicts"),
        (&pad, "5 h h h", "h h h h", 7, "die exceeds 6"),
        (&pad, "57 h h h", "h h h h", 3, "an impossible progress"),
    ] {
        let state = game.position([planes(own), planes(other)], 0, die);
        let mut bytes = Vec::new();
        game.encode(&state, false, &mut bytes);
        let error = game.decode(&bytes).expect_err(reason);
        assert!(error.reason.contains(reason), "{error}, not {reason}");
    }
}
