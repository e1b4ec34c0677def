//! The paper's tables, compared with two independent models.

use arena_engine::Game;
use arena_games::Cowry;

use crate::{
    bot::Bot,
    catalogue::bot,
    tests::{game, options, play},
};

/// Games of each row.
const GAMES: u64 = 2_000;
/// Games of the models; of the second at least.
const MODEL_GAMES: [f64; 2] = [3_000.0, 40_000.0];

fn player(text: &str, game: &Cowry) -> Box<dyn Bot<Cowry>> {
    let (name, given) = text.split_once(' ').unwrap_or((text, "-"));
    bot(name, &options(given), game).expect("a bot")
}

#[test]
fn wins_and_lengths_match_the_models() {
    let game: Cowry = game("preset=cb2012", 2);
    let table = include_str!("../../../data/chowka_tables.csv");
    let mut failures = Vec::new();
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let &[
            _,
            first,
            second,
            pct,
            turns,
            deviation,
            again_pct,
            again_turns,
        ] = &fields[..]
        else {
            panic!("eight fields in {row}");
        };
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let mut bots = [player(first, &game), player(second, &game)];
        let (mut wins, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for number in 0..GAMES {
            let last = play(&game, &mut bots, number);
            wins += f64::from(u8::from(game.placement(&last)[0] == 1));
            // Each turn is one throw, forfeited or not.
            sum += f64::from(last.throws);
            squares += f64::from(last.throws).powi(2);
        }
        let n = GAMES as f64;
        let mean = sum / n;
        let spread = (squares / n - mean.powi(2)).sqrt();
        let as_spread = (spread / number(deviation) - 1.0).abs() <= 0.15;
        let models = [(pct, turns), (again_pct, again_turns)];
        let as_models = models.iter().zip(MODEL_GAMES).all(|((pct, turns), games)| {
            let both = (1.0 / n + 1.0 / games).sqrt();
            let share = number(pct) / 100.0;
            // Four standard errors of both samples, and the rounding of the printed values.
            let share_error = 4.0 * (share * (1.0 - share)).sqrt() * both + 0.0005;
            let mean_error = 4.0 * number(deviation) * both + 0.05;
            (wins / n - share).abs() <= share_error && (mean - number(turns)).abs() <= mean_error
        });
        if !as_spread || !as_models {
            failures.push(format!(
                "{row}: {:.1} %, {mean:.1} ± {spread:.1}",
                100.0 * wins / n
            ));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
