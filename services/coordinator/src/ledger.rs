//! The ledger: which game is leased to which worker. It has no IO, clock, thread or
//! randomness.
//!
//! Time is an argument: the duration since the start. The same calls give the same answers, so
//! tests can simulate long sequences of losses, duplicates and restarts.
//!
//! A game is *queued*, *leased*, *pending* (its first record is being written) or *done*. A
//! game that is done stays done, and a pending game can only become done. Leases are not stored:
//! after a restart, every game that is not done is queued.

mod agent_starts;
mod audit_sample;
mod audits;
mod bitmap;
mod claims;
mod defects;
mod disputes;
mod failures;
mod game_queue;
mod leases;
mod leasing;
mod overdue;
mod played_by;
mod reports;
mod terms;
#[cfg(test)]
mod tests;
mod tournaments;
mod trust;
mod waiting_audits;
mod work;
mod worker_processes;

use defects::is_injected;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

pub use audit_sample::{AuditSample, ppm};
pub use audits::Audited;
pub use bitmap::Bitmap;
pub use claims::Contradicted;
pub use defects::Defect;
#[cfg(feature = "defects")]
pub use defects::inject;
pub use disputes::{AuditRecord, Charge, Charged, Confirmed, Dispute, RestoredAudits, Settled};
use game_queue::GameQueue;
use leases::Leases;
pub use leasing::{LEASE_GAMES_MAX, LEASE_GAMES_MIN};
use leasing::{Pace, Worker};
use overdue::PaceByOwner;
pub use reports::{ReportId, ReportedGames, Reports, Sorted, Taken, Written};
pub use terms::{
    AfterGame, Ask, Assigned, Continuation, Ended, Failed, Grant, LeaseId, LedgerSettings, Owner,
    Progress, ProgressTimeouts, RecordStatus, State, TournamentNo, WorkerId, WorkerLoad,
    WorkerProcess,
};
pub use trust::Suspicion;
use work::GameTime;
use worker_processes::WorkerProcesses;

/// A tournament in the ledger.
#[derive(Debug)]
struct LedgerEntry {
    queue: GameQueue,
    state: State,
    continuation: Continuation,
    progress_timeouts: ProgressTimeouts,
    /// Number of the newest lease of this tournament.
    served: u64,
    pace: Pace,
    paces: PaceByOwner,
    game_time: GameTime,
}

impl LedgerEntry {
    /// True if the tournament is not over and all its known games are durable.
    fn is_played(&self) -> bool {
        matches!(self.state, State::Running | State::Paused)
            && self.queue.done() == self.queue.games()
    }
}

/// The ledger of all tournaments.
#[derive(Debug)]
pub struct Ledger {
    settings: LedgerSettings,
    /// Number of this start of the coordinator.
    boot_epoch: u64,
    /// The newest time of any call.
    now: Duration,
    tournaments: BTreeMap<TournamentNo, LedgerEntry>,
    /// Running tournaments.
    running: BTreeSet<TournamentNo>,
    /// Finished tournaments with open audits.
    auditing: BTreeSet<TournamentNo>,
    /// Finished tournaments with the number of ranges of games whose processes are known.
    players: BTreeMap<TournamentNo, usize>,
    /// The finished tournament at which the search for audits continues.
    audit_cursor: TournamentNo,
    workers: BTreeMap<WorkerId, Worker>,
    /// Processes of workers that left, because their games may still be reported.
    gone: BTreeMap<WorkerId, WorkerProcess>,
    processes: WorkerProcesses,
    /// Processes that sent a record that cannot have happened.
    quarantined: BTreeMap<WorkerProcess, Suspicion>,
    /// The owners of processes in quarantine. An owner who lies can start any number of processes.
    suspects: BTreeSet<Owner>,
    leases: Leases,
    tournaments_ever: TournamentNo,
    workers_ever: WorkerId,
    leases_ever: LeaseId,
}

impl Ledger {
    /// An empty ledger; `boot_epoch` is unique to this start of the coordinator.
    #[must_use]
    pub fn new(settings: LedgerSettings, boot_epoch: u64) -> Self {
        Self {
            settings,
            boot_epoch,
            now: Duration::ZERO,
            tournaments: BTreeMap::new(),
            running: BTreeSet::new(),
            auditing: BTreeSet::new(),
            players: BTreeMap::new(),
            audit_cursor: 0,
            workers: BTreeMap::new(),
            gone: BTreeMap::new(),
            processes: WorkerProcesses::new(settings.host_grace_period),
            quarantined: BTreeMap::new(),
            suspects: BTreeSet::new(),
            leases: Leases::default(),
            tournaments_ever: 0,
            workers_ever: 0,
            leases_ever: 0,
        }
    }

    /// Progress of a tournament.
    #[must_use]
    pub fn progress(&self, tournament: TournamentNo) -> Option<Progress> {
        self.tournaments.get(&tournament).map(|entry| Progress {
            state: entry.state,
            games: entry.queue.games(),
            done: entry.queue.done(),
            leased: entry.queue.leased(),
            waiting: entry.queue.waiting(),
        })
    }

    /// Queued games of running tournaments.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.running().map(|entry| entry.queue.waiting()).sum()
    }

    fn running(&self) -> impl Iterator<Item = &LedgerEntry> {
        let running = self.running.iter();
        running.filter_map(|number| self.tournaments.get(number))
    }

    /// The newest time of any call.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Number of leases.
    #[must_use]
    pub fn leases(&self) -> usize {
        self.leases.len()
    }

    /// Updates the plies that a worker reports for a lease. Returns false if the worker no longer
    /// has the lease.
    pub fn advance(&mut self, now: Duration, worker: WorkerId, lease: LeaseId, plies: u64) -> bool {
        let Some(held) = self
            .leases
            .get_mut(lease)
            .filter(|held| held.worker == worker)
        else {
            return false;
        };
        if plies > held.plies || is_injected(Defect::BelievesCalls) {
            held.plies = plies;
            self.renew(now, lease);
        }
        true
    }

    /// Extends a lease whose records wait for others, if the worker still has it.
    pub fn extend_waiting(&mut self, now: Duration, worker: Option<WorkerId>, lease: LeaseId) {
        let lease = self.own(worker, lease);
        self.renew(now, lease);
    }

    fn renew(&mut self, now: Duration, lease: LeaseId) {
        if let Some(held) = self.leases.get(lease) {
            let progress_timeouts = self
                .tournaments
                .get(&held.tournament)
                .map_or(Duration::ZERO, |entry| entry.progress_timeouts.between);
            let deadline = now + self.settings.lease_deadline + progress_timeouts;
            self.leases.renew(lease, deadline);
        }
    }

    /// Classifies a record without a change of the ledger.
    #[must_use]
    pub fn verdict(&self, tournament: TournamentNo, index: u64) -> RecordStatus {
        match self.tournaments.get(&tournament) {
            Some(entry) if index < entry.queue.games() => match entry.queue.pending(index) {
                _ if entry.state == State::Cancelled && !is_injected(Defect::CountsCancelled) => {
                    RecordStatus::Unwanted
                }
                _ if is_injected(Defect::Adds) => RecordStatus::New,
                Some(first) => RecordStatus::Pending(first),
                None if entry.queue.is_settled(index) => RecordStatus::Done,
                None => RecordStatus::New,
            },
            _ => RecordStatus::Outside,
        }
    }

    /// Takes a record that arrived under this lease, which may be lost or replaced by a later
    /// lease. The first record of a game makes the game pending.
    pub fn report(
        &mut self,
        now: Duration,
        tournament: TournamentNo,
        lease: LeaseId,
        index: u64,
        hash: [u8; 32],
    ) -> RecordStatus {
        let verdict = self.verdict(tournament, index);
        if verdict == RecordStatus::New
            && let Some(entry) = self.tournaments.get_mut(&tournament)
        {
            let (holder, earlier) = entry.queue.settle(index, hash);
            if holder == Some(lease)
                && let Some(lease) = self.leases.get(lease)
            {
                let took = now.saturating_sub(lease.since);
                entry.pace.add(took);
                if let Some(owner) = self.processes.owner(lease.process) {
                    entry.paces.add(owner, took);
                }
                if let Some(worker) = self.workers.get_mut(&lease.worker) {
                    worker.reported += 1;
                }
            }
            for holder in holder.into_iter().chain(earlier) {
                self.remove_from_lease(now, tournament, holder, index);
            }
        }
        self.remove_from_lease(now, tournament, lease, index);
        verdict
    }

    /// Removes a game from a lease. A lease without games ends.
    fn remove_from_lease(
        &mut self,
        now: Duration,
        tournament: TournamentNo,
        lease: LeaseId,
        index: u64,
    ) {
        let Some(held) = self.leases.get_mut(lease) else {
            return;
        };
        if held.tournament != tournament || !held.games.remove(&index) {
            return;
        }
        if held.audit
            && let Some(entry) = self.tournaments.get_mut(&tournament)
        {
            entry.queue.audits.reported(index, held.worker);
        }
        if held.games.is_empty() {
            let worker = held.worker;
            self.leases.remove(lease);
            if let Some(worker) = self.workers.get_mut(&worker) {
                worker.leases.remove(&lease);
            }
        } else {
            self.renew(now, lease);
        }
    }

    /// Marks a pending record of this process as durable. Returns the new state of the tournament.
    pub fn durable(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        by: WorkerProcess,
    ) -> AfterGame {
        let is_suspect = self.is_suspect(by);
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return AfterGame::Nothing;
        };
        match entry.queue.durable(index) {
            None => return AfterGame::Nothing,
            Some(true) => {
                let audits = &mut entry.queue.audits;
                audits.durable(index, by);
                let is_drawn = self.settings.doubts_workers
                    && self.processes.is_doubtful(by)
                    && audits.is_in_doubtful_sample(index);
                if is_drawn || is_suspect {
                    audits.doubt(index);
                }
            }
            Some(false) => {}
        }
        self.finish_if_played(tournament)
    }
}
