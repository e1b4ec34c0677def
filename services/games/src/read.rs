//! Parsing of resolved options.

use arena_engine::options::{OptionError, Options, Value};

/// Reads options that exist and have the right type, as resolving leaves them.
pub(crate) struct Reader<'a>(pub(crate) &'a Options);

impl<'a> Reader<'a> {
    pub(crate) fn int(&self, name: &str) -> Result<i64, OptionError> {
        match self.0.get(name) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(unresolved(name, other, "a whole number")),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, OptionError> {
        match self.0.get(name) {
            Some(Value::Bool(value)) => Ok(*value),
            other => Err(unresolved(name, other, "true or false")),
        }
    }

    pub(crate) fn word(&self, name: &str) -> Result<&'a str, OptionError> {
        match self.0.get(name) {
            Some(Value::Text(value)) => Ok(value),
            other => Err(unresolved(name, other, "a word")),
        }
    }
}

fn unresolved(name: &str, value: Option<&Value>, expected: &str) -> OptionError {
    OptionError::Value {
        name: name.to_owned(),
        value: value.map_or_else(|| "missing".to_owned(), ToString::to_string),
        expected: expected.to_owned(),
    }
}
