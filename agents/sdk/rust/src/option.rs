//! Descriptions of a bot's options.

use std::ops::RangeInclusive;

use arena_wire::v1::{BotOption, OptionType};

fn option(name: &str, kind: OptionType, default: String, summary: &str) -> BotOption {
    BotOption {
        name: name.to_owned(),
        summary: summary.to_owned(),
        r#type: kind.into(),
        default_value: default,
        ..BotOption::default()
    }
}

/// `true` or `false`.
#[must_use]
pub fn boolean(name: &str, default: bool, summary: &str) -> BotOption {
    option(name, OptionType::Bool, default.to_string(), summary)
}

/// An integer within bounds.
#[must_use]
pub fn integer(name: &str, default: i64, range: RangeInclusive<i64>, summary: &str) -> BotOption {
    BotOption {
        min: range.start().to_string(),
        max: range.end().to_string(),
        ..option(name, OptionType::Integer, default.to_string(), summary)
    }
}

/// A number within bounds.
#[must_use]
pub fn real(name: &str, default: f64, range: RangeInclusive<f64>, summary: &str) -> BotOption {
    BotOption {
        min: range.start().to_string(),
        max: range.end().to_string(),
        ..option(name, OptionType::Real, default.to_string(), summary)
    }
}

/// One of several words.
#[must_use]
pub fn choice(name: &str, default: &str, words: &[&str], summary: &str) -> BotOption {
    BotOption {
        choices: words.iter().map(|&word| word.to_owned()).collect(),
        ..option(name, OptionType::Choice, default.to_owned(), summary)
    }
}

/// Any text.
#[must_use]
pub fn text(name: &str, default: &str, summary: &str) -> BotOption {
    option(name, OptionType::Text, default.to_owned(), summary)
}

/// A list with as many numbers as the default, each within bounds.
#[must_use]
pub fn numbers(
    name: &str,
    default: &[f64],
    range: RangeInclusive<f64>,
    summary: &str,
) -> BotOption {
    BotOption {
        min: range.start().to_string(),
        max: range.end().to_string(),
        length: default.len() as u32,
        ..option(name, OptionType::Numbers, format!("{default:?}"), summary)
    }
}
