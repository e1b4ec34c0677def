use arena_engine::{Game, Node, values::POINT};

use super::Mcts;
use crate::baseline::{
    after,
    tests::{
        helpers::{ask, choices, make},
        toy::{Heap, State},
    },
};

const ROLLOUTS: [&str; 3] = ["none", "plies", "random"];

#[test]
fn winning_move_is_found_for_every_seed() {
    for stones in [5, 6, 7, 9, 10, 11] {
        let game = Heap {
            seats: 2,
            stones,
            die: false,
        };
        for rollout in ROLLOUTS {
            let given = format!("iterations=4000;exploration=0.5;rollout={rollout}");
            let mut mcts = make::<Mcts, _>("mcts", &given, &game);
            let choices = choices(&mut *mcts, &game, &game.initial(), 20);
            let winning = u16::from(stones % 4);
            assert_eq!(choices, [(winning, 20)].into(), "{stones}, {rollout}");
        }
    }
}

/// The exact value of a position for the seat to move if every seat plays optimally; two
/// seats only.
fn exact(game: &Heap, state: &State) -> f64 {
    match game.node(state) {
        Node::Over(_) => game.values(state)[0] as f64 / POINT as f64,
        Node::Chance(_) => {
            let weights = game.weights(state);
            // A 4 has no effect with two seats: its weight goes to the others.
            let outcomes = weights.iter().enumerate().take(4);
            let (mut sum, mut total) = (0.0, 0.0);
            for (outcome, &weight) in outcomes.filter(|(_, weight)| **weight > 0) {
                let mut next = *state;
                game.apply_outcome(&mut next, outcome as u16);
                sum += f64::from(weight) * exact(game, &next);
                total += f64::from(weight);
            }
            sum / total
        }
        Node::Decision(seat) => {
            let mut legal = Vec::new();
            game.legal(state, &mut legal);
            let values = legal
                .iter()
                .map(|&action| exact(game, &after(game, state, action)));
            if seat == 0 {
                values.fold(0.0, f64::max)
            } else {
                values.fold(1.0, f64::min)
            }
        }
    }
}

#[test]
fn scores_approach_true_values() {
    let game = Heap {
        seats: 2,
        stones: 7,
        die: true,
    };
    let mut state = game.initial();
    state.most = 3;
    let expected = exact(&game, &state);
    for rollout in ROLLOUTS {
        let given = format!("iterations=20000;exploration=0.3;rollout={rollout}");
        let mut mcts = make::<Mcts, _>("mcts", &given, &game);
        let score = ask(&mut *mcts, &game, &state, 3).score.expect("a score");
        assert!(
            (score - expected).abs() < 0.02,
            "{rollout}: {score} for {expected}"
        );
    }
}

#[test]
fn each_of_four_seats_maximises_its_reward() {
    // The seat to move can end the game and be first.
    for seat in 0..4 {
        let game = Heap {
            seats: 4,
            stones: 3,
            die: false,
        };
        let mut state = game.initial();
        state.to_move = seat;
        let mut mcts = make::<Mcts, _>("mcts", "iterations=200;exploration=0.5", &game);
        let choices = choices(&mut *mcts, &game, &state, 10);
        assert_eq!(choices, [(3, 10)].into(), "seat {seat}");
    }
}

#[test]
fn few_iterations_are_enough_for_a_legal_move() {
    let game = Heap {
        seats: 3,
        stones: 20,
        die: true,
    };
    let mut state = game.initial();
    state.most = 3;
    for iterations in 1..5 {
        let given = format!("iterations={iterations}");
        let mut mcts = make::<Mcts, _>("mcts", &given, &game);
        let chosen = ask(&mut *mcts, &game, &state, iterations);
        assert!((1..=3).contains(&chosen.action));
    }
}
