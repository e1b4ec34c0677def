//! The strategies of the cowry paper (Nagabhushan and Davoudian), for any board, variant
//! and number of seats.
//!
//! The paper describes them in words. Ambiguities are resolved here: danger is evaluated on
//! the position after the move. Among several equally good moves, the option `tie` selects
//! a random one or the first (the lowest piece, then the lowest value).

mod tactics;

use arena_engine::{
    AgentRng,
    options::{Kind, OptionError, Options, Spec, Value},
};
use arena_games::Cowry;

use self::tactics::{Candidate, MoveTable};
use crate::{
    bot::{Bot, Chosen, Decision},
    make::BotResult,
    read,
};

/// The common option of the strategies.
pub(crate) fn tie_specs() -> Vec<Spec> {
    vec![Spec::new(
        "tie",
        Kind::choice(&["random", "first"]),
        "random",
        "tie-break between equally good moves: draw one, or take that of the lowest piece",
    )]
}

/// The options of `mixed`.
pub(crate) fn mixed_specs() -> Vec<Spec> {
    let mut specs = vec![
        Spec::new(
            "form",
            Kind::choice(&["cascade", "prob"]),
            "cascade",
            "use the strategies in turn, or draw one for each move",
        ),
        Spec::new(
            "weights",
            Kind::Numbers {
                min: 0.0,
                max: WEIGHT_MAX,
                length: PURE.len(),
                names: Vec::new(),
            },
            Value::Numbers(vec![0.2; PURE.len()]),
            "for form prob: weights of random, aggressive, defensive, move-first, move-last",
        ),
    ];
    specs.extend(tie_specs());
    specs
}

pub(crate) fn aggressive(options: &Options, _: &Cowry) -> BotResult<Cowry> {
    Ok(strategist(Plan::Pure(Pure::Aggressive), options))
}

pub(crate) fn defensive(options: &Options, _: &Cowry) -> BotResult<Cowry> {
    Ok(strategist(Plan::Pure(Pure::Defensive), options))
}

pub(crate) fn move_first(options: &Options, _: &Cowry) -> BotResult<Cowry> {
    Ok(strategist(Plan::Pure(Pure::MoveFirst), options))
}

pub(crate) fn move_last(options: &Options, _: &Cowry) -> BotResult<Cowry> {
    Ok(strategist(Plan::Pure(Pure::MoveLast), options))
}

pub(crate) fn mixed(options: &Options, _: &Cowry) -> BotResult<Cowry> {
    // Invalid weights are an error, whether they are used or not.
    let drawn = thresholds(read::numbers(options, "weights"))?;
    let plan = match read::text(options, "form") {
        "prob" => Plan::Drawn(drawn),
        _ => Plan::Cascade,
    };
    Ok(strategist(plan, options))
}

fn strategist(plan: Plan, options: &Options) -> Box<dyn Bot<Cowry>> {
    Box::new(Strategist {
        plan,
        draws_ties: read::text(options, "tie") == "random",
        moves: Vec::new(),
        best: Vec::new(),
    })
}

/// One of the paper's strategies.
#[derive(Clone, Copy)]
enum Pure {
    Random,
    Aggressive,
    Defensive,
    MoveFirst,
    MoveLast,
}

/// In the order of the option `weights`.
const PURE: [Pure; 5] = [
    Pure::Random,
    Pure::Aggressive,
    Pure::Defensive,
    Pure::MoveFirst,
    Pure::MoveLast,
];

#[derive(Clone, Copy)]
enum Plan {
    Pure(Pure),
    /// The best ideas of aggressive and defensive, then move-first.
    Cascade,
    /// For each move one of [`PURE`]: the first whose threshold is above 32 random bits.
    Drawn([u64; PURE.len()]),
}

/// Maximum of a weight of [`PURE`].
const WEIGHT_MAX: f64 = 1e6;

/// Cumulative shares of 2^32.
fn thresholds(weights: &[f64]) -> Result<[u64; PURE.len()], OptionError> {
    let wrong = || OptionError::Value {
        name: "weights".to_owned(),
        value: Value::Numbers(weights.to_vec()).to_string(),
        expected: format!("{} numbers, all at least 0 and not all 0", PURE.len()),
    };
    let numbers: [f64; PURE.len()] = weights.try_into().map_err(|_| wrong())?;
    let sum: f64 = numbers.iter().sum();
    if sum <= 0.0 {
        return Err(wrong());
    }
    let mut reached = 0.0;
    Ok(numbers.map(|number| {
        reached += number;
        // Division by the sum in the same order gives exactly 1 at the last positive
        // weight, so that every draw is below a threshold.
        (reached / sum * 4_294_967_296.0) as u64
    }))
}

struct Strategist {
    plan: Plan,
    /// True if one of equally good moves is drawn; otherwise the first is taken.
    draws_ties: bool,
    moves: Vec<Candidate>,
    best: Vec<Candidate>,
}

impl Bot<Cowry> for Strategist {
    fn choose(&mut self, decision: &Decision<'_, Cowry>) -> Chosen {
        if let [only] = *decision.legal {
            return only.into();
        }
        let table = MoveTable::new(decision);
        table.list(decision.legal, &mut self.moves);
        let mut turn = Turn {
            table: &table,
            moves: &self.moves,
            best: &mut self.best,
            draws_ties: self.draws_ties,
            rng: decision.rng(),
        };
        let planned = match self.plan {
            Plan::Pure(pure) => turn.pure(pure),
            Plan::Cascade => turn.cascade(),
            Plan::Drawn(thresholds) => {
                let drawn = turn.rng.word() >> 32;
                let index = thresholds.iter().position(|&threshold| drawn < threshold);
                turn.pure(PURE[index.unwrap_or(PURE.len() - 1)])
            }
        };
        match planned {
            Some(candidate) => candidate.action.into(),
            None => turn.rng.pick(decision.legal).into(),
        }
    }
}

/// The state of one decision.
struct Turn<'a> {
    table: &'a MoveTable<'a>,
    moves: &'a [Candidate],
    best: &'a mut Vec<Candidate>,
    draws_ties: bool,
    rng: AgentRng,
}

impl Turn<'_> {
    /// `None` means any move, at random.
    fn pure(&mut self, pure: Pure) -> Option<Candidate> {
        match pure {
            Pure::Random => None,
            Pure::Aggressive => self.hit().or_else(|| self.threaten()),
            Pure::Defensive => self
                .rescue()
                .or_else(|| self.seek_safety())
                .or_else(|| self.keep_calm(false))
                .or_else(|| self.keep_calm(true)),
            Pure::MoveFirst => self.best(|step| Some((step.from, step.value))),
            Pure::MoveLast => self.best(|step| Some((u8::MAX - step.from, step.value))),
        }
    }

    fn cascade(&mut self) -> Option<Candidate> {
        let goal = self.table.goal();
        self.hit()
            .or_else(|| self.rescue())
            .or_else(|| self.best(|step| (step.to == goal).then_some(())))
            .or_else(|| self.seek_safety())
            .or_else(|| self.pure(Pure::MoveFirst))
    }

    /// The hit that costs opponents the most progress.
    fn hit(&mut self) -> Option<Candidate> {
        let table = self.table;
        self.best(|step| (step.hits > 0).then(|| table.progress_lost(step)))
    }

    /// The move that ends close behind the most opponents.
    fn threaten(&mut self) -> Option<Candidate> {
        let table = self.table;
        self.best(|step| Some(table.threat(step)).filter(|&threat| threat > 0))
    }

    /// Moves a piece in danger, if one can move: preferably to safety, otherwise out of
    /// danger, otherwise anywhere.
    fn rescue(&mut self) -> Option<Candidate> {
        let table = self.table;
        self.best(|step| {
            table.is_in_danger(step.from).then(|| {
                let shelter = match table.is_safe(step.to) {
                    true => 2,
                    false => u8::from(!table.enters_danger(step)),
                };
                (shelter, step.from)
            })
        })
    }

    /// Moves the most advanced piece that reaches a safe square.
    fn seek_safety(&mut self) -> Option<Candidate> {
        let table = self.table;
        self.best(|step| table.is_safe(step.to).then_some(step.from))
    }

    /// Moves the most advanced piece that does not enter danger and is not on a safe
    /// square, unless `leave_safety` is set.
    fn keep_calm(&mut self, leave_safety: bool) -> Option<Candidate> {
        let table = self.table;
        self.best(|step| {
            let stays = leave_safety || !table.is_safe(step.from);
            (stays && !table.enters_danger(step)).then_some(step.from)
        })
    }

    /// The move with the largest rank key; moves without one do not count.
    fn best<M: Ord>(&mut self, rank_key: impl Fn(&Candidate) -> Option<M>) -> Option<Candidate> {
        let mut greatest = None;
        self.best.clear();
        for step in self.moves {
            let Some(rank_key) = rank_key(step) else {
                continue;
            };
            if greatest.as_ref().is_none_or(|it| rank_key > *it) {
                self.best.clear();
                greatest = Some(rank_key);
            } else if greatest.as_ref() != Some(&rank_key) {
                continue;
            }
            self.best.push(*step);
        }
        if self.draws_ties && !self.best.is_empty() {
            return Some(self.rng.pick(self.best));
        }
        let first = |step: &&Candidate| (step.piece, step.action);
        self.best.iter().min_by_key(first).copied()
    }
}

#[cfg(test)]
mod tests;
