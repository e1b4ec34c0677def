//! What a worker asks to be set up for one agent.

use std::path::PathBuf;

use arena_model::SandboxLevel;
use nix::unistd::{Gid, Uid};
use serde::{Deserialize, Serialize};

use crate::Layer;

/// Folders below the folder of an agent.
pub const RUN: &str = "run";
/// The pipe to the standard input of the agent, in [`RUN`].
pub const STDIN: &str = "stdin";
/// The pipe from its standard output.
pub const STDOUT: &str = "stdout";
/// The scratch folder.
pub const SCRATCH: &str = "scratch";
/// The unpacked package.
pub const PACKAGE: &str = "package";

/// A sandbox to set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Its layers; none: no sandbox.
    pub layers: Vec<Layer>,
    /// The folder of the agent, with the folders [`RUN`], [`SCRATCH`] and perhaps [`PACKAGE`].
    pub folder: PathBuf,
    /// Files and folders that the agent may read and execute, besides those of the system.
    pub readable: Vec<PathBuf>,
    /// Names of variables that are passed on, besides those of every agent.
    pub variables: Vec<String>,
    /// The port on which the agent has to listen; none: it listens on a Unix socket.
    pub port: Option<u16>,
    /// The user of the agent; none: that of the worker, or one of its own.
    pub user: Option<u32>,
    /// Its group; none: the one with the number of the user.
    pub group: Option<u32>,
    /// Limits of all processes of the agent together.
    pub limits: TreeLimits,
}

/// Limits of all processes of an agent together. 0: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TreeLimits {
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Number of processes.
    pub processes: u64,
    /// Bytes in the scratch folder.
    pub disk_bytes: u64,
    /// Time of the processor, in milliseconds.
    pub cpu_ms: u64,
    /// Cores that they use at the same time. Only a control group limits them.
    pub cpus: u32,
}

/// A limit of all processes of an agent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum TreeLimit {
    /// Memory, in bytes.
    Memory,
    /// Number of processes.
    Processes,
    /// Scratch folder, in bytes.
    Disk,
    /// Time of the processor, in milliseconds.
    Cpu,
}

impl Plan {
    /// True if the plan has this layer.
    #[must_use]
    pub fn has(&self, layer: Layer) -> bool {
        self.layers.contains(&layer)
    }

    /// True if it needs a process of its own in new namespaces.
    #[must_use]
    pub fn has_namespaces(&self) -> bool {
        self.has(Layer::PidNamespace)
    }

    /// Sets the layers of a level.
    pub fn set_level(&mut self, level: SandboxLevel) {
        self.layers = Layer::of(level);
    }

    /// The pipes to the standard input of the agent, and from its standard output.
    #[must_use]
    pub fn pipes(&self) -> [PathBuf; 2] {
        [STDIN, STDOUT].map(|name| self.folder.join(RUN).join(name))
    }

    /// The user and the group of the agent, if they are not those of the worker.
    pub(crate) fn owner(&self) -> Option<(Uid, Gid)> {
        let user = self.user?;
        let group = self.group.unwrap_or(user);
        Some((Uid::from_raw(user), Gid::from_raw(group)))
    }

    /// The scratch folder.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.folder.join(SCRATCH)
    }
}

/// A layer that could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The layer.
    pub layer: Layer,
    /// Error number of the system; 0: none.
    pub errno: i32,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "cannot set up the layer {} of the sandbox",
            self.layer.name()
        )?;
        if self.errno != 0 {
            let reason = nix::errno::Errno::from_raw(self.errno);
            write!(f, ": {}", reason.desc())?;
        }
        write!(f, "; {}", self.layer.remedy())
    }
}

impl std::error::Error for Missing {}

impl Missing {
    /// The layer and the number, for another process.
    #[must_use]
    pub fn to_words(self) -> String {
        format!("{} {}", self.layer.name(), self.errno)
    }

    /// Parses [`Missing::to_words`].
    #[must_use]
    pub fn from_words(words: &str) -> Option<Self> {
        let (layer, errno) = words.trim_end().split_once(' ')?;
        Some(Self {
            layer: layer.parse().ok()?,
            errno: errno.parse().ok()?,
        })
    }
}

impl Missing {
    /// Names the layer of an error.
    pub(crate) fn at<E: Into<std::io::Error>>(layer: Layer) -> impl Fn(E) -> Self {
        move |error| Self {
            layer,
            errno: error.into().raw_os_error().unwrap_or(0),
        }
    }
}
