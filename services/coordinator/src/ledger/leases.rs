//! The leases, in order of their deadlines.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{LeaseId, TournamentNo, WorkerId, WorkerProcess};

/// A lease.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) worker: WorkerId,
    pub(super) process: WorkerProcess,
    pub(super) tournament: TournamentNo,
    pub(super) games: BTreeSet<u64>,
    /// True if the games are replayed as audits.
    pub(super) audit: bool,
    /// True if the game must not be leased together with others.
    pub(super) alone: bool,
    /// Plies that the worker has reported.
    pub(super) plies: u64,
    /// Time at which the lease was granted.
    pub(super) since: Duration,
    /// The number that the worker gave its request; 0 if it sent none.
    pub(super) call: u64,
    /// True if the worker could not play one of the games.
    pub(super) failed: bool,
    /// Time at which the lease expires without progress; [`Leases::renew`] changes it.
    pub(super) deadline: Duration,
}

/// Leases by number and by deadline. There can be thousands of them, and each report renews some,
/// so a scan of all leases would be too slow.
#[derive(Debug, Default)]
pub(super) struct Leases {
    all: BTreeMap<LeaseId, Lease>,
    /// Leases that are not overdue.
    in_time: BTreeSet<LeaseId>,
    /// The deadline of each lease.
    deadlines: BTreeSet<(Duration, LeaseId)>,
}

impl Leases {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, id: LeaseId) -> Option<&Lease> {
        self.all.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: LeaseId) -> Option<&mut Lease> {
        self.all.get_mut(&id)
    }

    /// Adds a lease under a new number.
    pub(super) fn insert(&mut self, id: LeaseId, lease: Lease) {
        self.deadlines.insert((lease.deadline, id));
        self.in_time.insert(id);
        self.all.insert(id, lease);
    }

    pub(super) fn remove(&mut self, id: LeaseId) -> Option<Lease> {
        let lease = self.all.remove(&id)?;
        self.deadlines.remove(&(lease.deadline, id));
        self.in_time.remove(&id);
        Some(lease)
    }

    /// Sets the deadline of a lease.
    pub(super) fn renew(&mut self, id: LeaseId, deadline: Duration) {
        // Each game of a report renews its lease with the same deadline.
        if let Some(lease) = self.all.get_mut(&id)
            && lease.deadline != deadline
        {
            self.deadlines.remove(&(lease.deadline, id));
            self.deadlines.insert((deadline, id));
            lease.deadline = deadline;
        }
    }

    /// Leases whose deadline has passed, in the order in which they were granted.
    pub(super) fn late(&self, now: Duration) -> Vec<LeaseId> {
        let late = self.deadlines.range(..=(now, LeaseId::MAX));
        let mut late: Vec<LeaseId> = late.map(|(_, id)| *id).collect();
        late.sort_unstable();
        late
    }

    /// Leases that are not overdue, in the order in which they were granted.
    pub(super) fn not_overdue(&self) -> impl Iterator<Item = (LeaseId, &Lease)> {
        let in_time = self.in_time.iter();
        in_time.filter_map(|id| Some((*id, self.all.get(id)?)))
    }

    /// Marks a lease as overdue.
    pub(super) fn mark_overdue(&mut self, id: LeaseId) -> Option<&Lease> {
        self.in_time.remove(&id);
        self.all.get(&id)
    }

    /// Leases of a tournament.
    pub(super) fn of(&self, tournament: TournamentNo) -> Vec<LeaseId> {
        let of = self
            .all
            .iter()
            .filter(|(_, it)| it.tournament == tournament);
        of.map(|(id, _)| *id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(tournament: TournamentNo, deadline: Duration) -> Lease {
        Lease {
            worker: 1,
            process: WorkerProcess::Unknown,
            tournament,
            games: BTreeSet::new(),
            audit: false,
            alone: false,
            plies: 0,
            since: Duration::ZERO,
            call: 0,
            failed: false,
            deadline,
        }
    }

    /// The late leases, found by a scan of all leases.
    fn scanned(leases: &Leases, now: Duration) -> Vec<LeaseId> {
        let late = leases.all.iter().filter(|(_, it)| it.deadline <= now);
        late.map(|(id, _)| *id).collect()
    }

    #[test]
    fn deadlines_equal_a_full_scan() {
        let mut leases = Leases::default();
        let mut draw = 7_u64;
        for step in 1..5_000_u64 {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (what, other) = (draw >> 60, (draw >> 33) % step + 1);
            let deadline = Duration::from_millis((draw >> 20) % 97);
            match what {
                0..6 => leases.insert(step, lease((step % 3) as u32, deadline)),
                6..11 => leases.renew(other, deadline),
                _ => {
                    leases.remove(other);
                }
            }
            let now = Duration::from_millis((draw >> 40) % 97);
            let expected = scanned(&leases, now);
            assert_eq!(leases.late(now), expected);
            assert_eq!(leases.deadlines.len(), leases.len());
        }
        assert!(leases.len() > 100, "many leases exist at the same time");
    }
}
