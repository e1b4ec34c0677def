//! Features, values and choices computed by hand.

use arena_games::Cowry;

use super::{decide, position, rows};
use crate::{
    catalogue::bot,
    chowka::{
        heuristic::{Features, PARTS},
        position::{Ground, Position},
        worths,
    },
    tests::{game, options},
};

/// `value:piece`.
fn step(text: &str) -> (u8, usize) {
    let (value, piece) = text.split_once(':').expect("value:piece");
    (
        value.parse().expect("a value"),
        piece.parse().expect("a piece"),
    )
}

/// Numerator and denominator.
fn fraction(text: &str) -> (i64, i64) {
    let (over, under) = text.split_once('/').expect("a fraction");
    (
        over.parse().expect("a number"),
        under.parse().expect("a number"),
    )
}

#[test]
fn features_match_the_paper() {
    let game: Cowry = game("preset=cb2012", 2);
    let ground = Ground::new(&game);
    for row in rows(include_str!("../../../data/chowka_features.txt")) {
        let [own, other, played, features @ ..] = &row[..] else {
            panic!("three fields and the features in {row:?}");
        };
        let (value, piece) = step(played);
        let state = position(&game, [own, other], &[value]);
        let position = Position::read(&ground, &state, 0);
        let to = state.pieces[0][piece] + value;
        let landing = position.view(&ground).landing(to, false);
        let found = Features::of(landing, game.is_safe(to));
        let found = [
            found.hits,
            found.safe,
            found.doubles,
            found.to_goal,
            found.to_safety,
            position.own.left(&ground).into(),
            found.distance,
            found.reach,
        ];
        assert_eq!(
            found.map(|number| number.to_string())[..],
            features[..],
            "{row:?}"
        );
    }
}

#[test]
fn values_match_the_formulas() {
    let game: Cowry = game("preset=cb2012", 2);
    let ground = Ground::new(&game);
    for row in rows(include_str!("../../../data/chowka_worths.txt")) {
        let &[own, other, played, given, expected] = &row[..] else {
            panic!("five fields in {row:?}");
        };
        let (value, piece) = step(played);
        let state = position(&game, [own, other], &[value]);
        let position = Position::read(&ground, &state, 0);
        let to = state.pieces[0][piece] + value;
        let (over, under) = fraction(expected);
        let specs = crate::chowka::naive_specs();
        let given = arena_engine::options::resolve(&specs, &[], &options(given));
        let worths = worths(&given.expect("options that fit"), &game);
        let factor = worths.factor(position.own.left(&ground));
        let found = factor * worths.of(position.view(&ground).landing(to, false));
        // Only H4 of the text is rounded, by half a part at most.
        let exact = PARTS % under == 0;
        let off = (found * under - over * PARTS).abs() * 2;
        assert!(off <= if exact { 0 } else { under }, "{row:?}: {found}");
    }
}

#[test]
fn choices_match_hand_computation() {
    let game: Cowry = game("preset=cb2012", 2);
    for row in rows(include_str!("../../../data/chowka_choices.txt")) {
        let &[name, given, own, other, value, piece, score] = &row[..] else {
            panic!("seven fields in {row:?}");
        };
        let state = position(&game, [own, other], &[value.parse().expect("a value")]);
        let mut bot = bot(name, &options(given), &game).expect("a bot");
        let chosen = decide(&game, &state, 0, |decision| bot.choose(decision));
        let step = game.parse(chosen.action).expect("no pass");
        assert_eq!(step.piece.to_string(), piece, "{row:?}");
        let expected = (score != "-").then(|| {
            let (over, under) = fraction(score);
            over as f64 / under as f64
        });
        assert_eq!(chosen.score, expected, "{row:?}");
    }
}

#[test]
fn winning_move_is_taken_at_once() {
    let game: Cowry = game("preset=doubles", 2);
    let mut state = position(&game, ["24,24,24,22", "0,0,0,0"], &[1, 2]);
    state.hit_mask = 0b11;
    let mut bot = bot("chowka-expectiminimax", &options("-"), &game).expect("a bot");
    let chosen = decide(&game, &state, 0, |decision| bot.choose(decision));
    assert_eq!(game.parse(chosen.action).map(|step| step.value), Some(2));
    assert_eq!((chosen.score, chosen.nodes), (None, None));
}

#[test]
fn worthless_moves_are_drawn() {
    let game: Cowry = game("preset=cb2012", 2);
    // The opponent's goal counts 9 for each throw from the first one: -73/15 for piece 2
    // and -407/60 for piece 3.
    let state = position(&game, ["24,24,21,20", "24,24,24,23"], &[1]);
    let mut bot = bot("chowka-expectiminimax", &options("search=code"), &game).expect("a bot");
    let mut counts = [0u32; 4];
    for seed in 0..1_000 {
        let chosen = decide(&game, &state, seed, |decision| bot.choose(decision));
        assert_eq!(chosen.score, None);
        counts[game.parse(chosen.action).expect("no pass").piece] += 1;
    }
    // Six standard deviations of a binomial draw.
    assert!(
        counts[2].abs_diff(500) < 95 && counts[2] + counts[3] == 1_000,
        "{counts:?}"
    );
}

/// Number of draws of each piece of 50,000 times; the last may not move.
fn drawn(given: &str, pieces: &str, expected: [u32; 4]) {
    let game: Cowry = game("preset=cb2012", 2);
    let state = position(&game, [pieces, "0,0,0,0"], &[1]);
    let mut bot = bot("chowka-random-dup", &options(given), &game).expect("a bot");
    let mut counts = [0u32; 4];
    for seed in 0..50_000 {
        let chosen = decide(&game, &state, seed, |decision| bot.choose(decision));
        counts[game.parse(chosen.action).expect("no pass").piece] += 1;
    }
    for (count, expected) in counts.into_iter().zip(expected) {
        // Six standard deviations of a binomial draw.
        assert!(count.abs_diff(expected) < 670, "{given}: {counts:?}");
    }
}

#[test]
fn inner_pieces_are_drawn_twice_as_often() {
    drawn("-", "3,16,20,24", [10_000, 20_000, 20_000, 0]);
    drawn("-", "3,15,20,24", [12_500, 12_500, 25_000, 0]);
    drawn("twice=stands", "3,15,20,24", [12_500, 12_500, 25_000, 0]);
    drawn("twice=lands", "3,15,20,24", [10_000, 20_000, 20_000, 0]);
    drawn("twice=lands", "3,14,20,24", [12_500, 12_500, 25_000, 0]);
}

#[test]
fn unknown_boards_are_refused() {
    for (given, seats, reported) in [
        ("board=7", 2, "with 2 seats and board 7"),
        ("-", 4, "with 4 seats and board 5"),
        ("preset=basic", 4, "with 4 seats and board 5"),
    ] {
        let game: Cowry = game(given, seats);
        for name in ["chowka-naive", "chowka-expectiminimax"] {
            let error = bot(name, &options("-"), &game).err().expect("an error");
            assert_eq!(
                error.to_string(),
                format!(
                    "bot {name}: this bot plays cowry with 2 seats and board 5, not {reported}"
                ),
            );
        }
        bot("chowka-random-dup", &options("-"), &game).expect("it plays any cowry");
    }
}
