//! CPU time and peak memory of processes on Linux.

use std::{collections::BTreeMap, iter};

use procfs::process::{Process, all_processes};

use crate::failure::{Failure, Outcome};

/// Resource usage of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// User and system time, without finished children.
    pub cpu_seconds: f64,
    /// Peak resident memory.
    pub peak_mb: f64,
}

/// CPU time of this process.
pub(super) fn own_cpu_seconds() -> Outcome<f64> {
    usage(std::process::id())
        .map(|usage| usage.cpu_seconds)
        .ok_or_else(|| Failure::failed("cannot read /proc/self/stat"))
}

/// Resource usage of a process; `None` if it has ended.
pub(super) fn usage(pid: u32) -> Option<Usage> {
    let process = Process::new(pid as i32).ok()?;
    let stat = process.stat().ok()?;
    Some(Usage {
        cpu_seconds: (stat.utime + stat.stime) as f64 / procfs::ticks_per_second() as f64,
        peak_mb: process.status().ok()?.vmhwm.unwrap_or(0) as f64 / 1024.0,
    })
}

/// The living descendants of a process with their command lines.
pub(super) fn descendants(root: u32) -> BTreeMap<u32, String> {
    let living = all_processes().into_iter().flatten().flatten();
    let parent = |process: Process| Some((process.pid, process.stat().ok()?.ppid));
    let parents: BTreeMap<i32, i32> = living.filter_map(parent).collect();
    let descends = |pid: &&i32| {
        let mut ancestors = iter::successors(parents.get(*pid), |parent| parents.get(*parent));
        ancestors.any(|&ancestor| ancestor as u32 == root)
    };
    let line = |&pid: &i32| {
        let words = Process::new(pid).and_then(|process| process.cmdline());
        (pid as u32, words.unwrap_or_default().join(" "))
    };
    parents.keys().filter(descends).map(line).collect()
}
