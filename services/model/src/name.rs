//! Names that users choose, and ids that contain them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The seat of a person in `arena play`; no agent has this name.
pub const PERSON: &str = "human";

/// An invalid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is no name.
    #[error(
        "\"{0}\" is not a name: use 1 to 63 lower-case letters, digits and dashes, \
         beginning with a letter or digit"
    )]
    Shape(String),
    /// The text is no game id.
    #[error("\"{0}\" is not a game id: expected TOURNAMENT/INDEX, such as demo-3f9a0c1b22/17")]
    GameId(String),
}

/// Name of an agent or of a tournament: `[a-z0-9][a-z0-9-]{0,62}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

impl AgentName {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let bytes = text.as_bytes();
        let fits = (1..=63).contains(&bytes.len())
            && allowed(bytes[0])
            && bytes.iter().all(|&c| allowed(c) || c == b'-');
        if fits {
            Ok(Self(text))
        } else {
            Err(NameError::Shape(text))
        }
    }
}

impl FromStr for AgentName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        text.to_owned().try_into()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `<tournament id>/<index>`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId {
    /// Id of the tournament.
    pub tournament: String,
    /// Position in its schedule, from 0.
    pub index: u64,
}

impl FromStr for GameId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        text.split_once('/')
            .filter(|(tournament, _)| !tournament.is_empty())
            .and_then(|(tournament, index)| {
                Some(Self {
                    tournament: tournament.to_owned(),
                    index: index.parse().ok()?,
                })
            })
            .ok_or_else(|| NameError::GameId(text.to_owned()))
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tournament, self.index)
    }
}
