use arena_engine::Game;
use arena_games::Kalah;

use super::Greedy;
use crate::{
    baseline::tests::helpers::{ask, choices, decisions, make},
    tests::game,
};

#[test]
fn best_value_after_the_move_is_taken() {
    let game: Kalah = game("-", 2);
    let mut greedy = make::<Greedy, _>("greedy", "-", &game);
    for state in (0..5).flat_map(|seed| decisions(&game, seed)) {
        let seat = usize::from(state.to_move);
        let chosen = ask(&mut *greedy, &game, &state, 1);
        let mut legal = Vec::new();
        game.legal(&state, &mut legal);
        let value = |action| game.values(&super::after(&game, &state, action))[seat];
        let best = legal.iter().map(|&action| value(action)).max();
        assert_eq!(Some(value(chosen.action)), best, "{state:?}");
        assert_eq!(chosen.nodes, Some(legal.len() as u64));
    }
}

#[test]
fn ties_are_random_or_go_to_the_first() {
    let game: Kalah = game("-", 2);
    let mut state = game.initial();
    // More than half of all stones are banked, so every move wins.
    state.board = [0; arena_games::kalah::CELLS_MAX];
    state.board[..14].copy_from_slice(&[1, 1, 1, 1, 1, 1, 30, 1, 1, 1, 1, 1, 1, 6]);
    let count = |given| {
        let mut greedy = make::<Greedy, _>("greedy", given, &game);
        choices(&mut *greedy, &game, &state, 600)
    };
    assert_eq!(count("tie=first"), [(0, 600)].into());
    let drawn = count("tie=random");
    assert_eq!(drawn.len(), 6);
    // Six standard deviations of a binomial draw.
    assert!(
        drawn.values().all(|count| count.abs_diff(100) < 55),
        "{drawn:?}"
    );
}
