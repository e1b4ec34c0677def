//! Measures whether the agent of a task thinks on the CPU.

use std::time::Duration;

use super::{
    client::AgentTask,
    load::{CpuLoad, THINKS},
};

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
        let is_thinking = load.measure(&processes, took) && is_serial;
        self.client.is_thinking.set(Some(is_thinking));
    }
}
