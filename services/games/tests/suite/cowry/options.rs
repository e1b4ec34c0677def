//! Dependent defaults of options, and refused options.

use arena_engine::{Game, options::Value};
use arena_games::{Cowry, Ruleset, resolve};

use super::Table;
use crate::support::options;

fn resolved(words: &str) -> (arena_engine::options::Options, usize) {
    resolve("cowry", &options(words), None).unwrap_or_else(|error| panic!("{words}: {error}"))
}

/// Checks that `words` resolve to each `name=value` of `expected`.
#[track_caller]
fn check(words: &str, expected: &str) {
    let (found, _) = resolved(words);
    for (name, value) in options(expected) {
        assert_eq!(
            found[&name].to_string(),
            value.to_string(),
            "{words}: {name}"
        );
    }
}

#[test]
fn defaults_follow_chosen_options() {
    check(
        "",
        "variant=basic board=5 pieces=4 dice=empirical throw_mode=accumulate \
         extra_on_4_8=true extra_on_hit=true max_throws=5000 starter=seat0",
    );
    check(
        "variant=doubles",
        "dice=binomial extra_on_4_8=true extra_on_hit=false",
    );
    check(
        "variant=doubles dice=uniform extra_on_hit=true",
        "dice=uniform extra_on_hit=true",
    );
    check("throw_mode=single", "extra_on_4_8=false extra_on_hit=false");
    check("board=7", "pieces=6 max_throws=10000");
    check("board=9", "pieces=8 max_throws=40000");
    check("board=11", "pieces=10 max_throws=120000");
    check("board=11 pieces=4 max_throws=77", "pieces=4 max_throws=77");
}

#[test]
fn presets_match_the_rules() {
    for (preset, seats, expected) in [
        (
            "basic",
            4,
            "variant=basic dice=empirical throw_mode=accumulate extra_on_4_8=true \
             extra_on_hit=true gate=true inner_hits=true",
        ),
        (
            "basic_single",
            4,
            "variant=basic dice=empirical throw_mode=single extra_on_4_8=false \
             extra_on_hit=false gate=true",
        ),
        (
            "doubles",
            2,
            "variant=doubles dice=binomial throw_mode=accumulate extra_on_4_8=true \
             extra_on_hit=false gate=true block=illegal-once block_memory=until-moved \
             block_on_safe=false double_hits_double=true double_move=full",
        ),
        (
            "cb2012",
            2,
            "variant=doubles dice=binomial throw_mode=single extra_on_4_8=false \
             extra_on_hit=false gate=false double_move=none block_on_safe=true \
             block_memory=forever block=illegal-once",
        ),
        (
            "ns2017",
            4,
            "variant=basic dice=empirical throw_mode=accumulate inner_hits=false",
        ),
    ] {
        let words = format!("preset={preset}");
        check(&words, expected);
        assert_eq!(resolved(&words).1, seats, "{preset}");
        let other = if seats == 2 { 4 } else { 2 };
        assert!(
            resolve("cowry", &options(&words), Some(other)).is_err(),
            "{preset}"
        );
    }
}

#[test]
fn underscores_may_replace_dashes() {
    check("block=illegal_once", "block=illegal-once");
    check("preset=basic-single", "throw_mode=single");
}

#[test]
fn conflicting_options_name_a_way_out() {
    for (words, message) in [
        (
            "board=6",
            "ruleset cowry: option \"board\": 6 is not 5, 7, 9 or 11",
        ),
        (
            "board=11 inner=spiral",
            "ruleset cowry: inner spiral needs a board of 5, 7 or 9: on 11 the rings do not \
             connect",
        ),
        (
            "throw_mode=single extra_on_hit=true",
            "ruleset cowry: throw_mode single has no extra throws: set extra_on_4_8 and \
             extra_on_hit to false, or omit them",
        ),
        (
            "pieces=11",
            "ruleset cowry: option \"pieces\": \"11\" is not a whole number from 0 to 10",
        ),
        (
            "vairant=basic",
            "ruleset cowry: unknown option \"vairant\", did you mean \"variant\"?",
        ),
    ] {
        let error = resolve("cowry", &options(words), None).expect_err(words);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn unresolved_options_are_refused() {
    let (mut found, seats) = resolved("");
    found.remove("gate");
    assert!(Cowry::with_options(&found, seats).is_err());
    found.insert("gate".to_owned(), Value::Int(1));
    assert!(Cowry::with_options(&found, seats).is_err());
}

#[test]
fn dice_weights_match_the_papers() {
    for (dice, weights) in [
        ("empirical", [243, 381, 236, 74, 66]),
        ("binomial", [4, 6, 4, 1, 1]),
        ("uniform", [1, 1, 1, 1, 1]),
    ] {
        let table = Table::new(&format!("dice={dice}"), 2);
        assert_eq!(table.game.weights(&table.state), weights);
    }
}

#[test]
fn ids_count_values_then_pieces_then_together() {
    let table = Table::new("board=7", 2);
    assert_eq!(table.game.pass(), Some(60));
    assert_eq!(table.game.action(0, 0, false), 0);
    assert_eq!(table.game.action(1, 2, true), 17);
    assert_eq!(table.game.action(4, 5, true), 59);
    for id in 0..60 {
        let step = table.game.parse(id).expect("a move");
        let again = table
            .game
            .action(step.value_index, step.piece, step.together);
        assert_eq!(again, id);
    }
    assert_eq!(table.game.parse(60), None);
}
