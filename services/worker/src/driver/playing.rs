//! The games as the protocol sees them.

use std::sync::Arc;

use tokio::time::Instant;

use super::{Command, drivers::Drivers, lease::Lease};
use crate::protocol::{Playing, Progress};

impl Playing for Drivers {
    fn unfinished(&self) -> usize {
        let waiting = self.shared.waiting();
        waiting.len() + self.shared.in_flight()
    }

    /// A thread may still play a dropped game.
    fn is_done(&self) -> bool {
        self.leases.is_empty()
    }

    fn sated(&self) -> usize {
        let stuck = self.stuck();
        let pooled: usize = stuck.iter().map(|it| it.pooled()).sum();
        let is_stuck = |it: &_| stuck.iter().any(|stuck| Arc::ptr_eq(stuck, it));
        pooled + self.shared.waiting().sated(is_stuck)
    }

    fn progress(&mut self) -> Vec<Progress> {
        let progress = self.progress_at(Instant::now());
        // For the next call.
        self.shared.send_all(&Command::Look);
        progress
    }
}

impl Drivers {
    /// Plies of each lease so far. Each call adds one to a lease that moves from time to time,
    /// because a single decision has its own time limit and may take longer than a lease. The same
    /// holds for leases that wait while others move.
    pub(super) fn progress_at(&mut self, now: Instant) -> Vec<Progress> {
        for lease in self.leases.values_mut() {
            lease.look(now);
        }
        let plays = self.in_flight() > 0;
        let moves = |lease: &Lease| !lease.waits() && lease.moves(now);
        let others = self.leases.values().any(moves);
        let shown = |(&number, lease): (&u64, &mut Lease)| {
            let alive = plays && (lease.moves(now) || lease.waits() && others);
            lease.signs += u64::from(alive);
            Progress {
                lease: number,
                reported: lease.plies() + lease.signs,
                plies: lease.plies(),
                waits: lease.waits(),
            }
        };
        self.leases.iter_mut().map(shown).collect()
    }
}
