//! Abapa: test vectors, the model, repetition, caps and ends.

use arena_engine::{Ending, Game, Match, Node, Status, Stream, perft, replay};
use arena_games::oware::{Abapa, Core, Oware, abapa::State};
use arena_wire::games::OwareAbapaPosition;
use prost::Message;

use super::{anywhere, core, lines, model, next, turned};
use crate::support::{game, options, play_at_random, setup};

fn without_history(core: Core) -> State {
    State {
        core,
        seen: Vec::new(),
    }
}

/// The position after playing a pit, as the game plays it.
fn after(game: &Abapa, before: Core, pit: u16) -> State {
    let mut state = without_history(before);
    game.apply(&mut state, pit);
    state
}

#[test]
fn sowings_match_the_rule_file() {
    for line in lines("oware_abapa_vectors.txt") {
        let [words, board, seat, pit, expected, due] = &line[..] else {
            panic!("six fields: {line:?}");
        };
        let game: Abapa = game(words, 2);
        let before = core(board, seat.parse().expect("a seat"));
        let pit = pit.parse().expect("a pit");
        let expected = core(expected, 0);
        for (before, expected, node) in [
            (before, expected, next(due)[0]),
            (turned(&before), turned(&expected), next(due)[1]),
        ] {
            let state = after(&game, before, pit);
            assert_eq!(state.core.pits, expected.pits, "{line:?}");
            assert_eq!(state.core.score, expected.score, "{line:?}");
            assert_eq!(game.node(&state), node, "{line:?}");

            let mut alone = before;
            game.play(&mut alone, pit);
            assert_eq!(alone, state.core, "{line:?}: a core plays the same");
        }
    }
}

#[test]
fn legal_pits_match_the_rules() {
    for line in lines("oware_abapa_legal.txt") {
        let [words, board, seat, pits] = &line[..] else {
            panic!("four fields: {line:?}");
        };
        let game: Abapa = game(words, 2);
        let position = core(board, seat.parse().expect("a seat"));
        let expected: Vec<u16> = pits
            .split_whitespace()
            .map(|pit| pit.parse().expect("a pit"))
            .collect();
        let mut legal = Vec::new();
        for position in [position, turned(&position)] {
            game.legal(&without_history(position), &mut legal);
            assert_eq!(legal, expected, "{line:?}");
        }
    }
}

#[test]
fn sowings_match_a_model_without_tables() {
    let mut stream = Stream::new(&[1; 32]);
    for (words, skip_origin, allow_slam, must_feed) in [
        ("", true, false, true),
        ("grand_slam=allow", true, true, true),
        ("skip_origin=false must_feed=false", false, false, false),
    ] {
        let game: Abapa = game(words, 2);
        for _ in 0..20_000 {
            let before = anywhere(&mut stream);
            let mut legal = Vec::new();
            game.legal(&without_history(before), &mut legal);
            assert_eq!(legal, model::abapa_legal(&before, must_feed), "{before:?}");
            for pit in legal {
                let (mut found, mut expected) = (before, before);
                let sown = game.sow(&mut found, usize::from(pit));
                model::abapa_sow(&mut expected, usize::from(pit), skip_origin, allow_slam);
                assert_eq!(found, expected, "{words}: {pit} of {before:?}");
                let mover = usize::from(before.to_move);
                assert_eq!(sown.banked[1 - mover], 0);
                assert_eq!(sown.banked[mover], found.score[mover] - before.score[mover]);
                let emptied = |pit: &usize| sown.pits[mover] >> pit & 1 == 1;
                assert!((0..12).filter(emptied).all(|pit| found.pits[pit] == 0));
                assert!((0..12).filter(emptied).all(|pit| pit / 6 != mover));
            }
        }
    }
}

/// Number of paths from a position in the model, which has no end of a game.
fn paths(core: &Core, depth: u32, allow_slam: bool) -> u64 {
    if depth == 0 {
        return 1;
    }
    let legal = model::abapa_legal(core, true);
    let after = legal.into_iter().map(|pit| {
        let mut after = *core;
        model::abapa_sow(&mut after, usize::from(pit), true, allow_slam);
        after.to_move = 1 - after.to_move;
        paths(&after, depth - 1, allow_slam)
    });
    after.sum()
}

#[test]
fn perft_equals_the_model() {
    let start = core("4 4 4 4 4 4 0 | 4 4 4 4 4 4 0", 0);
    for (words, allow_slam) in [("", false), ("preset=paper002", true)] {
        let game: Abapa = game(words, 2);
        for depth in 1..=6 {
            let found = perft(&game, &without_history(start), depth);
            assert_eq!(found, paths(&start, depth, allow_slam), "{words}: {depth}");
        }
    }
}

#[test]
fn repetition_ends_with_own_rows() {
    let start = core("1 0 0 0 0 0 23 | 1 0 0 0 0 0 23", 0);
    for words in ["", "remaining=none"] {
        let game: Abapa = game(words, 2);
        for start in [start, turned(&start)] {
            let mut state = without_history(start);
            let mut plies = 0;
            let mut legal = Vec::new();
            while let Node::Decision(_) = game.node(&state) {
                game.legal(&state, &mut legal);
                let [only] = legal[..] else {
                    panic!("one seed, one pit: {state:?}");
                };
                game.apply(&mut state, only);
                plies += 1;
            }
            assert_eq!(plies, 12);
            assert_eq!(game.node(&state), Node::Over(Ending::Repetition));
            assert_eq!(state.core.score, [24, 24]);
            assert_eq!(game.placement(&state)[..2], [1, 1]);
        }
    }
}

#[test]
fn repetition_needs_only_the_encoded_past() {
    let game: Abapa = game("", 2);
    let mut state = without_history(core("1 0 0 0 0 0 23 | 1 0 0 0 0 0 23", 0));
    let mut bytes = Vec::new();
    for pit in 0..6 {
        for _ in 0..2 {
            assert!(!state.core.is_over());
            bytes.clear();
            game.encode(&state, false, &mut bytes);
            state = game.decode(&bytes).expect("an encoded position");
            game.apply(&mut state, pit);
        }
    }
    assert_eq!(game.node(&state), Node::Over(Ending::Repetition));
}

#[test]
fn split_past_is_read_whole() {
    let game: Abapa = game("", 2);
    let mut state = without_history(core("1 0 0 0 0 0 23 | 1 0 0 0 0 0 23", 0));
    game.apply(&mut state, 0);
    game.apply(&mut state, 0);
    let mut bytes = Vec::new();
    game.encode(&state, false, &mut bytes);
    let seen = bytes.split_off(bytes.len() - 24);
    assert_eq!(bytes.split_off(bytes.len() - 2), [7 << 3 | 2, 24]);
    for piece in [&seen[..5], &seen[5..]] {
        bytes.extend([7 << 3 | 2, piece.len() as u8]);
        bytes.extend(piece);
    }
    assert_eq!(game.decode(&bytes), Ok(state));
}

#[test]
fn board_in_its_own_past_is_refused() {
    let game: Abapa = game("", 2);
    let position = core("1 0 0 0 0 0 23 | 1 0 0 0 0 0 23", 0);
    let mut state = State {
        core: Core {
            since_capture: 2,
            plies: 2,
            ..position
        },
        seen: vec![[0; 12], [0; 12]],
    };
    let mut reported = |seen: [u8; 12]| {
        state.seen[0] = seen;
        state.seen[1] = core("0 1 0 0 0 0 0 | 1 0 0 0 0 0 0", 0).pits;
        let mut bytes = Vec::new();
        game.encode(&state, false, &mut bytes);
        game.decode(&bytes).map_err(|error| error.reason)
    };
    assert!(reported(core("0 0 1 0 0 0 0 | 1 0 0 0 0 0 0", 0).pits).is_ok());
    let back = reported(position.pits).expect_err("it came back");
    assert_eq!(back, "phase contradicts the other fields");
    let fewer = reported(core("0 0 1 0 0 0 0 | 0 0 0 0 0 0 0", 0).pits).expect_err("seeds");
    assert_eq!(fewer, "a board in seen has another number of seeds");
}

#[test]
fn hundred_quiet_plies_end_the_game() {
    for (words, expected) in [
        ("repetition=off", Some(100)),
        ("repetition=off no_capture_limit=30", Some(30)),
        ("no_capture_limit=7", Some(7)),
        ("repetition=off no_capture_limit=0 max_plies=400", None),
    ] {
        let game: Abapa = game(words, 2);
        let mut state = without_history(core("1 0 0 0 0 0 23 | 1 0 0 0 0 0 23", 0));
        let mut legal = Vec::new();
        while let Node::Decision(_) = game.node(&state) {
            game.legal(&state, &mut legal);
            game.apply(&mut state, legal[0]);
        }
        assert_eq!(game.node(&state), Node::Over(Ending::Cap), "{words}");
        assert_eq!(state.core.score, [24, 24], "{words}: own rows are swept");
        assert_eq!(state.core.plies, expected.unwrap_or(400), "{words}");
    }
}

#[test]
fn cap_ends_long_games() {
    let game: Abapa = game("max_plies=5", 2);
    let finished = play_at_random(&game, setup(1));
    assert_eq!(finished.plies, 5);
    assert_eq!(finished.termination, Ending::Cap.into());
    assert_eq!(
        finished.scores.iter().sum::<i64>(),
        48,
        "own rows are swept"
    );
}

#[test]
fn game_and_the_same_turned_round_are_one() {
    for words in [
        "",
        "preset=paper002",
        "grand_slam=illegal",
        "grand_slam=opponent-keeps",
    ] {
        let game: Abapa = game(words, 2);
        for seed in 0..50 {
            let finished = play_at_random(&game, setup(seed));
            let mut other = without_history(turned(&game.initial().core));
            let (mut legal, mut turned_legal) = (Vec::new(), Vec::new());
            replay(&game, &finished.events, |state, described| {
                assert_eq!(turned(&state.core), other.core, "{words} {seed}");
                game.legal(state, &mut legal);
                game.legal(&other, &mut turned_legal);
                assert_eq!(legal, turned_legal, "{words} {seed}");
                game.apply(&mut other, described.event.id());
            })
            .expect("what was played can be replayed");
            let placement: Vec<u8> = finished.placement.iter().rev().copied().collect();
            assert_eq!(game.placement(&other)[..2], placement, "{words} {seed}");
        }
    }
}

#[test]
fn drawn_starter_belongs_to_no_seat() {
    let game: Abapa = game("starter=random", 2);
    let mut starts = [0; 2];
    for seed in 0..40 {
        let play = Match::new(game.clone(), setup(seed));
        assert!(!play.events()[0].is_action());
        let Status::Asks(question) = play.status() else {
            panic!("one seat begins");
        };
        starts[usize::from(question.seat)] += 1;
        assert_eq!(play.state().core.to_move, question.seat);
    }
    assert!(starts[0] > 5 && starts[1] > 5, "{starts:?}");
    let mut name = String::new();
    game.write_outcome(&game.initial(), 1, &mut name);
    assert_eq!(name, "seat1");
}

#[test]
fn dependent_options_can_be_overridden() {
    for (words, limit) in [
        ("", 0),
        ("repetition=off", 100),
        ("preset=stateless", 100),
        ("repetition=off no_capture_limit=0", 0),
        ("no_capture_limit=9", 9),
    ] {
        let (resolved, _) =
            arena_games::resolve("oware-abapa", &options(words), None).expect("options fit");
        assert_eq!(
            resolved["no_capture_limit"],
            i64::from(limit).into(),
            "{words}"
        );
    }
}

#[test]
fn moves_show_captures() {
    let game: Abapa = game("grand_slam=opponent-keeps", 2);
    let state = without_history(core("1 0 0 0 0 2 10 | 1 2 0 0 0 0 32", 0));
    let mut bytes = Vec::new();
    game.encode(&state, true, &mut bytes);
    let message = OwareAbapaPosition::decode(&bytes[..]).expect("a message");
    let reported: Vec<_> = message
        .moves
        .iter()
        .map(|sown| (sown.pit, sown.seeds, sown.captured, sown.last, sown.given))
        .collect();
    assert_eq!(reported, [(0, 1, 0, 1, 0), (5, 2, 5, 7, 1)]);
}

#[test]
fn board_is_drawn_from_seat_0s_side() {
    let game: Abapa = game("", 2);
    let mut drawn = String::new();
    let state = without_history(core("1 2 3 4 5 6 7 | 8 9 10 11 0 13 14", 1));
    game.draw(&state, &mut drawn);
    let expected = [
        "                  (5) (4) (3) (2) (1) (0)",
        "> seat 1 North     13   0  11  10   9   8   banked 14",
        "  seat 0 South      1   2   3   4   5   6   banked 7",
        "                  (0) (1) (2) (3) (4) (5)",
        "",
    ];
    assert_eq!(drawn, expected.join("\n"), "\n{drawn}");
}
