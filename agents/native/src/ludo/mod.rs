//! Players of Chinese Ludo: the threat matrix of Han and Zhou ("Threat Matrix", Electronics
//! 2022, 11, 1699), and two that move one plane at a time.
//!
//! [`Evaluator`] and [`Threats`] are public, so that the paper's tables can be computed
//! from the code that plays.

mod evaluate;
mod simple;
mod threat;

use arena_engine::options::{Kind, Options, Spec};
use arena_games::ChineseLudo;

use self::evaluate::Effort;
pub use self::{
    evaluate::{
        Evaluator, Factors, HitInThreat, ONE, Operations, PLIES_MAX, ReplyWeight, Settings,
    },
    threat::{CERTAIN, Reading, Source, Threats, matrix_operations, realtime_operations},
};
use crate::{
    bot::{Bot, Chosen, Decision},
    make::BotResult,
    read,
};
pub(crate) use simple::{move_first, move_last};

/// The options of `ludo-threat`.
pub(crate) fn specs() -> Vec<Spec> {
    let choice = Kind::choice;
    let (min, max) = (1, PLIES_MAX.into());
    let plies = Kind::Int { min, max };
    vec![
        Spec::new(
            "plies",
            plies,
            1i64,
            "depth of the search in plies; each ply multiplies the time by up to 24",
        ),
        Spec::new(
            "threat",
            choice(&["exact", "formula"]),
            "exact",
            "how threats are computed: from the rolls of a turn, or by the paper's formula, which \
             ignores flights",
        ),
        Spec::new(
            "table",
            choice(&["matrix", "realtime"]),
            "matrix",
            "compute threats once, or again for each use; the moves are the same",
        ),
        Spec::new(
            "reply_weight",
            choice(&["sixth", "thirty-sixth"]),
            "sixth",
            "weight of each roll of a reply: its probability, or 1/36 as in the paper",
        ),
        Spec::new(
            "hit_in_threat",
            choice(&["exclude", "literal"]),
            "exclude",
            "count planes that were just captured in the threats",
        ),
    ]
}

/// Makes `ludo-threat`.
pub(crate) fn threat(options: &Options, game: &ChineseLudo) -> BotResult<ChineseLudo> {
    let settings = Settings::new(options);
    Ok(Box::new(ThreatBot {
        evaluator: Evaluator::new(game, settings),
        plies: settings.plies,
    }))
}

impl Settings {
    /// The settings of resolved options.
    fn new(options: &Options) -> Self {
        Self {
            plies: read::int(options, "plies") as u32,
            reading: match read::text(options, "threat") {
                "formula" => Reading::Formula,
                _ => Reading::Exact,
            },
            source: match read::text(options, "table") {
                "realtime" => Source::Realtime,
                _ => Source::Matrix,
            },
            reply_weight: match read::text(options, "reply_weight") {
                "thirty-sixth" => ReplyWeight::ThirtySixth,
                _ => ReplyWeight::Sixth,
            },
            hit_in_threat: match read::text(options, "hit_in_threat") {
                "literal" => HitInThreat::Literal,
                _ => HitInThreat::Exclude,
            },
        }
    }
}

/// Plays the move with the largest value. Ties go to the most advanced plane, then to the
/// lowest index.
struct ThreatBot {
    evaluator: Evaluator,
    plies: u32,
}

impl Bot<ChineseLudo> for ThreatBot {
    fn choose(&mut self, decision: &Decision<'_, ChineseLudo>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let mut effort = Effort::new(decision.stop);
        let best = (self.evaluator).best(decision.state, decision.legal, &mut effort);
        let (action, value) = best.expect("a decision has legal actions");
        Chosen {
            action,
            score: Some(value as f64 / ONE as f64),
            depth: Some(self.plies),
            nodes: Some(effort.nodes),
        }
    }
}

#[cfg(test)]
mod tests;
