//! What a record says of its agents and of how its game was played, so that its
//! line alone is enough to play the game again.

use arena_engine::options::Options;
use serde::{Deserialize, Serialize};

use crate::{canonical::canonical_json, spec::GamePlay};

/// The version of lines that name their agents' bots, options and programs.
/// Lines of before have no `"record"`.
pub const RECORD_VERSION: u32 = 2;

/// How the program of an agent is had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// A bot of `arena` itself, in the version named.
    Native,
    /// A registered package, known by its SHA-256.
    Package,
    /// A registered endpoint, of which no content is known.
    Endpoint,
}

/// An agent of one game, as far as it can change the game. Its name is in the
/// record's seats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordAgent {
    /// Which bot of its process; empty: the process has but one.
    pub bot: String,
    /// Resolved options of the bot.
    pub options: Options,
    /// What the program says of its version.
    pub version: String,
    /// How the program is had.
    pub program: Program,
    /// SHA-256 of the package, lower-case hex.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Arguments of the package.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

impl RecordAgent {
    /// As lines write it.
    #[must_use]
    pub fn to_json(&self) -> String {
        canonical_json(self)
    }
}

/// What records say of agents and settings, ready to be written: JSON without
/// spaces, keys ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSetup {
    /// Each agent of the tournament, in the order of the spec.
    pub agents: Vec<String>,
    /// How games are played.
    pub play: String,
}

impl RecordSetup {
    /// From what lines say.
    #[must_use]
    pub fn new(agents: &[RecordAgent], play: &GamePlay) -> Self {
        Self {
            agents: agents.iter().map(RecordAgent::to_json).collect(),
            play: canonical_json(play),
        }
    }
}
