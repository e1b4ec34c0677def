//! Faults that can happen on one host and not on another, reported by one owner alone: crashes,
//! timeouts, lost connections and failed starts. No replay proves them, so while a process of
//! another owner is connected, they count only as far as such a process confirms them.
//!
//! | Game with such a fault | What happens while another owner is connected |
//! |---|---|
//! | lost by an agent that never answered | is audited, and counts towards a pause once it is confirmed |
//! | of an agent that has had such faults with one owner alone | is audited, at the latest when another owner joins, also after a restart |
//! | any other | is audited as that of a process in doubt |
//! | an audit by another owner has the same fault | it is confirmed |
//! | an audit by another owner does not have it | it is contradicted: the process is in doubt again, and the result is not sound until a retry replaces the game |
//! | the agent has had such a fault with another owner, too | it is not contradicted: the agent fails now and then, and its games count |
//! | three games of a process in a row are contradicted, by at least two owners | the process goes into quarantine |
//!
//! The same holds for rules in a package: if they fail on the workers of one owner alone, those rest,
//! and the tournament goes on with the others.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ledger, Owner, TournamentNo, WorkerId, WorkerProcess, audits::Audits};

/// Maximum number of open claims of a tournament. Further ones count at once.
const OPEN_MAX: usize = 4096;
/// An agent that has had faults with this many owners fails now and then, wherever it plays.
const OWNERS_MIN: usize = 2;

/// The claims of a tournament.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Games lost by an agent that never answered, according to one owner alone.
    pub(super) open: BTreeSet<u64>,
    /// The agents with faults, each with the owners of the processes where it had them: one or two.
    seen_by: BTreeMap<u16, BTreeSet<Owner>>,
    /// The agents with faults of games that were contradicted in this start.
    agents: BTreeMap<u64, Vec<u16>>,
}

impl Claims {
    /// Records that agents had a fault on a process of this owner. Returns true if one of them is now known
    /// to fail everywhere.
    fn see(&mut self, agents: &[u16], owner: Option<&Owner>) -> bool {
        let mut is_new = false;
        for (&agent, owner) in agents.iter().zip(owner.into_iter().cycle()) {
            let seen = self.seen_by.entry(agent).or_default();
            if seen.len() < OWNERS_MIN && seen.insert(Owner::clone(owner)) {
                is_new |= seen.len() == OWNERS_MIN;
            }
        }
        is_new
    }

    /// True if each of these agents has had faults with several owners.
    fn fail_everywhere(&self, agents: &[u16]) -> bool {
        let seen = |agent| self.seen_by.get(agent).map_or(0, BTreeSet::len);
        agents.iter().all(|agent| seen(agent) >= OWNERS_MIN)
    }

    /// The games that are not contradicted any more, because their agents fail everywhere.
    fn take_explained(&mut self) -> Vec<u64> {
        let mut games = std::mem::take(&mut self.agents);
        let explained = games.extract_if(.., |_, agents| self.fail_everywhere(agents));
        let explained = explained.map(|(index, _)| index).collect();
        self.agents = games;
        explained
    }
}

impl Ledger {
    /// Handles a durable game in which these agents have a fault that may be that of a host. `unplayed` is
    /// true if an agent lost it without an answer. Returns games that are not contradicted any more.
    pub fn claim(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        agents: &[u16],
        unplayed: bool,
    ) -> Vec<u64> {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return Vec::new();
        };
        let audits = &mut entry.queue.audits;
        let by = audits.process(index);
        let explained = audits.see_faults(agents, self.processes.owner(by));
        if audits.has_sample() && !audits.claims.fail_everywhere(agents) {
            audits.claimed.insert(index);
        }
        if !audits.has_sample() || !self.processes.has_other_owner(by) {
            return explained;
        }
        if unplayed && audits.claims.open.len() < OPEN_MAX {
            audits.claims.open.insert(index);
            audits.doubt(index);
        } else if !audits.claims.fail_everywhere(agents) || audits.is_in_doubtful_sample(index) {
            audits.doubt(index);
        }
        self.update_sets(tournament);
        explained
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

    /// Audits the faults that other owners reported than that of a process that joins.
    pub(super) fn doubt_claims(&mut self, joined: WorkerProcess) {
        let numbers: Vec<TournamentNo> = self.tournaments.keys().copied().collect();
        for number in numbers {
            if let Some(entry) = self.tournaments.get_mut(&number) {
                let processes = &self.processes;
                let is_other = |by| !processes.have_one_owner(by, joined);
                entry.queue.audits.doubt_claimed(is_other);
            }
            self.update_sets(number);
        }
    }

    /// Handles the audit of a worker whose record lacks the fault of the durable one, which these agents
    /// have. The game is contradicted, unless its owner confirms itself or the agents fail everywhere.
    pub fn contradict(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        agents: &[u16],
        worker: WorkerId,
    ) -> Contradicted {
        let of = self.workers.get(&worker).map(|worker| worker.process);
        let entry = self.tournaments.get_mut(&tournament);
        let Some((of, entry)) = of.zip(entry) else {
            return Contradicted::No;
        };
        let audits = &mut entry.queue.audits;
        if !audits.is_compared(index, worker) {
            return Contradicted::No;
        }
        let by = audits.process(index);
        // After a restart, the owner that reported the fault is unknown: perhaps another one.
        let is_unknown = by == WorkerProcess::Unknown;
        if is_unknown && !self.processes.has_two_owners() || self.processes.have_one_owner(by, of) {
            audits.claims.open.remove(&index);
            return Contradicted::No;
        }
        if audits.claims.fail_everywhere(agents) {
            return Contradicted::No;
        }
        audits.contradicted.insert(index);
        audits.claims.agents.insert(index, agents.to_vec());
        match self.processes.mark_contradicted(by, of) {
            true => Contradicted::Quarantine(by),
            false => Contradicted::Yes,
        }
    }

    /// Handles the audit of a worker whose record has the fault of the durable one as well. Returns
    /// true if the game counts towards a pause now, and games that are not contradicted any more.
    pub fn confirm(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        agents: &[u16],
        worker: WorkerId,
    ) -> (bool, Vec<u64>) {
        let of = self.workers.get(&worker).map(|worker| worker.process);
        let entry = self.tournaments.get_mut(&tournament);
        let Some((of, entry)) = of.zip(entry) else {
            return (false, Vec::new());
        };
        let audits = &mut entry.queue.audits;
        let by = audits.process(index);
        if !audits.is_compared(index, worker) || self.processes.have_one_owner(by, of) {
            return (false, Vec::new());
        }
        self.processes.mark_confirmed(by);
        let explained = audits.see_faults(agents, self.processes.owner(of));
        (audits.claims.open.remove(&index), explained)
    }
}

/// Result of an audit that lacks a fault of the durable record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradicted {
    /// It says nothing about the process that reported the fault.
    No,
    /// The game is contradicted.
    Yes,
    /// So is it, and the process that reported it has to go into quarantine.
    Quarantine(WorkerProcess),
}

impl Audits {
    /// Records that agents had faults on a process of this owner. Returns games that are not contradicted
    /// any more.
    fn see_faults(&mut self, agents: &[u16], owner: Option<&Owner>) -> Vec<u64> {
        if !self.claims.see(agents, owner) {
            return Vec::new();
        }
        let explained = self.claims.take_explained();
        for index in &explained {
            self.contradicted.remove(*index);
        }
        explained
    }
}
