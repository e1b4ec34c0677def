//! Properties of every node of every game, including positions read from bytes.

use std::collections::BTreeSet;

use arena_engine::{Game, Node, Stream, values};

use crate::{cases::Case, positions};

/// Checks ranks: they start at 1, and a tie shares a rank and skips the next.
pub(crate) fn check_placement(placement: &[u8], case: &Case) {
    assert_eq!(placement.len(), case.seats, "{}", case.label);
    for &rank in placement {
        let ahead = placement.iter().filter(|&&other| other < rank).count();
        assert_eq!(
            usize::from(rank),
            ahead + 1,
            "{}: {placement:?}",
            case.label
        );
    }
}

/// Checks a node.
pub(crate) fn check_node<G: Game>(game: &G, state: &G::State, label: &str) {
    match game.node(state) {
        Node::Decision(seat) => {
            assert!(usize::from(seat) < game.seats(), "{label}");
            let mut legal = vec![9999];
            game.legal(state, &mut legal);
            assert!(!legal.is_empty(), "{label}: a pass at least");
            assert!(legal.is_sorted_by(|a, b| a < b), "{label}: ascending");
            assert!(legal.iter().all(|&id| id < 32_768), "{label}: ids in range");
            let passes = game.pass().is_some_and(|pass| legal.contains(&pass));
            assert!(!passes || legal.len() == 1, "{label}: a pass only alone");
            let name = |id| {
                let mut name = String::new();
                game.write_action(state, id, &mut name);
                name
            };
            check_names(legal.iter().map(|&id| name(id)), label);
            for &id in [legal.first(), legal.last()].into_iter().flatten() {
                let found = game.find_action(state, &name(id));
                assert_eq!(found, Some(id), "{label}: {}", name(id));
            }
            assert_eq!(game.find_action(state, "no move"), None, "{label}");
        }
        Node::Chance(owner) => {
            assert!(owner.is_none_or(|seat| usize::from(seat) < game.seats()));
            let weights = game.weights(state);
            let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
            assert!(sum > 0 && u32::try_from(sum).is_ok(), "{label}");
            assert!(weights.len() < 32_768, "{label}");
            let name = |id| {
                let mut name = String::new();
                game.write_outcome(state, id, &mut name);
                name
            };
            check_names((0..weights.len() as u16).map(name), label);
            check_chances(game, state, label);
        }
        Node::Over(_) => panic!("{label}: over before its last event"),
    }
    check_values(game, state, label);
    positions::check(game, state, label);
    let mut board = String::new();
    game.draw(state, &mut board);
    assert!(
        board.lines().count() > 1 && board.is_ascii(),
        "{label}:\n{board}"
    );
    assert!(board.ends_with('\n'), "{label}:\n{board}");
}

/// Checks that values add up to half a point for each seat.
pub(crate) fn check_values<G: Game>(game: &G, state: &G::State, label: &str) {
    let seats = game.seats();
    let reported = game.values(state);
    let sum: i64 = reported[..seats].iter().sum();
    let rounding = i64::from(seats > 2);
    let off = (sum - values::POINT * seats as i64 / 2).abs();
    assert!(off <= rounding, "{label}: {reported:?} in {state:?}");
    let in_range = |value| (0..=values::POINT).contains(value);
    assert!(
        reported[..seats].iter().all(in_range),
        "{label}: {reported:?} in {state:?}"
    );
}

/// Checks that every chance outcome has a valid value for each seat.
fn check_chances<G: Game>(game: &G, state: &G::State, label: &str) {
    let seats = game.seats();
    let mut reported = vec![7];
    game.chance_values(state, &mut reported);
    let outcomes = game.weights(state).len();
    assert_eq!(reported.len(), 1 + outcomes * seats, "{label}");
    for reported in reported[1..].chunks_exact(seats) {
        let sum: i64 = reported.iter().sum();
        let off = (sum - values::POINT * seats as i64 / 2).abs();
        assert!(
            off <= i64::from(seats > 2),
            "{label}: {reported:?} in {state:?}"
        );
        let in_range = |value| (0..=values::POINT).contains(value);
        assert!(
            reported.iter().all(in_range),
            "{label}: {reported:?} in {state:?}"
        );
    }
}

/// Checks that names are short ASCII without spaces or quotes, and unique.
fn check_names(names: impl Iterator<Item = String>, label: &str) {
    let mut seen = BTreeSet::new();
    for name in names {
        let plain = name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"\"'\\".contains(&byte));
        assert!(plain && (1..=12).contains(&name.len()), "{label}: {name:?}");
        assert!(seen.insert(name.clone()), "{label}: {name} twice");
    }
}

/// Plays random events from a position that `decode` accepted.
pub(crate) fn play_on<G: Game>(game: &G, mut state: G::State, stream: &mut Stream) {
    let mut legal = Vec::new();
    for _ in 0..100 {
        match game.node(&state) {
            Node::Over(_) => break,
            Node::Chance(_) => {
                let outcome = stream.weighted(game.weights(&state));
                game.apply_outcome(&mut state, outcome as u16);
            }
            Node::Decision(_) => {
                game.legal(&state, &mut legal);
                let action = legal[stream.below(legal.len() as u32) as usize];
                game.apply(&mut state, action);
            }
        }
        let _ = (game.placement(&state), game.scores(&state));
        check_values(game, &state, "after damage");
        game.draw(&state, &mut String::new());
    }
}
