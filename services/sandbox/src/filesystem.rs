//! Landlock: the files that an agent can reach, and signals and abstract sockets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};

use crate::{Layer, Missing, PACKAGE, Plan, RUN, SCRATCH, paths};

/// Versions of Landlock, newest first.
const VERSIONS: &[ABI] = &[ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1];

/// Devices that agents may read and write.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Rules that are ready to be set.
pub(crate) struct PathRules {
    ruleset: Option<RulesetCreated>,
}

/// The newest version of Landlock that the kernel knows.
fn version() -> Option<ABI> {
    let knows = |abi: &&ABI| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset
            .handle_access(AccessFs::from_all(**abi))
            .and_then(|ruleset| match Scope::from_all(**abi) {
                scopes if scopes.is_empty() => Ok(ruleset),
                scopes => ruleset.scope(scopes),
            })
            .and_then(Ruleset::create)
            .is_ok()
    };
    VERSIONS.iter().find(knows).copied()
}

/// True if Landlock keeps signals and abstract sockets apart. Otherwise seccomp allows only
/// signals to the own process.
pub(crate) fn has_scopes() -> bool {
    version().is_some_and(|abi| abi >= ABI::V6)
}

impl PathRules {
    /// Opens every path of the rules, as the worker's user.
    pub(crate) fn new(plan: &Plan) -> Result<Self, Missing> {
        let files = plan.has(Layer::Landlock);
        let scope = plan.has(Layer::Scope) && has_scopes();
        if !files && !scope {
            return Ok(Self { ruleset: None });
        }
        let layer = if files { Layer::Landlock } else { Layer::Scope };
        let unsupported = || Missing {
            layer,
            errno: nix::errno::Errno::EOPNOTSUPP as i32,
        };
        let abi = version().ok_or_else(unsupported)?;
        let ruleset = ruleset(plan, abi, files, scope);
        let ruleset = ruleset.map_err(|error| {
            eprint(&format!("Landlock: {error}"));
            unsupported()
        })?;
        Ok(Self {
            ruleset: Some(ruleset),
        })
    }

    /// Applies the rules to this process and all that it starts.
    pub(crate) fn restrict(self) -> Result<(), Missing> {
        let Some(ruleset) = self.ruleset else {
            return Ok(());
        };
        // Another layer sets this.
        ruleset
            .no_new_privs(false)
            .restrict_self()
            .map(drop)
            .map_err(|error| {
                eprint(&format!("Landlock: {error}"));
                Missing {
                    layer: Layer::Landlock,
                    errno: nix::errno::Errno::EPERM as i32,
                }
            })
    }
}

/// Explains a problem in the output of the agent.
pub(crate) fn eprint(message: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "arena: {message}");
}

fn ruleset(
    plan: &Plan,
    abi: ABI,
    files: bool,
    scope: bool,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if files {
        ruleset = ruleset.handle_access(AccessFs::from_all(abi))?;
        if abi >= ABI::V4 {
            ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
        }
    }
    if scope {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    let mut ruleset = ruleset.create()?;
    if !files {
        return Ok(ruleset);
    }
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let mut rules: Vec<(PathBuf, BitFlags<AccessFs>)> = Vec::new();
    for path in paths::SYSTEM
        .iter()
        .map(PathBuf::from)
        .chain(plan.readable.clone())
    {
        rules.push((path, read));
    }
    // Only its own: those of other processes have other folders.
    rules.push(("/proc/self".into(), read));
    for path in paths::PROC.iter().chain(paths::FACTS) {
        rules.push((path.into(), AccessFs::ReadFile | AccessFs::ReadDir));
    }
    for device in DEVICES {
        rules.push((device.into(), AccessFs::ReadFile | AccessFs::WriteFile));
    }
    rules.push((plan.folder.join(PACKAGE), read));
    let socket = AccessFs::MakeSock | AccessFs::RemoveFile;
    rules.push((plan.folder.join(RUN), socket));
    // For programs that open `/dev/stdin` and `/dev/stdout`.
    let access = [AccessFs::ReadFile, AccessFs::WriteFile];
    rules.extend({ plan.pipes().into_iter() }.zip(access.map(BitFlags::from)));
    let kinds = AccessFs::MakeChar | AccessFs::MakeBlock;
    let mut work = AccessFs::from_all(abi);
    work.remove(kinds);
    rules.push((plan.folder.join(SCRATCH), work));
    for (path, access) in rules {
        let Ok(opened) = PathFd::new(&path) else {
            // What does not exist needs no rule.
            continue;
        };
        let access = match is_folder(&path) {
            true => access,
            false => access & AccessFs::from_file(abi),
        };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access & AccessFs::from_all(abi)))?;
    }
    if let Some(port) = plan.port.filter(|_| abi >= ABI::V4) {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::BindTcp))?;
    }
    Ok(ruleset)
}

fn is_folder(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
