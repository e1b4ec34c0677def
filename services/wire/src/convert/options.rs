//! Options and their descriptions.

use std::str::FromStr;

use arena_model::engine::options::{Kind, OptionError, Options, Spec, Value, coerce};

use super::{ConvertError, wrong};
use crate::v1;

/// Options as messages, in ascending order of names.
#[must_use]
pub fn options_to_wire(options: &Options) -> Vec<v1::OptionValue> {
    let message = |(name, value): (&String, &Value)| v1::OptionValue {
        name: name.clone(),
        value: value.to_string(),
    };
    options.iter().map(message).collect()
}

/// Options with their values as text. Resolving them against their specs
/// (`arena_engine::options::resolve`) restores the types.
#[must_use]
pub fn options_from_wire(options: &[v1::OptionValue]) -> Options {
    let text = |option: &v1::OptionValue| (option.name.clone(), Value::Text(option.value.clone()));
    options.iter().map(text).collect()
}

/// The options of a ruleset that a bot requires, with their values as text.
#[must_use]
pub fn required_options(bot: &v1::Bot, ruleset: &str) -> Options {
    let of_ruleset = { bot.required_options.iter() }.filter(|option| option.ruleset == ruleset);
    of_ruleset
        .map(|option| (option.name.clone(), Value::Text(option.value.clone())))
        .collect()
}

/// The description of an option.
#[must_use]
pub fn option_spec_to_wire(spec: &Spec) -> v1::BotOption {
    let kind = match &spec.kind {
        Kind::Bool => v1::OptionType::Bool,
        Kind::Int { .. } => v1::OptionType::Integer,
        Kind::Real { .. } => v1::OptionType::Real,
        Kind::Choice(_) => v1::OptionType::Choice,
        Kind::Text => v1::OptionType::Text,
        Kind::Numbers { .. } => v1::OptionType::Numbers,
    };
    let mut option = v1::BotOption {
        name: spec.name.clone(),
        summary: spec.summary.clone(),
        r#type: kind.into(),
        default_value: spec.default.to_string(),
        rulesets: spec.rulesets.clone(),
        uses_seed: spec.uses_seed,
        ..v1::BotOption::default()
    };
    match &spec.kind {
        Kind::Bool | Kind::Text => {}
        Kind::Choice(words) => option.choices.clone_from(words),
        Kind::Int { min, max } => (option.min, option.max) = (min.to_string(), max.to_string()),
        Kind::Real { min, max } | Kind::Numbers { min, max, .. } => {
            (option.min, option.max) = (format!("{min:?}"), format!("{max:?}"));
        }
    }
    if let Kind::Numbers { length, names, .. } = &spec.kind {
        option.length = *length as u32;
        option.choices.clone_from(names);
    }
    option
}

/// An option from its description. A missing type means text.
///
/// # Errors
/// [`ConvertError`] if bounds are no numbers or the default is invalid.
pub fn option_spec_from_wire(option: &v1::BotOption) -> Result<Spec, ConvertError> {
    const MESSAGE: &str = "BotOption";
    fn bound<T: FromStr>(name: &str, text: &str, absent: T) -> Result<T, ConvertError> {
        if text.is_empty() {
            return Ok(absent);
        }
        let problem = || format!("option \"{name}\": \"{text}\" is not a bound");
        text.parse().or_else(|_| wrong(MESSAGE, problem()))
    }
    let name = &option.name;
    let kind = match option.r#type() {
        v1::OptionType::Bool => Kind::Bool,
        v1::OptionType::Integer => Kind::Int {
            min: bound(name, &option.min, i64::MIN)?,
            max: bound(name, &option.max, i64::MAX)?,
        },
        v1::OptionType::Real => Kind::Real {
            min: bound(name, &option.min, f64::MIN)?,
            max: bound(name, &option.max, f64::MAX)?,
        },
        v1::OptionType::Choice => Kind::Choice(option.choices.clone()),
        v1::OptionType::Text | v1::OptionType::Unspecified => Kind::Text,
        v1::OptionType::Numbers => Kind::Numbers {
            min: bound(name, &option.min, f64::MIN)?,
            max: bound(name, &option.max, f64::MAX)?,
            length: option.length as usize,
            names: option.choices.clone(),
        },
    };
    let mut spec = Spec::new(name, kind, option.default_value.as_str(), &option.summary);
    spec.rulesets.clone_from(&option.rulesets);
    spec.uses_seed = option.uses_seed;
    match coerce(&spec, &spec.default) {
        Ok(default) => spec.default = default,
        Err(OptionError::Value { expected, .. } | OptionError::Length { expected, .. }) => {
            let default = &option.default_value;
            let problem = format!("option \"{name}\": the default \"{default}\" is not {expected}");
            return wrong(MESSAGE, problem);
        }
        Err(error) => return wrong(MESSAGE, error.to_string()),
    }
    Ok(spec)
}
