//! `--option KEY=VALUE`, as several commands take it.

use crate::failure::{Failure, Outcome};

/// Parses keys and values; each key may occur once. An error message shows `example`.
pub(super) fn pairs(given: &[String], example: &str) -> Outcome<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::with_capacity(given.len());
    for option in given {
        let Some((key, value)) = option.split_once('=') else {
            return Err(Failure::usage(format!(
                "--option {option}: expected KEY=VALUE, such as --option {example}"
            )));
        };
        if pairs.iter().any(|(known, _)| known == key) {
            return Err(Failure::usage(format!("--option names \"{key}\" twice")));
        }
        pairs.push((key.to_owned(), value.to_owned()));
    }
    Ok(pairs)
}
