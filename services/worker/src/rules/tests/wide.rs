//! Ids of actions beyond those of Arena.

use arena_engine::{Event, Game, Match, Status, options::Options};
use arena_model::rules::RulesDescription;
use serde_json::{Value, json};

use super::{PackageGame, fake, rules, setup};
use crate::{lock, rules::known::Known};

fn wide_rules() -> RulesDescription {
    let mut rules = rules(false, 10);
    rules.wide_ids = true;
    rules
}

/// Actions with wide ids. The state is the events so far.
fn wide(state: &str, event: Option<u32>) -> Value {
    let state = event.map_or_else(|| state.to_owned(), |event| format!("{state}/{event}"));
    match state.matches('/').count() {
        3 => json!({"state": state, "next": "over", "ranks": [2, 1]}),
        1 => json!({
            "state": state, "next": "chance", "probabilities": [0.25, 0.75], "outcomes": ["a", "b"],
        }),
        count => json!({
            "state": state, "next": "decision", "seat": count / 2,
            "legal": [7, 40_000 + count, 2_147_483_647], "moves": ["seven", "middle", "last"],
        }),
    }
}

#[test]
fn wide_ids_are_places_for_all_but_the_rules() {
    let fake = fake(wide);
    let game = PackageGame::new("count", wide_rules(), &Options::new(), 2, fake.clone());
    let play = |game: &PackageGame| {
        let mut play = Match::new(game.clone(), setup());
        loop {
            match play.status() {
                Status::Waits => {
                    game.find_pending();
                    play.resume().expect("no given opening");
                }
                Status::Asks(question) if question.seat == 0 => play.answer(2).expect("legal"),
                Status::Asks(_) => play.answer(1).expect("legal"),
                _ => break play.finish(),
            }
        }
    };
    let finished = play(&game);
    let [first, _, second] = finished.events[..] else {
        panic!("three events");
    };
    assert_eq!([first, second], [2, 1].map(Event::action));
    let transcript = finished.transcript.as_ref().expect("a transcript");
    assert_eq!(transcript.names[0], "last");
    assert_eq!(transcript.names[2], "middle");
    let asked = lock(&fake.asked).clone();
    assert_eq!(asked[0], (String::new(), Some(2_147_483_647)));
    assert_eq!(asked[2].1, Some(40_002));
    // Questions of many games in one message have the same ids.
    let deferring = PackageGame::new("count", wide_rules(), &Options::new(), 2, fake.clone());
    assert_eq!(play(&deferring.deferring()), finished);
    assert_eq!(lock(&fake.asked)[asked.len()..], asked);
    arena_engine::replay(&game, &finished.events, |_, _| {}).expect("the same rules");
    assert_eq!(lock(&fake.asked).len(), 2 * asked.len(), "all are known");
    let state = game.initial();
    let mut legal = Vec::new();
    game.legal(&state, &mut legal);
    assert_eq!(legal, [0, 1, 2]);
    let mut name = String::new();
    game.write_action(&state, 1, &mut name);
    assert_eq!(name, "middle");
}

#[test]
fn wide_ids_outside_the_bounds_are_named() {
    let check = |legal: Vec<u32>| {
        let moves: Vec<String> = (0..legal.len()).map(|place| place.to_string()).collect();
        let node =
            json!({"state": "s", "next": "decision", "seat": 0, "legal": legal, "moves": moves});
        let message = serde_json::from_value(node).expect("a node");
        Known::new(message, &wide_rules(), 2).map(|known| known.legal.len())
    };
    for (legal, problem) in [
        (
            vec![0, 1 << 31],
            "action 2147483648 is not below 2147483648",
        ),
        (
            vec![70_000, 60_000],
            "the legal actions are not in ascending order",
        ),
        (
            vec![70_000, 70_000],
            "the legal actions are not in ascending order",
        ),
        (
            (0..32_769).map(|it| it * 60_000).collect(),
            "a node has 32769 legal actions, not 1 to 32768",
        ),
    ] {
        assert_eq!(check(legal), Err(problem.to_owned()));
    }
    let most = (0..32_768).map(|it| it * 65_535).collect();
    assert_eq!(check(most), Ok(32_768));
}
