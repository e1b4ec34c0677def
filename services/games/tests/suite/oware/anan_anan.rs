//! Anan-anan: test vectors, the model, endless sowings, passes and ends.

use arena_engine::{Ending, Event, Game, Match, Node, Setup, Status, Stream, perft, replay};
use arena_games::oware::{AnanAnan, Core, Oware, Phase, anan_anan::PASS};
use arena_wire::games::OwareAnanAnanPosition;
use prost::Message;

use super::{
    anywhere, core, lines,
    model::{self, Relay, RelayRules},
    next, turned,
};
use crate::support::{game, options, play_at_random, setup};

/// A position in which sowing from pit 2 of seat 0 never ends.
const ENDLESS: &str = "0 1 2 0 2 1 0 | 0 1 0 1 0 1 0";

#[test]
fn sowings_match_the_rule_file() {
    for line in lines("oware_anan_anan_vectors.txt") {
        let [words, board, seat, pit, lifts, expected, due] = &line[..] else {
            panic!("seven fields: {line:?}");
        };
        let game: AnanAnan = game(words, 2);
        let before = core(board, seat.parse().expect("a seat"));
        let pit = pit.parse().expect("a pit");
        for (before, node, is_turned) in [
            (before, next(due)[0], false),
            (turned(&before), next(due)[1], true),
        ] {
            let mut after = before;
            let sown = game.play(&mut after, pit);
            if expected != "any" {
                let expected = core(expected, 0);
                let expected = if is_turned {
                    turned(&expected)
                } else {
                    expected
                };
                assert_eq!(after.pits, expected.pits, "{line:?}");
                assert_eq!(after.score, expected.score, "{line:?}");
            }
            if lifts != "any" {
                assert_eq!(sown.lifts.to_string(), *lifts, "{line:?}");
            }
            assert_eq!(game.node(&after), node, "{line:?}");
        }
    }
}

#[test]
fn relays_equal_the_model() {
    let mut stream = Stream::new(&[2; 32]);
    let mut ends = [0; 4];
    for set in 0..16 {
        let has = |bit: u32| set >> bit & 1 == 1;
        let rules = RelayRules {
            skip_origin: has(0),
            last_four_to_mover: has(1),
            checks_at_once: has(2),
            last_eight: has(3),
        };
        let words = format!(
            "infinite=stop-turn skip_origin={} last_four_to={} check={} remaining={}",
            rules.skip_origin,
            if rules.last_four_to_mover {
                "mover"
            } else {
                "owner"
            },
            if rules.checks_at_once {
                "immediate"
            } else {
                "turn-end"
            },
            if rules.last_eight {
                "last-eight"
            } else {
                "none"
            },
        );
        let game: AnanAnan = game(&words, 2);
        for _ in 0..3_000 {
            let before = anywhere(&mut stream);
            if rules.last_eight && before.left() <= 8 {
                continue;
            }
            for offset in 0..6 {
                if before.row(usize::from(before.to_move))[offset] == 0 {
                    continue;
                }
                let end = check_relay(&game, &before, offset, rules);
                ends[end as usize] += 1;
            }
        }
    }
    let [stopped, _, won, ran_out] = ends;
    assert!(stopped.min(won).min(ran_out) > 200, "each way: {ends:?}");
}

/// Sows with the game and with the model; returns how the sowing ended.
fn check_relay(game: &AnanAnan, before: &Core, offset: usize, rules: RelayRules) -> Relay {
    let (mut found, mut expected) = (*before, *before);
    let sown = game.sow(&mut found, offset);
    let end = model::anan_anan_sow(&mut expected, offset, rules);
    let what = format!("{rules:?}: {offset} of {before:?}");
    assert_eq!(found.pits, expected.pits, "{what}");
    assert_eq!(found.score, expected.score, "{what}");
    assert_eq!(sown.endless, end == Relay::Endless, "{what}");
    let over = matches!(end, Relay::Won | Relay::RanOut);
    assert_eq!(found.is_over(), over, "{what}");
    end
}

/// Number of paths from a position in the model; a finished game counts as one.
fn paths(core: &Core, depth: u32, rules: RelayRules) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mover = usize::from(core.to_move);
    let pits = (0..6).filter(|offset| core.pits[6 * mover + offset] > 0);
    let after = pits.map(|offset| {
        let mut after = *core;
        match model::anan_anan_sow(&mut after, offset, rules) {
            Relay::Stopped => {
                after.to_move = 1 - after.to_move;
                paths(&after, depth - 1, rules)
            }
            Relay::Won | Relay::RanOut => 1,
            Relay::Endless => panic!("so soon: {core:?}"),
        }
    });
    let all: u64 = after.sum();
    assert_ne!(all, 0, "nothing to play so soon: {core:?}");
    all
}

#[test]
fn perft_equals_the_model() {
    let start = core("4 4 4 4 4 4 0 | 4 4 4 4 4 4 0", 0);
    let game: AnanAnan = game("", 2);
    let rules = RelayRules {
        skip_origin: false,
        last_four_to_mover: true,
        checks_at_once: true,
        last_eight: true,
    };
    assert_eq!(game.initial(), start);
    for depth in 1..=5 {
        let found = perft(&game, &start, depth);
        assert_eq!(found, paths(&start, depth, rules), "{depth}");
    }
}

#[test]
fn endless_boards_of_nine_seeds_are_found() {
    let game: AnanAnan = game("infinite=stop-turn remaining=none", 2);
    let rules = RelayRules {
        skip_origin: false,
        last_four_to_mover: true,
        checks_at_once: true,
        last_eight: false,
    };
    let (mut boards, mut endless) = (0, 0);
    let mut before = core("0 0 0 0 0 0 0 | 0 0 0 0 0 0 0", 0);
    each_board(&mut before, 0, 9, &mut |before| {
        boards += 1;
        for offset in (0..6).filter(|&offset| before.pits[offset] > 0) {
            let end = check_relay(&game, before, offset, rules);
            endless += u32::from(end == Relay::Endless);
        }
    });
    // Ways to lay 9 seeds into 12 pits.
    assert_eq!(boards, 167_960);
    assert_eq!(endless, 36);
}

/// Visits every way to place seeds into this pit and the later ones.
fn each_board(core: &mut Core, pit: usize, seeds: u8, show: &mut impl FnMut(&Core)) {
    if pit == 11 {
        core.pits[pit] = seeds;
        return show(core);
    }
    for here in 0..=seeds {
        core.pits[pit] = here;
        each_board(core, pit + 1, seeds - here, show);
    }
}

#[test]
fn endless_sowing_follows_the_option() {
    let before = core(ENDLESS, 0);
    let mut legal = Vec::new();
    for (words, node, pits) in [
        ("", Node::Over(Ending::Normal), &[1, 2, 4, 5][..]),
        ("infinite=stop-turn", Node::Decision(1), &[1, 2, 4, 5]),
        ("infinite=illegal", Node::Decision(1), &[1, 4, 5]),
    ] {
        let game: AnanAnan = game(words, 2);
        game.legal(&before, &mut legal);
        assert_eq!(legal, pits, "{words}");
        let mut after = before;
        let sown = game.play(&mut after, 2);
        assert!(sown.endless, "{words}");
        assert_eq!(game.node(&after), node, "{words}");
        assert_eq!(
            after.pits, before.pits,
            "{words}: it comes round to the start"
        );
    }
}

#[test]
fn endless_game_counts_banked_seeds_only() {
    let game: AnanAnan = game("", 2);
    for (scores, expected) in [([8, 4], [1, 2]), ([4, 8], [2, 1]), ([8, 8], [1, 1])] {
        let mut state = Core {
            score: scores,
            ..core(ENDLESS, 0)
        };
        game.apply(&mut state, 2);
        assert_eq!(state.score, scores);
        assert_eq!(game.placement(&state)[..2], expected);
    }
}

#[test]
fn two_passes_end_the_game() {
    let game: AnanAnan = game("remaining=none", 2);
    let mut state = core("0 0 0 0 0 0 20 | 0 0 0 0 0 0 28", 0);
    let mut legal = Vec::new();
    for passed in [false, true] {
        assert_eq!(state.passed, passed);
        game.legal(&state, &mut legal);
        assert_eq!(legal, [PASS]);
        assert_eq!(game.legal_mask(&state), 1 << PASS);
        game.apply(&mut state, PASS);
    }
    assert_eq!(game.node(&state), Node::Over(Ending::Normal));
    assert_eq!(state.plies, 2, "a pass is a ply");

    let mut state = core("0 0 0 0 0 0 22 | 0 0 0 0 0 2 24", 0);
    game.apply(&mut state, PASS);
    game.apply(&mut state, 5);
    assert_eq!(game.node(&state), Node::Decision(0));
    assert!(!state.passed, "a sowing lies between");
}

#[test]
fn pass_is_never_asked() {
    let game: AnanAnan = game("remaining=none infinite=illegal", 2);
    let mut passes = 0;
    for seed in 0..200 {
        let ask_forced = Setup {
            ask_forced: true,
            ..setup(seed)
        };
        let mut play = Match::new(game.clone(), ask_forced);
        while let Status::Asks(question) = play.status() {
            assert!(!play.legal().contains(&PASS));
            let action = play.legal()[question.seed as usize % play.legal().len()];
            play.answer(action.into()).expect("a legal action");
        }
        let pass = Event::action(PASS);
        passes += play.events().iter().filter(|&&event| event == pass).count();
    }
    assert!(passes > 20, "{passes}");
}

#[test]
fn cap_ends_the_game_and_more_seeds_win() {
    for (words, plies) in [
        ("max_plies=1", 1),
        ("remaining=none no_capture_limit=3", 3),
        ("no_capture_limit=3", 3),
    ] {
        let game: AnanAnan = game(words, 2);
        let mut state = core("1 0 1 0 1 0 12 | 1 0 1 0 1 0 16", 0);
        let mut legal = Vec::new();
        while let Node::Decision(_) = game.node(&state) {
            game.legal(&state, &mut legal);
            game.apply(&mut state, legal[0]);
        }
        assert_eq!(game.node(&state), Node::Over(Ending::Cap), "{words}");
        assert_eq!(state.plies, plies, "{words}");
        assert_eq!(state.score, [12, 16], "{words}");
        assert_eq!(game.placement(&state)[..2], [2, 1], "{words}");
    }
}

#[test]
fn game_and_the_same_turned_round_are_one() {
    for words in [
        "",
        "preset=literal",
        "preset=framework",
        "infinite=illegal empty_row=end",
    ] {
        let game: AnanAnan = game(words, 2);
        for seed in 0..100 {
            let finished = play_at_random(&game, setup(seed));
            let mut other = turned(&game.initial());
            let (mut legal, mut turned_legal) = (Vec::new(), Vec::new());
            replay(&game, &finished.events, |state, described| {
                assert_eq!(turned(state), other, "{words} {seed}");
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
fn drawn_starter_begins() {
    let game: AnanAnan = game("starter=random", 2);
    assert_eq!(game.initial().phase, Phase::Start);
    for seat in 0..2 {
        let mut state = game.initial();
        game.apply_outcome(&mut state, seat.into());
        assert_eq!(game.node(&state), Node::Decision(seat));
    }
}

#[test]
fn dependent_options_can_be_overridden() {
    for (words, limit) in [
        ("", 0),
        ("remaining=none", 100),
        ("preset=framework", 200),
        ("remaining=none no_capture_limit=200", 200),
    ] {
        let (resolved, _) =
            arena_games::resolve("oware-anan-anan", &options(words), None).expect("options fit");
        assert_eq!(
            resolved["no_capture_limit"],
            i64::from(limit).into(),
            "{words}"
        );
    }
}

#[test]
fn moves_show_banked_seeds() {
    let game: AnanAnan = game("remaining=none", 2);
    let mut bytes = Vec::new();
    let reported = |bytes: &[u8]| -> Vec<_> {
        let message = OwareAnanAnanPosition::decode(bytes).expect("a message");
        let reported = message.moves.iter().map(|sown| {
            let banks = (sown.banked, sown.given);
            (
                sown.id,
                sown.seeds,
                banks,
                sown.last,
                sown.lifts,
                sown.endless,
            )
        });
        reported.collect()
    };
    game.encode(
        &core("0 0 0 0 3 3 20 | 3 3 0 0 0 0 16", 0),
        true,
        &mut bytes,
    );
    assert_eq!(
        reported(&bytes),
        [(4, 3, (8, 4), 7, 1, false), (5, 3, (0, 8), 8, 1, false),]
    );
    bytes.clear();
    game.encode(
        &core("0 0 0 0 0 0 20 | 3 3 0 0 0 0 22", 0),
        true,
        &mut bytes,
    );
    assert_eq!(reported(&bytes), [(6, 0, (0, 0), 0, 0, false)]);
}
