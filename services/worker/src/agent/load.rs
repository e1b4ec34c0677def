//! Whether the process of an agent thinks on the CPU while it answers.
//!
//! Two processes that think on one core take twice as long. So a worker plays as few games of such
//! agents at a time as it has cores: then the first games finish early.

use std::time::Duration;

use super::client::AgentTask;
use crate::clock::cpu_demand;

/// Faster answers do not count as thinking.
const THINKS: Duration = Duration::from_millis(10);
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
    pub(super) fn is_thinking(&mut self, processes: &[i32], took: Duration) -> bool {
        let before = std::mem::replace(&mut self.0, cpu_demand(processes));
        let used = self.0.saturating_sub(before);
        took >= THINKS && used.as_secs_f64() >= SHARE * took.as_secs_f64()
    }
}

impl AgentTask {
    /// True if the number of games depends on whether the agent thinks on the CPU.
    fn needs_load(&self) -> bool {
        self.setup.own_cores.is_none() && self.setup.games_by_cores.is_some()
    }

    /// Starts to measure a new process.
    pub(super) fn start_load(&mut self) {
        let needs_load = self.needs_load();
        let connection = self.connection.as_mut().filter(|_| needs_load);
        self.load = connection.map(|it| CpuLoad::start(&it.processes()));
    }

    /// Finds out whether the agent thinks on the CPU, about one question after the other.
    pub(super) fn measure_load(&mut self, decisions: usize, took: Duration) {
        let needs_load = self.needs_load();
        let Some(connection) = self.connection.as_mut().filter(|_| needs_load) else {
            return;
        };
        let each = took / u32::try_from(decisions.max(1)).unwrap_or(u32::MAX);
        if each < THINKS {
            self.load = None;
            self.client.is_thinking.set(Some(false));
            return;
        }
        let processes = connection.processes();
        let Some(load) = &mut self.load else {
            self.load = Some(CpuLoad::start(&processes));
            return;
        };
        let is_serial = connection.single || self.client.window.borrow().is_serial();
        let is_thinking = load.is_thinking(&processes, took) && is_serial;
        self.client.is_thinking.set(Some(is_thinking));
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
        assert_eq!(load.is_thinking(&processes, took), expected, "{script}");
        assert!(!load.is_thinking(&processes, Duration::from_millis(1)));
        child.kill().and_then(|()| child.wait()).expect("its end");
    }

    #[test]
    fn busy_process_thinks_and_sleeping_one_does_not() {
        check("while :; do :; done", true);
        check("exec sleep 60", false);
    }
}
