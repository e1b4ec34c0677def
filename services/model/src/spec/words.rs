//! Keys of a spec whose value is one of a few words.

use arena_engine::options::nearest;
use serde::{Deserialize, Deserializer, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::format::Format;

/// What the store keeps of a finished game. It changes no record, so it is not part of a
/// tournament's identity.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Records {
    /// The whole record.
    #[default]
    Full,
    /// Result, hash and seed, without events.
    Hash,
}

impl Records {
    /// As specs write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        word(from, "records", |_| "use \"full\" or \"hash\"".to_owned())
    }
}

/// What decides the places of a tournament.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Outcome {
    /// The ranks of games.
    #[default]
    Ranks,
    /// The returns of games, if the ruleset has them.
    Returns,
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        word(from, "outcome", |_| {
            "use \"ranks\" or \"returns\"".to_owned()
        })
    }
}

/// Reads the name of a format.
pub(super) fn format_name<'de, D: Deserializer<'de>>(from: D) -> Result<Format, D::Error> {
    word(from, "format", |names| {
        format!("use one of {}", names.join(", "))
    })
}

/// Reads one of the words of a key; without a similar word, `otherwise` names them all.
fn word<'de, T: VariantArray + Copy + Into<&'static str>, D: Deserializer<'de>>(
    from: D,
    key: &str,
    otherwise: fn(&[&str]) -> String,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    let names: Vec<&str> = T::VARIANTS.iter().map(|&word| word.into()).collect();
    if let Some(place) = names.iter().position(|name| *name == text) {
        return Ok(T::VARIANTS[place]);
    }
    let hint = match nearest(&text, names.iter().copied()) {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None => otherwise(&names),
    };
    Err(serde::de::Error::custom(format!(
        "unknown value {key} = \"{text}\": {hint}"
    )))
}
