//! Whether the process of an agent thinks on the CPU while it answers.
//!
//! Two processes that think on one core take twice as long. So a worker plays as few games of such
//! agents at a time as it has cores: then the first games finish early.

use std::time::Duration;

use crate::clock::cpu_demand;

/// Faster answers do not count as thinking.
pub(super) const THINKS: Duration = Duration::from_millis(10);
/// Minimum share of the time of its answers for which such a process has or wants a core.
const SHARE: f64 = 0.5;

/// The CPU time of an agent's processes at its last answer.
#[derive(Debug)]
pub(super) struct CpuLoad(Duration);

impl CpuLoad {
    /// Starts to measure.
    pub(super) fn start(processes: &[i32]) -> Self {
        Self(cpu_demand(processes))
    }

    /// True if an answer that took this long since the last call was thought out on the CPU.
    pub(super) fn measure(&mut self, processes: &[i32], took: Duration) -> bool {
        let before = std::mem::replace(&mut self.0, cpu_demand(processes));
        let used = self.0.saturating_sub(before);
        took >= THINKS && used.as_secs_f64() >= SHARE * took.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::{process::Command, thread};

    use super::*;

    fn check(script: &str, expected: bool) {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .spawn()
            .expect("a shell");
        let processes = [child.id() as i32];
        let mut load = CpuLoad::start(&processes);
        let start = std::time::Instant::now();
        thread::sleep(Duration::from_millis(200));
        let took = start.elapsed();
        assert_eq!(load.measure(&processes, took), expected, "{script}");
        assert!(!load.measure(&processes, Duration::from_millis(1)));
        child.kill().and_then(|()| child.wait()).expect("its end");
    }

    #[test]
    fn busy_process_thinks_and_sleeping_one_does_not() {
        check("while :; do :; done", true);
        check("exec sleep 60", false);
    }
}
