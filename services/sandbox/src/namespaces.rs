//! Namespaces. The guard makes those of users and processes, so that its child is process 1 in
//! them. Process 1 makes the others, and the tmpfs that becomes the root.

use std::fs;

use nix::{
    errno::Errno,
    sched::{CloneFlags, unshare},
    unistd::{Gid, Uid, chown, sethostname},
};

use crate::{Layer, Missing, Plan, RUN, SCRATCH, privileges, root};

/// Host name in the sandbox.
const HOST: &str = "arena";

/// The first of the user ids that agents get, one for each number of a process. No distribution
/// assigns these.
const FIRST_USER: u32 = 0x7000_0000;

/// True if this process can make namespaces without a user namespace. Root enters a user namespace
/// only at the end, because files of other users are out of reach in it.
fn is_root() -> bool {
    Uid::effective().is_root()
}

/// What the guard does before it starts the next stage: from then on, its children are in a new
/// pid namespace. Call it before any thread starts.
///
/// # Errors
/// [`Missing`].
pub fn before_start(plan: &mut Plan) -> Result<(), Missing> {
    if plan.has(Layer::Uid) && plan.user.is_none() && is_root() {
        plan.user = Some(FIRST_USER + std::process::id());
    }
    if let Some((user, group)) = plan.owner() {
        let folders = [RUN, SCRATCH].map(|name| plan.folder.join(name));
        let pipes = plan.pipes().into_iter().filter(|pipe| pipe.exists());
        for path in folders.into_iter().chain(pipes) {
            chown(&path, Some(user), Some(group)).map_err(Missing::at(Layer::Uid))?;
        }
    }
    if plan.has(Layer::UserNamespace) && !is_root() {
        user_namespace()?;
        privileges::pass_capabilities()?;
    }
    if plan.has(Layer::PidNamespace) {
        unshare(CloneFlags::CLONE_NEWPID).map_err(Missing::at(Layer::PidNamespace))?;
    }
    Ok(())
}

/// What process 1 does: it enters the other namespaces and the new root, in which the program of
/// this process is at `root::PROGRAM`.
///
/// # Errors
/// [`Missing`].
pub fn enter_namespaces(plan: &Plan) -> Result<&'static str, Missing> {
    let all = [
        (Layer::NetNamespace, CloneFlags::CLONE_NEWNET),
        (Layer::IpcNamespace, CloneFlags::CLONE_NEWIPC),
        (Layer::UtsNamespace, CloneFlags::CLONE_NEWUTS),
        (Layer::MountNamespace, CloneFlags::CLONE_NEWNS),
    ];
    for (layer, flag) in all {
        if plan.has(layer) {
            unshare(flag).map_err(Missing::at(layer))?;
        }
    }
    if plan.has(Layer::UtsNamespace) {
        sethostname(HOST).map_err(Missing::at(Layer::UtsNamespace))?;
    }
    match plan.has(Layer::MountNamespace) {
        true => root::enter(plan),
        false => Ok("/proc/self/exe"),
    }
}

/// What root does at the end, as the user of the agent.
pub(crate) fn enter_last(plan: &Plan) -> Result<(), Missing> {
    match plan.user {
        Some(_) if plan.has(Layer::UserNamespace) => user_namespace(),
        _ => Ok(()),
    }
}

/// Enters a user namespace in which the own user has the same number.
fn user_namespace() -> Result<(), Missing> {
    let missing = Missing::at(Layer::UserNamespace);
    let (uid, gid) = (Uid::effective(), Gid::effective());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(Missing::at(Layer::UserNamespace))?;
    // Without this, a user may not map a group.
    match fs::write("/proc/self/setgroups", "deny") {
        Err(error) if error.raw_os_error() != Some(Errno::ENOENT as i32) => {
            return Err(missing(error));
        }
        _ => {}
    }
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).map_err(&missing)?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).map_err(&missing)
}
