//! The descendants of a process, in any session or process group.

use std::{collections::BTreeSet, ffi::OsStr};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use procfs::process::{self, Process};

/// All living descendants, including those in other sessions.
pub(crate) fn descendants(root: Pid) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.as_raw()];
    while let Some(pid) = open.pop() {
        for child in children(pid) {
            if found.insert(child) {
                open.push(child);
            }
        }
    }
    found
}

/// Sends a signal to every descendant.
pub(super) fn signal(root: Pid, signal: Signal) {
    for pid in descendants(root) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// All processes that were started with this value of an environment variable.
pub(crate) fn with_variable(name: &str, value: &OsStr) -> Vec<Pid> {
    let has = |process: &Process| {
        let variables = process.environ().unwrap_or_default();
        variables
            .get(OsStr::new(name))
            .is_some_and(|it| it == value)
    };
    let marked = all().filter(has);
    marked.map(|process| Pid::from_raw(process.pid)).collect()
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = Process::new(pid).and_then(|process| process.tasks()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match thread.children() {
            Ok(children) => found.extend(children.into_iter().map(u32::cast_signed)),
            Err(_) => return children_by_parent(pid),
        }
    }
    found
}

/// The children, found by reading the parent of every process: for kernels without lists of
/// children.
fn children_by_parent(parent: i32) -> Vec<i32> {
    let is_child = |process: &Process| process.stat().is_ok_and(|stat| stat.ppid == parent);
    all().filter(is_child).map(|process| process.pid).collect()
}

fn all() -> impl Iterator<Item = Process> {
    process::all_processes().into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn both_listings_find_a_child() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let id = child.id() as i32;
        let me = std::process::id() as i32;
        assert!(descendants(Pid::from_raw(me)).contains(&id));
        assert!(children_by_parent(me).contains(&id));
        child.kill().expect("kill");
        child.wait().expect("wait");
    }
}
