use arena_engine::{Game, Node, options, values::POINT};

use super::{Mcts, Searcher, TOGETHER};
use crate::{
    baseline::{
        after,
        tests::{
            helpers::{ask, choices, make},
            toy::{Heap, State},
        },
    },
    bot::{Bot, Chosen, Decision},
    bot_info, tests,
};

const ROLLOUTS: [&str; 3] = ["none", "plies", "random"];

/// The bot as it plays where rules answer many questions together.
struct Together(Searcher<Heap>);

impl Bot<Heap> for Together {
    fn choose(&mut self, decision: &Decision<'_, Heap>) -> Chosen {
        self.0.choose_together(decision, decision.game, TOGETHER)
    }
}

/// The bot with one line and with many at once.
fn both(given: &str, game: &Heap) -> [Box<dyn Bot<Heap>>; 2] {
    let specs = &bot_info("mcts").expect("a bot").options;
    let options = options::resolve(specs, &[], &tests::options(given)).expect("options fit");
    [
        make::<Mcts, _>("mcts", given, game),
        Box::new(Together(Searcher::new(&options))),
    ]
}

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
            for mut mcts in both(&given, &game) {
                let choices = choices(&mut *mcts, &game, &game.initial(), 20);
                let winning = u16::from(stones % 4);
                assert_eq!(choices, [(winning, 20)].into(), "{stones}, {rollout}");
            }
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

/// Seven stones, of which up to three may be taken.
fn seven_stones() -> (Heap, State) {
    let game = Heap {
        seats: 2,
        stones: 7,
        die: true,
    };
    let mut state = game.initial();
    state.most = 3;
    (game, state)
}

#[test]
fn scores_approach_true_values() {
    let (game, state) = seven_stones();
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

/// With many lines at once, a search loses no more by its choices than with one.
#[test]
fn lines_together_choose_as_well() {
    let (game, state) = seven_stones();
    let value = |action| exact(&game, &after(&game, &state, action));
    let best = (1..=3).map(value).fold(0.0, f64::max);
    let given = "iterations=2000;exploration=0.7;rollout=random";
    for (mut mcts, name) in both(given, &game).into_iter().zip(["one", "many"]) {
        let choices = choices(&mut *mcts, &game, &state, 100);
        let lost = |(&action, &count): (&u16, &u64)| (best - value(action)) * count as f64;
        let mean = choices.iter().map(lost).sum::<f64>() / 100.0;
        assert!(mean < 0.01, "{name}: {mean}, {choices:?}");
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
        for mut mcts in both("iterations=200;exploration=0.5", &game) {
            let choices = choices(&mut *mcts, &game, &state, 10);
            assert_eq!(choices, [(3, 10)].into(), "seat {seat}");
        }
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
        for mut mcts in both(&given, &game) {
            let chosen = ask(&mut *mcts, &game, &state, iterations);
            assert!((1..=3).contains(&chosen.action));
        }
    }
}
