//! The table of attacks in `data/attacks.toml` names tests that exist, and edits that can be made.

use std::{collections::BTreeSet, fs};

use arena_tests::{
    attacks::{Guard, Test, attacks, outcome},
    repository, stress,
};

/// The line before the function of a test, without doc comments; none if there is no such function.
fn before(test: &Test) -> Option<String> {
    let text = fs::read_to_string(repository().join(&test.file)).ok()?;
    let function = test.name.rsplit("::").next()?;
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
    let attacks = attacks();
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
    }
}

/// The step `guards` makes these edits, and runs the tests.
#[test]
fn guards_can_be_removed() {
    for attack in attacks() {
        assert!(!attack.guards.is_empty(), "{}: no guard", attack.number);
        for guard in &attack.guards {
            let shown = format!("{}: {} in {}", attack.number, guard.name, guard.file);
            let text = fs::read_to_string(repository().join(&guard.file));
            let removed = guard.remove(&text.expect(&shown));
            assert!(removed.is_ok(), "{shown}: {removed:?}");
            assert_ne!(guard.find, guard.replace, "{shown}");
            assert!(!guard.fails.is_empty(), "{shown}: no test");
            for test in &guard.fails {
                let is_named = attack.tests.iter().any(|it| it.name == *test);
                assert!(is_named, "{shown}: {test} is no test of the attack");
            }
        }
    }
}

#[test]
fn edits_are_made_once_in_their_function() {
    let text = "fn one() {\n    a();\n    b();\n}\n\nfn two() {\n    a();\n    c();\n}\n";
    let remove = |name: &str, find: &str| {
        let guard = Guard {
            name: name.to_owned(),
            file: String::new(),
            find: find.to_owned(),
            replace: String::new(),
            fails: Vec::new(),
        };
        guard.remove(text)
    };
    assert_eq!(
        remove("one", "    b();\n"),
        Ok(text.replace("    b();\n", ""))
    );
    for (name, find) in [
        ("one", "a();"),
        ("one", "d();"),
        ("two", "b();"),
        ("on", "b();"),
    ] {
        assert!(remove(name, find).is_err(), "{name} {find}");
    }
}

#[test]
fn last_status_of_a_test_counts() {
    let log = "
        PASS [   0.012s] (1/3) arena-store suite::one
        SLOW [> 60.000s] (─────) arena-store suite::two
     TIMEOUT [ 300.012s] (2/3) arena-store suite::two
        FAIL [   0.012s] (3/3) arena-store suite::three
     Summary [ 300.020s] 3 tests run: 1 passed, 1 failed, 1 timed out, 2 skipped
";
    for (test, expected) in [
        ("arena-store suite::one", Some("PASS")),
        ("arena-store suite::two", Some("TIMEOUT")),
        ("arena-store suite::three", Some("FAIL")),
        ("suite::four", None),
        ("store suite::one", None),
    ] {
        assert_eq!(outcome(log, test), expected, "{test}");
    }
    assert_eq!(
        outcome("error: could not compile `arena-store`", "arena-store a"),
        None
    );
}
