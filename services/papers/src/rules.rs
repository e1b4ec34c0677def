//! Figures that follow from the rules or an agent's data, without a game.

use arena_agents::{
    ludo::{self, Evaluator, Reading, Settings, Threats},
    oware,
};
use arena_engine::options::OptionError;
use arena_games::{ChineseLudo, Cowry, Ruleset, cowry::VALUES, ludo::State};

use crate::error::{PaperError, Result};
use crate::{
    measure::Measure,
    quantity::{PaperReplyWeight, Quantity},
    tables::Matchup,
};

/// Computes a figure from the rules; none if the measure needs games, or the data lack it.
pub(crate) fn compute(measure: &Measure, play: &Matchup) -> Result<Option<f64>> {
    let found = match measure.quantity {
        Quantity::ThrowChance | Quantity::ThrowExpected | Quantity::PieceThrows => {
            Cowry::with_options(&play.options, play.seats).map(|game| of_dice(measure, &game))
        }
        Quantity::Threat | Quantity::ThreatByFormula => threat(measure, play).map(Some),
        Quantity::ExampleValue | Quantity::ExampleMu => example(measure, play),
        Quantity::MatrixOperations => Ok(Some(operations().0)),
        Quantity::RealtimeOperations => Ok(Some(operations().1)),
        Quantity::OperationsShare => {
            let (matrix, realtime) = operations();
            Ok(Some(100.0 * matrix / realtime))
        }
        Quantity::Weight => Ok(oware::named_weights(&measure.vector)
            .and_then(|weights| weights.get(measure.index).copied())),
        _ => Ok(None),
    };
    found.map_err(PaperError::failed)
}

fn of_dice(measure: &Measure, cowry: &Cowry) -> Option<f64> {
    let weights = || cowry.dice().iter().map(|&weight| f64::from(weight));
    let all: f64 = weights().sum();
    let throws = || weights().zip(VALUES);
    let values = throws().map(|(weight, value)| weight * f64::from(value));
    let mean = values.sum::<f64>() / all;
    match measure.quantity {
        Quantity::ThrowChance => {
            let chosen = throws().filter(|(_, value)| measure.values.contains(value));
            Some(chosen.map(|(weight, _)| weight).sum::<f64>() / all)
        }
        Quantity::ThrowExpected => Some(mean),
        Quantity::PieceThrows => Some(f64::from(cowry.goal()) / mean),
        _ => None,
    }
}

fn threat(measure: &Measure, play: &Matchup) -> Result<f64, OptionError> {
    let game = ChineseLudo::with_options(&play.options, play.seats)?;
    let reading = match measure.quantity {
        Quantity::ThreatByFormula => Reading::Formula,
        _ => Reading::Exact,
    };
    let [attacker, target] = measure.at;
    Ok(Threats::new(&game, reading, ludo::Source::Matrix).cell(attacker, target))
}

/// S = (3, 5, 0, 0, 1, 11, 0, 0), R = 3, blue to move (paper 003, §4).
fn example_state(game: &ChineseLudo) -> State {
    const BLUE: u8 = 1;
    game.position([[1, 11, -1, -1], [29, 31, -1, -1]], BLUE, 3)
}

fn example(measure: &Measure, play: &Matchup) -> Result<Option<f64>, OptionError> {
    let game = ChineseLudo::with_options(&play.options, play.seats)?;
    let settings = Settings {
        plies: measure.plies,
        reply_weight: match measure.reply_weight {
            PaperReplyWeight::Sixth => ludo::ReplyWeight::Sixth,
            PaperReplyWeight::ThirtySixth => ludo::ReplyWeight::ThirtySixth,
        },
        ..Settings::default()
    };
    let evaluator = Evaluator::new(&game, settings);
    let state = example_state(&game);
    Ok(match measure.quantity {
        Quantity::ExampleMu => evaluator.mu(&state, 1, 0),
        _ => {
            let value = evaluator.value(&state, measure.plane);
            value.map(|value| value as f64 / ludo::ONE as f64)
        }
    })
}

/// Operations with the matrix and without it, for the paper's 13 special squares and four
/// planes.
fn operations() -> (f64, f64) {
    let (alpha, beta) = (13, 4);
    let matrix = ludo::matrix_operations(alpha, beta);
    let realtime = ludo::realtime_operations(alpha, beta);
    (matrix as f64, realtime as f64)
}
