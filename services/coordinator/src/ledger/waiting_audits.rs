//! Games that wait to be replayed, by the processes that played them already, and who may replay
//! them.
//!
//! | Played by processes of | Replayed by a process of |
//! |---|---|
//! | one owner | another owner, if one is connected that can play the tournament; else another process of this owner |
//! | two owners, with different records | a third owner: two processes of one owner could outvote an honest one |
//! | three owners, with different records | a fourth owner |
//!
//! An unknown owner, of a game that was played before this start of the coordinator, is another
//! owner. The processes of disputes are stored, and their numbers show their owners.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Dispute, Owner, WorkerProcess,
    agent_starts::AgentStarts,
    worker_processes::{OwnersHere, WorkerProcesses},
};

/// The processes that played a game already, so none of them replays it: one for an audit, two or three
/// for a further play of a disputed game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Players {
    pub(super) first: WorkerProcess,
    pub(super) second: Option<WorkerProcess>,
    pub(super) third: Option<WorkerProcess>,
}

impl Players {
    /// The process that played a game once.
    pub(super) fn one(first: WorkerProcess) -> Self {
        Self {
            first,
            second: None,
            third: None,
        }
    }

    /// Those of a disputed game.
    pub(super) fn of(dispute: &Dispute) -> Self {
        Self {
            first: dispute.first,
            second: Some(dispute.second),
            third: dispute.third.map(|(process, _)| process),
        }
    }

    pub(super) fn all(self) -> impl Iterator<Item = WorkerProcess> {
        [self.first]
            .into_iter()
            .chain(self.second)
            .chain(self.third)
    }

    fn include(self, process: WorkerProcess) -> bool {
        self.first == process || [self.second, self.third].contains(&Some(process))
    }
}

/// A process that may replay games.
pub(super) struct Auditor<'a> {
    process: WorkerProcess,
    pub(super) processes: &'a WorkerProcesses,
    pub(super) agents: &'a AgentStarts,
    owners_here: OnceCell<OwnersHere<'a>>,
}

impl<'a> Auditor<'a> {
    pub(super) fn new(
        process: WorkerProcess,
        processes: &'a WorkerProcesses,
        agents: &'a AgentStarts,
    ) -> Self {
        Self {
            process,
            processes,
            agents,
            owners_here: OnceCell::new(),
        }
    }

    /// Its owner, if it is known.
    pub(super) fn owner(&self) -> Option<&'a Owner> {
        self.processes.owner(self.process)
    }

    /// True if it may replay a game that these processes played.
    pub(super) fn may_replay(&self, by: Players) -> bool {
        if by.include(self.process) {
            return false;
        }
        let owner = |process| self.processes.owner(process);
        let own = owner(self.process);
        let owners = [
            Some(owner(by.first)),
            by.second.map(owner),
            by.third.map(owner),
        ];
        let is_owner = |it: Option<&Owner>| it.is_some() && owners.contains(&Some(it));
        if !is_owner(own) {
            return true;
        }
        let differs = |second| self.processes.have_two_owners(by.first, second);
        if by.second.is_some_and(differs) {
            return false;
        }
        let here = self
            .owners_here
            .get_or_init(|| self.processes.owners_here(self.agents));
        here.iter().flatten().all(|it| is_owner(*it))
    }
}

/// Games that wait to be replayed.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    by: BTreeMap<Players, BTreeSet<u64>>,
    pub(super) count: usize,
}

impl Waiting {
    pub(super) fn add(&mut self, index: u64, by: Players) {
        self.count += usize::from(self.by.entry(by).or_default().insert(index));
    }

    /// Number of listed games that these processes played.
    pub(super) fn count_of(&self, by: Players) -> usize {
        self.by.get(&by).map_or(0, BTreeSet::len)
    }

    pub(super) fn has(&self, index: u64) -> bool {
        self.by.values().any(|games| games.contains(&index))
    }

    pub(super) fn remove(&mut self, index: u64) {
        let removed = self.by.values_mut().filter_map(|games| games.take(&index));
        self.count -= removed.count();
        self.by.retain(|_, games| !games.is_empty());
    }

    /// The games that a process may replay.
    pub(super) fn iter_for(&self, auditor: &Auditor<'_>) -> impl Iterator<Item = (u64, Players)> {
        let may = self.by.iter().filter(|(by, _)| auditor.may_replay(**by));
        may.flat_map(|(&by, games)| games.iter().map(move |&index| (index, by)))
    }

    /// Number of games that a process may replay.
    pub(super) fn count_for(&self, auditor: &Auditor<'_>) -> usize {
        let may = self.by.iter().filter(|(by, _)| auditor.may_replay(**by));
        may.map(|(_, games)| games.len()).sum()
    }

    /// Removes up to `count` games that a process may replay, with those that played them.
    pub(super) fn take(&mut self, count: usize, auditor: &Auditor<'_>) -> Vec<(u64, Players)> {
        let mut taken = Vec::new();
        let may = self
            .by
            .iter_mut()
            .filter(|(by, _)| auditor.may_replay(**by));
        for (&by, games) in may {
            while taken.len() < count
                && let Some(index) = games.pop_first()
            {
                taken.push((index, by));
            }
        }
        self.count -= taken.len();
        self.by.retain(|_, games| !games.is_empty());
        taken
    }
}
