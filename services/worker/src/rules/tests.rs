//! The game of a package, with rules in this program instead of a process.

mod wide;

use std::sync::{Arc, Mutex};

use arena_engine::{
    Event, Game, Match, Node, Opening, Setup, Status, Termination, options::Options,
};
use arena_model::{BlockSeed, rules::RulesDescription};
use serde_json::{Value, json};

use super::{
    OpenGame, PackageGame, RulesFailure, RulesService,
    known::Known,
    messages::{Answer, Ask, Drawing},
};
use crate::lock;

fn rules(values: bool, events_max: u32) -> RulesDescription {
    let description = json!({
        "protocol": 1, "name": "count", "version": 1, "seats": [2, 2], "chance": true,
        "values": values, "draws": true, "events_max": events_max, "state_bytes_max": 100,
    });
    RulesDescription::parse(&description.to_string()).expect("a description")
}

pub(super) fn over(state: &str) -> Arc<Known> {
    let node = json!({"state": state, "next": "over", "ranks": [1, 2]});
    let node = serde_json::from_value(node).expect("a node");
    Arc::new(Known::new(node, &rules(false, 10), 2).expect("a known node"))
}

/// Answers with the node that a function makes from a state and an event.
struct Fake {
    node: fn(&str, Option<u32>) -> Value,
    refused: Mutex<Option<RulesFailure>>,
    /// Number of events in each message.
    messages: Mutex<Vec<usize>>,
    /// The states and events of all questions about nodes.
    asked: Mutex<Vec<(String, Option<u32>)>>,
}

impl RulesService for Fake {
    fn ask(&self, _: &OpenGame, ask: &Ask<'_>) -> Result<Answer, RulesFailure> {
        if let Ask::Apply { state, .. } | Ask::Look { state } = *ask {
            let event = match *ask {
                Ask::Apply { event, .. } => Some(event),
                _ => None,
            };
            lock(&self.asked).push((state.to_owned(), event));
        }
        let node = match *ask {
            Ask::Initial => (self.node)("", None),
            Ask::Apply { state, event } => (self.node)(state, Some(event)),
            Ask::Look { state } => (self.node)(state, None),
            Ask::Draw { state } => {
                return Ok(Answer::Drawing(Drawing {
                    text: format!("\u{1b}[1m{state}\n"),
                    svg: format!("<svg><text>{state}</text></svg>"),
                }));
            }
        };
        let node = serde_json::from_value(node).expect("a node");
        Ok(Answer::Node(Box::new(node)))
    }

    fn apply_all(
        &self,
        game: &OpenGame,
        events: &[(&str, u32)],
    ) -> Vec<Result<Answer, RulesFailure>> {
        lock(&self.messages).push(events.len());
        let ask = |&(state, event)| self.ask(game, &Ask::Apply { state, event });
        events.iter().map(ask).collect()
    }

    fn together(&self) -> usize {
        8
    }

    fn failure(&self) -> Option<RulesFailure> {
        lock(&self.refused).clone()
    }

    fn refuse(&self, failure: RulesFailure) -> RulesFailure {
        lock(&self.refused).get_or_insert(failure).clone()
    }
}

fn game(values: bool, events_max: u32, node: fn(&str, Option<u32>) -> Value) -> PackageGame {
    game_of(&fake(node), values, events_max)
}

fn fake(node: fn(&str, Option<u32>) -> Value) -> Arc<Fake> {
    Arc::new(Fake {
        node,
        refused: Mutex::default(),
        messages: Mutex::default(),
        asked: Mutex::default(),
    })
}

fn game_of(fake: &Arc<Fake>, values: bool, events_max: u32) -> PackageGame {
    let rules = rules(values, events_max);
    PackageGame::new("count", rules, &Options::new(), 2, fake.clone())
}

/// Each state is the list of events. Odd lengths are decisions. Five events end the game.
fn count(state: &str, event: Option<u32>) -> Value {
    let state = event.map_or_else(|| state.to_owned(), |event| format!("{state}{event}"));
    match state.len() {
        5 => json!({"state": state, "next": "over", "ranks": [2, 1], "scores": [3, 4]}),
        length if length % 2 == 1 => json!({
            "state": state, "next": "decision", "seat": length / 2 % 2, "legal": [2, 7],
            "moves": ["two", "seven"], "position": {"length": length},
        }),
        _ => json!({
            "state": state, "next": "chance", "seat": null, "weights": [1, 0, 2],
            "outcomes": ["a", "b", "c"],
        }),
    }
}

fn setup() -> Setup {
    Setup::new(BlockSeed(7).keys(&["a", "b"]), Opening::NONE)
}

#[test]
fn package_game_plays_and_states_its_transcript() {
    let game = game(false, 10, count);
    let mut play = Match::new(game.clone(), setup());
    while let Status::Asks(_) = play.status() {
        play.answer(7).expect("legal");
    }
    let finished = play.finish();
    assert_eq!(finished.termination, Termination::Normal);
    assert_eq!(
        (&*finished.placement, &*finished.scores),
        (&[2, 1][..], &[3, 4][..])
    );
    assert!(finished.luck.is_empty());
    let transcript = finished.transcript.expect("a transcript");
    let names = transcript.events.iter();
    let names = names.map(|&(seat, name)| (seat, &*transcript.names[name as usize]));
    let mut replayed = Vec::new();
    arena_engine::replay(&game, &finished.events, |_, event| {
        replayed.push((event.seat, event.name.to_owned()));
    })
    .expect("the same rules");
    let replayed: Vec<_> = replayed
        .iter()
        .map(|(seat, name)| (*seat, &**name))
        .collect();
    assert_eq!(names.collect::<Vec<_>>(), replayed);
}

#[test]
fn saved_state_loads_and_positions_are_what_agents_see() {
    let game = game(false, 10, count);
    let mut state = game.initial();
    game.apply_outcome(&mut state, 2);
    let (mut saved, mut position, mut board) = (Vec::new(), Vec::new(), String::new());
    game.save(&state, &mut saved);
    game.encode(&state, true, &mut position);
    game.draw(&state, &mut board);
    assert_eq!(game.load(&saved), Ok(state));
    assert_eq!(position, br#"{"length":1}"#);
    assert_eq!(board, "[1m2\n", "without the escape");
}

#[test]
fn boards_are_drawn_after_a_number_of_plies() {
    let game = game(false, 10, count);
    let (chance, action) = (Event::chance(2), Event::action(7));
    let events = [chance, action, chance, action, chance];
    let states = (0..4).map(|plies| game.board_after(&events, plies).svg);
    let expected = ["", "27", "27272", "27272"].map(|it| format!("<svg><text>{it}</text></svg>"));
    assert_eq!(states.collect::<Vec<_>>(), expected);
    let illegal = game.board_after(&[chance, Event::action(3)], 1);
    assert_eq!(illegal.text, "");
    assert_eq!(
        illegal.problem,
        "the rules do not allow the moves of the record"
    );
}

#[test]
fn failing_rules_void_the_game() {
    fn endless(state: &str, event: Option<u32>) -> Value {
        let mut node = count("", None);
        node["state"] = format!("{}{}", &state[state.len().min(1)..], event.unwrap_or(0)).into();
        node
    }
    fn huge(state: &str, event: Option<u32>) -> Value {
        let mut node = count(state, event);
        if state.len() > 1 {
            node["state"] = "x".repeat(101).into();
        }
        node
    }
    for (node, problem) in [
        (
            endless as fn(&str, Option<u32>) -> Value,
            "a game has more than 10 events",
        ),
        (huge, "a state has 101 bytes, more than 100"),
    ] {
        let game = game(false, 10, node);
        let mut play = Match::new(game, setup());
        while let Status::Asks(_) = play.status() {
            play.answer(2).expect("legal");
        }
        assert_eq!(play.failure().as_deref(), Some(problem));
        assert_eq!(play.status(), Status::Over(Termination::Void));
        assert!(play.finish().placement.is_empty());
    }
}

#[test]
fn games_that_wait_together_are_the_same_games() {
    let alone = |number: u64| {
        let keys = BlockSeed(number).keys(&["a", "b"]);
        let mut play = Match::new(game(false, 10, count), Setup::new(keys, Opening::Drawn(1)));
        while let Status::Asks(_) = play.status() {
            play.answer(7).expect("legal");
        }
        play.finish()
    };
    let fake = fake(count);
    let rules = game_of(&fake, false, 10).deferring();
    let open = |number| {
        let keys = BlockSeed(number).keys(&["a", "b"]);
        Match::new(rules.clone(), Setup::new(keys, Opening::Drawn(1)))
    };
    let mut games: Vec<_> = (0..20).map(open).collect();
    let mut waiting = games.len();
    while waiting > 0 {
        rules.find_pending();
        waiting = 0;
        for play in &mut games {
            play.resume().expect("no given opening");
            while let Status::Asks(_) = play.status() {
                play.answer(7).expect("legal");
            }
            waiting += usize::from(play.status() == Status::Waits);
        }
    }
    for (play, number) in games.into_iter().zip(0..) {
        assert_eq!(play.finish(), alone(number), "{number}");
    }
    let messages = lock(&fake.messages);
    assert!(messages.iter().all(|&events| events <= 8), "{messages:?}");
    // The tree of the game has 2 decisions and 2 chance events of 2 outcomes each.
    let asked: usize = messages.iter().sum();
    assert!(asked <= 2 + 4 + 8 + 16, "{asked} questions");
    assert!(messages.len() < asked, "{messages:?}");
}

#[test]
fn failure_of_a_pending_position_ends_each_game_that_waits_for_it() {
    fn huge(state: &str, event: Option<u32>) -> Value {
        let mut node = count(state, event);
        if state.len() > 1 {
            node["state"] = "x".repeat(101).into();
        }
        node
    }
    let rules = game(false, 10, huge).deferring();
    let mut games: Vec<_> = (0..3).map(|_| Match::new(rules.clone(), setup())).collect();
    while games.iter().any(|play| play.status() == Status::Waits) {
        rules.find_pending();
        for play in &mut games {
            play.resume().expect("no given opening");
            if let Status::Asks(_) = play.status() {
                play.answer(2).expect("legal");
            }
        }
    }
    for play in games {
        let failure = play.failure();
        assert_eq!(
            failure.as_deref(),
            Some("a state has 101 bytes, more than 100")
        );
        assert_eq!(play.status(), Status::Over(Termination::Void));
    }
}

#[test]
fn nodes_outside_the_bounds_are_named() {
    let decision = |changes: Value| {
        let mut node = json!({
            "state": "s", "next": "decision", "seat": 0, "legal": [1, 2], "moves": ["a", "b"],
        });
        let fields = node.as_object_mut().expect("an object");
        fields.extend(changes.as_object().expect("an object").clone());
        node
    };
    let chance = |changes: Value| {
        let mut node = json!({"state": "s", "next": "chance", "outcomes": ["a", "b"]});
        let fields = node.as_object_mut().expect("an object");
        fields.extend(changes.as_object().expect("an object").clone());
        node
    };
    for (node, problem) in [
        (decision(json!({"seat": 2})), "there is no seat 2"),
        (decision(json!({"seat": null})), "a decision has no seat"),
        (
            decision(json!({"legal": [], "moves": []})),
            "0 legal actions",
        ),
        (decision(json!({"legal": [2, 1]})), "not in ascending order"),
        (decision(json!({"legal": [1, 1]})), "not in ascending order"),
        (
            decision(json!({"legal": [1, 40_000]})),
            "action 40000 is not below 32768, which it may be if the description has `wide_ids`",
        ),
        (
            decision(json!({"legal": [1, 1_u32 << 31]})),
            "action 2147483648 is not below 32768",
        ),
        (
            decision(json!({"legal": vec![0; 32_769]})),
            "a node has 32769 legal actions, not 1 to 32768",
        ),
        (decision(json!({"moves": ["a"]})), "1 notations for 2"),
        (
            decision(json!({"moves": ["a", "b c"]})),
            "\"b c\" is no notation",
        ),
        (
            decision(json!({"moves": ["a", "a"]})),
            "stands for two things",
        ),
        (decision(json!({"scores": [1]})), "1 scores for 2 seats"),
        (
            decision(json!({"values": [1, 2_000_000]})),
            "values have 2000000",
        ),
        (
            decision(json!({"position": "x".repeat(300_000)})),
            "a position has 300002 bytes",
        ),
        (
            json!({"state": "s", "next": "over", "ranks": [1]}),
            "1 ranks for 2 seats",
        ),
        (
            json!({"state": "s", "next": "over", "ranks": [0, 1]}),
            "ranks have 0",
        ),
        (
            json!({"state": "s", "next": "over", "ranks": [2, 2]}),
            "ranks [2, 2] have gaps",
        ),
        (
            decision(json!({"values": [1, 2]})),
            "the sum of values [1, 2] is not 1000000",
        ),
        (
            json!({"state": "s", "next": "chance", "weights": [0, 0], "outcomes": ["a", "b"]}),
            "the sum of the weights is 0",
        ),
        (
            json!({"state": "s", "next": "chance", "weights": [u32::MAX, 1], "outcomes": ["a", "b"]}),
            "the sum of the weights is 4294967296",
        ),
        (
            chance(json!({"weights": [1, 1], "probabilities": [0.5, 0.5]})),
            "a chance node has both weights and probabilities: give one",
        ),
        (
            chance(json!({"probabilities": [0.5, -0.5]})),
            "probabilities[1] is -0.5, which is not from 0 to 1",
        ),
        (
            chance(json!({"probabilities": [0.5, 0.25]})),
            "the sum of the probabilities is 0.75, not 1",
        ),
        (
            chance(json!({"probabilities": [0.0, 0.0]})),
            "the sum of the probabilities is 0, not 1",
        ),
        (
            chance(json!({"probabilities": [1e-10, 0.999_999_999_9]})),
            "no fractions with a common denominator below 2^32: probabilities[0] is 0.0000000001",
        ),
        (
            chance(json!({"probabilities": [1]})),
            "2 notations for 1 actions or outcomes",
        ),
        (
            chance(json!({"probabilities": vec![0; 32_769]})),
            "a node has 32769 outcomes, not 1 to 32768",
        ),
        (chance(json!({})), "a node has 0 outcomes, not 1 to 32768"),
    ] {
        let message = serde_json::from_value(node.clone()).expect("a node");
        let error = Known::new(message, &rules(false, 10), 2).expect_err(problem);
        assert!(error.contains(problem), "{node}: {error}");
    }
    let message = serde_json::from_value(decision(json!({}))).expect("a node");
    let error = Known::new(message, &rules(true, 10), 2).expect_err("no values");
    assert_eq!(error, "a node has no values");
    // Games without chance begin with openings, and repeat: rules cannot have chance in secret.
    let chance = json!({"state": "s", "next": "chance", "weights": [1, 1], "outcomes": ["a", "b"]});
    let message = serde_json::from_value(chance).expect("a node");
    let mut certain = rules(false, 10);
    certain.chance = false;
    let error = Known::new(message, &certain, 2).expect_err("no chance");
    assert!(error.contains("has no `chance`"), "{error}");
}

#[test]
fn probabilities_become_whole_weights() {
    let node = json!({
        "state": "s", "next": "chance", "probabilities": [1.0 / 3.0, 0, 1.0 / 6.0, 0.5],
        "outcomes": ["a", "b", "c", "d"],
    });
    let message = serde_json::from_value(node).expect("a node");
    let known = Known::new(message, &rules(false, 10), 2).expect("a known node");
    assert_eq!(known.weights, [2, 0, 1, 3]);
}

#[test]
fn long_game_is_dropped_without_a_deep_stack() {
    fn long(_: &str, event: Option<u32>) -> Value {
        json!({
            "state": event.map_or(String::new(), |event| event.to_string()), "next": "decision",
            "seat": 0, "legal": [1, 2], "moves": ["a", "b"],
        })
    }
    let game = game(false, 20_000, long);
    let mut state = game.initial();
    for _ in 0..20_000 {
        game.apply(&mut state, 1);
    }
    assert_eq!(game.node(&state), Node::Decision(0));
    drop(state);
}

#[test]
fn records_are_prepared_side_by_side() {
    let fake = fake(count);
    let game = game_of(&fake, false, 10);
    let events = |first: u16, moved: u16| {
        let (chance, action) = (Event::chance(first), Event::action(moved));
        [chance, action, chance, action, chance]
    };
    let games = [events(0, 2), events(0, 7), events(2, 2), events(2, 7)];
    // The rules do not allow the third event, so neither it nor those after it are asked.
    let mut impossible = events(0, 2);
    impossible[2] = Event::chance(1);
    let mut open: Vec<&[Event]> = games.iter().map(|events| &events[..]).collect();
    open.push(&impossible);
    arena_engine::prepare(&game, &open);
    assert_eq!(
        *lock(&fake.messages),
        [2, 4, 4, 4, 4],
        "equal positions are asked once"
    );
    let asked = lock(&fake.asked).clone();
    assert!(
        asked.iter().all(|(_, event)| *event != Some(1)),
        "{asked:?}"
    );
    for events in &games {
        arena_engine::replay(&game, events, |_, _| {}).expect("allowed");
    }
    arena_engine::replay(&game, &impossible, |_, _| {}).expect_err("impossible");
    assert_eq!(*lock(&fake.asked), asked, "replays ask nothing more");
    assert!(fake.failure().is_none());
}
