//! Faults that can happen on one host and not on another, reported by one owner alone: crashes,
//! timeouts, lost connections and failed starts. No replay proves them, so while a process of
//! another owner is connected, they count only as far as such a process confirms them.
//!
//! | Game with such a fault | What happens while another owner is connected |
//! |---|---|
//! | lost by an agent that never answered | is audited, and counts towards a pause once it is confirmed |
//! | any other | is audited as that of a process in doubt |
//! | an audit by another owner has the same fault | it is confirmed |
//! | an audit by another owner does not have it | it is contradicted: the process is in doubt again |
//! | three games of a process in a row are contradicted, by at least two owners | the process goes into quarantine |
//!
//! The same holds for rules in a package: if they fail on the workers of one owner alone, those rest,
//! and the tournament goes on with the others.

use std::collections::BTreeSet;

use super::{Ledger, Owner, TournamentNo, WorkerId, WorkerProcess};

/// Maximum number of open claims of a tournament. Further ones count at once.
const OPEN_MAX: usize = 4096;

/// The claims of a tournament.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Games lost by an agent that never answered, according to one owner alone.
    pub(super) open: BTreeSet<u64>,
    /// Number of games of which an audit by another owner did not have the fault.
    pub(super) contradicted: u64,
}

impl Ledger {
    /// Handles a durable game with a fault that may be that of a host. `unplayed` is true if an
    /// agent lost it without an answer.
    pub fn claim(&mut self, tournament: TournamentNo, index: u64, unplayed: bool) {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return;
        };
        let audits = &mut entry.queue.audits;
        let by = audits.process(index);
        if !audits.has_sample() || !self.processes.has_other_owner(by) {
            return;
        }
        if unplayed && audits.claims.open.len() < OPEN_MAX {
            audits.claims.open.insert(index);
            audits.doubt(index);
        } else if audits.is_in_doubtful_sample(index) {
            audits.doubt(index);
        }
        self.update_sets(tournament);
    }

    /// Number of games lost without an answer that do not count towards a pause, because one owner
    /// alone reported them and a process of another owner is connected.
    #[must_use]
    pub fn unconfirmed(&self, tournament: TournamentNo) -> u64 {
        let entry = self.tournaments.get(&tournament);
        let open = entry.map_or(0, |entry| entry.queue.audits.claims.open.len());
        match self.processes.has_two_owners() {
            true => open as u64,
            false => 0,
        }
    }

    /// Number of games of which an audit by another owner did not have the fault.
    #[must_use]
    pub fn contradicted(&self, tournament: TournamentNo) -> u64 {
        let entry = self.tournaments.get(&tournament);
        entry.map_or(0, |entry| entry.queue.audits.claims.contradicted)
    }

    /// The owner of a worker; none if it is unknown.
    #[must_use]
    pub fn owner(&self, worker: WorkerId) -> Option<Owner> {
        let process = self.workers.get(&worker)?.process;
        self.processes.owner(process).cloned()
    }

    /// True if a connected process of an owner that is not among these can play the tournament.
    #[must_use]
    pub fn has_further_owner(
        &self,
        tournament: TournamentNo,
        owners: &BTreeSet<Option<Owner>>,
    ) -> bool {
        let entry = self.tournaments.get(&tournament);
        entry.is_some_and(|it| self.processes.has_further_owner(owners, &it.queue.agents))
    }

    /// Handles the audit of a worker whose record lacks the fault of the durable one. Returns the
    /// process that reported the fault if that has to go into quarantine.
    pub fn contradict(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        worker: WorkerId,
    ) -> Option<WorkerProcess> {
        let of = self.workers.get(&worker)?.process;
        let audits = &mut self.tournaments.get_mut(&tournament)?.queue.audits;
        if !audits.is_compared(index, worker) {
            return None;
        }
        let by = audits.process(index);
        if by == WorkerProcess::Unknown || self.processes.have_one_owner(by, of) {
            audits.claims.open.remove(&index);
            return None;
        }
        audits.claims.contradicted += 1;
        self.processes.mark_contradicted(by, of).then_some(by)
    }

    /// Handles the audit of a worker whose record has the fault of the durable one as well. Returns
    /// true if the worker has another owner.
    pub fn confirm(&mut self, tournament: TournamentNo, index: u64, worker: WorkerId) -> bool {
        let of = self.workers.get(&worker).map(|worker| worker.process);
        let entry = self.tournaments.get_mut(&tournament);
        let Some((of, entry)) = of.zip(entry) else {
            return false;
        };
        let audits = &mut entry.queue.audits;
        let by = audits.process(index);
        if !audits.is_compared(index, worker) || self.processes.have_one_owner(by, of) {
            return false;
        }
        self.processes.mark_confirmed(by);
        audits.claims.open.remove(&index)
    }
}
