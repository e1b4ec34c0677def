//! The descendants of a process, whatever their session or group.

use std::{collections::BTreeSet, ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// All living descendants, also those with a session of their own.
pub(super) fn descendants(root: Pid) -> BTreeSet<i32> {
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

/// All processes whose environment at their start had a variable with this value.
pub(crate) fn with_variable(name: &str, value: &OsStr) -> Vec<Pid> {
    let wanted = [name.as_bytes(), b"=", value.as_bytes()].concat();
    let has = |pid: &i32| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|&byte| byte == 0).any(|one| one == wanted)
    };
    all().filter(has).map(Pid::from_raw).collect()
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_whitespace().filter_map(parse)),
            // Kernels without the list: read the parent of every process.
            Err(_) => return children_by_parent(pid),
        }
    }
    found
}

fn children_by_parent(parent: i32) -> Vec<i32> {
    all()
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}

fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| parse(entry.file_name().to_str()?))
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; state and parent follow it.
    let (_, rest) = stat.rsplit_once(')')?;
    parse(rest.split_whitespace().nth(1)?)
}

fn parse(text: &str) -> Option<i32> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{self, Command};

    use super::*;

    #[test]
    fn both_ways_find_a_child() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let id = child.id() as i32;
        let me = process::id() as i32;
        assert!(descendants(Pid::from_raw(me)).contains(&id));
        assert!(children_by_parent(me).contains(&id));
        child.kill().expect("kill");
        child.wait().expect("wait");
    }
}
