//! A tournament with everything resolved that can change a record.

use arena_engine::options::Options;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    canonical::canonical_json,
    name::AgentName,
    seed::TournamentSeed,
    spec::{Format, Play},
};

/// An agent as far as it can change a record. How it is reached is not part
/// of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRef {
    /// Unique in the tournament.
    pub name: AgentName,
    /// Which bot of its process; empty: the process has but one.
    pub bot: String,
    /// Resolved options of the bot.
    pub options: Options,
    /// What `Describe` said, else a part of the binary's SHA-256.
    pub version: String,
}

/// A spec with presets, defaults and seed resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tournament {
    /// For people; not part of the hash.
    pub name: AgentName,
    /// Name of the ruleset.
    pub ruleset: String,
    /// Version of the rules.
    pub rules_version: u32,
    /// Resolved options of the ruleset.
    pub options: Options,
    /// Where all randomness comes from.
    pub seed: TournamentSeed,
    /// Who plays whom.
    pub format: Format,
    /// Blocks for each group.
    pub blocks: u64,
    /// Players of a game.
    pub seats: usize,
    /// In the order of the spec.
    pub agents: Vec<AgentRef>,
    /// How games are played.
    pub play: Play,
}

impl Tournament {
    /// `<name>-<ten hex digits>`, and from the second attempt on `-<attempt>`.
    #[must_use]
    pub fn id(&self, attempt: u32) -> String {
        let mut value = serde_json::to_value(self).expect("plain data is JSON");
        if let Some(fields) = value.as_object_mut() {
            fields.remove("name");
        }
        let digest = Sha256::digest(canonical_json(&value));
        let digits = &hex::encode(digest)[..10];
        if attempt > 1 {
            format!("{}-{digits}-{attempt}", self.name)
        } else {
            format!("{}-{digits}", self.name)
        }
    }
}
