//! The rulesets and options that the suite plays.

use arena_engine::{
    AgentRng,
    options::{Kind, OptionError, Options, Spec, Value},
};
use arena_games::{GamesError, RulesetInfo, resolve, rulesets};

/// A ruleset with resolved options and seats.
pub(crate) struct Case {
    pub(crate) ruleset: &'static str,
    pub(crate) options: Options,
    pub(crate) seats: usize,
    /// The requested options, for messages of failed tests.
    pub(crate) label: String,
}

/// Number of random sets of options for each number of seats.
const RANDOM_SETS: usize = 40;

/// Every ruleset with its defaults, each preset, each value of each option (or some, if there
/// are many), and random sets of options; each with every number of seats that it allows.
pub(crate) fn cases() -> Vec<Case> {
    rulesets().iter().flat_map(cases_of).collect()
}

fn cases_of(info: &'static RulesetInfo) -> Vec<Case> {
    let mut wanted = vec![Options::new()];
    for preset in &info.presets {
        wanted.push([("preset".to_owned(), preset.name.as_str().into())].into());
    }
    for spec in &info.options {
        for value in values(spec) {
            wanted.push([(spec.name.clone(), value)].into());
        }
    }
    let mut rng = AgentRng::new(0xca5e);
    for _ in 0..RANDOM_SETS {
        let draw = |spec: &Spec| {
            (
                spec.name.clone(),
                rng.pick(&values(spec).iter().collect::<Vec<_>>()).clone(),
            )
        };
        wanted.push(info.options.iter().map(draw).collect());
    }
    let (least, most) = info.seats;
    let mut cases = Vec::new();
    for given in &wanted {
        for seats in least..=most {
            match resolve(info.name, given, Some(seats)) {
                Ok((options, seats)) => cases.push(Case {
                    ruleset: info.name,
                    options,
                    seats,
                    label: format!("{} {given:?} for {seats}", info.name),
                }),
                Err(GamesError::Options {
                    error: OptionError::Together(_) | OptionError::Seats { .. },
                    ..
                }) => {}
                Err(error) => {
                    // An even board is the only integer in range that is refused.
                    let even =
                        matches!(given.get("board"), Some(Value::Int(size)) if size % 2 == 0);
                    assert!(even, "{given:?} for {seats}: {error}");
                }
            }
        }
    }
    assert!(
        cases.len() * 2 > wanted.len(),
        "{}: most options fit",
        info.name
    );
    cases
}

/// All values of an option, or its bounds, its default and some values between.
fn values(spec: &Spec) -> Vec<Value> {
    match &spec.kind {
        Kind::Bool => vec![false.into(), true.into()],
        Kind::Choice(words) => words.iter().map(|word| word.as_str().into()).collect(),
        Kind::Int { min, max } if max - min <= 12 => (*min..=*max).map(Value::Int).collect(),
        Kind::Int { min, max } => [*min, (*min + 100).min(*max), *max]
            .into_iter()
            .map(Value::Int)
            .chain([spec.default.clone()])
            .collect(),
        Kind::Real { .. } | Kind::Text | Kind::Numbers { .. } => vec![spec.default.clone()],
    }
}
