//! Properties of every ruleset at every node of random games, with every preset and many
//! options and seats.

use arena_engine::{
    Described, Finished, Game, MAX_SEATS, Node, PerSeat, Step, Stream, Termination, luck,
    options::Options, replay, resolve_steps, values,
};
use arena_games::{Visitor, resolve, rulesets, visit};

use crate::{
    cases::{Case, cases},
    nodes::{check_node, check_placement, check_values, play_on},
    positions, rules,
    support::{play_at_random, setup},
};

/// Maximum number of events of a game, which caps ensure.
const EVENTS_MAX: usize = 2_000_000;

/// Plays the visitor's case with some seeds.
struct Play<'a> {
    case: &'a Case,
    seeds: u64,
}

impl Visitor for Play<'_> {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        assert_eq!(Game::seats(&game), self.case.seats);
        for seed in 0..self.seeds {
            check_game(&game, self.case, seed);
        }
    }
}

fn check_game<G: Game>(game: &G, case: &Case, seed: u64) {
    let label = &case.label;
    let finished = play_at_random(game, setup(seed));
    assert!(finished.events.len() <= EVENTS_MAX, "{label}: too long");
    assert!(finished.faults.is_empty());
    assert_ne!(finished.termination, Termination::Forfeit, "{label}");
    check_placement(&finished.placement, case);

    let mut steps = Vec::with_capacity(finished.events.len());
    let mut index = 0usize;
    let mut certain = [None; MAX_SEATS];
    let outcome = replay(game, &finished.events, |state, described| {
        // Checking every node of a long game would take long and find nothing new.
        if index < 2_000 || index.is_multiple_of(17) {
            check_node(game, state, label);
            note_certain(game, state, &mut certain);
            rules::check_event(game, case, state, described);
        }
        steps.push(step(described));
        index += 1;
    })
    .unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(outcome.ending.is_some(), "{label}: the rules ended it");
    let draws = finished.events.iter().any(|event| !event.is_action());
    assert_eq!(Game::has_chance(game), draws, "{label}");
    assert_eq!(outcome.placement, finished.placement, "{label}");
    assert_eq!(outcome.scores, finished.scores, "{label}");
    let mut placement = [0; MAX_SEATS];
    placement[..case.seats].copy_from_slice(&finished.placement);
    let scores = values::of_placement(case.seats, &placement);
    for (score, certain) in scores.into_iter().zip(certain) {
        assert!(
            certain.is_none_or(|reported| reported == score),
            "{label}: {certain:?}"
        );
    }
    assert_eq!(outcome.plies, finished.plies, "{label}");
    assert_eq!(outcome.decisions, finished.decisions, "{label}");
    check_luck(game, &finished, label);
    let resolved = resolve_steps(game, &steps).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!(resolved, finished.events, "{label}: notation names events");

    let again = play_at_random(game, setup(seed));
    assert_eq!(again, finished, "{label}: one seed, one game");
    check_end(game, &finished.events, label);
}

fn step(described: Described<'_>) -> Step {
    if described.event.is_action() {
        Step::Action(described.event.id())
    } else {
        Step::Chance(described.name.to_owned())
    }
}

/// Checks luck: games with chance have it, the events alone give the same values, and they add
/// up to zero.
fn check_luck<G: Game>(game: &G, finished: &Finished, label: &str) {
    let reported = luck(game, &finished.events).expect("what was played can be replayed");
    assert_eq!(reported, finished.luck, "{label}");
    let chances = finished
        .events
        .iter()
        .filter(|event| !event.is_action())
        .count();
    let seats = if chances > 0 { game.seats() } else { 0 };
    assert_eq!(reported.len(), seats, "{label}");
    // A drawn starter alone may have no luck.
    assert!(
        chances < 2 || reported.iter().any(|&luck| luck != 0),
        "{label}: a game with dice and no luck"
    );
    // Values of more than two seats are rounded at every node.
    let rounding = if seats > 2 { chances as i64 + 4 } else { 0 };
    let sum: i64 = reported.iter().map(|&luck| i64::from(luck)).sum();
    assert!(sum.abs() <= rounding, "{label}: {reported:?}");
}

/// Collects values that are certain.
fn note_certain<G: Game>(game: &G, state: &G::State, certain: &mut PerSeat<Option<i64>>) {
    let reported = game.values(state).into_iter().take(game.seats());
    for (certain, value) in certain.iter_mut().zip(reported) {
        if value == 0 || value == values::POINT {
            *certain = Some(value);
        }
    }
}

/// Checks that the last position is encoded like any other and has no successor.
fn check_end<G: Game>(game: &G, events: &[arena_engine::Event], label: &str) {
    let mut state = game.initial();
    for event in events {
        if event.is_action() {
            game.apply(&mut state, event.id());
        } else {
            game.apply_outcome(&mut state, event.id());
        }
    }
    assert!(matches!(game.node(&state), Node::Over(_)), "{label}");
    let placed = values::of_placement(game.seats(), &game.placement(&state));
    assert_eq!(game.values(&state), placed, "{label}: {state:?}");
    check_values(game, &state, label);
    positions::check(game, &state, label);
}

#[test]
fn rulesets_conform_in_random_play() {
    for case in cases() {
        let play = Play {
            case: &case,
            seeds: 2,
        };
        visit(case.ruleset, &case.options, case.seats, play).expect("options are resolved");
    }
}

#[test]
fn resolved_options_resolve_to_themselves() {
    for case in cases() {
        let (again, seats) = resolve(case.ruleset, &case.options, Some(case.seats))
            .unwrap_or_else(|error| panic!("{}: {error}", case.label));
        assert_eq!(
            (&again, seats),
            (&case.options, case.seats),
            "{}",
            case.label
        );
        let info = arena_games::ruleset(case.ruleset).expect("in the list");
        let names: Vec<&str> = info.options.iter().map(|spec| spec.name.as_str()).collect();
        let resolved: Vec<&str> = again.keys().map(String::as_str).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(resolved, sorted, "{}: every option has a value", case.label);
    }
}

#[test]
fn rulesets_are_sorted_with_valid_presets() {
    let names: Vec<&str> = rulesets().iter().map(|info| info.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    for info in rulesets() {
        assert!(info.seats.0 >= 2 && info.seats.0 <= info.seats.1);
        let specs = &info.options;
        for spec in specs {
            arena_engine::options::coerce(spec, &spec.default).expect("a default fits");
        }
        for preset in &info.presets {
            let given: Options = [("preset".to_owned(), preset.name.as_str().into())].into();
            let (resolved, seats) = resolve(info.name, &given, None).expect("a preset fits");
            assert!(preset.seats.is_none_or(|fixed| fixed == seats));
            for (name, value) in &preset.options {
                assert_eq!(&resolved[name], value, "{} {}", info.name, preset.name);
            }
        }
    }
}

/// Damages positions, and checks that the rules do not panic.
struct Damage<'a>(&'a Case);

impl Visitor for Damage<'_> {
    type Out = (u32, u32);

    fn visit<G: Game>(self, game: G) -> (u32, u32) {
        let finished = play_at_random(&game, setup(7));
        let mut stream = Stream::new(&[3; 32]);
        let (mut refused, mut accepted) = (0, 0);
        let mut bytes = Vec::new();
        let every = 1 + finished.events.len() / 40;
        let mut index = 0;
        replay(&game, &finished.events, |state, _| {
            index += 1;
            if index % every != 0 {
                return;
            }
            for _ in 0..20 {
                bytes.clear();
                game.encode(state, stream.below(4) == 0, &mut bytes);
                for _ in 0..=stream.below(3) {
                    damage(&mut bytes, &mut stream);
                }
                match game.decode(&bytes) {
                    Ok(position) => {
                        accepted += 1;
                        positions::check(&game, &position, &self.0.label);
                        play_on(&game, position, &mut stream);
                    }
                    Err(error) => {
                        refused += 1;
                        assert_eq!(error.ruleset, game.name());
                        assert!(!error.reason.is_empty());
                    }
                }
            }
        })
        .expect("what was played can be replayed");
        (refused, accepted)
    }
}

fn damage(bytes: &mut Vec<u8>, stream: &mut Stream) {
    let at = stream.below(bytes.len().max(1) as u32) as usize;
    match stream.below(4) {
        0 if !bytes.is_empty() => bytes[at] = stream.word() as u8,
        1 if !bytes.is_empty() => bytes[at] = bytes[at].wrapping_add(1),
        2 => bytes.truncate(at),
        _ => bytes.insert(at, stream.word() as u8),
    }
}

#[test]
fn damaged_positions_are_refused_or_playable() {
    for case in cases() {
        let (refused, _) =
            visit(case.ruleset, &case.options, case.seats, Damage(&case)).expect("resolved");
        assert!(refused > 0, "{}", case.label);
    }
}
