//! Random play, compared with figures of other implementations.

use arena_engine::{ActionId, replay};
use arena_games::{
    ChineseLudo, Cowry, Kalah,
    cowry::{Phase, VALUES},
    ludo::HANGAR,
};

use crate::support::{game, options, play, play_at_random, rows, setup};

/// What happened in one game of cowry.
#[derive(Default)]
struct Tally {
    throws: f64,
    turns: f64,
    winner_throws: f64,
    winner_moves: f64,
    winner_turns: f64,
    winner_hits: f64,
    winner_sum: f64,
    wins: [f64; 4],
}

fn cowry(game: &Cowry, seed: u64, twice_inner: bool) -> Tally {
    let finished = play(game, setup(seed), |state, legal, rng| {
        let mut bag = legal.to_vec();
        if twice_inner {
            let inner = |action: &ActionId| {
                game.landing(state, *action)
                    .is_some_and(|landing| landing.from >= game.outer())
            };
            bag.extend(legal.iter().copied().filter(inner));
        }
        rng.pick(&bag)
    });
    let winner = finished.placement.iter().position(|&rank| rank == 1);
    let winner = winner.expect("one seat is first") as u8;
    let mut tally = Tally::default();
    tally.wins[usize::from(winner)] = 1.0;
    let mut last_mover = None;
    replay(game, &finished.events, |state, described| {
        let mine = described.seat == Some(winner);
        match state.phase {
            Phase::Throw => {
                if state.pool_size() == 0 && last_mover != described.seat {
                    tally.turns += 1.0;
                    tally.winner_turns += f64::from(u8::from(mine));
                }
                last_mover = described.seat;
                tally.throws += 1.0;
                if mine {
                    tally.winner_throws += 1.0;
                    tally.winner_sum += f64::from(VALUES[usize::from(described.event.id())]);
                }
            }
            Phase::Move if mine => {
                if let Some(landing) = game.landing(state, described.event.id()) {
                    tally.winner_moves += 1.0;
                    tally.winner_hits += f64::from(u8::from(landing.hits > 0));
                }
            }
            _ => {}
        }
    })
    .expect("what was played can be replayed");
    tally
}

fn measure(tally: &Tally, name: &str) -> f64 {
    match name {
        "throws" => tally.throws,
        "turns" => tally.turns,
        "winner_throws" => tally.winner_throws,
        "winner_moves" => tally.winner_moves,
        "winner_turns" => tally.winner_turns,
        "winner_hits" => tally.winner_hits,
        "winner_sum" => tally.winner_sum,
        "wins_0" => tally.wins[0],
        "wins_1" => tally.wins[1],
        "wins_2" => tally.wins[2],
        other => panic!("unknown measure {other}"),
    }
}

/// Mean and standard error.
pub(crate) fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

#[test]
fn random_cowry_matches_published_figures() {
    let mut failures = Vec::new();
    for row in rows("cowry_figures.txt") {
        let [words, seats, picks, games, measures] = &row[..] else {
            panic!("a row has five fields: {row:?}");
        };
        let game: Cowry = game(words, seats.parse().expect("seats"));
        let games: u64 = games.parse().expect("games");
        let tallies: Vec<Tally> = (0..games)
            .map(|seed| cowry(&game, seed, picks == "twice-inner"))
            .collect();
        for (name, expected) in options(measures) {
            let expected: f64 = expected.to_string().parse().expect("a number");
            let values = |name: &str| -> Vec<f64> {
                let values = tallies.iter().map(|tally| measure(tally, name));
                values.collect()
            };
            // Of a normal distribution, the deviation's standard error is the
            // mean's by the square root of two; deviations are printed without
            // further digits.
            let (found, error, rounding) = match name.strip_suffix("_deviation") {
                Some(name) => {
                    let (_, error) = mean(&values(name));
                    let root = (games as f64).sqrt();
                    (error * root, error / 2f64.sqrt(), 0.5)
                }
                None => {
                    let (mean, error) = mean(&values(&name));
                    (mean, error, 0.0)
                }
            };
            // Five standard errors of a seeded sample.
            if (found - expected).abs() > 5.0 * error + rounding {
                failures.push(format!(
                    "{words}, {seats} seats, {name}: {found:.3} ± {error:.3}, not {expected}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn random_kalah_matches_published_figures() {
    const GAMES: u64 = 20_000;
    let game: Kalah = game("", 2);
    let lengths: Vec<f64> = (0..GAMES)
        .map(|seed| f64::from(play_at_random(&game, setup(seed)).plies))
        .collect();
    let (mean, error) = mean(&lengths);
    // 44 moves, standard deviation 10.7, printed without further digits.
    assert!((mean - 44.0).abs() < 0.5 + 5.0 * error, "{mean} ± {error}");
    let deviation = error * (GAMES as f64).sqrt();
    assert!((deviation - 10.7).abs() < 0.3, "{deviation}");
    // The longest of 100,000 games of another implementation had 104.
    assert!(lengths.iter().all(|&length| length <= 120.0));
}

/// Rolls, planes sent back, and 1 where seat 0 won, of one random game.
fn ludo(game: &ChineseLudo, seed: u64) -> [f64; 3] {
    let finished = play_at_random(game, setup(seed));
    let (mut hits, mut last) = (0, None);
    replay(game, &finished.events, |state, _| {
        let in_hangar = state
            .r
            .map(|planes| planes.iter().filter(|&&plane| plane == HANGAR).count());
        if let Some((mover, before)) = last {
            let before: [usize; 2] = before;
            let other = 1 - usize::from(mover);
            hits += in_hangar[other] - before[other];
        }
        last = Some((state.to_move, in_hangar));
    })
    .expect("what was played can be replayed");
    let first = u8::from(finished.placement[0] == 1);
    [f64::from(finished.plies), hits as f64, f64::from(first)]
}

#[test]
fn random_ludo_matches_published_figures() {
    let mut failures = Vec::new();
    for row in rows("ludo_figures.txt") {
        let [words, games, measures] = &row[..] else {
            panic!("a row has three fields: {row:?}");
        };
        let game: ChineseLudo = game(words, 2);
        let games: u64 = games.parse().expect("games");
        let found: Vec<_> = (0..games).map(|seed| ludo(&game, seed)).collect();
        for (name, expected) in options(measures) {
            let index = ["rolls", "hits", "first"]
                .iter()
                .position(|known| *known == name);
            let index = index.expect("a known measure");
            let values: Vec<f64> = found.iter().map(|values| values[index]).collect();
            let expected: f64 = expected.to_string().parse().expect("a number");
            let (mean, error) = mean(&values);
            // Five standard errors of the difference of two samples of the
            // same size.
            if (mean - expected).abs() > 5.0 * 2f64.sqrt() * error {
                failures.push(format!(
                    "{words}, {name}: {mean:.3} ± {error:.3}, not {expected}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
