//! Games that come back without a result, and who had them.

use super::defects::{Defect, is_injected};
use std::{collections::BTreeSet, time::Duration};

use super::{
    Ended, Failed, LeaseId, Ledger, Player, State, TournamentNo, WorkerId,
    course::{Back, Returned},
    starts::{Fate, is_given_up},
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
        // Leases that end at one time are one failure of a process.
        let of = late.iter().filter_map(|id| self.leases.get(*id));
        let of: BTreeSet<_> = of.map(|lease| (lease.tournament, lease.player)).collect();
        for (tournament, player) in &of {
            if let Some(entry) = self.tournaments.get_mut(tournament) {
                entry.course.agents.stuck(*player, now);
            }
        }
        for player in of
            .iter()
            .map(|(_, player)| *player)
            .collect::<BTreeSet<_>>()
        {
            self.processes.hangs(player, now);
        }
        self.end(late, true)
    }

    /// Takes leases back; their games wait again.
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
            let why = if lost {
                Back::Lost { alone: lease.alone }
            } else {
                Back::Unplayed
            };
            let processes = &self.processes;
            if let Some(entry) = self.tournaments.get_mut(&lease.tournament)
                && !is_injected(Defect::LosesReturned)
            {
                let agents = &entry.course.agents;
                let fates = agents.fates(self.now, processes);
                let by = lease.player;
                let back = Returned {
                    lease: id,
                    now: self.now,
                    attempt: Attempt { by, unready: None },
                    fates: &fates,
                    played: processes.played_last(by),
                    rest: processes.rest(),
                    hopes: &|tried, agents| {
                        !is_injected(Defect::ForgetsWhoFailed)
                            && processes.has_sound_beside(tried, |it| agents.suits(it))
                    },
                };
                for index in lease.games {
                    let audits = &mut entry.course.audits;
                    match (lease.audit, why) {
                        (false, _) => entry.course.give_back(index, why, &back),
                        // A game that kills its workers is not audited for ever.
                        (true, Back::Lost { alone: true } | Back::Failed) => audits.fail(index),
                        (true, Back::Lost { alone: false }) => audits.lose(index),
                        (true, Back::Unplayed) => audits.give_back(index),
                    }
                }
            }
            if lease.audit {
                self.sort_in(lease.tournament);
            }
        }
        ended
    }

    /// The lease that a worker names, where it is its own; else no lease's number.
    #[must_use]
    pub fn own(&self, worker: Option<WorkerId>, lease: LeaseId) -> LeaseId {
        let held = self.leases.get(lease);
        // Numbers of leases begin anew with each start.
        match held {
            Some(held) if Some(held.worker) == worker => lease,
            _ => 0,
        }
    }

    /// Whether the holder of a lease was reported that this game is to be void.
    #[must_use]
    pub fn is_to_be_void(&self, tournament: TournamentNo, lease: LeaseId, index: u64) -> bool {
        let entry = self.tournaments.get(&tournament);
        is_injected(Defect::TakesAnyVoid)
            || entry.is_some_and(|it| it.course.is_to_be_void(index, lease))
    }

    /// A worker could not play a game of its lease: it rests, then waits again.
    /// Tells how many attempts failed so far; none where the lease has it no more.
    ///
    /// Where an agent did not start and starts nowhere, that is the agent's fault
    /// and no failed attempt.
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
        let (audit, player) = (held.audit, held.player);
        let entry = self.tournaments.get_mut(&tournament)?;
        let mut why = Back::Failed;
        if let Some(agent) = unready {
            entry.course.agents.fail(agent, player, now);
        }
        let fates = entry.course.agents.fates(now, &self.processes);
        if unready.is_some_and(|agent| is_given_up(&fates, agent)) {
            why = Back::Unplayed;
        }
        if why == Back::Failed && !held.failed {
            held.failed = true;
            self.processes.failed(player, now);
        }
        if unready.is_some() {
            self.processes.tried(player);
        }
        if audit {
            match why {
                Back::Unplayed => entry.course.audits.give_back(index),
                _ => entry.course.audits.fail(index),
            }
        } else {
            let processes = &self.processes;
            let back = Returned {
                lease,
                now,
                attempt: Attempt {
                    by: player,
                    unready,
                },
                fates: &fates,
                played: processes.played_last(player),
                rest: processes.rest(),
                hopes: &|tried, agents| {
                    !is_injected(Defect::ForgetsWhoFailed)
                        && processes.has_sound_beside(tried, |it| agents.suits(it))
                },
            };
            entry.course.give_back(index, why, &back);
        }
        let failed = entry.course.failed(index);
        self.strike(now, tournament, lease, index);
        if audit {
            self.sort_in(tournament);
        }
        Some(failed)
    }

    /// The record on its way is that of a void game, which nobody can play again.
    pub(super) fn is_void(&mut self, tournament: TournamentNo, index: u64) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.course.is_void(index);
        }
    }

    /// Agents of a tournament that start nowhere: where they were tried, they are
    /// charged without being asked.
    #[must_use]
    pub fn given_up(&self, tournament: TournamentNo) -> Vec<u16> {
        let Some(entry) = self.tournaments.get(&tournament) else {
            return Vec::new();
        };
        let agents = &entry.course.agents;
        let fates = agents.fates(self.now, &self.processes);
        let given_up = fates.iter().filter(|(_, fate)| *fate == Fate::GivenUp);
        given_up.map(|&(agent, _)| agent).collect()
    }

    /// The first agent of a running tournament that starts at none of the processes
    /// that are here, though all of them had the time to try.
    pub fn unstartable(&mut self, tournament: TournamentNo, now: Duration) -> Option<u16> {
        self.now = now;
        let entry = self.tournaments.get(&tournament)?;
        if entry.state != State::Running {
            return None;
        }
        let fates = entry.course.agents.fates(now, &self.processes);
        let is_stuck = |fate: &Fate| matches!(fate, Fate::GivenUp | Fate::Unknown);
        let mut stuck = fates.iter().filter(|(_, fate)| is_stuck(fate));
        stuck.next().map(|&(agent, _)| agent)
    }

    /// A worker played games of a tournament, and with them these agents.
    pub(super) fn played(&mut self, tournament: TournamentNo, player: Player, agents: &[u16]) {
        self.processes.played(player, self.now);
        // A report may come after who played is gone.
        if self.processes.is_here(player)
            && let Some(entry) = self.tournaments.get_mut(&tournament)
        {
            entry.course.agents.run(agents, player);
        }
    }
}
