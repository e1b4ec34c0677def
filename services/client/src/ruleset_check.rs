//! `arena rulesets check`: random games of a ruleset, and at each of their positions everything that
//! the rules promise.

mod crowd;
mod golden;
mod node;
mod steps;
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
use arena_worker::rules::RulesFailure;
use indicatif::ProgressBar;
use strum::VariantArray;

use self::{
    crowd::Crowd,
    node::Next,
    steps::{ShownStep, package_remedy, step_of},
};
pub use self::{
    golden::{GOLDEN_FILE, Golden, playthroughs},
    steps::RulesetStep,
};
use crate::{
    bench::{Measured, rules::Way},
    check::{CheckStep as _, Problem, Report, Verdict},
    failure::{Failure, Outcome},
    rules::{OptionsError, Rules},
};

/// Events after which a game counts as endless.
const EVENTS_MAX: u32 = 1_000_000;
/// Games of a package in which everything is checked at every position. The others only have to come to their ends.
const WHOLE_GAMES: u64 = 100;
/// Share of its memory limit that a package may use.
const MEMORY_MAX: f64 = 0.8;
/// Seconds for which the speed is measured.
const SPEED_SECONDS: f64 = 0.5;

/// The first problem of each step, and what was played.
#[derive(Default)]
struct Found<'a> {
    /// The rules, if they can fail.
    rules: Option<&'a Rules>,
    problems: BTreeMap<RulesetStep, Problem>,
    sets: u64,
    games: u64,
    games_ended: u64,
    positions: u64,
    chance_nodes: u64,
    events_most: u32,
    bytes_most: usize,
    /// Events after which a game counts as endless.
    events_max: u32,
    /// Number of playthroughs.
    golden: usize,
    /// Most bytes of memory of a process, and its limit.
    memory: Option<(u64, u64)>,
    /// True if the rules draw no boards.
    has_no_boards: bool,
}

impl Found<'_> {
    /// Notes the first problem of a step. Problems after a failure of a package follow from it.
    fn expect<P: Into<Problem>>(
        &mut self,
        step: RulesetStep,
        holds: bool,
        label: &str,
        problem: impl FnOnce() -> P,
    ) {
        let has_failed = || self.rules.is_some_and(|rules| rules.failure().is_some());
        if !holds && !has_failed() {
            let entry = self.problems.entry(step);
            entry.or_insert_with(|| {
                let problem = problem().into();
                Problem {
                    text: format!("{label}: {}", problem.text),
                    ..problem
                }
            });
        }
    }

    /// Plays a game. Returns false if it did not come to its end.
    fn play<E: Display>(
        &mut self,
        label: &str,
        visit: impl FnOnce(Walk<'_, '_>) -> Result<(), E>,
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

/// Checks a ruleset by at least this many random games, which the bar counts, and by playthroughs. Of a
/// package, whose answers take longer, only the first 100 are checked at every position.
///
/// # Errors
/// If the speed cannot be measured.
pub fn check(
    rules: &Rules,
    games: u64,
    golden: Option<&Golden>,
    bar: &ProgressBar,
) -> Outcome<Report> {
    let mut found = Found {
        rules: Some(rules),
        events_max: EVENTS_MAX,
        has_no_boards: rules.description().is_some_and(|it| !it.draws),
        ..Found::default()
    };
    describe(rules, &mut found);
    let sets = sets_of_options(rules, &mut found);
    found.sets = sets.len() as u64;
    let each_of = |games: u64| games.div_ceil((sets.len() as u64).max(1));
    let each = each_of(games);
    let whole = match rules {
        Rules::Listed(_) => each,
        Rules::Package(_) => each_of(games.min(WHOLE_GAMES)),
    };
    bar.set_length(each * found.sets);
    for ((label, options, seats), played) in sets.iter().zip(1..) {
        bar.set_message(label.clone());
        for _ in 0..whole {
            bar.inc(1);
            let has_ended = found.play(label, |walk| rules.visit(options, *seats, walk));
            if !has_ended {
                break;
            }
        }
        bar.set_position(whole * played);
    }
    let found_games = found.games_ended;
    let promises_chance = rules.description().is_some_and(|it| it.chance);
    if promises_chance && found.chance_nodes == 0 && found_games > 0 {
        found.expect(RulesetStep::Chance, false, rules.name(), || {
            let games = units::plural(found_games, "game");
            format!("chance is true in the description, but {games} had no chance node")
        });
    }
    if let Some(golden) = golden {
        found.golden = golden.games();
        golden.compare(rules, &mut found);
    }
    if rules.failure().is_none()
        && let Err(failure) = rules.check_unknown_option()
    {
        let problem = problem_of(rules.name(), failure);
        found.expect(RulesetStep::Options, false, rules.name(), || problem);
    }
    rules.ask_together();
    let is_sound = |found: &Found<'_>| found.problems.is_empty() && rules.failure().is_none();
    if whole < each && is_sound(&found) {
        rules.compare_seldom();
        for (label, options, seats) in &sets {
            bar.set_message(label.clone());
            let (games, found) = (each - whole, &mut found);
            let crowd = Crowd { games, found, bar };
            rules
                .visit(options, *seats, crowd)
                .map_err(Failure::failed)?;
        }
    }
    bar.finish_and_clear();
    let speed = is_sound(&found).then(|| rules.measure(Way::Bare, SPEED_SECONDS));
    // Rules can fail while their speed is measured, too.
    let failed = rules.failure().map(|failure| {
        let step = step_of(failure.cause);
        let problem = problem_of(rules.name(), failure);
        found.problems.insert(step, problem);
        step
    });
    found.memory = rules.memory();
    if let Some((bytes, limit)) = found.memory {
        let holds = bytes as f64 <= limit as f64 * MEMORY_MAX;
        found.expect(RulesetStep::Memory, holds, rules.name(), || {
            memory_text(bytes, limit)
        });
    }
    if let Some(problem) = rules.board_problem() {
        found.expect(RulesetStep::Board, false, rules.name(), || problem);
    }
    report(rules, found, failed, speed)
}

/// The check of a package that does not describe itself.
#[must_use]
pub fn report_start(name: &str, failure: RulesFailure) -> Report {
    let (mut report, step) = (Report::default(), RulesetStep::Description);
    report.add_failed(
        step,
        problem_of(name, failure),
        "the package starts, and describes itself",
        "correct what it answers to `describe`, by services/games/PROTOCOL.md",
    );
    for &step in &RulesetStep::VARIANTS[1..] {
        let is_package = true;
        let step = ShownStep { step, is_package };
        report.add(step, Verdict::Skipped, "the package did not start");
    }
    report
}

/// What a package failed at, without its name, which the user gave.
fn problem_of(name: &str, failure: RulesFailure) -> Problem {
    let named = format!("ruleset {name}: ");
    let text = failure.message.strip_prefix(&named);
    Problem {
        text: text.unwrap_or(&failure.message).to_owned(),
        at: failure.question,
        output: failure.output,
    }
}

/// `failed` is the step at which a package failed and was not asked any more.
fn report(
    rules: &Rules,
    mut found: Found<'_>,
    failed: Option<RulesetStep>,
    mut speed: Option<Outcome<Measured>>,
) -> Outcome<Report> {
    let mut report = Report::default();
    let is_package = matches!(rules, Rules::Package(_));
    let as_shown = |step| ShownStep { step, is_package };
    let untried = failed.map_or_else(
        || "no game came to its end".to_owned(),
        |step| {
            let name = as_shown(step).name();
            format!("step {}, {name}, failed first", step.number())
        },
    );
    let played = format!(
        "{}, {}",
        units::plural(found.games, "game"),
        units::plural(found.positions, "position"),
    );
    let is_sound = found.problems.is_empty();
    let (has_chance, description) = (found.chance_nodes > 0, rules.description());
    let has = |step| match step {
        RulesetStep::Chance => has_chance,
        RulesetStep::Values => description.is_none_or(|it| it.values),
        RulesetStep::Board => description.is_none_or(|it| it.draws),
        _ => true,
    };
    for &step in RulesetStep::VARIANTS {
        let shown = as_shown(step);
        let detail = match step {
            // What was not tried has not passed.
            _ if (RulesetStep::Decisions..RulesetStep::Speed).contains(&step)
                && found.games_ended == 0
                && !found.problems.contains_key(&step) =>
            {
                report.add(shown, Verdict::Skipped, &*untried);
                continue;
            }
            RulesetStep::Golden if found.golden == 0 => {
                let problem = format!("there is no {GOLDEN_FILE}; --write-golden writes one");
                report.add(shown, Verdict::Skipped, problem);
                continue;
            }
            RulesetStep::Memory if found.memory.is_none() => {
                let reason = match rules {
                    Rules::Listed(_) => "the rules are a part of this program",
                    Rules::Package(_) => "the system does not show it, or an earlier step failed",
                };
                report.add(shown, Verdict::Skipped, reason);
                continue;
            }
            // Nothing was promised.
            _ if !has(step) && !found.problems.contains_key(&step) => {
                report.add(shown, Verdict::Skipped, "it has none");
                continue;
            }
            RulesetStep::Speed => match speed.take().filter(|_| is_sound) {
                Some(measured) => format!(
                    "{} decisions/s{}",
                    units::rate(measured?.decisions_per_second),
                    if is_package { "" } else { " on one core" },
                ),
                None => {
                    report.add(shown, Verdict::Skipped, "an earlier step failed");
                    continue;
                }
            },
            RulesetStep::Golden => units::plural(found.golden as u64, "game"),
            RulesetStep::Memory => {
                let (bytes, limit) = found.memory.unwrap_or_default();
                memory_text(bytes, limit)
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
            _ => shown.promise().to_owned(),
        };
        let Some(problem) = found.problems.remove(&step) else {
            report.add(shown, Verdict::Passed, detail);
            continue;
        };
        let remedy = match is_package {
            true => package_remedy(step, !problem.output.is_empty()),
            false => step.remedy(),
        };
        report.add_failed(shown, problem, shown.promise(), remedy);
    }
    Ok(report)
}

fn memory_text(bytes: u64, limit: u64) -> String {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    format!(
        "a process used up to {} MiB of {} MiB",
        mib(bytes),
        mib(limit)
    )
}

fn describe(rules: &Rules, found: &mut Found) {
    let step = RulesetStep::Description;
    let (least, most) = rules.seats();
    found.expect(step, !rules.summary().is_empty(), rules.name(), || {
        "no summary".to_owned()
    });
    found.expect(
        step,
        2 <= least && least <= most && most <= arena_engine::MAX_SEATS,
        rules.name(),
        || format!("{least} to {most} seats"),
    );
    for option in rules.options() {
        found.expect(step, !option.summary.is_empty(), &option.name, || {
            "no summary".to_owned()
        });
    }
}

/// The defaults, each preset, and each option at its bounds, for each number of seats.
fn sets_of_options(rules: &Rules, found: &mut Found) -> Vec<(String, Options, usize)> {
    let one = |name: &str, value: Value| Options::from([(name.to_owned(), value)]);
    let mut given = vec![Options::new()];
    given.extend(
        rules
            .presets()
            .iter()
            .map(|it| one("preset", it.name.as_str().into())),
    );
    for option in rules.options() {
        given.extend(
            bounds(option)
                .into_iter()
                .map(|value| one(&option.name, value)),
        );
    }
    let mut sets = Vec::new();
    for given in given {
        for seats in rules.seats().0..=rules.seats().1 {
            let shown = given
                .iter()
                .map(|(name, value)| format!("{name}={value}, "));
            let label = shown.collect::<String>() + &units::plural(seats as u64, "seat");
            match rules.resolve(&given, seats) {
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
struct Walk<'a, 'r> {
    label: &'a str,
    seed: u64,
    found: &'a mut Found<'r>,
}

impl Visitor for Walk<'_, '_> {
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
                let mut problem = node::at(&game, &before, format!("{shown} has two results"));
                for after in [&state, &again] {
                    problem.at += &format!("\nafter {shown}: {}", node::shown(&game, after));
                }
                problem
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
