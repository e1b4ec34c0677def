use std::cmp::Ordering;

use arena_engine::{AgentRng, Game, Node};
use arena_games::Kalah;

use crate::{
    bot::{Bot, Decision, Stop},
    catalogue::bot,
    tests::{game, options, play},
};

fn make(name: &str, given: &str, game: &Kalah) -> Box<dyn Bot<Kalah>> {
    bot(name, &options(given), game).expect("a bot")
}

#[test]
fn published_matches_are_reproduced() {
    let game: Kalah = game("-", 2);
    let table = include_str!("../../data/kalah_matches.csv");
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let &[
            h_flag,
            first,
            first_depth,
            second,
            second_depth,
            ours,
            theirs,
        ] = &fields[..]
        else {
            panic!("seven fields in {row}");
        };
        let seat = |name, depth| make(name, &format!("h_flag={h_flag};depth={depth}"), &game);
        let mut bots = [seat(first, first_depth), seat(second, second_depth)];
        let last = play(&game, &mut bots, 0);
        let scores = game.scores(&last).map(|stones| stones.to_string());
        assert_eq!(scores[..2], [ours, theirs], "{row}");
    }
}

#[test]
fn random_bot_loses_at_the_model_rate() {
    const GAMES: u64 = 400;
    const MODEL_GAMES: f64 = 100.0;
    let game: Kalah = game("-", 2);
    let table = include_str!("../../data/kalah_random.csv");
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    for row in rows {
        let (h_flag, expected) = row.split_once(',').expect("fields");
        // The same choices as minimax, but faster.
        let searcher = make(
            "kalah-alphabeta",
            &format!("h_flag={h_flag};depth=6"),
            &game,
        );
        let mut bots = [searcher, make("random", "-", &game)];
        let mut found = [0.0; 3];
        for number in 0..GAMES {
            let last = play(&game, &mut bots, number);
            let [ours, theirs, ..] = game.scores(&last);
            found[match ours.cmp(&theirs) {
                Ordering::Greater => 0,
                Ordering::Less => 1,
                Ordering::Equal => 2,
            }] += 1.0;
        }
        for (found, expected) in found.into_iter().zip(expected.split(',')) {
            let Ok(expected) = expected.parse::<f64>() else {
                continue;
            };
            let share = found / GAMES as f64;
            let pooled = (found + expected) / (GAMES as f64 + MODEL_GAMES);
            let variance = pooled * (1.0 - pooled) * (1.0 / GAMES as f64 + 1.0 / MODEL_GAMES);
            // Four standard errors of both samples.
            assert!(
                (share - expected / MODEL_GAMES).abs() <= 4.0 * variance.sqrt(),
                "{row}: {found} of {GAMES}"
            );
        }
    }
}

#[test]
fn pruning_never_changes_a_choice_or_its_score() {
    let rules = [
        ("-", 5),
        ("pits=4;stones=3;empty_capture=always", 7),
        ("pits=3;stones=5;remaining=emptier", 8),
        ("pits=5;stones=2;remaining=none;early_stop=true", 6),
        ("max_plies=12", 4),
    ];
    for (given, depth) in rules {
        let game: Kalah = game(given, 2);
        for h_flag in 0..4 {
            let given = format!("h_flag={h_flag};depth={depth}");
            let mut minimax = make("kalah-minimax", &given, &game);
            let mut alphabeta = make("kalah-alphabeta", &given, &game);
            let (mut all, mut fewer) = (0, 0);
            for seed in 0..8 {
                along_a_random_game(&game, seed, |decision| {
                    let full = minimax.choose(decision);
                    let pruned = alphabeta.choose(decision);
                    assert_eq!(
                        (full.action, full.score),
                        (pruned.action, pruned.score),
                        "{given} at {:?}",
                        decision.state,
                    );
                    all += full.nodes.unwrap_or(0);
                    fewer += pruned.nodes.unwrap_or(0);
                });
            }
            assert!(fewer < all, "{given}: {fewer} of {all} positions");
        }
    }
}

fn along_a_random_game(game: &Kalah, seed: u64, mut visit: impl FnMut(&Decision<'_, Kalah>)) {
    let mut rng = AgentRng::new(seed);
    let mut state = game.initial();
    let mut legal = Vec::new();
    while let Node::Decision(seat) = game.node(&state) {
        game.legal(&state, &mut legal);
        visit(&Decision {
            game,
            state: &state,
            seat,
            number: 0,
            seed,
            legal: &legal,
            stop: Stop::NEVER,
        });
        game.apply(&mut state, rng.pick(&legal));
    }
}

#[test]
fn utilities_match_the_table() {
    use super::Utility::{FastMargin, FastWin, Margin, Win};
    for (lead, win, margin, fast_win, fast_margin) in [
        (7, 50, 7, 44, 1),
        (-7, -50, -7, -44, -1),
        (0, 0, 0, 0, 0),
        (2, 50, 2, 44, -4),
    ] {
        let of = [Win, Margin, FastWin, FastMargin].map(|utility| utility.of(lead, 6));
        assert_eq!(of, [win, margin, fast_win, fast_margin], "lead {lead}");
    }
}

#[test]
fn exploration_rate_is_exact() {
    let game: Kalah = game("-", 2);
    let state = game.initial();
    let legal = [0, 1, 2, 3, 4, 5];
    let others = |explore: &str| {
        let mut searcher = make(
            "kalah-alphabeta",
            &format!("depth=2;explore={explore}"),
            &game,
        );
        let mut choose = |seed| {
            searcher.choose(&Decision {
                game: &game,
                state: &state,
                seat: 0,
                number: 0,
                seed,
                legal: &legal,
                stop: Stop::NEVER,
            })
        };
        let usual = choose(0).score;
        // Random moves have no score.
        (0..4000)
            .filter(|&seed| choose(seed).score.is_none())
            .count()
            + usize::from(usual.is_none())
    };
    assert_eq!(others("0"), 0);
    // Six standard deviations of a binomial draw.
    assert!(others("0.25").abs_diff(1000) < 165);
    assert!(others("1") >= 4000);
}

#[test]
fn searches_beat_random() {
    let game: Kalah = game("-", 2);
    let mut won = 0;
    for number in 0..40 {
        let searcher = make("kalah-alphabeta", "depth=3;h_flag=1", &game);
        let random = make("random", "-", &game);
        let seat = (number % 2) as usize;
        let mut bots = if seat == 0 {
            [searcher, random]
        } else {
            [random, searcher]
        };
        let last = play(&game, &mut bots, number);
        won += usize::from(game.placement(&last)[seat] == 1);
    }
    assert!(won >= 34, "{won} of 40");
}
