//! Values of positions.

use arena_engine::{Game, replay, values::POINT};
use arena_games::{ChineseLudo, ludo::State};

use super::{planes, turned};
use crate::support::{game, play_at_random, setup};

#[test]
fn values_are_symmetric() {
    let game: ChineseLudo = game("", 2);
    for seed in 0..20 {
        let finished = play_at_random(&game, setup(seed));
        replay(&game, &finished.events, |state, _| {
            let [first, second] = [state, &turned(state)].map(|state| game.values(state));
            assert_eq!((first[0], first[1]), (second[1], second[0]), "{state:?}");
        })
        .expect("as played");
    }
}

#[test]
fn steps_gain_and_hits_cost() {
    let game: ChineseLudo = game("", 2);
    let worth = |own: i8| {
        let mut state = game.position([planes("5 h 30 56"), planes("7 p 40 h")], 0, 1);
        state.r[0][0] = own;
        game.values(&state)[0]
    };
    let all: Vec<i64> = (-1..=56).map(worth).collect();
    assert!(all.is_sorted_by(|less, more| less < more), "{all:?}");
}

#[test]
fn seat_to_move_is_slightly_ahead() {
    let game: ChineseLudo = game("starter=random", 2);
    let start = game.initial();
    assert_eq!(game.values(&start)[..2], [POINT / 2; 2]);
    for seat in 0..2 {
        let mut state = start;
        game.apply_outcome(&mut state, seat as u16);
        let ahead = game.values(&state)[seat] - POINT / 2;
        assert!((1..POINT / 50).contains(&ahead), "{ahead}");
    }
}

#[test]
fn win_rates_match_values() {
    let game: ChineseLudo = game("", 2);
    // For each tenth of the value of seat 0: number of positions, sum of values, wins.
    let mut tenths = [(0u32, 0i64, 0i64); 10];
    for seed in 0..3_000 {
        let finished = play_at_random(&game, setup(seed));
        let won = i64::from(finished.placement[0] == 1);
        let mut states: Vec<State> = Vec::new();
        replay(&game, &finished.events, |state, _| states.push(*state)).expect("as played");
        // One position of each game, so that positions are independent.
        let state = states[seed as usize % states.len()];
        let value = game.values(&state)[0];
        let (count, sum, wins) = &mut tenths[(value * 10 / POINT) as usize];
        *count += 1;
        *sum += value;
        *wins += won * POINT;
    }
    for (count, sum, wins) in tenths.into_iter().filter(|tenth| tenth.0 >= 50) {
        let n = i64::from(count);
        let (reported, found) = (sum / n, wins / n);
        // Four standard errors of a share near a half, and a margin for players that differ
        // from those of the fit.
        let error = POINT * 2 / i64::from(count.isqrt()) + POINT / 20;
        assert!(
            (reported - found).abs() < error,
            "{reported} reported, {found} of {count}"
        );
    }
}
