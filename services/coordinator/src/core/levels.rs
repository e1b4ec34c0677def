//! What a worker must have for a tournament: its rules, and its level of the sandbox.

use std::collections::BTreeMap;

use arena_model::SandboxLevel;
use arena_wire::v1;

use super::{Core, entry::TournamentEntry};

/// True if a worker that names these rulesets plays this one.
pub(super) fn plays(rulesets: &BTreeMap<String, u32>, ruleset: &str, version: u32) -> bool {
    rulesets.get(ruleset) == Some(&version)
        || rulesets.get(&format!("{ruleset}@{version}")) == Some(&version)
}

/// The least level that a worker needs for a tournament.
pub(super) fn least(entry: &TournamentEntry, default: SandboxLevel) -> SandboxLevel {
    match entry.info.starts_binaries() {
        // A newer level than this program knows was not stored by it.
        true => entry.document.sandbox.parse().unwrap_or(default),
        false => SandboxLevel::None,
    }
}

impl Core {
    /// Says that no connected worker confines the agents of a running tournament as it asks.
    pub(super) fn sandbox_note(&self, entry: &TournamentEntry) -> Option<String> {
        let least = least(entry, self.sandbox);
        let is_running = entry.document.state() == v1::TournamentState::Running;
        let suits = self.workers.values().any(|worker| worker.sandbox >= least);
        (is_running && !suits && !self.workers.is_empty()).then(|| {
            format!(
                "its games wait: no connected worker confines agents at the level {least}; start \
                 one with `arena worker --sandbox {least}`, or ask for less with `sandbox` in [play]"
            )
        })
    }
}
