//! How long threads were ready to run but had no core, as the Linux scheduler counts it
//! (`/proc/PID/task/TID/schedstat`).

use std::{
    cell::Cell,
    collections::HashMap,
    fs::File,
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

use procfs::process::{Process, Task};

/// Time after which the counters of a thread with a core have moved: a tick of the system, 1 to 10 ms.
pub(crate) const TICKS: Duration = Duration::from_millis(25);

/// What the scheduler counted for one thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted {
    ran: u64,
    waited: u64,
}

/// Threads that were ready to run.
#[derive(Debug)]
pub(crate) struct Ready(HashMap<i32, Counted>);

/// The agent's processes, from their creation on. Counts nothing where the system does not.
#[derive(Debug)]
pub(crate) struct RunQueue {
    processes: Vec<i32>,
    /// Number of cores that they may use.
    cores: u32,
    agent: HashMap<i32, Counted>,
    /// What this thread had waited at the start.
    own: u64,
    start: Instant,
}

impl RunQueue {
    /// Starts to measure, on the thread that waits for the answer.
    pub(crate) fn start(processes: Vec<i32>, cores: usize) -> Self {
        OWN.with(|own| own.measuring.update(|count| count + 1));
        Self {
            own: OWN.with(Own::waited),
            agent: threads(&processes).collect(),
            processes,
            cores: u32::try_from(cores).unwrap_or(1),
            start: Instant::now(),
        }
    }

    /// Time since the start in which the agent waited for a core, and in which this thread waited
    /// for one since it last slept: the answer, or the end of the agent's time, may have come in
    /// that time.
    ///
    /// The waits of the agent's threads are added, because one may work after the other. An agent
    /// whose threads wait for each other, because it starts more than it has cores, gains nothing:
    /// the time counts only as far as the agent left its cores unused.
    pub(crate) fn waited(&self) -> Duration {
        let (mut ran, mut waited) = (0, 0);
        for (thread, now) in threads(&self.processes) {
            let before = self.agent.get(&thread).copied().unwrap_or_default();
            ran += now.ran.saturating_sub(before.ran);
            waited += now.waited.saturating_sub(before.waited);
        }
        let wall = self.start.elapsed();
        let unused = (wall * self.cores).saturating_sub(Duration::from_nanos(ran));
        let agent = Duration::from_nanos(waited).min(unused);
        let own = OWN.with(|own| own.waited().saturating_sub(own.at_wake.get().max(self.own)));
        (agent + Duration::from_nanos(own)).min(wall)
    }

    /// The agent's threads that are ready to run now.
    pub(crate) fn ready(&self) -> Ready {
        let ready = tasks(&self.processes).filter(|task| {
            let state = task.stat().map(|stat| stat.state);
            state.is_ok_and(|state| state == 'R')
        });
        Ready(ready.filter_map(|task| counted(&task)).collect())
    }

    /// True if a thread that was ready [`TICKS`] ago has waited for a core since then. The scheduler
    /// counts a wait only when it ends.
    pub(crate) fn still_waits(&self, before: &Ready) -> bool {
        let Ready(now) = self.ready();
        now.iter()
            .any(|(thread, counted)| before.0.get(thread) == Some(counted))
    }
}

impl Drop for RunQueue {
    fn drop(&mut self) {
        OWN.with(|own| own.measuring.update(|count| count.saturating_sub(1)));
    }
}

/// Time for which processes had a core or waited for one, since they started.
pub(crate) fn cpu_demand(processes: &[i32]) -> Duration {
    let demand = threads(processes).map(|(_, counted)| counted.ran + counted.waited);
    Duration::from_nanos(demand.sum())
}

/// The time in which this thread waits for a core while it thinks.
pub(crate) struct Thread(u64);

impl Thread {
    /// Starts to measure.
    pub(crate) fn start() -> Self {
        Self(OWN.with(Own::waited))
    }

    /// Time since the start in which this thread waited.
    pub(crate) fn waited(&self) -> Duration {
        Duration::from_nanos(OWN.with(Own::waited).saturating_sub(self.0))
    }
}

/// What is known of this thread.
struct Own {
    /// Its counters.
    file: Option<File>,
    /// Number of measurements that need its wakes.
    measuring: Cell<u32>,
    /// When it last went to sleep, and what it had waited by then.
    asleep: Cell<Option<(Instant, u64)>>,
    /// What it had waited when it was last woken from a sleep.
    at_wake: Cell<u64>,
}

/// A shorter sleep is none: what the thread sleeps for had come before.
const SLEEP: Duration = Duration::from_micros(100);

thread_local! {
    static OWN: Own = Own {
        file: File::open("/proc/thread-self/schedstat").ok(),
        measuring: Cell::new(0),
        asleep: Cell::new(None),
        at_wake: Cell::new(0),
    };
}

impl Own {
    /// Nanoseconds in which the thread waited for a core since it started.
    fn waited(&self) -> u64 {
        let mut text = [0; 64];
        let read = self.file.as_ref().map(|file| file.read_at(&mut text, 0));
        let Some(Ok(length)) = read else {
            return 0;
        };
        let text = str::from_utf8(&text[..length]).unwrap_or_default();
        let waited = text.split(' ').nth(1).and_then(|it| it.parse().ok());
        waited.unwrap_or_default()
    }
}

/// The runtime of this thread calls it before the thread sleeps.
pub(crate) fn on_sleep() {
    OWN.with(|own| {
        if own.measuring.get() > 0 {
            own.asleep.set(Some((Instant::now(), own.waited())));
        }
    });
}

/// The runtime of this thread calls it after a wake.
pub(crate) fn on_wake() {
    OWN.with(|own| {
        if let Some((at, before)) = own.asleep.take() {
            let waited = Duration::from_nanos(own.waited().saturating_sub(before));
            if at.elapsed() >= waited + SLEEP {
                own.at_wake.set(before);
            }
        }
    });
}

fn threads(processes: &[i32]) -> impl Iterator<Item = (i32, Counted)> {
    tasks(processes).filter_map(|task| counted(&task))
}

fn tasks(processes: &[i32]) -> impl Iterator<Item = Task> {
    let tasks = processes.iter().filter_map(|&id| {
        let process = Process::new(id).ok()?;
        process.tasks().ok()
    });
    tasks.flatten().flatten()
}

fn counted(task: &Task) -> Option<(i32, Counted)> {
    let counted = task.schedstat().ok()?;
    Some((
        task.tid,
        Counted {
            ran: counted.sum_exec_runtime,
            waited: counted.run_delay,
        },
    ))
}

#[cfg(test)]
mod tests {
    use std::{
        process::Command,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;

    fn cores() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// Keeps every core busy with twice as many threads while `work` runs.
    fn on_a_busy_machine<T>(work: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        let cores = cores();
        thread::scope(|scope| {
            for _ in 0..cores * 2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let out = work();
            done.store(true, Ordering::Relaxed);
            out
        })
    }

    #[test]
    fn process_without_a_core_waits() {
        let waited = on_a_busy_machine(|| {
            let mut child = Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
                .expect("a shell");
            let queue = RunQueue::start(vec![child.id() as i32], cores());
            // It shares the cores with other threads, so it waits for most of the time.
            let waited = loop {
                let waited = queue.waited();
                if waited >= Duration::from_millis(20) {
                    break waited;
                }
                thread::sleep(Duration::from_millis(5));
            };
            child.kill().and_then(|()| child.wait()).expect("its end");
            waited
        });
        assert!(waited >= Duration::from_millis(20));
    }

    /// A process of the lowest priority on a core with busy threads runs now and then.
    #[test]
    fn wait_is_noticed_before_it_ends() {
        on_a_busy_machine(|| {
            let mut child = Command::new("nice")
                .args(["-n", "19", "sh", "-c", "while :; do :; done"])
                .spawn()
                .expect("nice");
            let queue = RunQueue::start(vec![child.id() as i32], cores());
            loop {
                let before = queue.ready();
                thread::sleep(TICKS);
                if queue.still_waits(&before) {
                    break;
                }
            }
            child.kill().and_then(|()| child.wait()).expect("its end");
        });
    }

    #[test]
    fn running_and_sleeping_threads_do_not_wait() {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let queue = RunQueue::start(vec![std::process::id() as i32], cores());
            // On a busy machine, it waits now and then.
            let runs = |_| {
                let before = queue.ready();
                thread::sleep(TICKS);
                !before.0.is_empty() && !queue.still_waits(&before)
            };
            assert!((0..1000).any(runs), "it has a core, and waits");
            done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn sleeping_process_does_not_wait() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let id = child.id() as i32;
        // On a busy machine, its start takes some time, in which it waits.
        let is_asleep = |_| {
            let queue = RunQueue::start(vec![id], cores());
            thread::sleep(Duration::from_millis(50));
            queue.waited().is_zero()
        };
        assert!((0..100).any(is_asleep), "it waits, although it sleeps");
        child.kill().and_then(|()| child.wait()).expect("its end");
    }

    #[test]
    fn thinking_thread_without_a_core_waits() {
        on_a_busy_machine(|| {
            let thread = Thread::start();
            while thread.waited() < Duration::from_millis(5) {
                std::hint::spin_loop();
            }
        });
    }
}
