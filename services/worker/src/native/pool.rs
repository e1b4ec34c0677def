//! Threads for bots, so that the driver never computes moves.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use crate::lock;

/// A piece of work.
pub type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

/// Where built-in agents compute.
pub(crate) enum Pool {
    /// On threads.
    Own(Threads),
    /// Wherever the caller wants: it runs every job once, now or later.
    Given(Mutex<Box<dyn Fn(Job) + Send>>),
}

impl Pool {
    pub(crate) fn new(threads: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        for number in 0..threads.max(1) {
            let shared = shared.clone();
            thread::Builder::new()
                .name(format!("agents-{number}"))
                .spawn(move || work(&shared))?;
        }
        Ok(Self::Own(Threads {
            shared,
            count: threads.max(1),
        }))
    }

    /// Number of its threads.
    pub(crate) fn threads(&self) -> usize {
        match self {
            Self::Own(threads) => threads.count,
            Self::Given(_) => 1,
        }
    }

    /// Runs jobs with this function.
    pub(crate) fn given(think: impl Fn(Job) + Send + 'static) -> Self {
        Self::Given(Mutex::new(Box::new(think)))
    }

    /// Adds work; with `soon`, before all waiting work.
    pub(crate) fn add(&self, soon: bool, job: impl FnOnce() + Send + 'static) {
        let job = Box::new(job);
        let shared = match self {
            Self::Own(threads) => &threads.shared,
            Self::Given(think) => return lock(think)(job),
        };
        let mut queue = lock(&shared.queue);
        if soon {
            queue.jobs.push_front(job);
        } else {
            queue.jobs.push_back(job);
        }
        drop(queue);
        shared.wake.notify_one();
    }
}

/// Threads with a queue of work. Dropping it drops waiting work; running work is not awaited.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    count: usize,
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut queue = lock(&self.shared.queue);
        queue.closed = true;
        queue.jobs.clear();
        drop(queue);
        self.shared.wake.notify_all();
    }
}

fn work(shared: &Shared) {
    let mut queue = lock(&shared.queue);
    loop {
        if queue.closed {
            return;
        }
        if let Some(job) = queue.jobs.pop_front() {
            drop(queue);
            // Jobs handle their own panics; a thread outlives them.
            let _ = catch_unwind(AssertUnwindSafe(job));
            queue = lock(&shared.queue);
        } else {
            queue = shared
                .wake
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn pool_survives_panics() {
        let pool = Pool::new(1).expect("a thread");
        let (release, held) = mpsc::channel::<()>();
        let (done, order) = mpsc::channel();
        pool.add(false, move || {
            let _ = held.recv();
            panic!("on purpose");
        });
        for (soon, name) in [(false, "late"), (true, "soon")] {
            let done = done.clone();
            pool.add(soon, move || {
                let _ = done.send(name);
            });
        }
        release.send(()).expect("the thread waits");
        assert_eq!(order.recv(), Ok("soon"));
        assert_eq!(order.recv(), Ok("late"));
    }
}
