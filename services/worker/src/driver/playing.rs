//! The games as the protocol sees them.

use super::*;

impl Playing for Driver {
    fn unfinished(&self) -> usize {
        self.waiting.len() + self.in_flight()
    }

    /// A thread may still play a dropped game.
    fn is_done(&self) -> bool {
        self.leases.is_empty()
    }

    fn sated(&self) -> usize {
        self.waiting.sated()
    }

    fn progress(&mut self) -> Vec<Progress> {
        self.progress_at(time::Instant::now())
    }
}

impl Driver {
    /// Tournaments whose agents have no time for more games.
    pub(crate) fn sated_tournaments(&self) -> Vec<String> {
        self.waiting.sated_tournaments()
    }

    /// Plies of each lease so far. Each call adds one to a lease that moves from time to time,
    /// because a single decision has its own time limit and may take longer than a lease. The same
    /// holds for leases that wait while others move.
    pub(super) fn progress_at(&mut self, now: time::Instant) -> Vec<Progress> {
        let mut attended: BTreeMap<u64, u64> = BTreeMap::new();
        for active in self.games.iter() {
            if let Some(done) = active.attended() {
                let sum = attended.entry(active.lease).or_default();
                *sum = sum.wrapping_add(done);
            }
        }
        for (number, lease) in &mut self.leases {
            lease.look(now, attended.get(number).copied());
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
