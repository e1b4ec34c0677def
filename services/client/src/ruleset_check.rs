//! `arena rulesets check`: random games of a ruleset, and at each of their positions everything that
//! the rules promise.

mod node;
mod subject;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt::Display,
    panic::{self, AssertUnwindSafe},
};

use arena_engine::{
    AgentRng, Game,
    options::{Kind, Options, Spec, Value},
};
use arena_games::Visitor;
use arena_report::units;
use strum::VariantArray;

pub use self::subject::Subject;
use self::{node::Next, subject::OptionsError};
use crate::{
    bench::rules::Way,
    check::{CheckStep, Report, Verdict},
    failure::Outcome,
};

/// Events after which a game counts as endless.
const EVENTS_MAX: u32 = 1_000_000;
/// Seconds for which the speed is measured.
const SPEED_SECONDS: f64 = 0.5;

/// One step of the check.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum RulesetStep {
    Description,
    Options,
    Panics,
    Decisions,
    Chance,
    Values,
    Positions,
    Purity,
    Board,
    End,
    Ranks,
    Speed,
}

impl CheckStep for RulesetStep {
    fn name(self) -> &'static str {
        self.into()
    }

    fn number(self) -> usize {
        self as usize + 1
    }

    fn promise(self) -> &'static str {
        match self {
            Self::Description => "it has a summary, 2 to 4 seats, and options with a summary",
            Self::Options => "each option works at its bounds, for each number of seats",
            Self::Panics => "no method panics",
            Self::Decisions => {
                "legal actions are ascending, below 32768, with different names in ASCII"
            }
            Self::Chance => {
                "outcomes have whole weights, different names, and a value for each seat"
            }
            Self::Values => {
                "values are from 0 to a million, with a sum of half a million for each seat"
            }
            Self::Positions => "decode returns the position that encode wrote",
            Self::Purity => "the same calls give the same results",
            Self::Board => "the board is drawn as ASCII text of at most 64 KiB",
            Self::End => "every game ends",
            Self::Ranks => {
                "ranks start at 1, a tie shares a rank, and the values at the end follow"
            }
            Self::Speed => "random games are played",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Description => "correct RulesetInfo in `info`",
            Self::Options => {
                "correct the bounds, or refuse what cannot be combined in `with_options` with \
                 OptionError::Together"
            }
            Self::Panics => "handle every position that legal actions lead to",
            Self::Decisions => "correct `legal` or `write_action`; a pass is legal only alone",
            Self::Chance => "correct `weights`, `write_outcome` or `chance_values`",
            Self::Values => "use arena::engine::values, or leave `values` out",
            Self::Positions => "encode everything that the rest of the game depends on",
            Self::Purity => "use no clock, random number or state outside the position",
            Self::Board => "correct `draw`",
            Self::End => "end the game after a number of moves, with Ending::Cap",
            Self::Ranks => "correct `placement`, or leave `values` out",
            Self::Speed => "see the steps before",
        }
    }
}

/// The first problem of each step, and what was played.
#[derive(Debug, Default)]
struct Found {
    problems: BTreeMap<RulesetStep, String>,
    sets: u64,
    games: u64,
    games_ended: u64,
    positions: u64,
    events_most: u32,
    bytes_most: usize,
    /// Events after which a game counts as endless.
    events_max: u32,
}

impl Found {
    /// Notes the first problem of a step.
    fn expect(
        &mut self,
        step: RulesetStep,
        holds: bool,
        label: &str,
        problem: impl FnOnce() -> String,
    ) {
        if !holds {
            let entry = self.problems.entry(step);
            entry.or_insert_with(|| format!("{label}: {}", problem()));
        }
    }

    /// Plays a game. Returns false if it did not come to its end.
    fn play<E: Display>(
        &mut self,
        label: &str,
        visit: impl FnOnce(Walk<'_>) -> Result<(), E>,
    ) -> bool {
        let (seed, ended) = (self.games, self.games_ended);
        self.games += 1;
        let walk = Walk {
            label,
            seed,
            found: self,
        };
        match panic::catch_unwind(AssertUnwindSafe(|| visit(walk))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                self.expect(RulesetStep::Options, false, label, || error.to_string());
            }
            Err(reason) => {
                let text = reason.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| reason.downcast_ref::<&str>().copied());
                let text = text.unwrap_or("a panic without a text");
                self.expect(RulesetStep::Panics, false, label, || text.to_owned());
            }
        }
        self.games_ended > ended
    }
}

/// Checks a ruleset by at least this many random games.
///
/// # Errors
/// If the speed cannot be measured.
pub fn check(subject: &Subject, games: u64) -> Outcome<Report> {
    let mut found = Found {
        events_max: EVENTS_MAX,
        ..Found::default()
    };
    describe(subject, &mut found);
    let sets = sets_of_options(subject, &mut found);
    let each = games.div_ceil((sets.len() as u64).max(1));
    found.sets = sets.len() as u64;
    for (label, options, seats) in &sets {
        for _ in 0..each {
            let has_ended = found.play(label, |walk| subject.visit(options, *seats, walk));
            if !has_ended {
                break;
            }
        }
    }
    if let Some((step, problem)) = subject.failure() {
        found.expect(step, false, subject.name(), || problem);
    }
    report(subject, found)
}

fn report(subject: &Subject, mut found: Found) -> Outcome<Report> {
    let mut report = Report::default();
    let played = format!(
        "{}, {}",
        units::plural(found.games, "game"),
        units::plural(found.positions, "position"),
    );
    let is_sound = found.problems.is_empty();
    for &step in RulesetStep::VARIANTS {
        let detail = match step {
            // What was not tried has not passed.
            _ if (RulesetStep::Decisions..RulesetStep::Speed).contains(&step)
                && found.games_ended == 0
                && !found.problems.contains_key(&step) =>
            {
                report.add(step, Verdict::Skipped, "no game came to its end");
                continue;
            }
            RulesetStep::Speed if !is_sound => {
                report.add(step, Verdict::Skipped, "an earlier step failed");
                continue;
            }
            RulesetStep::Speed => {
                let measured = subject.measure(Way::Bare, SPEED_SECONDS)?;
                format!(
                    "{} decisions/s on one core",
                    units::rate(measured.decisions_per_second)
                )
            }
            RulesetStep::Options => units::plural(found.sets, "combination"),
            RulesetStep::Panics => played.clone(),
            RulesetStep::Positions => {
                format!("at most {}", units::plural(found.bytes_most as u64, "byte"))
            }
            RulesetStep::End => {
                format!(
                    "after at most {}",
                    units::plural(found.events_most.into(), "event")
                )
            }
            _ => step.promise().to_owned(),
        };
        let problem = found.problems.remove(&step);
        let remedy = subject.remedy(step);
        report.judge_with(step, problem.map_or(Ok(detail), Err), remedy);
    }
    Ok(report)
}

fn describe(subject: &Subject, found: &mut Found) {
    let step = RulesetStep::Description;
    let (least, most) = subject.seats();
    found.expect(step, !subject.summary().is_empty(), subject.name(), || {
        "no summary".to_owned()
    });
    found.expect(
        step,
        2 <= least && least <= most && most <= arena_engine::MAX_SEATS,
        subject.name(),
        || format!("{least} to {most} seats"),
    );
    for option in subject.options() {
        found.expect(step, !option.summary.is_empty(), &option.name, || {
            "no summary".to_owned()
        });
    }
}

/// The defaults, each preset, and each option at its bounds, for each number of seats.
fn sets_of_options(subject: &Subject, found: &mut Found) -> Vec<(String, Options, usize)> {
    let one = |name: &str, value: Value| Options::from([(name.to_owned(), value)]);
    let mut given = vec![Options::new()];
    given.extend(
        subject
            .presets()
            .iter()
            .map(|it| one("preset", it.name.as_str().into())),
    );
    for option in subject.options() {
        given.extend(
            bounds(option)
                .into_iter()
                .map(|value| one(&option.name, value)),
        );
    }
    let mut sets = Vec::new();
    for given in given {
        for seats in subject.seats().0..=subject.seats().1 {
            let shown = given
                .iter()
                .map(|(name, value)| format!("{name}={value}, "));
            let label = shown.collect::<String>() + &units::plural(seats as u64, "seat");
            match subject.resolve(&given, seats) {
                Ok((options, seats)) => sets.push((label, options, seats)),
                // The rules say what goes together.
                Err(OptionsError::Excluded(_)) if !given.is_empty() => {}
                Err(error) => {
                    found.expect(RulesetStep::Options, false, &label, || error.to_string());
                }
            }
        }
    }
    sets
}

fn bounds(option: &Spec) -> Vec<Value> {
    match &option.kind {
        Kind::Bool => vec![false.into(), true.into()],
        Kind::Choice(words) => words.iter().map(|word| word.as_str().into()).collect(),
        Kind::Int { min, max } => vec![Value::Int(*min), Value::Int(*max)],
        Kind::Real { .. } | Kind::Text | Kind::Numbers { .. } => Vec::new(),
    }
}

/// Plays one random game and checks each position.
struct Walk<'a> {
    label: &'a str,
    seed: u64,
    found: &'a mut Found,
}

impl Visitor for Walk<'_> {
    type Out = ();

    fn visit<G: Game>(self, game: G) {
        let Self { label, seed, found } = self;
        let mut rng = AgentRng::new(seed);
        let mut state = game.initial();
        let mut legal = Vec::new();
        if game.failure(&state).is_some() {
            return;
        }
        for number in 0..found.events_max {
            let next = node::check(&game, &state, label, found);
            found.positions += 1;
            found.events_most = found.events_most.max(number);
            match next {
                Next::Event => {}
                Next::None => return,
                Next::End => {
                    found.games_ended += 1;
                    return;
                }
            }
            let before = state.clone();
            let mut again = state.clone();
            let shown;
            if let arena_engine::Node::Decision(_) = game.node(&state) {
                game.legal(&state, &mut legal);
                let action = rng.pick(&legal);
                game.apply(&mut state, action);
                game.apply(&mut again, action);
                shown = format!("action {action}");
            } else {
                let outcome = rng.weighted(game.weights(&state)) as u16;
                game.apply_outcome(&mut state, outcome);
                game.apply_outcome(&mut again, outcome);
                shown = format!("outcome {outcome}");
            }
            if game.failure(&state).is_some() {
                return;
            }
            found.expect(RulesetStep::Purity, state == again, label, || {
                format!("{shown} leads from {before:?} to {state:?} and to {again:?}")
            });
            if state != again {
                return;
            }
        }
        found.expect(RulesetStep::End, false, label, || {
            "a random game has no end".to_owned()
        });
    }
}
