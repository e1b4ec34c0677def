//! Failed and expired leases: their games return to the queue without a result.

use super::defects::{Defect, is_injected};
use std::{collections::BTreeSet, time::Duration};

use super::{
    Ended, Failed, LeaseId, Ledger, State, TournamentNo, WorkerId, WorkerProcess,
    agent_starts::{StartOutcome, is_given_up},
    game_queue::{ReturnReason, Returned},
    terms::Attempt,
};

impl Ledger {
    /// Takes back the leases that made no progress in time.
    pub fn expire(&mut self, now: Duration) -> Vec<Ended> {
        self.now = now;
        if is_injected(Defect::NeverExpires) {
            return Vec::new();
        }
        let late = self.leases.late(now);
        // Leases of a process that expire at the same time count as one failure.
        let of = late.iter().filter_map(|id| self.leases.get(*id));
        let of: BTreeSet<_> = of.map(|lease| (lease.tournament, lease.process)).collect();
        for (tournament, process) in &of {
            if let Some(entry) = self.tournaments.get_mut(tournament) {
                entry.queue.agents.mark_stuck(*process, now);
            }
        }
        let processes: BTreeSet<_> = of.into_iter().map(|(_, process)| process).collect();
        for process in processes {
            self.processes.mark_failed(process, now);
        }
        self.end(late, true)
    }

    /// Takes leases back and queues their games again. `lost` is true if the leases failed, because
    /// their worker disconnected or made no progress.
    pub(super) fn end(&mut self, leases: Vec<LeaseId>, lost: bool) -> Vec<Ended> {
        let mut ended = Vec::with_capacity(leases.len());
        for id in leases {
            let Some(lease) = self.leases.remove(id) else {
                continue;
            };
            if let Some(worker) = self.workers.get_mut(&lease.worker) {
                worker.leases.remove(&id);
            }
            ended.push(Ended {
                worker: lease.worker,
                lease: id,
            });
            let why = match lost {
                true => ReturnReason::Lost { alone: lease.alone },
                false => ReturnReason::Unplayed,
            };
            if let Some(entry) = self.tournaments.get_mut(&lease.tournament)
                && !is_injected(Defect::LosesReturned)
            {
                let back = Returned {
                    processes: &self.processes,
                    lease: id,
                    audit: lease.audit,
                    now: self.now,
                    attempt: Attempt {
                        by: lease.process,
                        unready: None,
                    },
                    is_passed_on: false,
                    grace_period: self.processes.grace_period,
                };
                for index in lease.games {
                    entry.queue.give_back(index, why, &back);
                }
            }
            if lease.audit {
                self.update_sets(lease.tournament);
            }
        }
        ended
    }

    /// The number of the lease if this worker has it, else 0, which is no lease's number.
    #[must_use]
    pub fn own(&self, worker: Option<WorkerId>, lease: LeaseId) -> LeaseId {
        let held = self.leases.get(lease);
        // After a restart of the coordinator, the numbers of leases start from 1 again.
        match held {
            Some(held) if Some(held.worker) == worker => lease,
            _ => 0,
        }
    }

    /// True if the game is in this lease only to be reported as void.
    #[must_use]
    pub fn is_to_be_void(&self, tournament: TournamentNo, lease: LeaseId, index: u64) -> bool {
        let entry = self.tournaments.get(&tournament);
        is_injected(Defect::TakesAnyVoid)
            || entry.is_some_and(|it| it.queue.is_to_be_void(index, lease))
    }

    /// Handles a game that a worker could not play: the game rests, then is queued again. Returns
    /// the number of failed attempts so far; none if the lease no longer has the game.
    ///
    /// If an agent did not start and is given up, the attempt does not count, because the agent is
    /// charged.
    pub fn failed(
        &mut self,
        now: Duration,
        tournament: TournamentNo,
        lease: LeaseId,
        failed: Failed,
    ) -> Option<u32> {
        self.now = now;
        let Failed { index, unready } = failed;
        let held = self
            .leases
            .get_mut(lease)
            .filter(|held| held.tournament == tournament && held.games.contains(&index))?;
        let (audit, process) = (held.audit, held.process);
        let entry = self.tournaments.get_mut(&tournament)?;
        let mut why = ReturnReason::Failed;
        if let Some(agent) = unready {
            entry.queue.agents.mark_failed(agent, process, now);
        }
        let outcomes = entry.queue.agents.outcomes(now, &self.processes);
        if unready.is_some_and(|agent| is_given_up(&outcomes, agent)) {
            why = ReturnReason::Unplayed;
        }
        if why == ReturnReason::Failed && !held.failed {
            held.failed = true;
            self.processes.mark_failed(process, now);
        }
        if unready.is_some() {
            self.processes.mark_tried(process);
        }
        let attempt = Attempt {
            by: process,
            unready,
        };
        let mut attempts = entry.queue.attempts(index);
        attempts.push(attempt);
        let is_passed_on =
            { &self.processes }.has_other_owner_sound(&attempts, &entry.queue.agents);
        let back = Returned {
            processes: &self.processes,
            lease,
            audit,
            now,
            attempt,
            is_passed_on,
            grace_period: self.processes.grace_period,
        };
        entry.queue.give_back(index, why, &back);
        let failed = entry.queue.failed(index, &outcomes);
        self.remove_from_lease(now, tournament, lease, index);
        if audit {
            self.update_sets(tournament);
        }
        Some(failed)
    }

    /// Marks a pending record as that of a void game, which is never audited.
    pub(super) fn mark_void(&mut self, tournament: TournamentNo, index: u64) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.mark_void(index);
        }
    }

    /// Agents that are given up. Workers that tried to start them charge them without a question.
    #[must_use]
    pub fn given_up(&self, tournament: TournamentNo) -> Vec<u16> {
        let Some(entry) = self.tournaments.get(&tournament) else {
            return Vec::new();
        };
        let agents = &entry.queue.agents;
        let outcomes = agents.outcomes(self.now, &self.processes);
        let given_up = outcomes.iter().filter(|it| it.1 == StartOutcome::GivenUp);
        given_up.map(|&(agent, _)| agent).collect()
    }

    /// The agents of a running tournament that run on no connected process, although each process had the
    /// time to try them.
    pub fn unstartable(&mut self, tournament: TournamentNo, now: Duration) -> Vec<u16> {
        self.now = now;
        let entry = self.tournaments.get(&tournament);
        let Some(entry) = entry.filter(|entry| entry.state == State::Running) else {
            return Vec::new();
        };
        let outcomes = entry.queue.agents.outcomes(now, &self.processes);
        let is_stuck = |outcome: &StartOutcome| {
            matches!(outcome, StartOutcome::GivenUp | StartOutcome::Unknown)
        };
        let stuck = outcomes.iter().filter(|(_, outcome)| is_stuck(outcome));
        stuck.map(|&(agent, _)| agent).collect()
    }

    /// Records that a worker played games of a tournament with these agents.
    pub(super) fn played(
        &mut self,
        tournament: TournamentNo,
        process: WorkerProcess,
        agents: &[u16],
    ) {
        self.processes.mark_played(process);
        // A report may arrive after its worker left.
        if self.processes.is_here(process)
            && let Some(entry) = self.tournaments.get_mut(&tournament)
        {
            entry.queue.agents.mark_run(agents, process);
        }
    }
}
