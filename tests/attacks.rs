//! The table of attacks in `data/attacks.toml` names tests that exist.

use std::{collections::BTreeSet, fs};

use arena_tests::{repository, stress};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    attack: Vec<Attack>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    number: usize,
    /// What an attacker does.
    attack: String,
    /// The tests that fail if it succeeds.
    tests: Vec<Place>,
    /// Stress tests that fail if it succeeds.
    #[serde(default)]
    stress: Vec<String>,
    /// Functions without whose check a test was seen to fail.
    #[serde(default)]
    guards: Vec<Place>,
}

/// A function in a file of the repository.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    file: String,
    /// The name of the function; of a test, its name in nextest.
    name: String,
}

fn table() -> Table {
    toml::from_str(include_str!("data/attacks.toml")).expect("the data file")
}

/// The line before the function with this name, without doc comments; none if there is no such function.
fn before(place: &Place) -> Option<String> {
    let text = fs::read_to_string(repository().join(&place.file)).ok()?;
    let function = place.name.rsplit("::").next()?;
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let is_it = |line: &&str| {
        let rest = line.split_once("fn ").map(|(_, rest)| rest);
        rest.and_then(|rest| rest.strip_prefix(function))
            .is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let line = lines.iter().position(is_it)?;
    let mut above = lines[..line].iter().rev();
    let above = above.find(|line| !line.starts_with("///"));
    Some(above.map_or_else(String::new, |line| (*line).to_owned()))
}

#[test]
fn tests_of_attacks_exist() {
    let attacks = table().attack;
    let numbers: Vec<usize> = attacks.iter().map(|it| it.number).collect();
    let expected: Vec<usize> = (1..=16).collect();
    assert_eq!(numbers, expected);
    let cases: BTreeSet<String> = stress::Command::all(true)
        .iter()
        .map(stress::Command::name)
        .collect();
    for attack in &attacks {
        let shown = format!("{}: {}", attack.number, attack.attack);
        assert!(!attack.tests.is_empty(), "{shown}: no test");
        for test in &attack.tests {
            let found = before(test);
            let is_test = found.as_ref().is_some_and(|line| {
                ["#[test]", "#[tokio::test"]
                    .iter()
                    .any(|start| line.starts_with(start))
            });
            assert!(is_test, "{shown}: no test {} in {}", test.name, test.file);
            // The modules of a test are its file, or modules of that.
            let file = test.file.trim_end_matches(".rs").rsplit('/').next();
            let is_there = test
                .name
                .split([' ', ':'])
                .any(|module| Some(module) == file);
            assert!(is_there, "{shown}: {} is not in {}", test.name, test.file);
        }
        for case in &attack.stress {
            assert!(cases.contains(case), "{shown}: no stress test {case}");
        }
        for guard in &attack.guards {
            let found = before(guard);
            assert!(
                found.is_some(),
                "{shown}: no {} in {}",
                guard.name,
                guard.file
            );
        }
    }
}
