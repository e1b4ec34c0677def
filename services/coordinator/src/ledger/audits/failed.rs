//! Audits that failed: who gets them next, and when they are given up.

use std::collections::BTreeSet;

use super::{
    super::{
        Assigned, Owner, WorkerId, WorkerProcess,
        agent_starts::AgentStarts,
        waiting_audits::{Auditor, Players},
        worker_processes::WorkerProcesses,
    },
    Audits,
};

/// Failed attempts after which an audit is given up until the next start, unless an owner is connected
/// that has not tried it.
pub(super) const FAILED_MAX: u32 = 3;
/// Maximum games to be leased alone that one search looks at.
const ALONE_MAX: usize = 256;

/// Failed attempts of an audit.
#[derive(Debug, Default)]
pub(super) struct Failures {
    attempts: u32,
    /// The owners of the workers that failed: they get it again only if no further owner is connected, so
    /// that one owner cannot end the audits of another one's games.
    owners: BTreeSet<Owner>,
}

impl Audits {
    pub(super) fn given_up_claims(&self) -> u64 {
        let given_up = self.given_up.iter();
        given_up
            .filter(|&&index| self.claimed.contains(index))
            .count() as u64
    }

    pub(super) fn given_up(&self) -> u64 {
        self.given_up.len() as u64
    }

    /// True if the owner of a process failed this audit, and a further owner is connected.
    fn is_for_others(&self, index: u64, by: Players, auditor: &Auditor<'_>) -> bool {
        let failures = self.failed.get(&index);
        let owner = auditor.owner();
        failures
            .zip(owner)
            .is_some_and(|(failures, owner)| failures.owners.contains(owner))
            && self.has_further_owner(index, by, auditor.processes, auditor.agents)
    }

    /// True if an owner is connected that neither played a game nor failed its audit.
    fn has_further_owner(
        &self,
        index: u64,
        by: Players,
        processes: &WorkerProcesses,
        agents: &AgentStarts,
    ) -> bool {
        let players = by.all().map(|process| processes.owner(process).cloned());
        let mut owners: BTreeSet<Option<Owner>> = players.chain([None]).collect();
        let failures = self.failed.get(&index).into_iter();
        owners.extend(failures.flat_map(|it| it.owners.iter().cloned().map(Some)));
        processes.has_further_owner(&owners, agents)
    }

    /// True if a game can be leased alone to this process.
    pub(in crate::ledger) fn has_alone_for(&self, auditor: &Auditor<'_>) -> bool {
        self.next_alone(auditor).is_some()
    }

    fn next_alone(&self, auditor: &Auditor<'_>) -> Option<(u64, Players)> {
        let mut listed = self.alone.iter_for(auditor).take(ALONE_MAX);
        listed.find(|&(index, by)| !self.is_for_others(index, by, auditor))
    }

    /// Leases one game that has to be leased alone.
    pub(in crate::ledger) fn take_alone(&mut self, auditor: &Auditor<'_>) -> Vec<Assigned> {
        let taken = self.next_alone(auditor);
        if let Some((index, _)) = taken {
            self.alone.remove(index);
        }
        self.assign(taken.into_iter().collect())
    }

    /// Handles the loss of a lease of this game and others: it is unknown which game caused the
    /// loss, so each of them is leased alone.
    pub(in crate::ledger) fn lose(&mut self, index: u64) {
        if let Some(by) = self.out.remove(&index) {
            self.alone.add(index, by);
        }
    }

    /// Counts a failed attempt: a worker could not replay this game, or was lost with this game
    /// alone.
    pub(in crate::ledger) fn fail(
        &mut self,
        index: u64,
        failed: WorkerProcess,
        processes: &WorkerProcesses,
        agents: &AgentStarts,
    ) {
        if let Some(by) = self.out.remove(&index) {
            let failures = self.failed.entry(index).or_default();
            failures.attempts += 1;
            failures.owners.extend(processes.owner(failed).cloned());
            let is_last = failures.attempts >= FAILED_MAX;
            let players: BTreeSet<_> = by.all().map(|it| processes.owner(it)).collect();
            let is_of_others = { failures.owners.iter() }.any(|it| !players.contains(&Some(it)));
            if !is_last || self.has_further_owner(index, by, processes, agents) {
                self.alone.add(index, by);
            } else {
                // It counts: where others cannot play the game either, nothing speaks against it.
                self.claims.open.remove(index);
                self.give_up(index);
                if is_of_others && self.given_up.contains(&index) {
                    self.unverified.insert(index);
                }
            }
        }
    }

    /// The worker that joins may be able to play the games that were given up: each gets one more attempt.
    pub(in crate::ledger) fn try_again(&mut self) {
        self.unverified.clear();
        for index in std::mem::take(&mut self.given_up) {
            self.alone
                .add(index, Players::one(self.played_by.process(index)));
        }
    }

    /// Forgets the failed attempts of an audit.
    pub(super) fn forget_failures(&mut self, index: u64) {
        self.failed.remove(&index);
        self.given_up.remove(&index);
        self.unverified.remove(&index);
    }

    /// Gives up an audit whose record cannot be compared.
    pub(in crate::ledger) fn abandon(&mut self, index: u64, worker: WorkerId) {
        if self.take_compared(index, worker).is_some() {
            self.give_up(index);
        }
    }

    pub(super) fn give_up(&mut self, index: u64) {
        if self.disputes.give_up(index) {
            self.failed.remove(&index);
        } else {
            self.given_up.insert(index);
        }
    }
}
