//! Replays: accepted events, and the errors of impossible ones.

use arena_engine::{
    AnyGame, CheckError, DiceError, Ending, Event, Game, Match, ReplayError, ReplayProblem, Status,
    Step, check, perft, replay, resolve_steps,
};

use crate::toy::{Toy, setup};

fn played(toy: &Toy) -> Vec<Event> {
    let mut play = Match::new(toy.clone(), setup(6));
    while let Status::Asks(question) = play.status() {
        let index = question.seed as usize % play.legal().len();
        let action = play.legal()[index];
        play.answer(action.into()).expect("a legal action");
    }
    play.finish().events
}

#[test]
fn replay_equals_the_game() {
    let toy = Toy::new(3);
    let events = played(&toy);
    let mut shown = Vec::new();
    let outcome = replay(&toy, &events, |_, described| shown.push(described.event));
    let outcome = outcome.expect("what was played can be replayed");
    assert_eq!(shown, events);
    assert_eq!(outcome.ending, Some(Ending::Normal));
    assert_eq!(outcome.to_move, None);
}

#[test]
fn chance_is_checked_against_keys() {
    let toy = Toy::new(2);
    let events = played(&toy);
    let checked = check(&toy, &events, &setup(6).keys, |_| {}).expect("its own keys");
    assert_eq!(checked.outcome.ending, Some(Ending::Normal));
    let outcome = replay(&toy, &events, |_, _| {}).expect("a game");
    assert_eq!(checked.outcome, outcome);

    let mut other = events.clone();
    let place = other
        .iter()
        .rposition(|event| !event.is_action())
        .expect("dice");
    // The draw of the table, 0 or 2.
    other[place] = Event::chance(2 - events[place].id());
    let ply = events[..place]
        .iter()
        .filter(|event| event.is_action())
        .count();
    let refused = check(&toy, &other[..=place], &setup(6).keys, |_| {});
    let Err(CheckError::Dice(DiceError {
        ply: at,
        event,
        seat,
        ..
    })) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((at as usize, event), (ply, place));
    assert_eq!(seat, None);
    assert!(check(&toy, &events, &setup(7).keys, |_| {}).is_err());
}

#[test]
fn truncated_events_leave_the_game_open() {
    let toy = Toy::new(2);
    let events = played(&toy);
    let outcome = replay(&toy, &events[..1], |_, _| {}).expect("a beginning");
    assert_eq!((outcome.ending, outcome.to_move), (None, Some(0)));
    let outcome = replay(&toy, &[], |_, _| {}).expect("nothing yet");
    assert_eq!((outcome.ending, outcome.to_move), (None, None));
}

#[test]
fn impossible_event_is_named_by_number() {
    let toy = Toy::new(2);
    let events = played(&toy);
    let error = |events: &[Event]| replay(&toy, events, |_, _| {}).expect_err("cannot be");
    let chance = |id| Event::chance(id);
    let action = |id| Event::action(id);
    for (events, message) in [
        (
            vec![action(0)],
            "event 0: the rules expect a chance outcome here",
        ),
        (vec![chance(6)], "event 0: chance outcome 6 is not possible"),
        (
            vec![chance(3), chance(3)],
            "event 1: the rules expect an action here",
        ),
        (vec![chance(3), action(3)], "event 1: action 3 is not legal"),
        (vec![chance(1), action(0)], "event 1: action 0 is not legal"),
    ] {
        assert_eq!(error(&events).to_string(), message);
    }
    let mut long = events.clone();
    long.push(chance(0));
    let index = events.len();
    let problem = ReplayProblem::AfterEnd;
    assert_eq!(error(&long), ReplayError { index, problem });
    // The table's second outcome has no weight.
    let mut weightless = events;
    weightless[index - 1] = chance(1);
    let expected = ReplayError {
        index: index - 1,
        problem: ReplayProblem::Impossible(1),
    };
    assert_eq!(error(&weightless), expected);
}

#[test]
fn steps_of_a_record_name_events() {
    let toy = Toy::new(2);
    let events = played(&toy);
    let mut steps = Vec::new();
    replay(&toy, &events, |_, described| {
        steps.push(if described.event.is_action() {
            Step::Action(described.event.id())
        } else {
            Step::Chance(described.name.to_owned())
        });
    })
    .expect("what was played can be replayed");
    assert_eq!(resolve_steps(&toy, &steps), Ok(events));
    steps[0] = Step::Chance("7".to_owned());
    let error = resolve_steps(&toy, &steps).expect_err("a die has six");
    assert_eq!(
        error.to_string(),
        "event 0: there is no chance outcome \"7\" here"
    );
    steps[0] = Step::Action(1);
    let (index, problem) = (0, ReplayProblem::NoOutcome);
    assert_eq!(
        resolve_steps(&toy, &steps),
        Err(ReplayError { index, problem })
    );
    steps[0] = Step::Chance("4".to_owned());
    steps[1] = Step::Action(7);
    let (index, problem) = (1, ReplayProblem::Illegal(7));
    assert_eq!(
        resolve_steps(&toy, &steps),
        Err(ReplayError { index, problem })
    );
}

#[test]
fn perft_counts_paths_and_ended_games_once() {
    let toy = Toy { seats: 2, turns: 1 };
    let counts: Vec<u64> = (0..4)
        .map(|depth| perft(&toy, &toy.initial(), depth))
        .collect();
    // There are six throws: one allows one action, one a pass, and four allow three actions.
    assert_eq!(counts[..3], [1, 6, 14]);
    // After 0, 1 or a pass, the table draws one of two outcomes; after a 2, the seat throws.
    assert_eq!(counts[3], 10 * 2 + 4 * 6);
    let ended = Toy { seats: 2, turns: 0 };
    assert_eq!(perft(&ended, &ended.initial(), 9), 2);
}

#[test]
fn erased_game_plays_and_replays_alike() {
    let toy = Toy::new(2);
    let any: &dyn AnyGame = &toy;
    let mut play = any.open(setup(6)).expect("no opening");
    while let Status::Asks(question) = play.status() {
        let index = question.seed as usize % play.legal().len();
        let action = play.legal()[index];
        play.answer(action.into()).expect("a legal action");
    }
    let finished = play.finish();
    assert_eq!(finished.events, played(&toy));
    let outcome = any.replay(&finished.events, &mut |_| {}).expect("replays");
    assert_eq!(outcome.placement, finished.placement);
    let mut boards = Vec::new();
    any.replay_drawn(&finished.events, &mut |board, _| {
        boards.push(board.to_owned())
    })
    .expect("replays");
    assert_eq!(boards.len(), finished.events.len() + 1);
    let expected: Vec<i64> = finished.scores;
    let last = boards.last().expect("the end is drawn");
    assert!(last.starts_with(&format!("[{}, {}", expected[0], expected[1])));
}
