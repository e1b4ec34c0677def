//! Tests that cross processes, in one binary. Each makes a folder of its own,
//! starts what it needs on free ports, and leaves nothing running.

/// Crates depend on each other only as the design says.
mod architecture;
/// Metrics, dashboards, rules, and all of `deploy/`.
mod prometheus;
