//! Levels of the sandbox in which agents run.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How much a worker confines the agents that it starts. A higher level includes the lower ones.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// Not at all, except for time, output and memory.
    #[default]
    None,
    /// By means of the kernel that work for every user and in containers.
    Kernel,
    /// Also by namespaces.
    Strict,
}

impl SandboxLevel {
    /// All levels, in ascending order.
    pub const ALL: [Self; 3] = [Self::None, Self::Kernel, Self::Strict];

    /// The name in specs and commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kernel => "kernel",
            Self::Strict => "strict",
        }
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown level of the sandbox {0:?}: use \"none\", \"kernel\" or \"strict\"")]
pub struct UnknownLevel(String);

impl FromStr for SandboxLevel {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let mut all = Self::ALL.into_iter();
        all.find(|level| level.name() == name)
            .ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}
