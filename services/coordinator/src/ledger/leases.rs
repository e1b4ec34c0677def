//! The leases, in order of their deadlines.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{LeaseId, TournamentNo, WorkerId, WorkerProcess};

#[derive(Debug)]
pub(super) struct Lease {
    pub(super) worker: WorkerId,
    pub(super) process: WorkerProcess,
    pub(super) tournament: TournamentNo,
    pub(super) games: BTreeSet<u64>,
    pub(super) audit: bool,
    pub(super) alone: bool,
    pub(super) plies: u64,
    /// Time at which it was granted.
    pub(super) since: Duration,
    /// The worker's number of the request; 0 if it sent none.
    pub(super) call: u64,
    /// True if an attempt of it failed.
    pub(super) failed: bool,
}

#[derive(Debug)]
struct Held {
    lease: Lease,
    deadline: Duration,
}

/// Leases by number and by deadline. There are thousands at a time, and each report renews
/// some.
#[derive(Debug, Default)]
pub(super) struct Leases {
    held: BTreeMap<LeaseId, Held>,
    /// The deadline of each lease.
    deadlines: BTreeSet<(Duration, LeaseId)>,
}

impl Leases {
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    pub(super) fn get(&self, id: LeaseId) -> Option<&Lease> {
        self.held.get(&id).map(|held| &held.lease)
    }

    pub(super) fn get_mut(&mut self, id: LeaseId) -> Option<&mut Lease> {
        self.held.get_mut(&id).map(|held| &mut held.lease)
    }

    /// Adds a lease under a new number.
    pub(super) fn insert(&mut self, id: LeaseId, lease: Lease, deadline: Duration) {
        self.held.insert(id, Held { lease, deadline });
        self.deadlines.insert((deadline, id));
    }

    pub(super) fn remove(&mut self, id: LeaseId) -> Option<Lease> {
        let held = self.held.remove(&id)?;
        self.deadlines.remove(&(held.deadline, id));
        Some(held.lease)
    }

    /// Sets the deadline of a lease.
    pub(super) fn renew(&mut self, id: LeaseId, deadline: Duration) {
        // The games of a report arrive one by one, at the same time.
        if let Some(held) = self.held.get_mut(&id)
            && held.deadline != deadline
        {
            self.deadlines.remove(&(held.deadline, id));
            self.deadlines.insert((deadline, id));
            held.deadline = deadline;
        }
    }

    /// Leases whose deadline has passed, in the order in which they were granted.
    pub(super) fn late(&self, now: Duration) -> Vec<LeaseId> {
        let late = self.deadlines.range(..=(now, LeaseId::MAX));
        let mut late: Vec<LeaseId> = late.map(|(_, id)| *id).collect();
        late.sort_unstable();
        late
    }

    /// Leases of a tournament.
    pub(super) fn of(&self, tournament: TournamentNo) -> Vec<LeaseId> {
        let of = self.held.iter();
        of.filter(|(_, held)| held.lease.tournament == tournament)
            .map(|(id, _)| *id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(tournament: TournamentNo) -> Lease {
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
        }
    }

    /// The same by a scan of all leases.
    fn scanned(leases: &Leases, now: Duration) -> Vec<LeaseId> {
        let late = leases.held.iter().filter(|(_, held)| held.deadline <= now);
        late.map(|(id, _)| *id).collect()
    }

    #[test]
    fn deadlines_are_those_of_a_scan_whatever_is_leased_renewed_and_taken_back() {
        let mut leases = Leases::default();
        let mut draw = 7_u64;
        for step in 1..5_000_u64 {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (what, other) = (draw >> 60, (draw >> 33) % step + 1);
            let deadline = Duration::from_millis((draw >> 20) % 97);
            match what {
                0..6 => leases.insert(step, lease((step % 3) as u32), deadline),
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
        assert!(leases.len() > 100, "some were held at a time");
    }
}
