//! CPU time and memory of processes, in the units of a figure.

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

pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
