//! CPU time and memory of processes, in the units of a figure.

use std::fs;

use arena_tests::fleet::Usage;

/// User and system time; 0 if the process has ended.
pub(crate) fn cpu_seconds(process: u32) -> f64 {
    Usage::of(process).map_or(0.0, |usage| usage.cpu.as_secs_f64())
}

/// The same, including all its ended children.
pub(crate) fn cpu_seconds_with_children(process: u32) -> f64 {
    Usage::of(process).map_or(0.0, |usage| {
        (usage.cpu + usage.cpu_ended_children).as_secs_f64()
    })
}

/// CPU time of the running threads of a process, in nanoseconds. Exact, while no thread ends.
pub(crate) fn cpu_nanoseconds(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let times = threads.into_iter().flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    times.sum()
}

pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
