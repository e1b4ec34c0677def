//! Reads the logs of steps: how many tests passed, and which failed and why.

use std::{collections::HashSet, ops::AddAssign};

/// Lines of a log that are shown if nothing in it looks like a failure.
const LAST_LINES: usize = 15;
/// Lines after the place of a panic that have its message.
const MESSAGE_LINES: usize = 3;

/// Numbers of tests by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl Counts {
    /// Adds up the summary lines of a log.
    pub(crate) fn of(log: &str) -> Self {
        let mut sum = Self::default();
        for list in log.lines().filter_map(summary) {
            sum += Self::of_list(list);
        }
        sum
    }

    /// Reads a list such as `9 passed (1 slow), 3 failed, 2 skipped`.
    fn of_list(list: &str) -> Self {
        let mut counts = Self::default();
        for part in list.split([',', ';']) {
            let (number, word) = part.trim().split_once(' ').unwrap_or_default();
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word.split(" (").next().unwrap_or(word) {
                "passed" => counts.passed += number,
                "failed" | "timed out" | "exec failed" | "error" | "errors" => {
                    counts.failed += number;
                }
                "skipped" | "ignored" => counts.skipped += number,
                _ => {}
            }
        }
        counts
    }
}

/// The list of counts in a summary line, in the format of one of these programs:
///
/// - nextest: `Summary [ 9.1s] 12 tests run: 9 passed (1 slow), 3 failed, 2 skipped`
/// - cargo test: `test result: ok. 9 passed; 1 failed; 2 ignored; 0 measured`
/// - pytest: `1 failed, 9 passed in 3.14s`
/// - arena-stress: `9 passed, 1 failed, 2 skipped`
fn summary(line: &str) -> Option<&str> {
    // Nextest indents its summary, and the output of failed tests, which has summaries as well.
    if let Some(nextest) = line.trim_start().strip_prefix("Summary ") {
        return nextest.split_once(" run: ").map(|(_, list)| list);
    }
    if let Some(cargo) = line.strip_prefix("test result: ") {
        return cargo.split_once(". ").map(|(_, list)| list);
    }
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    match line.split_once(" in ") {
        Some((pytest, time)) => (is_number(line) && is_number(time)).then_some(pytest),
        None => (is_number(line) && line.ends_with(" skipped")).then_some(line),
    }
}

/// The lines that name failed tests and their reasons, or else the end of the log.
pub(crate) fn failures(log: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut message = 0;
    let mut in_stress = false;
    for line in log.lines() {
        if line.contains(" panicked at ") {
            message = MESSAGE_LINES;
            found.push(line);
        } else if names_failure(line) || message > 0 {
            message = message.saturating_sub(1);
            found.push(line);
        } else {
            // A failed stress test is followed by what it saw, indented.
            in_stress = line.contains(": broken (") || in_stress && line.starts_with("  ");
            if in_stress {
                found.push(line);
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|line| seen.insert(*line));
    if found.is_empty() {
        let lines: Vec<&str> = log.lines().collect();
        found = lines[lines.len().saturating_sub(LAST_LINES)..].to_vec();
    }
    found
}

/// Whether a line of nextest, cargo test or pytest names a failed test.
fn names_failure(line: &str) -> bool {
    let words = line.trim_start();
    let nextest = ["FAIL [", "TIMEOUT [", "ABORT ["];
    let nextest = line.starts_with(' ')
        && (nextest.iter().any(|word| words.starts_with(word))
            || words.starts_with("SIG") && words.contains(" ["));
    let cargo = line.starts_with("test ") && line.ends_with(" FAILED");
    nextest || cargo || line.starts_with("FAILED ") || line.starts_with("ERROR ")
}
