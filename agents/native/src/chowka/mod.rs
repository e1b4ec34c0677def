//! The agents of the Chowka Bhara paper. A1 takes the best move by a heuristic
//! (`chowka-naive`). A2 looks two moves further through the throws
//! (`chowka-expectiminimax`). A3 plays at random, and in the program behind the paper's
//! tables draws pieces on the inner rings with double weight (`chowka-random-dup`).
//!
//! Paper: "Chowka Bhara: A Game of Dice", sections III and IV, appendix E. Ambiguities of
//! its text are resolved as in the program behind its tables; `h = "text"` follows the
//! text. A2's search is the text's; `search = "code"` selects the program's as far as it is
//! known.

mod heuristic;
mod position;
mod search;

use arena_engine::{
    Game,
    options::{Kind, OptionError, Options, Spec},
};
use arena_games::Cowry;

use self::{
    heuristic::{Formula, Heuristic, Reading, Worths},
    search::{Algorithm, Naive, Searcher},
};
use crate::{
    bot::{Bot, Chosen, Decision},
    make::BotResult,
    read,
};

/// The options of `chowka-naive`.
pub(crate) fn naive_specs() -> Vec<Spec> {
    vec![
        Spec::new(
            "heuristic",
            Kind::choice(&["h1", "h2", "h3", "h4"]),
            "h1",
            "how moves are evaluated: one of the paper's four heuristics",
        ),
        Spec::new(
            "h",
            Kind::choice(&["code", "text"]),
            "code",
            "heuristics as in the program behind the paper's tables, or as in the paper's text",
        ),
        Spec::new(
            "h1_div",
            Kind::Bool,
            true,
            "divides h1 by the distance to the goal, as in Tables I to III; false as in Tables IV \
             and V (with h = code)",
        ),
    ]
}

/// The options of `chowka-expectiminimax`.
pub(crate) fn expectiminimax_specs() -> Vec<Spec> {
    let mut specs = naive_specs();
    specs.push(Spec::new(
        "weights",
        Kind::choice(&["uniform", "true-dice"]),
        "uniform",
        "weights of throws in averages: equal, as in the paper, or their true probabilities",
    ));
    specs.push(
        Spec::new(
            "search",
            Kind::choice(&["text", "code"]),
            "text",
            "search as in the paper's text, or as in the program behind its tables, with its \
             errors, as far as they are known",
        )
        .drawing(),
    );
    specs
}

pub(crate) fn naive(options: &Options, game: &Cowry) -> BotResult<Cowry> {
    check_board(game)?;
    Ok(Box::new(Naive::new(worths(options, game), game)))
}

pub(crate) fn expectiminimax(options: &Options, game: &Cowry) -> BotResult<Cowry> {
    check_board(game)?;
    let weights = match read::text(options, "weights") {
        "true-dice" => *game.dice(),
        _ => [1; 5],
    };
    let algorithm = match read::text(options, "search") {
        "code" => Algorithm::Code,
        _ => Algorithm::Text,
    };
    let worths = worths(options, game);
    Ok(Box::new(Searcher::new(algorithm, worths, game, weights)))
}

/// The options of `chowka-random-dup`.
pub(crate) fn random_dup_specs() -> Vec<Spec> {
    vec![Spec::new(
        "twice",
        Kind::choice(&["stands", "lands"]),
        "stands",
        "which moves have double weight: those of pieces on an inner ring, as in the program \
         behind the paper's tables, or also those that enter one",
    )]
}

pub(crate) fn random_dup(options: &Options, _: &Cowry) -> BotResult<Cowry> {
    Ok(Box::new(RandomDup {
        lands: read::text(options, "twice") == "lands",
    }))
}

fn worths(options: &Options, game: &Cowry) -> Worths {
    let formula = Formula {
        heuristic: match read::text(options, "heuristic") {
            "h2" => Heuristic::H2,
            "h3" => Heuristic::H3,
            "h4" => Heuristic::H4,
            _ => Heuristic::H1,
        },
        reading: match read::text(options, "h") {
            "text" => Reading::Text,
            _ => Reading::Code,
        },
        h1_div: read::flag(options, "h1_div"),
    };
    Worths::new(formula, game)
}

/// Checks that the board has size 5 and two players, as the paper's heuristics require.
fn check_board(game: &Cowry) -> Result<(), OptionError> {
    let (seats, size) = (game.seats(), game.size());
    if seats == 2 && size == 5 {
        return Ok(());
    }
    Err(OptionError::Together(format!(
        "this bot plays cowry with 2 seats and board 5, not with {seats} seats and board {size}"
    )))
}

/// Uniform over the legal moves, with double weight for pieces on the inner rings.
struct RandomDup {
    /// True if the destination counts instead of the current square.
    lands: bool,
}

impl Bot<Cowry> for RandomDup {
    fn choose(&mut self, decision: &Decision<'_, Cowry>) -> Chosen {
        let Decision { game, state, .. } = *decision;
        let pieces = &state.pieces[usize::from(decision.seat)];
        let again = decision.legal.iter().copied().filter(|&action| {
            game.parse(action).is_some_and(|step| {
                let thrown = if self.lands { step.value } else { 0 };
                pieces[step.piece] + thrown >= game.outer()
            })
        });
        let count = decision.legal.len();
        let bag = count + again.clone().count();
        let drawn = decision.rng().below(bag as u32) as usize;
        let mut bag = decision.legal.iter().copied().chain(again);
        bag.nth(drawn).unwrap_or(decision.legal[0]).into()
    }
}

#[cfg(test)]
mod tests;
