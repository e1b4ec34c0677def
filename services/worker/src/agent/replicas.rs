//! The replicas of an agent on one driver: which of them are in use, and when another one starts.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use crate::supervise::Output;

/// Minimum time between the starts of two replicas.
const NEXT: Duration = Duration::from_millis(100);

/// The state of one replica, which its task updates.
#[derive(Debug, Default)]
pub(super) struct Replica {
    wake: Notify,
    closing: Notify,
    busy: Cell<bool>,
    /// Time since which it is connected.
    connected: Cell<Option<Instant>>,
    output: RefCell<Option<Arc<Output>>>,
}

impl Replica {
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(super) async fn closed(&self) {
        self.closing.notified().await;
    }

    /// Marks whether it has open questions, or is about to take some.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.set(busy);
    }

    pub(super) fn connected(&self, output: Option<Arc<Output>>) {
        self.connected.set(Some(Instant::now()));
        self.output.replace(output);
    }

    pub(super) fn disconnected(&self) {
        self.connected.set(None);
    }

    /// True if another replica would help, because this one has been at work for a while.
    fn is_loaded(&self) -> bool {
        let connected = self.connected.get();
        self.busy.get() && connected.is_some_and(|since| since.elapsed() >= NEXT)
    }
}

/// All replicas. The first one is always in use; each further one is used from the moment on at
/// which questions wait while all others are at work.
#[derive(Debug)]
pub(super) struct Replicas {
    all: Vec<Replica>,
    used: Cell<usize>,
}

impl Replicas {
    pub(super) fn new(count: usize) -> Self {
        Self {
            all: (0..count.max(1)).map(|_| Replica::default()).collect(),
            used: Cell::new(1),
        }
    }

    pub(super) fn get(&self, replica: usize) -> &Replica {
        &self.all[replica]
    }

    /// Number of replicas in use.
    pub(super) fn used(&self) -> usize {
        self.used.get()
    }

    pub(super) fn is_used(&self, replica: usize) -> bool {
        replica < self.used.get()
    }

    /// True if another replica is connected.
    pub(super) fn has_other(&self, replica: usize) -> bool {
        let mut others = self.all.iter().enumerate();
        others.any(|(number, it)| number != replica && it.connected.get().is_some())
    }

    /// Questions wait: wakes the replicas, and starts to use another one if all are at work.
    pub(super) fn wake(&self) {
        let used = self.used.get();
        if used < self.all.len() && self.all[..used].iter().all(Replica::is_loaded) {
            self.used.set(used + 1);
        }
        for replica in &self.all[..self.used.get()] {
            replica.wake.notify_one();
        }
    }

    /// Output of the only replica that is in use.
    pub(super) fn output(&self) -> Option<Arc<Output>> {
        if self.used.get() > 1 {
            return None;
        }
        self.all[0].output.borrow().clone()
    }

    pub(super) fn close(&self) {
        for replica in &self.all {
            replica.closing.notify_one();
            replica.wake.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replica_is_added_only_while_others_are_at_work() {
        let replicas = Replicas::new(2);
        replicas.wake();
        assert_eq!(replicas.used(), 1, "the first is not connected yet");
        replicas.get(0).connected(None);
        replicas.get(0).set_busy(true);
        replicas.wake();
        assert_eq!(replicas.used(), 1, "it has only just begun");
        let early = Instant::now() - NEXT;
        replicas.get(0).connected.set(Some(early));
        replicas.get(0).set_busy(false);
        replicas.wake();
        assert_eq!(replicas.used(), 1, "it waits for questions");
        replicas.get(0).set_busy(true);
        replicas.wake();
        assert_eq!(replicas.used(), 2);
        replicas.get(1).connected.set(Some(early));
        replicas.get(1).set_busy(true);
        replicas.wake();
        assert_eq!(replicas.used(), 2, "of two");
    }
}
