//! Threads that think, so that the driver never does.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

type Job = Box<dyn FnOnce() + Send>;

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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads with a queue of work. Dropping it forgets what waits; what runs is
/// not waited for.
pub(crate) struct Pool(Arc<Shared>);

impl Pool {
    pub(crate) fn new(threads: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        for number in 0..threads.max(1) {
            let shared = shared.clone();
            thread::Builder::new()
                .name(format!("agents-{number}"))
                .spawn(move || work(&shared))?;
        }
        Ok(Self(shared))
    }

    /// Adds work; `soon` puts it before all that waits.
    pub(crate) fn add(&self, soon: bool, job: impl FnOnce() + Send + 'static) {
        let mut queue = self.0.lock();
        if soon {
            queue.jobs.push_front(Box::new(job));
        } else {
            queue.jobs.push_back(Box::new(job));
        }
        drop(queue);
        self.0.wake.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.closed = true;
        queue.jobs.clear();
        drop(queue);
        self.0.wake.notify_all();
    }
}

fn work(shared: &Shared) {
    let mut queue = shared.lock();
    loop {
        if queue.closed {
            return;
        }
        if let Some(job) = queue.jobs.pop_front() {
            drop(queue);
            // Jobs answer for their own panics; a thread outlives them.
            let _ = catch_unwind(AssertUnwindSafe(job));
            queue = shared.lock();
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
    fn a_panic_costs_no_thread_and_urgent_work_goes_first() {
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
