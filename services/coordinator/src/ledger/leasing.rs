//! Who is here, and which games each is leased.

use super::defects::{Defect, is_injected};
use std::{collections::BTreeSet, time::Duration};

use super::{
    Ask, Ended, Grant, LeaseId, Ledger, LedgerEntry, State, TournamentNo, WorkerId, WorkerLoad,
    WorkerProcess,
    game_queue::{GameQueue, LeaseRequester},
    leases::Lease,
    terms::Attempt,
};

/// The fewest games of a lease while there are as many, and they are not slow.
pub const LEASE_GAMES_MIN: usize = 8;
/// The most games of a lease.
pub const LEASE_GAMES_MAX: usize = 512;
/// A tournament is quick where its games are reported this soon after they
/// were leased, on the average.
const QUICK: Duration = Duration::from_secs(2);
/// The newest game counts this part in the average.
const PACE_SHARE: u32 = 8;
/// Finished tournaments looked through for audits when somebody asks.
const AUDITING_MAX: usize = 16;
/// Workers that left whose process is remembered.
const GONE_MAX: usize = 4096;

/// A worker that is here.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) process: WorkerProcess,
    /// Games it plays at once.
    capacity: usize,
    pub(super) leases: BTreeSet<LeaseId>,
}

/// How long the games of a tournament take from being leased to being reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace(Option<Duration>);

impl Pace {
    pub(super) fn add(&mut self, took: Duration) {
        self.0 = Some(
            self.0
                .map_or(took, |mean| mean - mean / PACE_SHARE + took / PACE_SHARE),
        );
    }

    /// Whether games may wait at a worker for others to end: those of a slow
    /// tournament, and of one that nobody knows yet, may not, since an idle
    /// worker could play them.
    fn is_quick(self) -> bool {
        self.0.is_some_and(|mean| mean < QUICK)
    }

    fn is_slow(self) -> bool {
        self.0.is_some_and(|mean| mean >= QUICK)
    }
}

impl Ledger {
    /// A worker joins that plays so many games at once.
    pub fn join(&mut self, capacity: usize) -> WorkerId {
        self.join_as(WorkerProcess::Unknown, capacity)
    }

    /// As [`Ledger::join`], for one that tells who it is.
    pub fn join_as(&mut self, process: WorkerProcess, capacity: usize) -> WorkerId {
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
            leases: BTreeSet::new(),
        };
        self.workers.insert(self.workers_ever, worker);
        self.processes.joined(process, self.workers_ever, self.now);
        for entry in self.tournaments.values_mut() {
            entry.queue.hope_again();
        }
        self.workers_ever
    }

    /// A worker is gone, and its leases with it: they are lost.
    pub fn leave(&mut self, worker: WorkerId) -> Vec<Ended> {
        self.part(worker, true)
    }

    /// A worker goes away in order: what it has not played is nobody's failure.
    pub fn take_leave(&mut self, worker: WorkerId) -> Vec<Ended> {
        self.part(worker, is_injected(Defect::CountsLeaving))
    }

    fn part(&mut self, worker: WorkerId, lost: bool) -> Vec<Ended> {
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
        if self.processes.left(process) {
            for entry in self.tournaments.values_mut() {
                entry.queue.agents.left(process, self.now);
            }
        }
        let leases: Vec<LeaseId> = leases.into_iter().collect();
        self.end(leases, lost)
    }

    /// A worker has settled its requests for games up to a number of its own, and
    /// holds these leases: what else it was leased before, it never got, or dropped.
    pub fn holds(&mut self, worker: WorkerId, settled: u64, held: &[LeaseId]) -> Vec<Ended> {
        let Some(here) = self.workers.get(&worker) else {
            return Vec::new();
        };
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

    /// Who the worker of a number and the start it joined is, or was.
    #[must_use]
    pub fn process(&self, worker: WorkerId, boot_epoch: u64) -> WorkerProcess {
        if boot_epoch != self.boot_epoch {
            return WorkerProcess::Unknown;
        }
        let present = self.workers.get(&worker).map(|worker| worker.process);
        let gone = || self.gone.get(&worker).copied();
        present.or_else(gone).unwrap_or_default()
    }

    /// The worker of a number and the start it joined; none where that was
    /// another start, or the worker is gone.
    #[must_use]
    pub fn present(&self, worker: WorkerId, boot_epoch: u64) -> Option<WorkerId> {
        let known = boot_epoch == self.boot_epoch || is_injected(Defect::IgnoresEpochs);
        (known && self.workers.contains_key(&worker)).then_some(worker)
    }

    /// A worker's part; none where there is no such worker.
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

    /// Assigns games to a worker: of the running tournament with the fewest leased
    /// that `suits` the worker. None where nothing is to be leased, or the worker
    /// is not known.
    pub fn grant(
        &mut self,
        now: Duration,
        ask: Ask,
        suits: impl Fn(WorkerId, TournamentNo) -> bool,
    ) -> Option<Grant> {
        self.now = now;
        let Ask { worker, wanted, .. } = ask;
        let here = self.workers.get(&worker)?;
        let holds = !here.leases.is_empty();
        let mut held = here.leases.iter().filter_map(|id| self.leases.get(*id));
        let alone_already = held.any(|lease| lease.alone);
        let process = here.process;
        let process = if is_injected(Defect::AuditsItself) {
            // Nobody's.
            WorkerProcess::Join(0)
        } else {
            process
        };
        let looked: Vec<TournamentNo> = self.looked_through();
        for number in &looked {
            if let Some(entry) = self.tournaments.get_mut(number) {
                entry.queue.wake(now);
                entry.queue.agents.asks(process, suits(worker, *number));
                entry.queue.find_audits();
            }
        }
        let has_better_candidate = |number: TournamentNo, tried: &[Attempt]| {
            let suits = |worker| suits(worker, number);
            !is_injected(Defect::ForgetsWhoFailed)
                && self.processes.has_better_candidate(process, tried, suits)
        };
        // One in doubt is tried with a game at a time.
        let rests = |number: TournamentNo| {
            let suits = |worker| suits(worker, number);
            let rests = self.processes.rests(process, suits);
            rests.filter(|_| !is_injected(Defect::ForgetsWhoFailed))
        };
        let charged = |queue: &GameQueue| {
            let outcomes = queue.agents.outcomes(now, &self.processes);
            queue.agents.charged_at(process, &outcomes)
        };
        let chosen = looked
            .iter()
            .filter_map(|&number| Some((number, self.tournaments.get(&number)?)))
            .filter(|&(number, entry)| {
                let queue = &entry.queue;
                let rests = rests(number);
                if rests.is_some_and(|until| holds || now < until) {
                    return false;
                }
                let has_better_candidate = |tried: &[Attempt]| has_better_candidate(number, tried);
                let requester = LeaseRequester {
                    now,
                    process,
                    has_better_candidate: &has_better_candidate,
                    charged: &charged(queue),
                };
                let assigns = entry.state == State::Running
                    && (queue.has_ready(&requester)
                        || !alone_already && queue.has_suspect(&requester))
                    && self.room(worker, number, entry) > 0;
                let audits = matches!(entry.state, State::Running | State::Finished)
                    && (queue.audits.listed_for(process) > 0
                        || queue.audits.has_alone_for(process) && !alone_already);
                (assigns || audits) && suits(worker, number)
            })
            .min_by_key(|(number, entry)| {
                let only_audits = entry.state != State::Running;
                (only_audits, entry.queue.leased(), entry.served, *number)
            })
            .map(|(number, _)| number)?;
        let in_doubt = rests(chosen).is_some();
        let wanted = if in_doubt { 1 } else { wanted };
        let count = self.count(worker, chosen, wanted)?;
        let lease = self.leases_ever + 1;
        let entry = self.tournaments.get_mut(&chosen)?;
        let queue = &mut entry.queue;
        let running = entry.state == State::Running;
        let processes = &self.processes;
        let has_better_candidate = |tried: &[Attempt]| {
            let suits = |worker| suits(worker, chosen);
            !is_injected(Defect::ForgetsWhoFailed)
                && processes.has_better_candidate(process, tried, suits)
        };
        let outcomes = queue.agents.outcomes(now, processes);
        let charged = queue.agents.charged_at(process, &outcomes);
        let due = |agent: &u16| queue.agents.is_to_be_tried(*agent, process, now);
        let (probed, given_up): (Vec<u16>, Vec<u16>) = charged.iter().copied().partition(due);
        // One that hangs at its start holds the others of its lease up.
        let count = match probed.is_empty() {
            true => count,
            false => count.min(LEASE_GAMES_MIN),
        };
        let requester = LeaseRequester {
            now,
            process,
            has_better_candidate: &has_better_candidate,
            charged: &charged,
        };
        let idle = !running || count == 0 || !queue.has_ready(&requester);
        let audits = queue.audits.listed_for(process);
        let mut alone = false;
        let mut audit = false;
        let games = if !in_doubt && audits >= LEASE_GAMES_MIN || idle && audits > 0 {
            audit = true;
            let count = wanted.clamp(1, LEASE_GAMES_MIN);
            queue.audits.take(count, process)
        } else if !idle {
            queue.take(count, lease, &requester)
        } else if running && count > 0 && !alone_already && queue.has_suspect(&requester) {
            alone = true;
            queue.take_suspect(lease, &requester).into_iter().collect()
        } else {
            (audit, alone) = (true, true);
            queue.audits.take_alone(process)
        };
        if games.is_empty() {
            return None;
        }
        for agent in probed {
            queue.agents.probe(agent, now);
        }
        self.leases_ever = lease;
        entry.served = lease;
        let deadline = now + self.settings.lease_deadline + entry.progress_timeouts.first;
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
            },
            deadline,
        );
        if let Some(worker) = self.workers.get_mut(&worker) {
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

    /// Tournaments that are looked through when somebody asks: the running ones, and
    /// in turn some of those that are finished.
    fn looked_through(&mut self) -> Vec<TournamentNo> {
        let (before, behind) = (
            self.auditing.range(..self.look),
            self.auditing.range(self.look..),
        );
        let mut looked: Vec<_> = behind.chain(before).copied().take(AUDITING_MAX).collect();
        self.look = looked.last().map_or(0, |last| last + 1);
        looked.extend(&self.running);
        looked
    }

    /// How many games a lease is to have.
    fn count(&self, worker: WorkerId, tournament: TournamentNo, wanted: usize) -> Option<usize> {
        let entry = self.tournaments.get(&tournament)?;
        let share = entry.queue.waiting() / (2 * self.workers.len() as u64);
        let least = if entry.pace.is_slow() {
            1
        } else {
            LEASE_GAMES_MIN
        };
        let share = (share.min(LEASE_GAMES_MAX as u64) as usize).max(least);
        let wanted = wanted.clamp(1, LEASE_GAMES_MAX);
        Some(wanted.min(share).min(self.room(worker, tournament, entry)))
    }

    /// How many more games of a tournament a worker may hold.
    fn room(&self, worker: WorkerId, tournament: TournamentNo, entry: &LedgerEntry) -> usize {
        if entry.pace.is_quick() {
            return LEASE_GAMES_MAX;
        }
        self.workers.get(&worker).map_or(0, |worker| {
            let leases = worker.leases.iter().filter_map(|id| self.leases.get(*id));
            let held = leases
                .filter(|lease| lease.tournament == tournament && !lease.audit)
                .map(|lease| lease.games.len());
            worker.capacity.saturating_sub(held.sum())
        })
    }
}
