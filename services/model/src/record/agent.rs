//! The descriptions of agents and play in a record, which make its line sufficient to replay the
//! game with its agents.

use arena_engine::options::Options;
use serde::{Deserialize, Serialize};

use crate::{canonical::canonical_json, spec::GamePlay};

/// The version of lines that name their agents' bots, options and programs. Older lines have no
/// `"record"`.
pub const RECORD_VERSION: u32 = 2;

/// Origin of an agent's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// A bot of `arena` itself, in this version.
    Native,
    /// A registered package, identified by its SHA-256.
    Package,
    /// A registered endpoint, whose content is unknown.
    Endpoint,
}

/// An agent of one game, as far as it can change the game. Its name is in the record's seats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordAgent {
    /// The bot of its process; empty: the process has only one.
    pub bot: String,
    /// Resolved options of the bot.
    pub options: Options,
    /// The version that the program states.
    pub version: String,
    /// Origin of the program.
    pub program: Program,
    /// SHA-256 of the package, lower-case hex.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Arguments of the package.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

impl RecordAgent {
    /// Its JSON in lines.
    #[must_use]
    pub fn to_json(&self) -> String {
        canonical_json(self)
    }
}

/// Descriptions of agents and play, ready to be written: JSON without spaces, keys ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSetup {
    /// Each agent of the tournament, in the order of the spec.
    pub agents: Vec<String>,
    /// The settings of play.
    pub play: String,
}

impl RecordSetup {
    /// From the data in lines.
    #[must_use]
    pub fn new(agents: &[RecordAgent], play: &GamePlay) -> Self {
        Self {
            agents: agents.iter().map(RecordAgent::to_json).collect(),
            play: canonical_json(play),
        }
    }
}
