//! The games of one tournament: settled, lent, or waiting.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Assigned, Bitmap, LeaseId, audits::Audits};

/// After this many losses in company a game is lent alone, so that one that
/// kills its workers is found and takes no others with it.
const LOSSES_IN_COMPANY: u32 = 3;

/// What befell a game before.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    /// Attempts that count towards the cap.
    failed: u32,
    /// Leases in company that ended without it.
    lost: u32,
}

/// Why a game comes back without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Back {
    /// Its worker could not play it.
    Failed,
    /// Its worker went away, or made no progress.
    Lost {
        /// It was the only game of its lease.
        alone: bool,
    },
    /// Nobody's failure: the tournament was paused, or the worker took no more.
    Unplayed,
}

/// The games of one tournament.
#[derive(Debug)]
pub(super) struct Course {
    /// Durable, or on the way to it.
    settled: Bitmap,
    /// On the way to the disk, with the hash of the record.
    pending: BTreeMap<u64, [u8; 32]>,
    /// Everything below was lent or settled once.
    cursor: u64,
    /// Lent once and come back.
    returned: BTreeSet<u64>,
    /// To be lent alone, those that failed least first.
    suspects: BTreeSet<(u32, u64)>,
    /// Come back after a failure, with the time before which they rest.
    resting: BTreeSet<(Duration, u64)>,
    tries: BTreeMap<u64, Tries>,
    /// Lent now.
    out: BTreeMap<u64, LeaseId>,
    /// Durable games to be played again.
    pub(super) audits: Audits,
}

impl Course {
    pub(super) fn new(done: Bitmap, audits: Audits) -> Self {
        Self {
            settled: done,
            pending: BTreeMap::new(),
            cursor: 0,
            returned: BTreeSet::new(),
            suspects: BTreeSet::new(),
            resting: BTreeSet::new(),
            tries: BTreeMap::new(),
            out: BTreeMap::new(),
            audits,
        }
    }

    pub(super) fn games(&self) -> u64 {
        self.settled.bound()
    }

    /// So many games are known now.
    pub(super) fn extend(&mut self, games: u64) {
        self.settled.grow(games);
        self.audits.extend(games);
    }

    /// Durable games.
    pub(super) fn done(&self) -> u64 {
        self.settled.count() - self.pending.len() as u64
    }

    /// Games lent now.
    pub(super) fn lent(&self) -> u64 {
        self.out.len() as u64
    }

    /// Games neither settled nor lent.
    pub(super) fn waiting(&self) -> u64 {
        self.games() - self.settled.count() - self.lent()
    }

    /// Wakes those that have rested.
    pub(super) fn wake(&mut self, now: Duration) {
        while let Some(&(until, index)) = self.resting.first()
            && until <= now
        {
            self.resting.pop_first();
            self.requeue(index);
        }
    }

    fn requeue(&mut self, index: u64) {
        let tries = self.tries.get(&index).copied().unwrap_or_default();
        if tries.lost >= LOSSES_IN_COMPANY {
            self.suspects.insert((tries.failed, index));
        } else {
            self.returned.insert(index);
        }
    }

    /// Whether a game may be lent in company.
    pub(super) fn has_ready(&self) -> bool {
        !self.returned.is_empty() || self.settled.next_absent(self.cursor).is_some()
    }

    pub(super) fn has_suspect(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Lends up to `count` games, those that came back first.
    pub(super) fn take(&mut self, count: usize, lease: LeaseId) -> Vec<Assigned> {
        let mut taken = Vec::with_capacity(count);
        while taken.len() < count {
            let index = match self.returned.pop_first() {
                Some(index) => index,
                None => match self.settled.next_absent(self.cursor) {
                    Some(index) => {
                        self.cursor = index + 1;
                        index
                    }
                    None => break,
                },
            };
            taken.push(self.lend(index, lease));
        }
        taken
    }

    /// Lends one game that is to be alone.
    pub(super) fn take_suspect(&mut self, lease: LeaseId) -> Option<Assigned> {
        let (_, index) = self.suspects.pop_first()?;
        Some(self.lend(index, lease))
    }

    fn lend(&mut self, index: u64, lease: LeaseId) -> Assigned {
        self.out.insert(index, lease);
        Assigned {
            index,
            attempts: self.tries.get(&index).map_or(0, |tries| tries.failed),
        }
    }

    /// Lists more audits where all that are listed are done.
    pub(super) fn find_audits(&mut self) {
        let (settled, pending) = (&self.settled, &self.pending);
        self.audits
            .find(|index| settled.contains(index) && !pending.contains_key(&index));
    }

    /// Goes on with the audits of an earlier start.
    pub(super) fn restore_audits(&mut self, key: u64, audited: Bitmap, differing: Bitmap) {
        let (settled, pending) = (&self.settled, &self.pending);
        self.audits.restore(key, audited, differing, |index| {
            settled.contains(index) && !pending.contains_key(&index)
        });
    }

    /// Takes a game back from a lease; nothing where the lease has it no more.
    pub(super) fn give_back(&mut self, index: u64, lease: LeaseId, why: Back, until: Duration) {
        if self.out.get(&index) != Some(&lease) {
            return;
        }
        self.out.remove(&index);
        match why {
            Back::Unplayed => {}
            Back::Lost { alone: false } => self.tries.entry(index).or_default().lost += 1,
            Back::Failed | Back::Lost { alone: true } => {
                self.tries.entry(index).or_default().failed += 1;
            }
        }
        if why == Back::Failed {
            self.resting.insert((until, index));
        } else {
            self.requeue(index);
        }
    }

    /// Attempts at a game that failed so far.
    pub(super) fn failed(&self, index: u64) -> u32 {
        self.tries.get(&index).map_or(0, |tries| tries.failed)
    }

    pub(super) fn is_settled(&self, index: u64) -> bool {
        self.settled.contains(index)
    }

    pub(super) fn pending(&self, index: u64) -> Option<[u8; 32]> {
        self.pending.get(&index).copied()
    }

    /// A first record arrived; tells which lease had the game.
    pub(super) fn settle(&mut self, index: u64, hash: [u8; 32]) -> Option<LeaseId> {
        self.settled.insert(index);
        self.pending.insert(index, hash);
        let tries = self.tries.remove(&index).unwrap_or_default();
        self.returned.remove(&index);
        self.suspects.remove(&(tries.failed, index));
        if tries.failed > 0 {
            self.resting.retain(|(_, resting)| *resting != index);
        }
        self.out.remove(&index)
    }

    /// The record is on the disk; false where it was not on the way there.
    pub(super) fn durable(&mut self, index: u64) -> bool {
        self.pending.remove(&index).is_some()
    }
}
