//! Bytes as games. An input is the number of a table, six bytes of setup and of fault injection,
//! then the actions of the agents.

use arena_engine::{
    AgentRng, Event, FaultKind, FaultPolicy, Finished, Game, GameKeys, Match, Setup, Status, Step,
    Stream, Termination, luck, options::Value, replay, resolve_steps,
};

use crate::{bytes::Bytes, cases::Case, nodes, rules, tables};

/// A game follows its rules whatever agents answer: illegal actions are refused and change nothing,
/// the game ends within its cap, every event changes only what it may, and a replay of the events
/// gives the same game.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes(data);
    let table = tables::at(bytes.short());
    table.play(bytes);
}

/// The reaction to a question.
enum Deed {
    /// A legal answer, by its index.
    Legal(u8),
    /// Any answer.
    Any(u32),
    /// A fault.
    Fault(FaultKind),
    /// The end of the game as void.
    Void,
}

impl Deed {
    fn read(first: u8, bytes: &mut Bytes<'_>) -> Self {
        match first {
            0..0xe0 => Self::Legal(first),
            0xe0..0xf0 => Self::Any(bytes.byte().into()),
            0xf0..0xf8 => Self::Any(bytes.word()),
            0xf8..0xff => Self::Fault(FaultKind::ALL[usize::from(first - 0xf8)]),
            0xff => Self::Void,
        }
    }
}

pub(crate) fn play<G: Game>(game: &G, case: &Case, mut bytes: Bytes<'_>) {
    let (flags, seed) = (bytes.byte(), bytes.byte());
    let (place, bits) = (bytes.short(), bytes.short());
    let keys = GameKeys::drawn(&mut AgentRng::new(seed.into()));
    let opening = arena_engine::Opening::Drawn(u32::from(flags & 7));
    let setup = Setup {
        on_fault: if flags & 8 == 0 {
            FaultPolicy::Forfeit
        } else {
            FaultPolicy::RandomMove
        },
        ask_forced: flags & 16 != 0,
        ..Setup::new(keys, opening)
    };
    // Whole games are long: most inputs stop at the end of their bytes.
    let to_the_end = flags >= 0xe0;
    let mut further = Stream::new(&[seed; 32]);
    let mut play = Match::new(game.clone(), setup);
    while let Status::Asks(_) = play.status() {
        let deed = match bytes.next() {
            Some(first) => Deed::read(first, &mut bytes),
            None if to_the_end => Deed::Legal(further.word() as u8),
            None => Deed::Void,
        };
        match deed {
            Deed::Legal(place) => {
                let legal = play.legal();
                let action = legal[usize::from(place) % legal.len()];
                play.answer(action.into()).expect("a legal action");
            }
            Deed::Any(action) => answer(&mut play, action),
            Deed::Fault(kind) => play.fault(kind),
            Deed::Void => play.void(),
        }
    }
    let finished = play.finish();
    check_cap(&finished, case);
    check_replay(game, case, &finished, seed);
    check_changed(game, &finished.events, usize::from(place), bits);
}

/// Answers with any number.
fn answer<G: Game>(play: &mut Match<G>, action: u32) {
    let legal = play.legal().to_vec();
    if legal.iter().any(|&id| u32::from(id) == action) {
        return play.answer(action).expect("a legal action");
    }
    let (state, status) = (play.state().clone(), play.status());
    let events = play.events().to_vec();
    let refused = play.answer(action).expect_err("an illegal action");
    assert_eq!(refused.action, action);
    assert_eq!(play.state(), &state, "an illegal action changes nothing");
    assert_eq!(play.status(), status);
    assert_eq!(play.legal(), legal);
    assert_eq!(play.events(), events);
}

/// No game is longer than its options allow.
fn check_cap(finished: &Finished, case: &Case) {
    let cap = |name: &str| match case.options.get(name) {
        Some(&Value::Int(most)) => usize::try_from(most).ok(),
        _ => None,
    };
    let label = &case.label;
    let plies = finished.plies as usize;
    let chances = finished.events.len() - plies;
    if let Some(most) = cap("max_plies") {
        assert!(plies <= most, "{label}: {plies} plies");
    }
    if let Some(most) = cap("max_throws").or(cap("max_rolls")) {
        // One more event may have drawn the starter.
        assert!(chances <= most + 1, "{label}: {chances} throws");
        // At most one event for each throw, and a pass for each turn.
        assert!(plies <= 2 * chances, "{label}: {plies} plies");
    }
}

/// The events alone give the same game. Checking all nodes would take most of an input's time, so
/// only some are checked, depending on the seed.
fn check_replay<G: Game>(game: &G, case: &Case, finished: &Finished, seed: u8) {
    let label = &case.label;
    let mut next = usize::from(seed % 4);
    let mut steps = Vec::with_capacity(finished.events.len());
    let outcome = replay(game, &finished.events, |state, described| {
        if steps.len() == next {
            next += 4 + next / 8;
            nodes::check_node(game, state, label);
            rules::check_event(game, case, state, described);
        }
        steps.push(if described.event.is_action() {
            Step::Action(described.event.id())
        } else {
            Step::Chance(described.name.to_owned())
        });
    })
    .unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!(outcome.plies, finished.plies, "{label}");
    assert_eq!(outcome.decisions, finished.decisions, "{label}");
    assert_eq!(outcome.scores, finished.scores, "{label}");
    if steps.len() < 500 {
        let resolved = resolve_steps(game, &steps);
        assert_eq!(resolved.as_ref(), Ok(&finished.events), "{label}");
    }
    let reported = luck(game, &finished.events);
    assert_eq!(reported.as_ref(), Ok(&finished.luck), "{label}");
    match finished.termination {
        Termination::Void => assert!(finished.placement.is_empty(), "{label}"),
        Termination::Forfeit => nodes::check_placement(&finished.placement, case),
        by_rules => {
            assert_eq!(
                outcome.ending.map(Termination::from),
                Some(by_rules),
                "{label}"
            );
            assert_eq!(outcome.placement, finished.placement, "{label}");
            nodes::check_placement(&finished.placement, case);
        }
    }
}

/// One event is changed, at any place or after the last. The replay refuses it by its number, or
/// gives another game.
fn check_changed<G: Game>(game: &G, events: &[Event], place: usize, bits: u16) {
    let place = place % (events.len() + 1);
    let mut events = events.to_vec();
    events.truncate(place + 1);
    events.resize(place + 1, Event::from_bits(0));
    events[place] = Event::from_bits(bits);
    let mut seen = 0;
    match replay(game, &events, |_, _| seen += 1) {
        Ok(outcome) => {
            assert_eq!(seen, events.len());
            assert!(outcome.plies as usize <= seen);
        }
        Err(error) => {
            assert_eq!(seen, place);
            assert!(error.to_string().starts_with(&format!("event {place}: ")));
        }
    }
}

/// For each table: a game that ends early as void, one with faults and illegal answers, and one to
/// the end.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut rng = AgentRng::new(2);
    let mut seeds = Vec::new();
    for number in 0..tables::count() {
        for (flags, faults) in [(0, false), (0x1a, true), (0xe8, false)] {
            let mut seed = number.to_le_bytes().to_vec();
            let setup = rng.word().to_le_bytes();
            seed.extend([&[flags], &setup[..5]].concat());
            let deeds = (0..48).map(|_| rng.word() as u8);
            seed.extend(deeds.map(|deed| if faults { deed } else { deed & 0x7f }));
            seeds.push(seed);
        }
    }
    seeds
}
