//! Options of rulesets: their descriptions, and reading their resolved values.

use arena_engine::options::{Kind, OptionError, Options, Spec, Value};
use strum::VariantArray;

/// An enum whose variants are the words of an option. The first one is the default.
pub(crate) trait Words: VariantArray + Copy + Into<&'static str> {}

impl<T: VariantArray + Copy + Into<&'static str>> Words for T {}

/// An option with the words of an enum.
pub(crate) fn choice<T: Words>(name: &str, summary: &str) -> Spec {
    let words: Vec<&str> = T::VARIANTS.iter().map(|&word| word.into()).collect();
    words_of(name, &words, summary)
}

/// An option with these words, of which the first one is the default.
pub(crate) fn words_of(name: &str, words: &[&str], summary: &str) -> Spec {
    Spec::new(name, Kind::choice(words), words[0], summary)
}

/// An option that is true or false.
pub(crate) fn flag(name: &str, default: bool, summary: &str) -> Spec {
    Spec::new(name, Kind::Bool, default, summary)
}

/// An option that is a whole number within these bounds.
pub(crate) fn int(name: &str, (min, max): (i64, i64), default: i64, summary: &str) -> Spec {
    Spec::new(name, Kind::Int { min, max }, default, summary)
}

/// The option that names who begins.
pub(crate) fn starter() -> Spec {
    let words = ["seat0", "random"];
    words_of(
        "starter",
        &words,
        "who moves first: seat 0, or a drawn seat",
    )
}

/// Reads options that exist and have the right type, as resolving leaves them.
pub struct Reader<'a>(pub &'a Options);

impl<'a> Reader<'a> {
    /// A whole number.
    ///
    /// # Errors
    /// [`OptionError`] if the option does not exist or has another type.
    pub fn int(&self, name: &str) -> Result<i64, OptionError> {
        match self.0.get(name) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(unresolved(name, other, "a whole number")),
        }
    }

    /// A switch.
    ///
    /// # Errors
    /// As [`Reader::int`].
    pub fn flag(&self, name: &str) -> Result<bool, OptionError> {
        match self.0.get(name) {
            Some(Value::Bool(value)) => Ok(*value),
            other => Err(unresolved(name, other, "true or false")),
        }
    }

    /// A text, or one of several words.
    ///
    /// # Errors
    /// As [`Reader::int`].
    pub fn word(&self, name: &str) -> Result<&'a str, OptionError> {
        match self.0.get(name) {
            Some(Value::Text(value)) => Ok(value),
            other => Err(unresolved(name, other, "a word")),
        }
    }

    /// True if the option has this word.
    pub(crate) fn is(&self, name: &str, word: &str) -> Result<bool, OptionError> {
        Ok(self.word(name)? == word)
    }

    /// The variant of the option's word.
    pub(crate) fn choice<T: Words>(&self, name: &str) -> Result<T, OptionError> {
        let word = self.word(name)?;
        let named = |variant: &&T| Into::<&str>::into(**variant) == word;
        Ok(*T::VARIANTS.iter().find(named).unwrap_or(&T::VARIANTS[0]))
    }
}

fn unresolved(name: &str, value: Option<&Value>, expected: &str) -> OptionError {
    OptionError::Value {
        name: name.to_owned(),
        value: value.map_or_else(|| "missing".to_owned(), ToString::to_string),
        expected: expected.to_owned(),
    }
}
