//! How long threads were ready to run but had no core, as the Linux scheduler counts it
//! (`/proc/PID/task/TID/schedstat`).

use std::{
    collections::HashMap,
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use procfs::{
    FromRead,
    process::{Process, Schedstat},
};

/// What the scheduler counted for one thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    ran: u64,
    waited: u64,
}

/// Measures from its creation on. Counts nothing where the system does not.
#[derive(Debug)]
pub(crate) struct RunQueue {
    processes: Vec<i32>,
    agent: HashMap<i32, Counted>,
    own: Counted,
    start: Instant,
}

impl RunQueue {
    /// For these processes of an agent, and this thread.
    pub(crate) fn start(processes: Vec<i32>) -> Self {
        Self {
            agent: threads(&processes).collect(),
            processes,
            own: own(),
            start: Instant::now(),
        }
    }

    /// Time since the start in which the agent or this thread waited for a core.
    ///
    /// Of the agent's threads the one that waited longest counts. An agent whose threads wait for
    /// each other, because it starts more than it has cores, gains nothing: the time counts only
    /// as far as the agent left its cores unused.
    pub(crate) fn waited(&self) -> Duration {
        let (mut ran, mut waited) = (0, 0);
        for (thread, now) in threads(&self.processes) {
            let before = self.agent.get(&thread).copied().unwrap_or_default();
            ran += now.ran.saturating_sub(before.ran);
            waited = waited.max(now.waited.saturating_sub(before.waited));
        }
        let cores = thread::available_parallelism().map_or(1, NonZero::get) as u32;
        let wall = self.start.elapsed();
        let unused = (wall * cores).saturating_sub(Duration::from_nanos(ran));
        let agent = Duration::from_nanos(waited).min(unused);
        let own = own().waited.saturating_sub(self.own.waited);
        (agent + Duration::from_nanos(own)).min(wall)
    }
}

fn threads(processes: &[i32]) -> impl Iterator<Item = (i32, Counted)> {
    let tasks = processes.iter().filter_map(|&id| {
        let process = Process::new(id).ok()?;
        process.tasks().ok()
    });
    tasks.flatten().flatten().filter_map(|task| {
        let counted = task.schedstat().ok()?;
        Some((
            task.tid,
            Counted {
                ran: counted.sum_exec_runtime,
                waited: counted.run_delay,
            },
        ))
    })
}

/// What was counted for this thread.
fn own() -> Counted {
    let counted = Schedstat::from_file("/proc/thread-self/schedstat");
    counted.map_or_else(
        |_| Counted::default(),
        |it| Counted {
            ran: it.sum_exec_runtime,
            waited: it.run_delay,
        },
    )
}
