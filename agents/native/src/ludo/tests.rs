use arena_engine::{Game, Node, Stream};
use arena_games::{
    ChineseLudo,
    ludo::{HANGAR, HOME, RING_LAST, State},
};

use super::*;
use crate::{
    bot::Stop,
    tests::{game, options, play},
};

/// The lines of a data file as fields.
fn rows<'a>(data: &'a str, separator: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    let lines = data.lines();
    let reported = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    reported.map(move |line| line.split(separator).map(str::trim).collect())
}

/// A fraction in units of 1 / `one`, which it must divide.
fn units(fraction: &str, one: i64) -> i64 {
    let (above, below) = fraction.split_once('/').unwrap_or((fraction, "1"));
    let [above, below] = [above, below].map(|text| text.parse::<i64>().expect("a number"));
    assert_eq!(one % below, 0, "{fraction}");
    above * (one / below)
}

/// Four planes in words: `h` in the hangar, `p` on the pad, else progress.
fn planes(words: &str) -> [i8; 4] {
    let planes: Vec<i8> = words
        .split_whitespace()
        .map(|word| match word {
            "h" => -1,
            "p" => 0,
            number => number.parse().expect("progress"),
        })
        .collect();
    planes.try_into().expect("four planes")
}

fn settings(words: &str) -> Settings {
    let given = options(&words.replace(' ', ";"));
    let specs = specs();
    let given = arena_engine::options::resolve(&specs, &[], &given).expect("options that fit");
    Settings::new(&given)
}

/// Rules that affect the threats, each with both values.
const RULES: [&str; 6] = [
    "-",
    "dotfly=standard",
    "hit_squares=ends",
    "fly_hits_path=true;start=ring1",
    "three_sixes=hangar;finish=over",
    "three_sixes=end-turn;finish=bounce;launch=even",
];

#[test]
fn matrix_equals_table_2() {
    let game: ChineseLudo = game("-", 2);
    let make = |reading| Threats::new(&game, reading, Source::Matrix);
    let (exact, formula) = (make(Reading::Exact), make(Reading::Formula));
    for row in rows(include_str!("../../data/ludo_table2.txt"), " ") {
        let &[x, y, printed, by_rolls, by_formula] = &row[..] else {
            panic!("five fields in {row:?}");
        };
        let [from, to] = [x, y].map(|square| square.parse().expect("a square"));
        for (threats, expected) in [(&exact, by_rolls), (&formula, by_formula)] {
            let units = units(expected, CERTAIN.into()) as f64;
            let found = threats.cell(from, to);
            assert_eq!(found, units / f64::from(CERTAIN), "{row:?}");
        }
        let digits = printed
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let value: f64 = printed.parse().expect("a number");
        // Some printed cells are rounded and others are truncated.
        let agrees = (exact.cell(from, to) - value).abs() < 0.1f64.powi(digits as i32);
        assert_eq!(agrees, (x, y) != ("1", "30"), "{row:?}");
    }
    // The formula omits the flight, as the paper does there.
    assert!((formula.cell(1, 30) - 0.00025).abs() < 0.00001);
}

#[test]
fn threats_of_a_turn_match_the_rule_file() {
    let game: ChineseLudo = game("-", 2);
    let threats = Threats::new(&game, Reading::Exact, Source::Matrix);
    let p = |attacker, target| f64::from(threats.chance(attacker, target)) / f64::from(CERTAIN);
    assert_eq!(p(1, 6), 1.0 / 3.0, "the paper's own example");
    assert_eq!(p(9, 14), 1.0 / 3.0);
    let sixths = [1, 1, 1, 1, 1, 2, 0, 0, 0, 1];
    for (target, sixths) in (1i8..).zip(sixths) {
        assert_eq!(threats.chance(0, target), sixths * CERTAIN / 6, "{target}");
    }
    for attacker in HANGAR..=HOME {
        for target in HANGAR..=HOME {
            let chance = threats.chance(attacker, target);
            let reachable = (0..=target).contains(&attacker) && (1..=RING_LAST).contains(&target);
            assert!(chance <= CERTAIN && (reachable || chance == 0));
            assert_eq!(chance == CERTAIN, reachable && attacker == target);
        }
    }
}

#[test]
fn matrix_equals_direct_computation() {
    for rules in RULES {
        let game: ChineseLudo = game(rules, 2);
        for reading in [Reading::Exact, Reading::Formula] {
            let matrix = Threats::new(&game, reading, Source::Matrix);
            let realtime = Threats::new(&game, reading, Source::Realtime);
            for attacker in HANGAR..=HOME {
                for target in HANGAR..=HOME {
                    assert_eq!(
                        matrix.chance(attacker, target),
                        realtime.chance(attacker, target),
                        "{rules} {reading:?} {attacker} {target}"
                    );
                }
            }
        }
    }
}

/// Positions with a choice along random games.
fn positions(game: &ChineseLudo, games: u64) -> Vec<(State, Vec<u16>)> {
    let mut positions = Vec::new();
    for number in 0..games {
        let mut stream = Stream::new(&[number as u8; 32]);
        let mut state = game.initial();
        let mut legal = Vec::new();
        loop {
            match game.node(&state) {
                Node::Over(_) => break,
                Node::Chance(_) => {
                    let outcome = stream.weighted(game.weights(&state)) as u16;
                    game.apply_outcome(&mut state, outcome);
                }
                Node::Decision(_) => {
                    game.legal(&state, &mut legal);
                    if legal.len() > 1 {
                        positions.push((state, legal.clone()));
                    }
                    let chosen = stream.below(legal.len() as u32) as usize;
                    game.apply(&mut state, legal[chosen]);
                }
            }
        }
    }
    positions
}

fn choose(
    bot: &mut dyn Bot<ChineseLudo>,
    game: &ChineseLudo,
    state: &State,
    legal: &[u16],
) -> Chosen {
    bot.choose(&Decision {
        game,
        state,
        seat: state.to_move,
        number: 0,
        seed: 0,
        legal,
        stop: Stop::NEVER,
    })
}

#[test]
fn table_changes_no_choice_and_no_value() {
    for rules in RULES {
        let game: ChineseLudo = game(rules, 2);
        for given in ["-", "threat=formula", "plies=2", "hit_in_threat=literal"] {
            let make = |table: &str| {
                let given = format!("{given};table={table}");
                crate::bot("ludo-threat", &options(&given), &game).expect("a bot")
            };
            let (mut matrix, mut realtime) = (make("matrix"), make("realtime"));
            for (state, legal) in positions(&game, 2) {
                let [first, second] = [&mut matrix, &mut realtime]
                    .map(|bot| choose(bot.as_mut(), &game, &state, &legal));
                assert_eq!(first, second, "{rules} {given} {state:?}");
            }
        }
    }
}

#[test]
fn values_match_an_independent_program() {
    for row in rows(include_str!("../../data/ludo_values.txt"), "|") {
        let &[rules, given, own, other, die, values] = &row[..] else {
            panic!("six fields in {row:?}");
        };
        let game: ChineseLudo = game(&rules.replace(' ', ";"), 2);
        let evaluator = Evaluator::new(&game, settings(given));
        let die = die.parse().expect("a roll");
        let (own, other) = (planes(own), planes(other));
        for (r, seat) in [([own, other], 0), ([other, own], 1)] {
            let state = game.position(r, seat, die);
            for (plane, expected) in values.split(' ').enumerate() {
                let expected = (expected != "-").then(|| units(expected, ONE));
                assert_eq!(evaluator.value(&state, plane), expected, "{row:?} {plane}");
            }
        }
    }
}

#[test]
fn worked_example_comes_out_to_the_fraction() {
    let game: ChineseLudo = game("-", 2);
    // Blue is on squares 3 and 5 of the board.
    let example = game.position([planes("1 11 h h"), planes("29 31 h h")], 1, 3);
    let index = |text: &str| -> usize { text.parse().expect("a plane") };
    for row in rows(include_str!("../../data/ludo_example.txt"), "|") {
        match &row[..] {
            &["factors", threat, plane, factors, sum] => {
                let evaluator = Evaluator::new(&game, settings(&format!("threat={threat}")));
                let factors: Vec<i64> = factors.split(' ').map(|text| units(text, ONE)).collect();
                let found = evaluator
                    .factors(&example, index(plane))
                    .expect("it can move");
                let Factors { v1, v2, t1, t2 } = found;
                assert_eq!(vec![v1, v2, t1, t2], factors, "{row:?}");
                assert_eq!(found.sum(), units(sum, ONE), "{row:?}");
            }
            &["value", threat, weight, plies, plane, value] => {
                let words = format!("threat={threat} reply_weight={weight} plies={plies}");
                let evaluator = Evaluator::new(&game, settings(&words));
                let found = evaluator.value(&example, index(plane));
                assert_eq!(found, Some(units(value, ONE)), "{row:?}");
            }
            &["replies", threat, plane, replies] => {
                let evaluator = Evaluator::new(&game, settings(&format!("threat={threat}")));
                let mut after = example;
                game.apply(&mut after, index(plane) as u16);
                for (outcome, expected) in replies.split(' ').enumerate() {
                    let mut rolled = after;
                    game.apply_outcome(&mut rolled, outcome as u16);
                    let values = (0..4).filter_map(|plane| evaluator.value(&rolled, plane));
                    assert_eq!(values.max(), Some(units(expected, ONE)), "{row:?}");
                }
            }
            &["mu", threat, weight, i, j, mu] => {
                let words = format!("threat={threat} reply_weight={weight} plies=2");
                let evaluator = Evaluator::new(&game, settings(&words));
                let found = evaluator.mu(&example, index(i), index(j));
                assert_eq!(format!("{:.4}", found.expect("they differ")), mu, "{row:?}");
            }
            other => panic!("unknown row {other:?}"),
        }
    }
    for plies in 1..=3 {
        let given = options(&format!("plies={plies}"));
        let mut bot = crate::bot("ludo-threat", &given, &game).expect("a bot");
        let chosen = choose(bot.as_mut(), &game, &example, &[0, 1]);
        assert_eq!(chosen.action, 1, "plane 2 is chosen at {plies} plies");
        assert_eq!(chosen.depth, Some(plies));
    }
}

#[test]
fn ties_go_to_the_most_advanced_plane() {
    let game: ChineseLudo = game("-", 2);
    let mut bot = crate::bot("ludo-threat", &options("-"), &game).expect("a bot");
    for (own, die, expected) in [
        // No plane threatens another, so every plain step has the same value.
        ("3 15 h h", 1, 1),
        ("15 3 h h", 1, 0),
        ("15 3 15 h", 1, 0),
        // Launching has the value of the roll, like a plain step of 6.
        ("h 3 h h", 6, 1),
        ("h 1 7 h", 6, 2),
    ] {
        let state = game.position([planes(own), planes("h h h h")], 0, die);
        let mut legal = Vec::new();
        game.legal(&state, &mut legal);
        let chosen = choose(bot.as_mut(), &game, &state, &legal);
        assert_eq!(chosen.action, expected, "{own} {die}");
    }
}

#[test]
fn runners_move_the_foremost_plane_or_the_last() {
    let game: ChineseLudo = game("-", 2);
    for (own, die, first, last) in [
        ("7 h 7 21", 2, 3, 0),
        ("7 h 7 21", 6, 3, 1),
        ("p 56 55 52", 3, 3, 0),
        ("p 56 55 h", 6, 0, 3),
    ] {
        let state = game.position([planes(own), planes("h h h h")], 0, die);
        let mut legal = Vec::new();
        game.legal(&state, &mut legal);
        for (name, expected) in [("move-first", first), ("move-last", last)] {
            let mut bot = crate::bot(name, &options("-"), &game).expect("a bot");
            let chosen = choose(bot.as_mut(), &game, &state, &legal);
            assert_eq!(chosen.action, expected, "{name} {own} {die}");
        }
    }
}

#[test]
fn mu_is_none_without_a_comparison() {
    let game: ChineseLudo = game("-", 2);
    let evaluator = Evaluator::new(&game, settings("plies=2"));
    let state = game.position([planes("3 15 h 55"), planes("h h h h")], 0, 2);
    assert!(evaluator.mu(&state, 0, 1).is_none(), "equal values");
    assert!(evaluator.mu(&state, 0, 2).is_none(), "it is in the hangar");
    assert!(evaluator.mu(&state, 3, 0).is_none(), "it cannot finish");
    assert!(evaluator.mu(&state, 0, 7).is_none(), "no plane");
    assert_eq!(evaluator.factors(&state, 7), None);
    assert_eq!(evaluator.value(&state, 2), None);
}

#[test]
fn costs_match_the_paper_and_the_program() {
    assert_eq!(matrix_operations(13, 4), 168);
    assert_eq!(realtime_operations(13, 4), 2_120);
    let game: ChineseLudo = game("-", 2);
    let evaluator = Evaluator::new(&game, Settings::default());
    let mut total = Operations::default();
    for (state, legal) in positions(&game, 10) {
        let found = evaluator.operations(&state);
        // Two look-ups before the move for each opponent, two after it unless
        // it was hit.
        assert!(found.threats <= 16 * 4 && found.threats >= 8 * legal.len() as u64);
        total.threats += found.threats;
        total.steps += found.steps;
    }
    assert!(total.steps > total.threats, "{total:?}");
    assert_eq!(
        evaluator.threats().steps(1, 31),
        30,
        "five rolls of six faces"
    );
    assert_eq!(evaluator.threats().steps(31, 1), 0);
}

#[test]
fn threat_strategies_beat_random() {
    let game: ChineseLudo = game("-", 2);
    for given in ["plies=1", "plies=2", "threat=formula"] {
        let mut won = 0;
        for number in 0..200 {
            let make = |name: &str, given| crate::bot(name, &options(given), &game).expect("a bot");
            let mut bots = [make("ludo-threat", given), make("random", "-")];
            let seat = (number % 2) as usize;
            if seat == 1 {
                bots.reverse();
            }
            let last = play(&game, &mut bots, number);
            won += usize::from(game.placement(&last)[seat] == 1);
        }
        assert!(won > 120, "{given}: {won} of 200");
    }
}
