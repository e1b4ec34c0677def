//! Overdue games: those that a worker holds much longer than other workers need for a game. A worker states
//! itself how far its games are, so one that invents progress could hold them without end. An idle worker
//! of another owner plays them too, or any other if all workers have one owner. If no worker of another owner
//! came in time, a second one of the same owner plays them. The first record counts. The slow worker keeps them
//! until then: it may be honest.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Assigned, Ended, LeaseId, Ledger, Owner, WorkerProcess,
    game_queue::{GameQueue, LeaseRequester},
    leasing::Pace,
    worker_processes::WorkerProcesses,
};

/// A lease is overdue after this many times the average time of the fastest other owner, or of its own if no
/// other is known.
const OVERDUE_FACTOR: u32 = 4;
/// Maximum overdue games of a process that one request searches.
const LOOK_MAX: usize = 64;
/// Maximum owners whose pace is remembered for each tournament.
const OWNERS_MAX: usize = 64;

/// The pace of each owner in one tournament. One owner cannot slow down the pace of another.
#[derive(Debug, Default)]
pub(super) struct PaceByOwner(BTreeMap<Owner, Pace>);

impl PaceByOwner {
    pub(super) fn add(&mut self, owner: &Owner, took: Duration) {
        if let Some(pace) = self.0.get_mut(owner) {
            pace.add(took);
        } else if self.0.len() < OWNERS_MAX {
            self.0.entry(Owner::clone(owner)).or_default().add(took);
        }
    }

    /// The pace of the fastest other owner, or else of this one.
    fn fastest_besides(&self, owner: &Owner) -> Option<Duration> {
        let others = self.0.iter().filter(|(other, _)| *other != owner);
        let fastest = others.filter_map(|(_, pace)| pace.mean()).min();
        fastest.or_else(|| self.0.get(owner)?.mean())
    }
}

/// The overdue games of one tournament, and the games that several workers play.
#[derive(Debug, Default)]
pub(super) struct Overdue {
    /// Overdue games that no further worker plays yet, by the process that was leased them last.
    /// For each, the time from which a second worker of the same owner may play it.
    waiting: BTreeMap<WorkerProcess, BTreeMap<u64, Duration>>,
    /// Earlier leases of games that a further worker plays.
    earlier: BTreeMap<u64, Vec<(LeaseId, WorkerProcess)>>,
}

impl Overdue {
    /// Marks a leased game as overdue. A second worker of the same owner may play it from the time `own_from`.
    pub(super) fn mark(&mut self, index: u64, holder: WorkerProcess, own_from: Duration) {
        let games = self.waiting.entry(holder).or_default();
        games.insert(index, own_from);
    }

    /// Removes the mark of a game that its holder no longer has.
    pub(super) fn unmark(&mut self, index: u64, holder: WorkerProcess) {
        if let Some(games) = self.waiting.get_mut(&holder) {
            games.remove(&index);
            if games.is_empty() {
                self.waiting.remove(&holder);
            }
        }
    }

    /// Adds a further lease of a game; `holder` had it so far.
    pub(super) fn share(&mut self, index: u64, holder: (LeaseId, WorkerProcess)) {
        self.unmark(index, holder.1);
        self.earlier.entry(index).or_default().push(holder);
    }

    /// Removes an earlier lease of a game, which ended without a record.
    pub(super) fn end_earlier(&mut self, index: u64, lease: LeaseId) {
        if let Some(earlier) = self.earlier.get_mut(&index) {
            earlier.retain(|(it, _)| *it != lease);
        }
    }

    /// Forgets a game that has a record. Returns its earlier leases.
    pub(super) fn settle(&mut self, index: u64) -> Vec<LeaseId> {
        let earlier = self.earlier.remove(&index).unwrap_or_default();
        earlier.into_iter().map(|(lease, _)| lease).collect()
    }

    /// Games that this process may play too, because only others have them.
    pub(super) fn of_others<'a>(
        &'a self,
        process: WorkerProcess,
        processes: &'a WorkerProcesses,
        now: Duration,
    ) -> impl Iterator<Item = u64> + 'a {
        let holders = self.waiting.iter();
        holders.flat_map(move |(&holder, games)| {
            let fits = move |&(&index, &own_from): &(&u64, &Duration)| {
                let earlier = self.earlier.get(&index).into_iter().flatten();
                let earlier = earlier.map(|(_, holder)| *holder);
                processes.may_rescue(process, earlier.chain([holder]), now >= own_from)
            };
            let games = games.iter().filter(fits).take(LOOK_MAX);
            games.map(|(&index, _)| index)
        })
    }
}

impl GameQueue {
    /// Marks a game as overdue if this lease still has it.
    fn mark_overdue(&mut self, index: u64, lease: LeaseId, own_from: Duration) {
        if let Some(leased) = self.leased.get(&index).filter(|it| it.lease == lease) {
            self.overdue.mark(index, leased.process, own_from);
        }
    }

    /// Overdue games that this process may play too. Without `alone`, those that must not be leased
    /// together with others are left out.
    fn overdue_for<'a>(
        &'a self,
        requester: &'a LeaseRequester<'_>,
        alone: bool,
    ) -> impl Iterator<Item = u64> + 'a {
        let games = self
            .overdue
            .of_others(requester.process, requester.processes, requester.now);
        games.filter(move |&index| {
            (alone || !self.is_suspect(index)) && self.may_try(index, requester)
        })
    }

    /// True if the process may play an overdue game too; see [`GameQueue::take_overdue`].
    pub(super) fn has_overdue(&self, requester: &LeaseRequester<'_>, alone: bool) -> bool {
        self.overdue_for(requester, alone).next().is_some()
    }

    /// Leases up to `count` overdue games to a further process: one if it must not be leased
    /// together with others, which needs `alone`. Returns them, and true if it is such a game.
    pub(super) fn take_overdue(
        &mut self,
        count: usize,
        lease: LeaseId,
        requester: &LeaseRequester<'_>,
        alone: bool,
    ) -> (Vec<Assigned>, bool) {
        let first = self.overdue_for(requester, alone).next();
        let alone = first.is_some_and(|index| self.is_suspect(index));
        let taken: Vec<u64> = match alone {
            true => first.into_iter().collect(),
            false => self.overdue_for(requester, false).take(count).collect(),
        };
        let assign = |index| {
            if let Some(leased) = self.leased.get(&index) {
                self.overdue.share(index, (leased.lease, leased.process));
            }
            self.assign(index, lease, requester)
        };
        (taken.into_iter().map(assign).collect(), alone)
    }
}

impl Ledger {
    /// Marks the games of leases that take too long, so that idle workers play them too. Returns these
    /// leases.
    pub fn mark_overdue(&mut self, now: Duration) -> Vec<Ended> {
        if !self.processes.has_several() {
            return Vec::new();
        }
        let mut overdue = Vec::new();
        for (id, lease) in self.leases.not_overdue() {
            let age = now.saturating_sub(lease.since);
            if age < self.settings.lease_deadline {
                // Later leases are younger.
                break;
            }
            let entry = self.tournaments.get(&lease.tournament);
            let owner = self.processes.owner(lease.process);
            let (Some(entry), Some(owner), false) = (entry, owner, lease.audit) else {
                continue;
            };
            let shortest = self.settings.lease_deadline + entry.progress_timeouts.first;
            let others = entry.paces.fastest_besides(owner).unwrap_or_default();
            if age >= shortest.max(others * OVERDUE_FACTOR) {
                overdue.push(id);
            }
        }
        // Time for workers of other owners.
        let own_from = now + self.settings.lease_deadline;
        let marked = overdue.into_iter().filter_map(|id| {
            let lease = self.leases.mark_overdue(id)?;
            if let Some(entry) = self.tournaments.get_mut(&lease.tournament) {
                for &index in &lease.games {
                    entry.queue.mark_overdue(index, id, own_from);
                }
            }
            let worker = lease.worker;
            Some(Ended { worker, lease: id })
        });
        marked.collect()
    }
}
