//! Access to options that were resolved against their specs.

use arena_engine::options::{Options, Value};

pub(crate) fn int(options: &Options, name: &str) -> i64 {
    match options.get(name) {
        Some(Value::Int(value)) => *value,
        other => unresolved(name, other),
    }
}

pub(crate) fn real(options: &Options, name: &str) -> f64 {
    match options.get(name) {
        Some(Value::Real(value)) => *value,
        other => unresolved(name, other),
    }
}

pub(crate) fn flag(options: &Options, name: &str) -> bool {
    match options.get(name) {
        Some(Value::Bool(value)) => *value,
        other => unresolved(name, other),
    }
}

pub(crate) fn text<'a>(options: &'a Options, name: &str) -> &'a str {
    match options.get(name) {
        Some(Value::Text(value)) => value,
        other => unresolved(name, other),
    }
}

pub(crate) fn numbers<'a>(options: &'a Options, name: &str) -> &'a [f64] {
    match options.get(name) {
        Some(Value::Numbers(values)) => values,
        other => unresolved(name, other),
    }
}

fn unresolved(name: &str, value: Option<&Value>) -> ! {
    unreachable!("option {name} was resolved by its spec, but is {value:?}")
}
