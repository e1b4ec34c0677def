//! Values that are texts with units. A number without quotes and unit is a common mistake.

use std::fmt;

use serde::{
    Deserializer,
    de::{Error, Visitor},
};

/// Reads a text. The error for anything else names `what` is expected, with two examples.
///
/// # Errors
/// If the value is no text.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
    what: &'static str,
    example: &'static str,
    other: &'static str,
) -> Result<String, D::Error> {
    from.deserialize_any(Quoted {
        what,
        examples: [example, other],
    })
}

struct Quoted {
    what: &'static str,
    examples: [&'static str; 2],
}

impl Quoted {
    fn number<E: Error>(&self, number: impl fmt::Display) -> Result<String, E> {
        Err(E::custom(format!("{number} is a number; expected {self}")))
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, [one, other]) = (self.what, self.examples);
        write!(f, "{what} in quotes, such as \"{one}\" or \"{other}\"")
    }
}

impl Visitor<'_> for Quoted {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        self.number(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        self.number(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        self.number(number)
    }
}
