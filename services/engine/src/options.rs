//! Options of rulesets and of bots: their descriptions, and chosen values.

mod seats;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

pub use seats::resolve_seats;

/// A chosen value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "an option is true or false, a number, a text or a list of numbers"
)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number, never used in rules.
    Real(f64),
    /// A word or any text.
    Text(String),
    /// A list of real numbers, never used in rules.
    Numbers(Vec<f64>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Text(value) => f.write_str(value),
            Self::Numbers(values) => write!(f, "{values:?}"),
        }
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// Values by option name, in ascending order.
pub type Options = BTreeMap<String, Value>;

/// The type of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number within inclusive bounds.
    Int {
        /// Minimum.
        min: i64,
        /// Maximum.
        max: i64,
    },
    /// A finite real number within inclusive bounds.
    Real {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// One of some words.
    Choice(Vec<String>),
    /// Any text.
    Text,
    /// A list of finite real numbers within inclusive bounds, or the name of one. As text:
    /// `[0.5, -1]`, or `0.5 -1` and `0.5;-1` where brackets and commas have another meaning.
    Numbers {
        /// Minimum of each number.
        min: f64,
        /// Maximum of each number.
        max: f64,
        /// Number of numbers.
        length: usize,
        /// Names that stand for lists.
        names: Vec<String>,
    },
}

impl Kind {
    /// A choice among words.
    #[must_use]
    pub fn choice(words: &[&str]) -> Self {
        Self::Choice(words.iter().map(|&word| word.to_owned()).collect())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Real { min, max } => {
                f.write_str("a number")?;
                write_range(f, *min, *max)
            }
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::Text => f.write_str("text"),
            Self::Numbers {
                min,
                max,
                length,
                names,
            } => {
                write!(f, "a list of {length} numbers")?;
                write_range(f, *min, *max)?;
                if names.is_empty() {
                    Ok(())
                } else {
                    write!(f, " or one of {}", names.join(", "))
                }
            }
        }
    }
}

/// Bounds of a number as text, if there are any.
fn write_range(f: &mut fmt::Formatter<'_>, min: f64, max: f64) -> fmt::Result {
    match (min > f64::MIN, max < f64::MAX) {
        (true, true) => write!(f, " from {min} to {max}"),
        (true, false) => write!(f, " of at least {min}"),
        (false, true) => write!(f, " of at most {max}"),
        (false, false) => Ok(()),
    }
}

/// One option.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Lower-case words joined by underscores.
    pub name: String,
    /// A description in one line.
    pub summary: String,
    /// Its type.
    pub kind: Kind,
    /// Its default.
    pub default: Value,
    /// The rulesets for which it exists; empty: all. A bot may have options of one name that differ
    /// between rulesets.
    pub rulesets: Vec<String>,
    /// For a bot's option: true if a value other than the default makes the bot draw from its seed.
    pub uses_seed: bool,
}

impl Spec {
    /// An option.
    #[must_use]
    pub fn new(name: &str, kind: Kind, default: impl Into<Value>, summary: &str) -> Self {
        Self {
            name: name.to_owned(),
            summary: summary.to_owned(),
            kind,
            default: default.into(),
            rulesets: Vec::new(),
            uses_seed: false,
        }
    }

    /// The option, marked as one that makes a bot draw from its seed.
    #[must_use]
    pub fn drawing(mut self) -> Self {
        self.uses_seed = true;
        self
    }

    /// The option, for one ruleset only.
    #[must_use]
    pub fn only_for(mut self, ruleset: &str) -> Self {
        self.rulesets = vec![ruleset.to_owned()];
        self
    }
}

/// The options that exist for a ruleset.
#[must_use]
pub fn of_ruleset(specs: &[Spec], ruleset: &str) -> Vec<Spec> {
    let exists = |spec: &&Spec| {
        spec.rulesets.is_empty() || spec.rulesets.iter().any(|known| known == ruleset)
    };
    specs.iter().filter(exists).cloned().collect()
}

/// A named set of options.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Lower-case letters, digits and underscores.
    pub name: String,
    /// A description in one line.
    pub summary: String,
    /// The values that it sets; other options keep their defaults.
    pub options: Options,
    /// Its number of seats; none: any.
    pub seats: Option<usize>,
}

impl Preset {
    /// A preset for any number of seats.
    #[must_use]
    pub fn new(name: &str, options: &[(&str, Value)], summary: &str) -> Self {
        let options = options.iter().cloned();
        Self {
            name: name.to_owned(),
            summary: summary.to_owned(),
            options: options
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            seats: None,
        }
    }
}

/// Why options are invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// There is no option or preset of this name.
    #[error("unknown {what} \"{name}\"{}", hint(nearest.as_ref(), known))]
    Unknown {
        /// `option` or `preset`.
        what: &'static str,
        /// The name given.
        name: String,
        /// The known name nearest to it.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// The value is invalid for the option.
    #[error("option \"{name}\": {value} is not {expected}")]
    Value {
        /// Name of the option.
        name: String,
        /// The value given.
        value: String,
        /// The valid values.
        expected: String,
    },
    /// A list has the wrong number of numbers.
    #[error(
        "option \"{name}\": a list of {given} numbers is not {expected}{}",
        on(rulesets)
    )]
    Length {
        /// Name of the option.
        name: String,
        /// Number of given numbers.
        given: usize,
        /// The valid values.
        expected: String,
        /// The rulesets for which this holds; empty: all.
        rulesets: Vec<String>,
    },
    /// The number of seats is not possible.
    #[error("{what} is for {allowed} seats, not {seats}")]
    Seats {
        /// The ruleset or preset.
        what: String,
        /// The possible numbers.
        allowed: String,
        /// The requested number.
        seats: usize,
    },
    /// Options that cannot be combined.
    #[error("{0}")]
    Together(String),
}

fn on(rulesets: &[String]) -> String {
    match rulesets {
        [] => String::new(),
        some => format!(", as required for {}", some.join(", ")),
    }
}

fn hint(nearest: Option<&String>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean \"{nearest}\"?"),
        None if known.is_empty() => ": there are none".to_owned(),
        None if known.len() == 1 => format!(": there is {}", known[0]),
        None => format!(": there are {}", known.join(", ")),
    }
}

/// Longest name that is compared with others, bytes: the time grows with its square.
const COMPARED_MAX: usize = 128;

/// The known name that is most similar to a misspelt one, if any is similar.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if name.len() > COMPARED_MAX {
        return None;
    }
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 2 * COMPARED_MAX)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 3)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// True for words that differ only in dashes instead of underscores.
fn same_word(known: &str, given: &str) -> bool {
    known.replace('_', "-") == given.replace('_', "-")
}

/// Converts a value to an option's own type and checks its bounds. Text is parsed according to
/// the type, so that `depth=4` may come from a command line. Dashes and underscores are
/// equivalent.
///
/// # Errors
/// [`OptionError::Value`] if it is invalid.
pub fn coerce(spec: &Spec, value: &Value) -> Result<Value, OptionError> {
    let fitting = match (&spec.kind, value) {
        (Kind::Bool, Value::Bool(value)) => Some(Value::Bool(*value)),
        (Kind::Bool, Value::Text(text)) => text.parse().ok().map(Value::Bool),
        (Kind::Int { min, max }, Value::Int(value)) => {
            (min..=max).contains(&value).then_some(Value::Int(*value))
        }
        (Kind::Int { min, max }, Value::Text(text)) => text
            .parse()
            .ok()
            .filter(|value| (min..=max).contains(&value))
            .map(Value::Int),
        (Kind::Real { min, max }, value) => {
            let number = match value {
                Value::Int(value) => value.to_string().parse::<f64>().ok(),
                Value::Real(value) => Some(*value),
                Value::Text(text) => text.parse::<f64>().ok(),
                Value::Bool(_) | Value::Numbers(_) => None,
            };
            number
                .filter(|number| number.is_finite() && (min..=max).contains(&number))
                .map(Value::Real)
        }
        (Kind::Choice(words), value) => {
            let word = value.to_string();
            words
                .iter()
                .find(|known| same_word(known, &word))
                .map(|known| Value::Text(known.clone()))
        }
        (Kind::Text, value) => Some(Value::Text(value.to_string())),
        (
            Kind::Numbers {
                min,
                max,
                length,
                names,
            },
            value,
        ) => {
            let name = |text: &str| names.iter().find(|known| same_word(known, text));
            let numbers = match value {
                Value::Text(text) => match name(text) {
                    Some(known) => return Ok(Value::Text(known.clone())),
                    None => numbers(text),
                },
                Value::Numbers(numbers) => Some(numbers.clone()),
                _ => None,
            };
            if let Some(numbers) = &numbers
                && numbers.len() != *length
            {
                return Err(OptionError::Length {
                    name: spec.name.clone(),
                    given: numbers.len(),
                    expected: spec.kind.to_string(),
                    rulesets: spec.rulesets.clone(),
                });
            }
            let fits = |number: &f64| number.is_finite() && (min..=max).contains(&number);
            numbers
                .filter(|numbers| numbers.iter().all(fits))
                .map(Value::Numbers)
        }
        _ => None,
    };
    fitting.ok_or_else(|| OptionError::Value {
        name: spec.name.clone(),
        value: match value {
            Value::Text(text) => format!("\"{text}\""),
            other => other.to_string(),
        },
        expected: match meant(&spec.kind, value) {
            Some(word) => format!("{}; did you mean \"{word}\"?", spec.kind),
            None => spec.kind.to_string(),
        },
    })
}

/// The word that is most similar to a misspelt one.
fn meant(kind: &Kind, value: &Value) -> Option<String> {
    let (Kind::Choice(words) | Kind::Numbers { names: words, .. }, Value::Text(text)) =
        (kind, value)
    else {
        return None;
    };
    nearest(text, words.iter().map(String::as_str))
}

/// A list as text.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    inner
        .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().ok())
        .collect()
}

/// All options with their values: defaults, then the preset named by `preset`, then the single
/// options.
///
/// # Errors
/// [`OptionError`] at the first invalid option.
pub fn resolve(
    specs: &[Spec],
    presets: &[Preset],
    given: &Options,
) -> Result<Options, OptionError> {
    let mut resolved: Options = specs
        .iter()
        .map(|spec| (spec.name.clone(), spec.default.clone()))
        .collect();
    let chosen = given.get("preset").filter(|_| !presets.is_empty());
    if let Some(chosen) = chosen {
        let preset = find_preset(presets, &chosen.to_string())?;
        resolved.extend(preset.options.clone());
    }
    for (name, value) in given {
        if chosen.is_some() && name == "preset" {
            continue;
        }
        let spec = specs.iter().find(|spec| spec.name == *name);
        let spec = spec.ok_or_else(|| unknown("option", name, specs.iter().map(|it| &it.name)))?;
        resolved.insert(name.clone(), coerce(spec, value)?);
    }
    Ok(resolved)
}

/// The preset of a name.
///
/// # Errors
/// [`OptionError::Unknown`].
pub fn find_preset<'a>(presets: &'a [Preset], name: &str) -> Result<&'a Preset, OptionError> {
    let preset = presets.iter().find(|it| same_word(&it.name, name));
    preset.ok_or_else(|| unknown("preset", name, presets.iter().map(|it| &it.name)))
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a String>,
) -> OptionError {
    let known: Vec<String> = known.cloned().collect();
    OptionError::Unknown {
        what,
        name: name.to_owned(),
        nearest: nearest(name, known.iter().map(String::as_str)),
        known,
    }
}
