use arena_engine::{Game, MAX_SEATS, Node, PerSeat, values::POINT};
use arena_games::{Cowry, Kalah};

use super::{Expectimax, search::CHANCES_MAX};
use crate::{
    baseline::{
        after,
        tests::{
            helpers::{ask, decisions, make},
            toy::Heap,
        },
    },
    tests::game,
};

/// The expected result: the search without pruning.
fn reference<G: Game>(game: &G, state: &G::State, depth: u32, chances: u32) -> PerSeat<i64> {
    match game.node(state) {
        Node::Decision(seat) if depth > 0 => {
            let seat = usize::from(seat);
            let mut legal = Vec::new();
            game.legal(state, &mut legal);
            let values = legal
                .iter()
                .map(|&action| reference(game, &after(game, state, action), depth - 1, 0));
            values
                .reduce(|best, values| {
                    if values[seat] > best[seat] {
                        values
                    } else {
                        best
                    }
                })
                .expect("a decision has actions")
        }
        Node::Chance(_) if depth > 0 && chances < CHANCES_MAX => {
            let weights = game.weights(state);
            let total: u32 = weights.iter().sum();
            let mut sums = [0; MAX_SEATS];
            for (outcome, &weight) in weights.iter().enumerate() {
                let mut next = state.clone();
                game.apply_outcome(&mut next, outcome as u16);
                let values = reference(game, &next, depth, chances + 1);
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += i64::from(weight) * value;
                }
            }
            let mut means = sums.map(|sum| sum.div_euclid(total.into()));
            if game.seats() == 2 {
                means[1] = POINT - means[0];
            }
            means
        }
        _ => game.values(state),
    }
}

/// Compares choice and score with the reference.
fn check<G: Game>(game: &G, state: &G::State, depth: u32) {
    let Node::Decision(seat) = game.node(state) else {
        panic!("no seat chooses in {state:?}");
    };
    let given = format!("depth={depth};nodes=1000000000");
    let mut expectimax = make::<Expectimax, _>("expectimax", &given, game);
    let chosen = ask(&mut *expectimax, game, state, 0);
    let mut legal = Vec::new();
    game.legal(state, &mut legal);
    let value = |action| {
        let next = after(game, state, action);
        reference(game, &next, depth - 1, 0)[usize::from(seat)]
    };
    let best = legal.iter().map(|&action| value(action)).max();
    let best = best.expect("a decision has actions");
    let label = format!("depth {depth} in {state:?}: {chosen:?}");
    assert_eq!(value(chosen.action), best, "{label}");
    assert_eq!(chosen.score, Some(crate::baseline::points(best)), "{label}");
}

#[test]
fn pruning_changes_no_choice_or_score() {
    for seats in 2..=4 {
        for die in [false, true] {
            for stones in [3, 5, 8] {
                let game = Heap { seats, stones, die };
                for state in (0..3).flat_map(|seed| decisions(&game, seed)) {
                    (1..=4).for_each(|depth| check(&game, &state, depth));
                }
            }
        }
    }
}

#[test]
fn real_games_are_searched_exactly() {
    let kalah: Kalah = game("-", 2);
    let small: Kalah = game("pits=3;stones=2", 2);
    for seed in 0..3 {
        for state in decisions(&kalah, seed).iter().step_by(4) {
            check(&kalah, state, 4);
        }
        for state in &decisions(&small, seed) {
            check(&small, state, 6);
        }
    }
    let doubles: Cowry = game("preset=doubles", 2);
    let three: Cowry = game("throw_mode=single", 3);
    for seed in 0..2 {
        for state in decisions(&doubles, seed).iter().step_by(9) {
            check(&doubles, state, 3);
        }
        for state in decisions(&three, seed).iter().step_by(29) {
            check(&three, state, 3);
        }
    }
}

#[test]
fn forced_wins_are_found() {
    for stones in (5..30).filter(|stones| stones % 4 != 0) {
        let game = Heap {
            seats: 2,
            stones,
            die: false,
        };
        let mut expectimax = make::<Expectimax, _>("expectimax", "nodes=1000000", &game);
        let chosen = ask(&mut *expectimax, &game, &game.initial(), 0);
        assert_eq!(chosen.action, u16::from(stones % 4), "{stones} stones");
        assert_eq!(chosen.score, Some(1.0), "{stones} stones");
    }
}

#[test]
fn lost_game_is_not_looked_at_for_long() {
    let game = Heap {
        seats: 2,
        stones: 8,
        die: false,
    };
    let mut expectimax = make::<Expectimax, _>("expectimax", "-", &game);
    let chosen = ask(&mut *expectimax, &game, &game.initial(), 0);
    assert_eq!(chosen.score, Some(0.0));
    assert!(chosen.nodes < Some(20_000), "{chosen:?}");
}

#[test]
fn budget_of_positions_is_exact() {
    let kalah: Kalah = game("-", 2);
    let cowry: Cowry = game("-", 4);
    let check = |nodes: u64, reported: Option<u64>| assert_eq!(reported, Some(nodes));
    for nodes in [1, 2, 5, 6, 7, 100, 1234, 5000] {
        let given = format!("depth=100;nodes={nodes}");
        let mut expectimax = make::<Expectimax, _>("expectimax", &given, &kalah);
        for state in decisions(&kalah, 1).iter().take(8) {
            check(nodes, ask(&mut *expectimax, &kalah, state, 0).nodes);
        }
        let mut expectimax = make::<Expectimax, _>("expectimax", &given, &cowry);
        for state in decisions(&cowry, 1).iter().take(8) {
            let reported = ask(&mut *expectimax, &cowry, state, 0).nodes;
            check(nodes, reported);
        }
    }
}
