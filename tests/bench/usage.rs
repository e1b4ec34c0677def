//! CPU time and memory of processes, in the units of a figure.

use arena_tests::fleet::Usage;

/// User and system time; 0 where the process is gone.
pub(crate) fn cpu_seconds(process: u32) -> f64 {
    Usage::of(process).map_or(0.0, |usage| usage.cpu.as_secs_f64())
}
