//! Trust in worker processes: results of audits change how many of their games are audited. A
//! process that sent a record that cannot have happened gets no more games, and other processes
//! replay its games: it is in quarantine.

use super::{Ended, Ledger, TournamentNo, WorkerId, WorkerProcess};

/// Maximum number of processes in quarantine that are remembered.
const QUARANTINED_MAX: usize = 1 << 16;

impl Ledger {
    /// Stores the result of comparing a reported record with the durable one. Returns true if the
    /// game was an audit.
    pub fn settle_audit(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        worker: WorkerId,
        differs: bool,
    ) -> bool {
        let entry = self.tournaments.get_mut(&tournament);
        let by = entry.and_then(|entry| entry.queue.audits.settle(index, worker, differs));
        if let Some(by) = by {
            self.processes.mark_audited(by, differs);
            self.update_sets(tournament);
        }
        by.is_some()
    }

    /// Gives up an audit whose record cannot be compared, until the next start.
    pub fn abandon_audit(&mut self, tournament: TournamentNo, index: u64, worker: WorkerId) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.audits.abandon(index, worker);
        }
        self.update_sets(tournament);
    }

    /// Puts a process into quarantine for the rest of this start. Its games of tournaments that are
    /// not over are audited, and its leases are taken back. Returns none if the process is unknown,
    /// or in quarantine already.
    pub fn quarantine(&mut self, process: WorkerProcess) -> Option<Vec<Ended>> {
        if process == WorkerProcess::Unknown || !self.quarantined.insert(process) {
            return None;
        }
        if self.quarantined.len() > QUARANTINED_MAX {
            self.quarantined.pop_first();
        }
        // No game waits for this process any more.
        self.processes.remove(process);
        let numbers: Vec<_> = self.tournaments.keys().copied().collect();
        for number in numbers {
            if let Some(entry) = self.tournaments.get_mut(&number) {
                entry.queue.agents.mark_left(process, self.now);
                entry.queue.audits.doubt_all(process);
            }
            self.update_sets(number);
        }
        let workers = self.workers.values();
        let own = workers.filter(|worker| worker.process == process);
        let leases = own.flat_map(|worker| worker.leases.iter().copied());
        let leases = leases.collect();
        Some(self.end(leases, false))
    }

    /// Number of processes in quarantine.
    #[must_use]
    pub fn quarantined(&self) -> usize {
        self.quarantined.len()
    }

    /// True if a process is in quarantine.
    #[must_use]
    pub fn is_quarantined(&self, process: WorkerProcess) -> bool {
        self.quarantined.contains(&process)
    }

    /// True if the process of a connected worker is in quarantine.
    #[must_use]
    pub fn is_worker_quarantined(&self, worker: WorkerId) -> bool {
        let worker = self.workers.get(&worker);
        worker.is_some_and(|worker| self.is_quarantined(worker.process))
    }
}
