//! The last stage: a process sets up the remaining layers in itself and becomes the agent.

use std::{ffi::OsString, fs, io, os::fd::RawFd};

use nix::sys::{
    prctl::set_pdeathsig,
    resource::{Resource, getrlimit, setrlimit},
    signal::Signal,
};

use crate::{Layer, Missing, Plan, calls, filesystem, namespaces, privileges};

/// Variables that every agent gets, if they are set.
const VARIABLES: &[&str] = &[
    "ARENA_DIR",
    "ARENA_LISTEN",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "PATH",
    "PWD",
    "PYTHONUNBUFFERED",
    "TZ",
];

/// Hard limits of each process. Lower limits of the worker stay.
const OPEN_FILES: u64 = 16_384;
const LOCKED_BYTES: u64 = 8 << 20;
/// Processes and threads of a user, above the limit of processes. Runtimes start many threads.
const THREADS: u64 = 1024;
/// The same, if the user has other processes as well.
const TASKS_OF_USER: u64 = 8192;

/// The environment of an agent, from the worker's: the variables that every agent gets, those that
/// the operator lists, and its scratch folder.
pub fn environment(
    plan: &Plan,
    from: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    if !plan.has(Layer::Environment) {
        return from.into_iter().collect();
    }
    let is_passed = |name: &str| {
        VARIABLES.contains(&name) || plan.variables.iter().any(|variable| variable == name)
    };
    let passed = from.into_iter();
    let passed = passed.filter(|(name, _)| name.to_str().is_some_and(is_passed));
    let mut passed: Vec<_> = passed.collect();
    let scratch = plan.scratch();
    for name in ["HOME", "TMPDIR"] {
        if !plan.variables.iter().any(|variable| variable == name) {
            passed.push((name.into(), scratch.clone().into()));
        }
    }
    passed
}

/// Sets up the layers of the process that becomes the agent. Afterwards it can only start the
/// agent. The descriptors `kept` stay open.
///
/// # Errors
/// [`Missing`]: the process must not start the agent.
pub fn confine(plan: &Plan, kept: &[RawFd]) -> Result<(), Missing> {
    if plan.layers.is_empty() {
        privileges::change_user(plan)?;
        return die_with_parent();
    }
    if plan.has(Layer::Descriptors) {
        close_descriptors(kept).map_err(Missing::at(Layer::Descriptors))?;
    }
    let filesystem = filesystem::PathRules::new(plan)?;
    if plan.has(Layer::Rlimits) {
        set_limits(plan).map_err(Missing::at(Layer::Rlimits))?;
    }
    privileges::change_user(plan)?;
    namespaces::enter_last(plan)?;
    if plan.has(Layer::NoNewPrivileges) {
        nix::sys::prctl::set_no_new_privs().map_err(Missing::at(Layer::NoNewPrivileges))?;
    }
    if plan.has(Layer::Capabilities) {
        privileges::drop_capabilities()?;
    }
    filesystem.restrict()?;
    die_with_parent()?;
    if plan.has(Layer::Seccomp) {
        calls::restrict(plan)?;
    }
    Ok(())
}

/// The system ends this process when its parent ends. A change of user ends this setting.
fn die_with_parent() -> Result<(), Missing> {
    set_pdeathsig(Signal::SIGKILL).map_err(Missing::at(Layer::Rlimits))
}

/// Closes all descriptors except standard input, output and error, and those `kept`.
fn close_descriptors(kept: &[RawFd]) -> io::Result<()> {
    // The folder itself is open while it is read, and closed afterwards.
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2 && !kept.contains(descriptor))
        .collect();
    for descriptor in open {
        let _ = nix::unistd::close(descriptor);
    }
    Ok(())
}

fn set_limits(plan: &Plan) -> Result<(), nix::errno::Errno> {
    let lower = |resource, most: u64| {
        let (_, hard) = getrlimit(resource)?;
        let value = most.min(hard);
        setrlimit(resource, value, value)
    };
    let limits = &plan.limits;
    lower(Resource::RLIMIT_CORE, 0)?;
    lower(Resource::RLIMIT_NOFILE, OPEN_FILES)?;
    lower(Resource::RLIMIT_MEMLOCK, LOCKED_BYTES)?;
    lower(Resource::RLIMIT_MSGQUEUE, 0)?;
    lower(Resource::RLIMIT_RTPRIO, 0)?;
    lower(Resource::RLIMIT_NICE, 0)?;
    if limits.disk_bytes > 0 {
        lower(Resource::RLIMIT_FSIZE, limits.disk_bytes)?;
    }
    if limits.cpu_ms > 0 {
        // The guard notices earlier, unless it is itself stopped.
        lower(Resource::RLIMIT_CPU, limits.cpu_ms / 1000 + 2)?;
    }
    if limits.processes > 0 {
        // Without a user of its own, all tasks of the worker's user count. The guard counts exactly.
        let most = match plan.has(Layer::UserNamespace) {
            true => THREADS,
            false => TASKS_OF_USER,
        };
        lower(
            Resource::RLIMIT_NPROC,
            limits.processes.saturating_add(most),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(plan: &Plan) -> Vec<String> {
        let from = ["PATH", "SECRET", "LANG", "MINE", "HOME"];
        let from = from.map(|name| (name.into(), "x".into()));
        let passed = environment(plan, from).into_iter();
        passed
            .map(|(name, _)| name.into_string().expect("text"))
            .collect()
    }

    #[test]
    fn environment_is_a_short_list() {
        let mut plan = Plan::default();
        assert_eq!(names(&plan), ["PATH", "SECRET", "LANG", "MINE", "HOME"]);
        plan.layers = vec![Layer::Environment];
        assert_eq!(names(&plan), ["PATH", "LANG", "HOME", "TMPDIR"]);
        plan.variables = vec!["MINE".to_owned(), "HOME".to_owned()];
        assert_eq!(names(&plan), ["PATH", "LANG", "MINE", "HOME", "TMPDIR"]);
    }
}
