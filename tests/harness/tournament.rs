//! Specs, and the results of tournaments.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Output, World};

/// The agents of paper 000, which play cowry.
pub const PAPER_000: [&str; 6] = [
    "random",
    "aggressive",
    "defensive",
    "move-first",
    "move-last",
    "mixed",
];

/// A spec with the seed 0x5eed; `more` is TOML that is appended.
#[must_use]
pub fn spec(name: &str, ruleset: &str, blocks: u64, agents: &[&str], more: &str) -> String {
    format!(
        "name = \"{name}\"\nruleset = \"{ruleset}\"\nseed = \"0x5eed\"\nblocks = {blocks}\n\
         agents = {agents:?}\n{more}\n"
    )
}

/// SHA-256 of a text, in hex.
#[must_use]
pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// The exported games of a tournament.
#[derive(Clone, Debug)]
pub struct Games {
    /// The export as text.
    pub text: String,
    /// Each line.
    pub games: Vec<Value>,
}

impl Games {
    /// Parses an export.
    ///
    /// # Panics
    /// If a line is not JSON.
    #[must_use]
    pub fn of(export: &Output) -> Self {
        let games = export
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of an export is JSON"))
            .collect();
        Self {
            text: export.stdout.clone(),
            games,
        }
    }

    /// The difference between two exports of the same tournament, or an empty text.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        if sha256(&self.text) == sha256(&other.text) {
            return None;
        }
        let pairs = self.text.lines().zip(other.text.lines());
        let found = pairs.enumerate().find(|(_, (a, b))| a != b);
        Some(match found {
            Some((line, (a, b))) => format!("line {line}:\n{a}\n{b}"),
            None => format!("{} and {} games", self.games.len(), other.games.len()),
        })
    }
}

impl World {
    /// Exports a tournament; `access` is `--data DIR` or `--coordinator URL`.
    ///
    /// # Panics
    /// If it cannot be exported.
    #[track_caller]
    #[must_use]
    pub fn export(&self, id: &str, access: [&str; 2]) -> Games {
        let [flag, place] = access;
        let output = self.arena(&["export", id, "--format", "jsonl", flag, place]);
        Games::of(&output.ok())
    }

    /// The standings of a tournament without values that depend on time: latencies and the progress
    /// of audits. `access` as in [`World::export`].
    ///
    /// # Panics
    /// If the standings cannot be read.
    #[track_caller]
    #[must_use]
    pub fn standings(&self, id: &str, access: [&str; 2]) -> Value {
        let [flag, place] = access;
        let output = self.arena(&["standings", id, "--output", "json", flag, place]);
        let mut standings = output.ok().json();
        standings["audits"] = Value::Null;
        for agent in standings["agents"].as_array_mut().into_iter().flatten() {
            for latency in ["latency_us", "waiting_us"] {
                agent[format!("{latency}_p50")] = Value::Null;
                agent[format!("{latency}_p99")] = Value::Null;
            }
        }
        standings
    }

    /// Runs a spec on a data folder, and returns its id, standings and games.
    ///
    /// # Panics
    /// If it does not finish.
    #[track_caller]
    #[must_use]
    pub fn tournament(&self, spec: &str, data: &str, more: &[&str]) -> (String, Value, Games) {
        let spec = self.write(&format!("{data}.toml"), spec);
        let mut arguments = vec!["run", &spec, "--data", data, "--output", "json"];
        arguments.extend(more);
        let output = self.arena(&arguments).ok();
        let id = output.tournament_id();
        let games = self.export(&id, ["--data", data]);
        (id, output.json(), games)
    }

    /// Starts a tournament on a coordinator, and returns its id.
    ///
    /// # Panics
    /// If it is refused.
    #[track_caller]
    #[must_use]
    pub fn start_tournament(&self, name: &str, spec: &str, url: &str) -> String {
        let spec = self.write(&format!("{name}.toml"), spec);
        self.arena(&[
            "tournament",
            "start",
            &spec,
            "--coordinator",
            url,
            "--output",
            "json",
        ])
        .ok()
        .tournament_id()
    }

    /// Watches a tournament to its end, even if all of its games end with faults.
    ///
    /// # Panics
    /// If it does not finish.
    #[track_caller]
    pub fn end_tournament(&self, id: &str, url: &str) {
        let watched = self.arena(&["tournament", "watch", id, "--coordinator", url]);
        let ended = watched.stderr.contains("finished: ");
        assert!(ended, "{}", watched.transcript());
    }

    /// Watches a tournament to its end.
    ///
    /// # Panics
    /// If it does not finish.
    #[track_caller]
    pub fn finish_tournament(&self, id: &str, url: &str) {
        let _ = self
            .arena(&["tournament", "watch", id, "--coordinator", url])
            .ok();
    }
}
