//! What a worker must have for a tournament: its rules, and its level of the sandbox.

use std::collections::BTreeMap;

use arena_model::{
    SandboxLevel,
    engine::MAX_SEATS,
    rules::{Information, PACKAGE_SEARCH_VERSION, RULES_PROTOCOL, WIDE_IDS_VERSION},
    spec::ADJUDICATION_VERSION,
};
use arena_wire::v1;

use super::{Core, connected::ConnectedWorker, entry::TournamentEntry};
use crate::info::Info;

/// What workers of earlier releases do not know.
struct Need {
    /// What workers name, among their rulesets, with its version.
    name: &'static str,
    version: u32,
    is_needed: fn(&Info) -> bool,
    what: &'static str,
}

const NEEDS: [Need; 5] = [
    Need {
        name: "@adjudication",
        version: ADJUDICATION_VERSION,
        is_needed: |info| !info.tournament.play.adjudication().is_off(),
        what: "the options resign and draw",
    },
    Need {
        name: "@hidden",
        version: Information::VERSION,
        is_needed: Info::has_hidden_information,
        what: "hidden information",
    },
    Need {
        name: "@package-search",
        version: PACKAGE_SEARCH_VERSION,
        is_needed: Info::searches_package,
        what: "the search of mcts at rules that are a package",
    },
    Need {
        name: "@seats",
        version: MAX_SEATS as u32,
        is_needed: Info::has_many_seats,
        what: "games for more than four seats",
    },
    Need {
        name: "@wide-ids",
        version: WIDE_IDS_VERSION,
        is_needed: Info::has_wide_ids,
        what: "wide ids of actions",
    },
];

impl Need {
    fn is_known(&self, rulesets: &BTreeMap<String, u32>) -> bool {
        rulesets.get(self.name) == Some(&self.version)
    }
}

/// True if a worker that names these rulesets plays the games of this tournament.
pub(super) fn plays_tournament(rulesets: &BTreeMap<String, u32>, info: &Info) -> bool {
    let tournament = &info.tournament;
    let mut needs = NEEDS.iter().filter(|need| (need.is_needed)(info));
    if !needs.all(|need| need.is_known(rulesets)) {
        return false;
    }
    match tournament.rules_digest {
        Some(_) => rulesets.get("@package") == Some(&RULES_PROTOCOL),
        None => plays(rulesets, &tournament.ruleset, tournament.rules_version),
    }
}

/// True if a worker has what it needs for a tournament, as far as this is known.
pub(super) fn may_play(
    entry: &TournamentEntry,
    worker: &ConnectedWorker,
    default: SandboxLevel,
) -> bool {
    worker.sandbox >= least(entry, default)
        && plays_tournament(&worker.request.rulesets, &entry.info)
        && !entry.lacks_rules.contains(&worker.process)
}

/// True if a worker that names these rulesets plays this one.
fn plays(rulesets: &BTreeMap<String, u32>, ruleset: &str, version: u32) -> bool {
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
    /// Says why no connected worker can play a running tournament.
    pub(super) fn waiting_note(&self, entry: &TournamentEntry) -> Option<String> {
        let is_running = entry.document.state() == v1::TournamentState::Running;
        if !is_running || self.workers.is_empty() {
            return None;
        }
        let tournament = &entry.info.tournament;
        let (ruleset, version) = (&tournament.ruleset, tournament.rules_version);
        let rulesets = self.workers.values().map(|worker| &worker.request.rulesets);
        let workers = self.workers.values();
        let mut able = workers
            .filter(|worker| plays_tournament(&worker.request.rulesets, &entry.info))
            .peekable();
        if able.peek().is_none() {
            let mut needs = NEEDS.iter().filter(|need| (need.is_needed)(&entry.info));
            let missing = needs.find(|need| !rulesets.clone().any(|it| need.is_known(it)));
            if let Some(Need { what, .. }) = missing {
                return Some(format!(
                    "its games wait: no connected worker knows {what}; start a newer one"
                ));
            }
            if tournament.rules_digest.is_some() {
                return Some(format!(
                    "its games wait: no connected worker plays rulesets that are packages, such as \
                     {ruleset}; start a newer one"
                ));
            }
            return Some(format!(
                "its games wait: no connected worker plays {ruleset} (rules version {version}); \
                 start one with the program that started this tournament"
            ));
        }
        let least = least(entry, self.sandbox);
        let suits = able.any(|worker| worker.sandbox >= least);
        (!suits).then(|| {
            format!(
                "its games wait: no connected worker confines agents at the level {least}; start \
                 one with `arena worker --sandbox {least}`, or ask for less with `sandbox` in [play]"
            )
        })
    }

    /// The rulesets that this program has and a worker does not play.
    pub(super) fn missing_rulesets(rulesets: &BTreeMap<String, u32>) -> Vec<String> {
        let ours = arena_games::rulesets().iter();
        ours.filter(|info| !plays(rulesets, info.name, info.version))
            .map(|info| format!("{} (rules version {})", info.name, info.version))
            .collect()
    }
}
