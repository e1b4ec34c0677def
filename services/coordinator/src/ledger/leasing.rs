//! The connected workers, and the games that each of them is leased.

use super::defects::{Defect, is_injected};
use std::{collections::BTreeSet, time::Duration};

use super::{
    Ask, Ended, Grant, LeaseId, Ledger, LedgerEntry, Owner, State, TournamentNo, WorkerId,
    WorkerLoad, WorkerProcess,
    game_queue::{GameQueue, LeaseRequester},
    leases::Lease,
    waiting_audits::Auditor,
};

/// Minimum games of a lease, unless fewer are queued or the games are slow.
pub const LEASE_GAMES_MIN: usize = 8;
/// Maximum games of a lease.
pub const LEASE_GAMES_MAX: usize = 512;
/// A tournament is quick if the average time from the lease of a game to its report is shorter than
/// this.
const QUICK: Duration = Duration::from_secs(2);
/// Maximum games of a quick tournament that a worker holds for each game that it plays at once. A
/// worker plays one lease, fetches the next, and has up to 16 results that wait for the disk.
const QUICK_GAMES: usize = 32;
/// Games that any worker may hold. A worker that holds more has reported as many.
const UNPROVEN_GAMES: usize = 4 * LEASE_GAMES_MAX;
/// The newest game has one part in this many of the weight in the average.
const PACE_SHARE: u32 = 8;
/// Maximum finished tournaments that one request searches for audits.
const AUDITING_MAX: usize = 16;
/// Maximum number of workers that left and whose process is remembered.
const GONE_MAX: usize = 4096;

/// A connected worker.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) process: WorkerProcess,
    /// Number of games that the worker plays at once.
    pub(super) capacity: usize,
    /// The time until which its work is measured.
    pub(super) measured: Duration,
    /// Number of games of its leases that have a result.
    pub(super) reported: u64,
    pub(super) leases: BTreeSet<LeaseId>,
}

/// Average time from the lease of a game to its report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace(Option<Duration>);

impl Pace {
    pub(super) fn add(&mut self, took: Duration) {
        self.0 = Some(
            self.0
                .map_or(took, |mean| mean - mean / PACE_SHARE + took / PACE_SHARE),
        );
    }

    /// True if a worker may hold more games than it plays at once. Games of slow tournaments, and
    /// of tournaments without a measured pace, must not wait, because an idle worker could play
    /// them.
    fn is_quick(self) -> bool {
        self.0.is_some_and(|mean| mean < QUICK)
    }

    pub(super) fn mean(self) -> Option<Duration> {
        self.0
    }

    fn is_slow(self) -> bool {
        self.0.is_some_and(|mean| mean >= QUICK)
    }
}

impl Ledger {
    /// Adds a worker of this process, which plays `capacity` games at once. Returns the number of
    /// the worker.
    pub fn join_as(&mut self, process: WorkerProcess, capacity: usize) -> WorkerId {
        self.join_of(None, process, capacity)
    }

    /// As [`Ledger::join_as`], for a process of this owner.
    pub fn join_of(
        &mut self,
        owner: Option<Owner>,
        process: WorkerProcess,
        capacity: usize,
    ) -> WorkerId {
        self.workers_ever += 1;
        let process = match process {
            WorkerProcess::Process(_) => process,
            WorkerProcess::Unknown | WorkerProcess::Join(_) => {
                WorkerProcess::Join(self.workers_ever)
            }
        };
        let worker = Worker {
            process,
            capacity: capacity.max(1),
            measured: self.now,
            reported: 0,
            leases: BTreeSet::new(),
        };
        self.workers.insert(self.workers_ever, worker);
        if let Some(owner) = owner
            && self.processes.set_owner(process, owner)
        {
            self.find_suspects();
        }
        if !self.is_quarantined(process) {
            self.processes.mark_joined(process, self.now);
            self.doubt_claims(process);
        }
        self.workers_ever
    }

    /// Removes a worker that disconnected: its leases are lost.
    pub fn leave(&mut self, worker: WorkerId) -> Vec<Ended> {
        self.disconnect(worker, true)
    }

    /// Removes a worker that stops in an orderly way: its unplayed games do not count as failures.
    pub fn take_leave(&mut self, worker: WorkerId) -> Vec<Ended> {
        self.disconnect(worker, is_injected(Defect::CountsLeaving))
    }

    fn disconnect(&mut self, worker: WorkerId, lost: bool) -> Vec<Ended> {
        let Some(Worker {
            process, leases, ..
        }) = self.workers.remove(&worker)
        else {
            return Vec::new();
        };
        if matches!(process, WorkerProcess::Process(_)) {
            self.gone.insert(worker, process);
            if self.gone.len() > GONE_MAX {
                self.gone.pop_first();
            }
        }
        if !is_injected(Defect::ForgetsCompared) {
            for entry in self.tournaments.values_mut() {
                entry.queue.audits.left(worker);
            }
        }
        if self.processes.mark_left(process) {
            for entry in self.tournaments.values_mut() {
                entry.queue.agents.mark_left(process, self.now);
            }
        }
        let leases: Vec<LeaseId> = leases.into_iter().collect();
        self.end(leases, lost)
    }

    /// Takes back leases that a worker does not have. The worker knows the answers to its requests
    /// up to number `settled`, and has the leases `held`. Its other leases from these requests
    /// never arrived, or were dropped.
    pub fn holds(&mut self, worker: WorkerId, settled: u64, held: &[LeaseId]) -> Vec<Ended> {
        let Some(here) = self.workers.get(&worker) else {
            return Vec::new();
        };
        let held: BTreeSet<&LeaseId> = held.iter().collect();
        let is_missing = |lease: &LeaseId| {
            let call = self.leases.get(*lease).map_or(0, |held| held.call);
            (1..=settled).contains(&call) && !held.contains(lease)
        };
        let missing: Vec<LeaseId> = here.leases.iter().copied().filter(is_missing).collect();
        if is_injected(Defect::KeepsMissing) {
            return Vec::new();
        }
        self.end(missing, false)
    }

    /// The process of a worker that joined in this start of the coordinator.
    #[must_use]
    pub fn process(&self, worker: WorkerId, boot_epoch: u64) -> WorkerProcess {
        if boot_epoch != self.boot_epoch {
            return WorkerProcess::Unknown;
        }
        let present = self.workers.get(&worker).map(|worker| worker.process);
        let gone = || self.gone.get(&worker).copied();
        present.or_else(gone).unwrap_or_default()
    }

    /// The worker if it joined in this start of the coordinator and is connected.
    #[must_use]
    pub fn present(&self, worker: WorkerId, boot_epoch: u64) -> Option<WorkerId> {
        let known = boot_epoch == self.boot_epoch || is_injected(Defect::IgnoresEpochs);
        (known && self.workers.contains_key(&worker)).then_some(worker)
    }

    /// Leases of a worker; none if the worker is not connected.
    #[must_use]
    pub fn load(&self, worker: WorkerId) -> Option<WorkerLoad> {
        let leases = &self.workers.get(&worker)?.leases;
        let games = leases
            .iter()
            .filter_map(|id| self.leases.get(*id))
            .map(|lease| lease.games.len() as u64)
            .sum();
        Some(WorkerLoad {
            leases: leases.len() as u32,
            games,
        })
    }

    /// Number of games of a tournament in a worker's leases.
    #[must_use]
    pub fn held(&self, worker: WorkerId, tournament: TournamentNo) -> u64 {
        let leases = self.workers.get(&worker).map(|worker| &worker.leases);
        let leases = leases.into_iter().flatten();
        let leases = leases.filter_map(|id| self.leases.get(*id));
        let own = leases.filter(|lease| lease.tournament == tournament);
        own.map(|lease| lease.games.len() as u64).sum()
    }

    /// True if a worker of another owner than this one holds a game, and this lease does not.
    #[must_use]
    pub fn is_held_by_other(
        &self,
        tournament: TournamentNo,
        index: u64,
        lease: LeaseId,
        owner: &Owner,
    ) -> bool {
        let entry = self.tournaments.get(&tournament);
        let held = entry.and_then(|entry| entry.queue.leased.get(&index));
        let holder = held.and_then(|held| self.processes.owner(held.process));
        holder.is_some_and(|holder| holder != owner) && !self.is_in_lease(lease, index)
    }

    /// True if a lease has a game.
    #[must_use]
    pub fn is_in_lease(&self, lease: LeaseId, index: u64) -> bool {
        let lease = self.leases.get(lease);
        lease.is_some_and(|lease| lease.games.contains(&index))
    }

    /// The tournaments of a worker's leases, perhaps repeated.
    pub fn tournaments_of(&self, worker: WorkerId) -> impl Iterator<Item = TournamentNo> {
        let leases = self.workers.get(&worker).map(|worker| &worker.leases);
        let leases = leases.into_iter().flatten();
        leases.filter_map(|id| Some(self.leases.get(*id)?.tournament))
    }

    /// As [`Ledger::grant_ready`], of all tournaments that suit the worker.
    pub fn grant(
        &mut self,
        now: Duration,
        ask: Ask,
        suits: impl Fn(WorkerId, TournamentNo) -> bool,
    ) -> Option<Grant> {
        self.grant_ready(now, ask, suits, |_| true)
    }

    /// Leases games to a worker. Of the running tournaments for which `suits` is true, the one with
    /// the fewest leased games is chosen. A tournament that is not `ready` is leased to no worker for
    /// now. Returns none if no game can be leased, or if the worker is not connected.
    pub fn grant_ready(
        &mut self,
        now: Duration,
        ask: Ask,
        suits: impl Fn(WorkerId, TournamentNo) -> bool,
        ready: impl Fn(TournamentNo) -> bool,
    ) -> Option<Grant> {
        self.now = now;
        let Ask { worker, wanted, .. } = ask;
        let sated = &ask.sated;
        let here = self.workers.get(&worker)?;
        if self.is_quarantined(here.process) {
            return None;
        }
        let holds = !here.leases.is_empty();
        let mut held = here.leases.iter().filter_map(|id| self.leases.get(*id));
        let alone_already = held.any(|lease| lease.alone);
        let process = match is_injected(Defect::AuditsItself) {
            // No process has this number.
            true => WorkerProcess::Join(0),
            false => here.process,
        };
        let looked = self.tournaments_to_search();
        for number in &looked {
            if let Some(entry) = self.tournaments.get_mut(number) {
                entry.queue.wake(now);
                entry
                    .queue
                    .agents
                    .set_suited(process, suits(worker, *number));
                entry.queue.find_audits();
            }
        }
        // A process with failures gets one game at a time, after its rest.
        let rests = |queue: &GameQueue| {
            let rests = self.processes.rest_end(process, &queue.agents);
            rests.filter(|_| !is_injected(Defect::ForgetsWhoFailed))
        };
        let chosen = looked
            .iter()
            .filter_map(|&number| {
                let entry = self.tournaments.get(&number)?;
                let queue = &entry.queue;
                if sated.contains(&number) || rests(queue).is_some_and(|until| holds || now < until)
                {
                    return None;
                }
                let requester = LeaseRequester::new(now, process, queue, &self.processes);
                let assigns = entry.state == State::Running
                    && (queue.has_ready(&requester)
                        || !alone_already && queue.suspect(&requester).is_some());
                let auditor = Auditor::new(process, &self.processes, &queue.agents);
                let audits = matches!(entry.state, State::Running | State::Finished)
                    && (queue.audits.listed_for(&auditor) > 0
                        || queue.audits.has_alone_for(&auditor) && !alone_already);
                let overdue = || {
                    entry.state == State::Running && queue.has_overdue(&requester, !alone_already)
                };
                let fits = (assigns || audits || overdue())
                    && self.room(worker, number, entry) > 0
                    && suits(worker, number)
                    && ready(number);
                // Overdue games of one tournament come after the games of others.
                let order = match entry.state {
                    State::Running if assigns || audits => 0,
                    State::Running => 1,
                    _ => 2,
                };
                fits.then_some((order, queue.leased(), entry.served, number))
            })
            .min()
            .map(|(.., number)| number)?;
        let in_doubt = self
            .tournaments
            .get(&chosen)
            .and_then(|it| rests(&it.queue))
            .is_some();
        let wanted = if in_doubt { 1 } else { wanted };
        let count = self.count(worker, chosen, wanted)?;
        let lease = self.leases_ever + 1;
        let entry = self.tournaments.get_mut(&chosen)?;
        let queue = &mut entry.queue;
        let running = entry.state == State::Running;
        let requester = LeaseRequester::new(now, process, queue, &self.processes);
        let idle = !running || !queue.has_ready(&requester);
        let auditor = Auditor::new(process, &self.processes, &queue.agents);
        let audits = queue.audits.listed_for(&auditor);
        let mut alone = false;
        let mut audit = false;
        // The size of a lease does not show that it is an audit.
        let games = if !in_doubt && audits >= count || idle && audits > 0 {
            audit = true;
            queue.audits.take(count, &auditor)
        } else if !idle {
            queue.take(count, lease, &requester)
        } else if running && !alone_already && queue.suspect(&requester).is_some() {
            alone = true;
            queue.take_suspect(lease, &requester).into_iter().collect()
        } else if queue.audits.has_alone_for(&auditor) && !alone_already {
            (audit, alone) = (true, true);
            queue.audits.take_alone(&auditor)
        } else {
            let games;
            (games, alone) = queue.take_overdue(count, lease, &requester, !alone_already);
            games
        };
        let given_up = requester.charged;
        if games.is_empty() {
            return None;
        }
        self.leases_ever = lease;
        entry.served = lease;
        self.leases.insert(
            lease,
            Lease {
                worker,
                process,
                tournament: chosen,
                games: games.iter().map(|game| game.index).collect(),
                audit,
                alone,
                plies: 0,
                since: now,
                call: ask.call,
                failed: false,
                deadline: now + self.settings.lease_deadline + entry.progress_timeouts.first,
            },
        );
        if let Some(worker) = self.workers.get_mut(&worker) {
            if worker.leases.is_empty() {
                worker.measured = now;
            }
            worker.leases.insert(lease);
        }
        Some(Grant {
            lease,
            tournament: chosen,
            games,
            audit,
            given_up,
        })
    }

    /// Tournaments that a request searches: all running ones, and some finished ones with audits.
    /// The next request continues with the next finished ones.
    fn tournaments_to_search(&mut self) -> Vec<TournamentNo> {
        let before = self.auditing.range(..self.audit_cursor);
        let ring = self.auditing.range(self.audit_cursor..).chain(before);
        let mut looked: Vec<_> = ring.copied().take(AUDITING_MAX).collect();
        self.audit_cursor = looked.last().map_or(0, |last| last + 1);
        looked.extend(&self.running);
        looked
    }

    /// Number of games for a new lease.
    fn count(&self, worker: WorkerId, tournament: TournamentNo, wanted: usize) -> Option<usize> {
        let entry = self.tournaments.get(&tournament)?;
        let share = entry.queue.waiting() / (2 * self.workers.len() as u64);
        let least = match entry.pace.is_slow() {
            true => 1,
            false => LEASE_GAMES_MIN,
        };
        let share = (share.min(LEASE_GAMES_MAX as u64) as usize).max(least);
        let wanted = wanted.clamp(1, LEASE_GAMES_MAX);
        Some(wanted.min(share).min(self.room(worker, tournament, entry)))
    }

    /// Number of further games of a tournament that may be leased to a worker.
    fn room(&self, worker: WorkerId, tournament: TournamentNo, entry: &LedgerEntry) -> usize {
        self.workers.get(&worker).map_or(0, |worker| {
            let leases = worker.leases.iter().filter_map(|id| self.leases.get(*id));
            let (mut held, mut of_all) = (0, 0);
            for lease in leases {
                of_all += lease.games.len();
                if lease.tournament == tournament {
                    held += lease.games.len();
                }
            }
            let most = match worker.reported > 0 && entry.pace.is_quick() {
                true => worker
                    .capacity
                    .max(LEASE_GAMES_MIN)
                    .saturating_mul(QUICK_GAMES),
                false => worker.capacity,
            };
            // A worker may state any capacity.
            let proven = usize::try_from(worker.reported).unwrap_or(usize::MAX);
            let room = UNPROVEN_GAMES.max(proven).saturating_sub(of_all);
            most.saturating_sub(held).min(room).min(LEASE_GAMES_MAX)
        })
    }
}
