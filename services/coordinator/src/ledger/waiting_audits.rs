//! Games that wait to be replayed, by the processes that played them already.

use std::collections::{BTreeMap, BTreeSet};

use super::WorkerProcess;

/// The processes that played a game already, so none of them replays it: one for an audit, two
/// for the third play of a disputed game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Players {
    pub(super) first: WorkerProcess,
    pub(super) second: Option<WorkerProcess>,
}

impl Players {
    /// The process that played a game once.
    pub(super) fn one(first: WorkerProcess) -> Self {
        Self {
            first,
            second: None,
        }
    }

    fn include(self, process: WorkerProcess) -> bool {
        self.first == process || self.second == Some(process)
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

    pub(super) fn has(&self, index: u64) -> bool {
        self.by.values().any(|games| games.contains(&index))
    }

    /// Number of games that a process may replay.
    pub(super) fn count_for(&self, process: WorkerProcess) -> usize {
        let own = self.by.iter().filter(|(by, _)| by.include(process));
        self.count - own.map(|(_, games)| games.len()).sum::<usize>()
    }

    /// Removes up to `count` games that a process may replay, with those that played them.
    pub(super) fn take(&mut self, count: usize, process: WorkerProcess) -> Vec<(u64, Players)> {
        let mut taken = Vec::new();
        for (&by, games) in self.by.iter_mut().filter(|(by, _)| !by.include(process)) {
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
