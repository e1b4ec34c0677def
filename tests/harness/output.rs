//! The result of a finished command.

use std::cell::RefCell;

use serde_json::Value;

thread_local! {
    static ERRORS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Exit code and stderr of every expected failure of this test so far.
#[must_use]
pub fn errors() -> String {
    ERRORS.with_borrow(String::clone)
}

/// A finished command.
#[derive(Clone, Debug)]
pub struct Output {
    /// The command line, for messages.
    pub command: String,
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The whole stdout.
    pub stdout: String,
    /// The whole stderr.
    pub stderr: String,
}

impl Output {
    /// The whole result, for the message of a failed test.
    #[must_use]
    pub fn transcript(&self) -> String {
        let shown: String = self.stdout.chars().take(2000).collect();
        format!(
            "$ {}\n{shown}\n{}\nexit code {:?}",
            self.command, self.stderr, self.code
        )
    }

    /// Returns itself if it ended with 0.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    #[must_use]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.transcript());
        self
    }

    /// Returns itself if it ended with this code, without a crash, and with all these words in
    /// stderr.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn fails(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.transcript());
        for word in words {
            let said = self.stderr.contains(word);
            assert!(said, "\"{word}\" is missing in\n{}", self.transcript());
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.transcript());
        ERRORS.with_borrow_mut(|errors| {
            errors.push_str(&format!("exit code {code}\n{}\n", self.stderr));
        });
        self
    }

    /// Stdout as one JSON value.
    ///
    /// # Panics
    /// If it is not one JSON value.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in\n{}", self.transcript()))
    }

    /// The tournament's id in the JSON on stdout.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    #[must_use]
    pub fn tournament_id(&self) -> String {
        let json = self.json();
        let id = json["tournament_id"].as_str();
        id.unwrap_or_else(|| panic!("no tournament_id in\n{}", self.transcript()))
            .to_owned()
    }
}
