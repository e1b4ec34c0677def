//! Games that return without a result, and the workers that had them.

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
        // Leases that end at the same time are one failure of a process.
        let of = late.iter().filter_map(|id| self.leases.get(*id));
        let of: BTreeSet<_> = of.map(|lease| (lease.tournament, lease.process)).collect();
        for (tournament, process) in &of {
            if let Some(entry) = self.tournaments.get_mut(tournament) {
                entry.queue.agents.stuck(*process, now);
            }
        }
        let processes: BTreeSet<_> = of.into_iter().map(|(_, process)| process).collect();
        for process in processes {
            self.processes.failed(process, now);
        }
        self.end(late, true)
    }

    /// Takes leases back and queues their games again. `lost` is true if the worker is charged.
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
                    lease: id,
                    audit: lease.audit,
                    now: self.now,
                    attempt: Attempt {
                        by: lease.process,
                        unready: None,
                    },
                    grace_period: self.processes.grace_period,
                };
                for index in lease.games {
                    entry.queue.give_back(index, why, &back);
                }
            }
            if lease.audit {
                self.sort_in(lease.tournament);
            }
        }
        ended
    }

    /// The lease if this worker has it, else 0, which no lease has.
    #[must_use]
    pub fn own(&self, worker: Option<WorkerId>, lease: LeaseId) -> LeaseId {
        let held = self.leases.get(lease);
        // The numbers of leases start anew with each start of the coordinator.
        match held {
            Some(held) if Some(held.worker) == worker => lease,
            _ => 0,
        }
    }

    /// True if this lease has the game in order to report it as void.
    #[must_use]
    pub fn is_to_be_void(&self, tournament: TournamentNo, lease: LeaseId, index: u64) -> bool {
        let entry = self.tournaments.get(&tournament);
        is_injected(Defect::TakesAnyVoid)
            || entry.is_some_and(|it| it.queue.is_to_be_void(index, lease))
    }

    /// A worker could not play a game of its lease: the game rests, then is queued again. Returns
    /// the number of failed attempts so far; none if the lease no longer has the game.
    ///
    /// If an agent did not start and is given up, the agent is charged, and the attempt does not
    /// count.
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
            entry.queue.agents.fail(agent, process, now);
        }
        let outcomes = entry.queue.agents.outcomes(now, &self.processes);
        if unready.is_some_and(|agent| is_given_up(&outcomes, agent)) {
            why = ReturnReason::Unplayed;
        }
        if why == ReturnReason::Failed && !held.failed {
            held.failed = true;
            self.processes.failed(process, now);
        }
        if unready.is_some() {
            self.processes.tried(process);
        }
        let back = Returned {
            lease,
            audit,
            now,
            attempt: Attempt {
                by: process,
                unready,
            },
            grace_period: self.processes.grace_period,
        };
        entry.queue.give_back(index, why, &back);
        let failed = entry.queue.failed(index, &outcomes);
        self.strike(now, tournament, lease, index);
        if audit {
            self.sort_in(tournament);
        }
        Some(failed)
    }

    /// The pending record is that of a void game, which cannot be replayed.
    pub(super) fn mark_void(&mut self, tournament: TournamentNo, index: u64) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.mark_void(index);
        }
    }

    /// Agents that are given up: workers that tried to start them charge them without asking.
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

    /// The first agent of a running tournament that runs on no connected process, although each
    /// had the time to try it.
    pub fn unstartable(&mut self, tournament: TournamentNo, now: Duration) -> Option<u16> {
        self.now = now;
        let entry = self.tournaments.get(&tournament)?;
        if entry.state != State::Running {
            return None;
        }
        let outcomes = entry.queue.agents.outcomes(now, &self.processes);
        let is_stuck = |outcome: &StartOutcome| {
            matches!(outcome, StartOutcome::GivenUp | StartOutcome::Unknown)
        };
        let mut stuck = outcomes.iter().filter(|(_, outcome)| is_stuck(outcome));
        stuck.next().map(|&(agent, _)| agent)
    }

    /// A worker played games of a tournament with these agents.
    pub(super) fn played(
        &mut self,
        tournament: TournamentNo,
        process: WorkerProcess,
        agents: &[u16],
    ) {
        self.processes.played(process);
        // A report may arrive after its worker left.
        if self.processes.is_here(process)
            && let Some(entry) = self.tournaments.get_mut(&tournament)
        {
            entry.queue.agents.run(agents, process);
        }
    }
}
