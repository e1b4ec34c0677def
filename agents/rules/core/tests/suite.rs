//! Tests of the crate; the bindings replay whole games of the engine in their own tests.

#[path = "../../../../services/games/tests/suite/cases.rs"]
mod cases;

use std::collections::BTreeMap;

use arena_engine::{AgentRng, Game as Rules, Node};
use arena_games::{Visitor, visit};
use arena_rules::{ErrorKind, Game, Options, RulesError, State};
use cases::{Case, cases};

fn game(case: &Case) -> Game {
    Game::new(case.ruleset, &case.options, Some(case.seats)).expect(&case.label)
}

fn kalah() -> Game {
    Game::new("kalah", &Options::new(), None).expect("a ruleset")
}

fn ludo() -> Game {
    Game::new("chinese-ludo", &Options::new(), None).expect("a ruleset")
}

/// Plays one random event, if the game is not over.
fn step(state: &mut State, rng: &mut AgentRng) -> bool {
    match state.node() {
        Node::Over(_) => return false,
        Node::Decision(_) => {
            let action = rng.pick(&state.legal().expect("a decision"));
            state.apply(action.into())
        }
        Node::Chance(_) => {
            let outcome = rng.weighted(state.weights().expect("a chance node"));
            state.apply_outcome(outcome as i64)
        }
    }
    .expect("a possible event");
    true
}

/// A state of a game, after some random events.
fn after(game: &Game, events: usize, rng: &mut AgentRng) -> State {
    let mut state = game.initial();
    for _ in 0..events {
        step(&mut state, rng);
    }
    state
}

#[test]
fn states_follow_the_engine() {
    struct Compare<'a>(&'a Case);
    impl Visitor for Compare<'_> {
        type Out = ();

        fn visit<G: Rules>(self, rules: G) {
            let game = game(self.0);
            let (mut typed, mut state) = (rules.initial(), game.initial());
            let mut rng = AgentRng::new(1);
            let mut legal = Vec::new();
            for _ in 0..500 {
                assert_eq!(state.node(), rules.node(&typed));
                assert_eq!(state.values(), rules.values(&typed)[..self.0.seats]);
                assert_eq!(state.hash(), arena_rules::hash(&typed));
                match rules.node(&typed) {
                    Node::Over(_) => break,
                    Node::Decision(_) => {
                        rules.legal(&typed, &mut legal);
                        assert_eq!(state.legal().as_ref(), Ok(&legal));
                        let action = rng.pick(&legal);
                        rules.apply(&mut typed, action);
                        state.apply(action.into()).expect("a legal move");
                    }
                    Node::Chance(_) => {
                        let weights = rules.weights(&typed);
                        assert_eq!(state.weights(), Ok(weights));
                        let outcome = rng.weighted(weights) as u16;
                        rules.apply_outcome(&mut typed, outcome);
                        state.apply_outcome(outcome.into()).expect("possible");
                    }
                }
            }
        }
    }
    for case in &cases() {
        visit(case.ruleset, &case.options, case.seats, Compare(case)).expect(&case.label);
    }
}

#[test]
fn message_and_json_give_the_state_back() {
    let mut rng = AgentRng::new(2);
    for case in &cases() {
        let game = game(case);
        for events in [0, 1, 7, 40, 200] {
            let state = after(&game, events, &mut rng);
            let label = &case.label;
            let message = game.decode(&state.encode(true)).expect(label);
            assert_eq!(message, state, "{label}");
            let json = game.state_from_json(&state.to_json(true)).expect(label);
            assert_eq!(json, state, "{label}");
            assert_eq!(json.encode(false), state.encode(false), "{label}");
        }
    }
}

#[test]
fn json_has_the_form_of_the_line_protocol() {
    let mut state = kalah().initial();
    state.apply(2).expect("legal");
    assert_eq!(
        state.to_json(false),
        r#"{"pits":6,"board":[4,4,0,5,5,5,1,4,4,4,4,4,4,0],"to_move":0,"plies":1}"#
    );
    let mut state = ludo().initial();
    state.apply_outcome(5).expect("a six");
    assert_eq!(
        state.to_json(true),
        r#"{"to_move":0,"die":6,"planes":[-1,-1,-1,-1,-1,-1,-1,-1],"rolls":1,"sixes":0,"phase":"move","moves":[{"id":0,"plane":0,"from":-1,"to":0,"hits":0,"lost":0}]}"#
    );
    let cowry = Game::new("cowry", &Options::new(), None).expect("a ruleset");
    let json = cowry.initial().to_json(false);
    assert!(json.contains(r#""pieces":[0,0,0,0,0,0,0,0]"#), "{json}");
}

#[test]
fn hashes_of_different_positions_differ() {
    let mut rng = AgentRng::new(3);
    for case in cases().iter().step_by(5) {
        let game = game(case);
        let mut seen: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for _ in 0..5 {
            let mut state = game.initial();
            while step(&mut state, &mut rng) && seen.len() < 2000 {
                let message = state.encode(false);
                let before = seen.insert(state.hash(), message.clone());
                assert!(
                    before.is_none_or(|before| before == message),
                    "{}",
                    case.label
                );
            }
        }
    }
}

#[test]
fn refused_calls_change_nothing() {
    let mut rng = AgentRng::new(4);
    for case in &cases() {
        let mut state = after(&game(case), 20, &mut rng);
        let before = state.clone();
        let wrong = [i64::MIN, -1, 32767, 65536 + 1, i64::MAX];
        for given in wrong {
            for result in [state.apply(given), state.apply_outcome(given)] {
                let error = result.expect_err("refused");
                let expected = [ErrorKind::IllegalMove, ErrorKind::WrongNode];
                assert!(expected.contains(&error.kind()), "{error}");
            }
            assert!(state.notation(given).is_err() && state.outcome_notation(given).is_err());
        }
        assert_eq!(state, before, "{}", case.label);
    }
}

#[test]
fn errors_name_what_was_expected() {
    let mut state = kalah().initial();
    assert_eq!(state.apply_outcome(0), Err(RulesError::MoveNext(0)));
    assert_eq!(state.placement(), Err(RulesError::MoveNext(0)));
    let mut chance = ludo().initial();
    assert_eq!(chance.apply(0), Err(RulesError::ChanceNext));
    for (error, text) in [
        (
            state.apply(6),
            "move 6 is not legal; legal moves: 0, 1, 2, 3, 4, 5",
        ),
        (
            chance.apply_outcome(-1),
            "chance outcome -1 is not possible; possible outcomes: 0, 1, 2, 3, 4, 5",
        ),
    ] {
        assert_eq!(error.expect_err("refused").to_string(), text);
    }
    for (options, text) in [
        ("[]", "options: no JSON object"),
        (
            r#"{"pits":null}"#,
            "options: pits: null is not true or false",
        ),
        (
            r#"{"pits":6.5}"#,
            "ruleset kalah: option \"pits\": \"6.5\" is not",
        ),
        (
            r#"{"pits":1e300}"#,
            "ruleset kalah: option \"pits\": \"1e+300\"",
        ),
    ] {
        let error = Game::from_json("kalah", options, None, None).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidGame);
        assert!(error.to_string().starts_with(text), "{error}");
    }
    assert!(Game::from_json("kalah", r#"{"pits":6,"early_stop":false}"#, None, None).is_ok());
    assert!(Game::from_json("kalah", " ", Some(2), Some(1)).is_ok());
}

#[test]
fn random_bytes_are_no_position_or_a_playable_one() {
    let mut rng = AgentRng::new(5);
    for case in cases().iter().step_by(3) {
        let game = game(case);
        for _ in 0..50 {
            let events = rng.below(60) as usize;
            let mut bytes = after(&game, events, &mut rng).encode(rng.below(2) == 0);
            for _ in 0..=rng.below(3) {
                let index = rng.below(bytes.len() as u32) as usize;
                bytes[index] = rng.word() as u8;
            }
            if let Ok(state) = game.decode(&bytes) {
                let sum: i64 = state.playout(1).iter().sum();
                assert!(
                    (sum - 500_000 * case.seats as i64).abs() <= 2,
                    "{}",
                    case.label
                );
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(game.state_from_json(&text).is_err());
        }
    }
}

#[test]
fn copies_are_independent() {
    let mut state = kalah().initial();
    let mut other = ludo().initial();
    other.copy_from(&state);
    assert_eq!(other, state);
    state.apply(0).expect("legal");
    assert_ne!(other, state);
    other.clone_from(&state);
    assert_eq!(other, state);
    let capped = Game::from_json("kalah", r#"{"max_plies":100}"#, None, None).expect("a cap");
    assert_ne!(capped.initial(), kalah().initial());
}
