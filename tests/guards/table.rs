//! The table of attacks: `data/attacks.toml`.

use std::fs;

use serde::Deserialize;

use crate::repository;

/// An attack on an earlier version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// Its number, from 1.
    pub number: usize,
    /// What an attacker does.
    pub attack: String,
    /// The tests that fail if it succeeds.
    pub tests: Vec<Test>,
    /// Stress tests that fail if it succeeds.
    #[serde(default)]
    pub stress: Vec<String>,
    /// The checks that prevent it.
    pub guards: Vec<Guard>,
}

/// A test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Its name in nextest: the binary and the path of the function.
    pub name: String,
    /// Its file in the repository.
    pub file: String,
}

/// A check, with the edit that removes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// The function that checks.
    pub name: String,
    /// Its file in the repository.
    pub file: String,
    /// A text that the file has once, in this function.
    pub find: String,
    /// The text without the check.
    pub replace: String,
    /// The tests of the attack that fail without the check.
    pub fails: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    attack: Vec<Attack>,
}

/// All attacks.
///
/// # Panics
/// If there is no such file, or it is malformed.
#[must_use]
pub fn attacks() -> Vec<Attack> {
    let text = fs::read_to_string(repository().join("tests/data/attacks.toml"));
    let table: Table = toml::from_str(&text.expect("a file")).expect("a table");
    table.attack
}

impl Guard {
    /// The text of the file without the check.
    ///
    /// # Errors
    /// If the text to remove is not in the function, or not once in the file.
    pub fn remove(&self, text: &str) -> Result<String, String> {
        let found = text.matches(&*self.find).count();
        if found != 1 {
            return Err(format!("{found} times in the file: {}", self.find));
        }
        match functions(text, &self.name).any(|function| function.contains(&self.find)) {
            true => Ok(text.replacen(&self.find, &self.replace, 1)),
            false => Err(format!("not in function {}: {}", self.name, self.find)),
        }
    }
}

/// The last status of a test in a log of nextest, such as `PASS [   0.1s] (1/2) arena-store tests::one`.
/// None if it did not run, for instance because the build failed.
#[must_use]
pub fn outcome<'a>(log: &'a str, test: &str) -> Option<&'a str> {
    let of_test = |line: &&str| {
        line.strip_suffix(test)
            .is_some_and(|rest| rest.ends_with(' '))
    };
    let status = log.lines().rev().find(of_test)?;
    status.split_once('[').map(|(status, _)| status.trim())
}

/// The functions of this name, in a text of rustfmt: each ends with a brace as far to the right as it
/// starts.
fn functions<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("fn {name}");
    let starts: Vec<usize> = text.match_indices(&start).map(|(at, _)| at).collect();
    starts.into_iter().filter_map(move |at| {
        let is_whole = text[at + start.len()..].starts_with(['(', '<']);
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let rest = &text[line..];
        let indent = &rest[..rest.len() - rest.trim_start().len()];
        let end = format!("\n{indent}}}\n");
        let length = rest.find(&end)? + end.len();
        is_whole.then(|| &rest[..length])
    })
}
