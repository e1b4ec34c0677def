//! The results of checks.

use serde::Serialize;

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As it should be.
    Good,
    /// It works, but worse than it could.
    Poor,
    /// It is missing.
    Missing,
}

/// The result of a check.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// How good it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing.
    pub remedy: String,
}

impl Check {
    /// A check that found nothing to improve.
    pub fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Good,
            found: found.into(),
            remedy: String::new(),
        }
    }

    /// A check that found a problem.
    pub fn bad(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            name,
            state,
            found: found.into(),
            remedy: remedy.into(),
        }
    }
}

/// Checks with their remedies, for a reader.
#[must_use]
pub fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let state = match check.state {
            State::Good => "good",
            State::Poor => "poor",
            State::Missing => "missing",
        };
        text += &format!("{state:8} {:15} {}\n", check.name, check.found);
        if !check.remedy.is_empty() {
            text += &format!("{:24} remedy: {}\n", "", check.remedy);
        }
    }
    text
}
