//! CPU time and peak memory of processes on Linux.

use std::{collections::BTreeMap, fs};

use crate::failure::{Failure, Outcome};

/// Resource usage of one process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// User and system time, without finished children.
    pub cpu_seconds: f64,
    /// Peak resident memory.
    pub peak_mb: f64,
}

/// Linux reports CPU time to user space in hundredths of a second (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time of this process.
pub(super) fn own_cpu_seconds() -> Outcome<f64> {
    usage(std::process::id())
        .map(|usage| usage.cpu_seconds)
        .ok_or_else(|| Failure::failed("cannot read /proc/self/stat"))
}

/// Resource usage of a process; `None` if it has ended.
pub(super) fn usage(pid: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; fields are counted after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = [11, 12]
        .iter()
        .filter_map(|&field| fields.get(field)?.parse::<f64>().ok())
        .sum();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak_kb: f64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok())
        .unwrap_or(0.0);
    Some(Usage {
        cpu_seconds: ticks / TICKS_PER_SECOND,
        peak_mb: peak_kb / 1024.0,
    })
}

/// The living descendants of a process with their command lines.
pub(super) fn descendants(root: u32) -> BTreeMap<u32, String> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let parent = fs::read_to_string(format!("/proc/{pid}/stat"))
            .ok()
            .and_then(|stat| {
                let fields = stat.rsplit_once(')')?.1.to_owned();
                fields.split_whitespace().nth(1)?.parse::<u32>().ok()
            });
        if let Some(parent) = parent {
            parents.insert(pid, parent);
        }
    }
    let mut found = BTreeMap::new();
    for &pid in parents.keys() {
        let mut ancestor = pid;
        while let Some(&parent) = parents.get(&ancestor) {
            if parent == root {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                found.insert(pid, line);
                break;
            }
            ancestor = parent;
        }
    }
    found
}
