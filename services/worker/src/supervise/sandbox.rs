//! How the agents of a worker are confined, and what this machine can do.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use arena_model::SandboxLevel;
use arena_sandbox::{Missing, PACKAGE, Plan, RUN, SCRATCH, paths};

use super::{GuardCommand, Launch, Listen, exposed};
use crate::guard::Report;

/// Variable with further files and folders that agents may read, separated like those of `PATH`.
const READABLE: &str = "ARENA_AGENT_PATH";

/// How agents are confined.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// The level of every agent that is not part of Arena.
    pub level: SandboxLevel,
    /// Files and folders that agents may read, besides those of the system.
    pub readable: Vec<PathBuf>,
    /// Names of variables that agents get.
    pub variables: Vec<String>,
    /// The user of all agents that are not part of Arena; none: that of the worker, or one for each
    /// process.
    pub user: Option<u32>,
    /// Its group; none: the one with the number of the user.
    pub group: Option<u32>,
}

/// Why this machine does not have a level.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A layer is missing.
    #[error("{0}")]
    Missing(Missing),
    /// It could not be tried.
    #[error("cannot try the sandbox: {0}")]
    Untried(String),
}

impl From<io::Error> for SandboxError {
    fn from(error: io::Error) -> Self {
        Self::Untried(error.to_string())
    }
}

impl Sandbox {
    /// A level, in which agents may read the interpreters of `PATH`.
    #[must_use]
    pub fn of_level(level: SandboxLevel) -> Self {
        let variable = |name| std::env::var_os(name).unwrap_or_default();
        let mut readable = paths::interpreters(&variable("PATH"));
        readable.extend(std::env::split_paths(&variable(READABLE)).filter(|it| it.is_absolute()));
        Self {
            level,
            readable,
            ..Self::default()
        }
    }

    /// Files with a token of Arena that agents may read.
    #[must_use]
    pub fn exposed_tokens(&self) -> Vec<PathBuf> {
        exposed::tokens(&self.readable)
    }

    /// The best level of this machine, for agents of the user that starts them. Starts processes
    /// and waits for them.
    #[must_use]
    pub fn best(guard: &GuardCommand, temp: &Path) -> Self {
        let sandbox = Self::of_level(SandboxLevel::Kernel);
        match sandbox.check(guard, temp) {
            Ok(()) => sandbox,
            Err(error) => {
                tracing::warn!(%error, "agents are not confined");
                Self::default()
            }
        }
    }

    /// Sets the sandbox up once, without an agent in it. Starts a process and waits for it.
    ///
    /// # Errors
    /// If this machine cannot.
    pub fn check(&self, guard: &GuardCommand, temp: &Path) -> Result<(), SandboxError> {
        if self.level == SandboxLevel::None {
            return Ok(());
        }
        let folder = tempfile::tempdir_in(temp)?;
        for name in [RUN, SCRATCH] {
            fs::create_dir(folder.path().join(name))?;
        }
        let mut plan = self.plan(folder.path());
        plan.set_level(self.level);
        let output = Command::new(&guard.program)
            .args(&guard.args)
            .args(plan_args(&plan))
            .arg("--")
            .env("PWD", "/")
            // The guard ends all processes of its group.
            .process_group(0)
            // The guard ends when this closes.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|mut child| {
                let input = child.stdin.take();
                let output = child.wait_with_output();
                drop(input);
                output
            })?;
        match Report::in_output(&String::from_utf8_lossy(&output.stdout)) {
            Some(Report::Exited(0)) => Ok(()),
            Some(Report::Unconfined(missing)) => Err(SandboxError::Missing(missing)),
            report => {
                let text = String::from_utf8_lossy(&output.stderr);
                let text = text.trim_end();
                Err(SandboxError::Untried(format!("{report:?} {text}")))
            }
        }
    }

    /// The plan for an agent in a folder, without layers.
    fn plan(&self, folder: &Path) -> Plan {
        Plan {
            folder: folder.to_owned(),
            readable: self.readable.clone(),
            variables: self.variables.clone(),
            user: self.user,
            group: self.group,
            ..Plan::default()
        }
    }

    /// The plan for an agent.
    pub(super) fn plan_of(&self, launch: &Launch, folder: &Path, port: Option<u16>) -> Plan {
        let mut plan = self.plan(folder);
        match launch.is_trusted {
            false => plan.set_level(self.level),
            true => plan.user = None,
        }
        if launch.listen == Listen::Tcp {
            plan.port = port;
        }
        plan.limits = launch.limits.of_tree();
        plan
    }
}

/// The arguments that pass a plan to a guard.
pub(super) fn plan_args(plan: &Plan) -> [OsString; 2] {
    let plan = serde_json::to_string(plan).expect("a plan is plain data");
    ["--plan".into(), plan.into()]
}

/// Folders of an agent below its own one.
pub(super) struct Folders {
    pub(super) run: PathBuf,
    pub(super) work: PathBuf,
    pub(super) package: PathBuf,
}

impl Folders {
    /// Creates them, readable by no other user. A user of agents can enter the folder.
    pub(super) fn create(folder: &Path, user: Option<u32>) -> io::Result<Self> {
        if user.is_some() {
            open_to_agents(folder)?;
        }
        let folders = Self {
            run: folder.join(RUN),
            work: folder.join(SCRATCH),
            package: folder.join(PACKAGE),
        };
        for folder in [&folders.run, &folders.work] {
            fs::create_dir(folder)?;
        }
        Ok(folders)
    }
}

/// Lets other users enter a folder, but not list it.
pub(crate) fn open_to_agents(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o711))
}
