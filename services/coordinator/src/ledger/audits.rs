//! Audits: games of a tournament that another worker process replays for comparison.
//!
//! The sample follows from a secret (see [`AuditSample`]), so it is not stored. After a restart,
//! [`Audits::restore`] gets the results of earlier audits.
//!
//! An audit never runs on the worker process that played the game (see [`WorkerProcess`]). The
//! process of a game is not stored, so after a restart of the coordinator, any process may audit
//! earlier games.

use std::collections::{BTreeMap, BTreeSet};

use super::{Assigned, AuditSample, Bitmap, WorkerId, WorkerProcess, played_by::PlayedBy};

/// Maximum games that one search looks at.
const FIND_MAX: u64 = 1 << 14;
/// Maximum audits that are listed at a time. When these are done, the next ones are searched.
const LISTED_MAX: usize = 4096;
/// Least share of audits among the games of a process in doubt, in parts per million.
const DOUBTFUL_PPM: u32 = 100_000;
/// Failed attempts after which an audit is given up until the next start.
const FAILED_MAX: u32 = 3;

/// Games that wait for their audit, by the process that played them first.
#[derive(Debug, Default)]
struct Waiting {
    by: BTreeMap<WorkerProcess, BTreeSet<u64>>,
    count: usize,
}

impl Waiting {
    fn add(&mut self, index: u64, by: WorkerProcess) {
        self.count += usize::from(self.by.entry(by).or_default().insert(index));
    }

    fn has(&self, index: u64) -> bool {
        self.by.values().any(|games| games.contains(&index))
    }

    /// Number of games that other processes played.
    fn count_for(&self, process: WorkerProcess) -> usize {
        self.count - self.by.get(&process).map_or(0, BTreeSet::len)
    }

    /// Removes up to `count` games that other processes played, with those processes.
    fn take(&mut self, count: usize, process: WorkerProcess) -> Vec<(u64, WorkerProcess)> {
        let mut taken = Vec::new();
        for (&by, games) in self.by.iter_mut().filter(|(by, _)| **by != process) {
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

/// Audits of a tournament.
#[derive(Debug, Default)]
pub(super) struct Audits {
    sample: AuditSample,
    /// Games that are audited although the sample lacks them, because their process is in doubt.
    doubted: Bitmap,
    /// The process of each game, until the tournament is over.
    played_by: PlayedBy,
    /// Durable games that are to be audited.
    due: u64,
    audited: Bitmap,
    differing: Bitmap,
    listed: Waiting,
    /// Games of lost leases with several games. They are leased alone, so that only a game that
    /// kills its workers is given up.
    alone: Waiting,
    /// Leased games, with the process that played them first.
    out: BTreeMap<u64, WorkerProcess>,
    /// Games whose new record is being compared: the worker that sent the record, and the process
    /// that played the game first.
    compared: BTreeMap<u64, (WorkerId, WorkerProcess)>,
    /// Number of failed attempts of each audit.
    failed: BTreeMap<u64, u32>,
    /// The game at which the search continues.
    cursor: u64,
}

/// State of the audits of a tournament.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Durable games of the sample.
    pub due: u64,
    /// Games replayed with the same record.
    pub agreed: u64,
    /// Games replayed with another record.
    pub differing: u64,
    /// Games given up until the next start, because no attempt finished.
    pub given_up: u64,
}

impl Audited {
    /// Games that still have to be replayed.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.due - self.agreed - self.differing - self.given_up
    }
}

impl Audits {
    pub(super) fn new(sample: AuditSample, games: u64) -> Self {
        Self {
            sample,
            doubted: Bitmap::new(games),
            audited: Bitmap::new(games),
            differing: Bitmap::new(games),
            ..Self::default()
        }
    }

    /// Restores the results of an earlier start; `durable` returns true for games that are done.
    pub(super) fn restore(
        &mut self,
        sample: AuditSample,
        audited: Bitmap,
        differing: Bitmap,
        durable: impl Fn(u64) -> bool,
    ) {
        let games = self.audited.bound();
        *self = Self::new(sample, games);
        (self.audited, self.differing) = (audited, differing);
        if sample.ppm > 0 {
            self.due = (0..games)
                .filter(|&index| durable(index) && self.counts(index))
                .count() as u64;
        }
    }

    /// Sets the number of known games.
    pub(super) fn extend(&mut self, games: u64) {
        self.doubted.grow(games);
        self.audited.grow(games);
        self.differing.grow(games);
    }

    /// True if a game is in the sample, in doubt, or was audited under another share.
    fn counts(&self, index: u64) -> bool {
        self.audited.contains(index) || self.doubted.contains(index) || self.sample.contains(index)
    }

    pub(super) fn so_far(&self) -> Audited {
        let differing = self.differing.count();
        Audited {
            due: self.due.max(self.audited.count()),
            agreed: self.audited.count() - differing,
            differing,
            given_up: self.given_up(),
        }
    }

    /// Adds a game that became durable to the list, if the game is in the sample.
    pub(super) fn durable(&mut self, index: u64, by: WorkerProcess) {
        self.played_by.insert(index, by);
        if self.sample.contains(index) {
            self.due += 1;
            self.list(index, by);
        }
    }

    /// True if a game is audited if its process is in doubt. A share of 0 means no audits at all.
    pub(super) fn is_in_doubtful_sample(&self, index: u64) -> bool {
        self.sample.ppm > 0 && self.sample.is_below(index, DOUBTFUL_PPM)
    }

    /// Adds a durable game to the list that is not in the sample.
    pub(super) fn doubt(&mut self, index: u64) {
        if !self.counts(index) && self.doubted.insert(index) {
            self.due += 1;
            self.list(index, self.played_by.process(index));
        }
    }

    /// Adds all games of a process to the list.
    pub(super) fn doubt_all(&mut self, by: WorkerProcess) {
        for index in self.played_by.games(by) {
            self.doubt(index);
        }
    }

    /// Forgets which process played each game.
    pub(super) fn forget_processes(&mut self) {
        self.played_by = PlayedBy::default();
    }

    fn list(&mut self, index: u64, by: WorkerProcess) {
        if self.listed.count < LISTED_MAX {
            self.listed.add(index, by);
        }
    }

    /// Lists more games of the sample if the list is empty.
    pub(super) fn find(&mut self, durable: impl Fn(u64) -> bool) {
        let at_hand = self.alone.count + self.out.len() + self.compared.len();
        let known = self.audited.count() + at_hand as u64 + self.given_up();
        if self.listed.count > 0 || self.due <= known {
            return;
        }
        let games = self.audited.bound();
        for _ in 0..games.min(FIND_MAX) {
            let index = self.cursor;
            self.cursor = (self.cursor + 1) % games;
            if !self.counts(index) {
                continue;
            }
            let known = self.audited.contains(index)
                || self.out.contains_key(&index)
                || self.compared.contains_key(&index)
                || self.alone.has(index)
                || self.failed.get(&index).is_some_and(|&it| it >= FAILED_MAX);
            if !known && durable(index) {
                self.list(index, self.played_by.process(index));
                if self.listed.count == LISTED_MAX {
                    break;
                }
            }
        }
    }

    fn given_up(&self) -> u64 {
        let failed = self.failed.values();
        failed.filter(|&&failed| failed >= FAILED_MAX).count() as u64
    }

    /// Number of listed games that other processes played.
    pub(super) fn listed_for(&self, process: WorkerProcess) -> usize {
        self.listed.count_for(process)
    }

    /// True if a game can be leased alone to this process.
    pub(super) fn has_alone_for(&self, process: WorkerProcess) -> bool {
        self.alone.count_for(process) > 0
    }

    /// Leases up to `count` games that other processes played.
    pub(super) fn take(&mut self, count: usize, process: WorkerProcess) -> Vec<Assigned> {
        let taken = self.listed.take(count, process);
        self.assign(taken)
    }

    /// Leases one game that has to be leased alone.
    pub(super) fn take_alone(&mut self, process: WorkerProcess) -> Vec<Assigned> {
        let taken = self.alone.take(1, process);
        self.assign(taken)
    }

    fn assign(&mut self, mut taken: Vec<(u64, WorkerProcess)>) -> Vec<Assigned> {
        // As in other leases.
        taken.sort_unstable();
        self.out.extend(taken.iter().copied());
        let assigned = |(index, _)| Assigned { index, attempts: 0 };
        taken.into_iter().map(assigned).collect()
    }

    /// Lists a game again whose lease ended without a result.
    pub(super) fn give_back(&mut self, index: u64) {
        if let Some(by) = self.out.remove(&index) {
            self.list(index, by);
        }
    }

    /// Handles the loss of a lease of this game and others: it is unknown which game caused the
    /// loss, so each of them is leased alone.
    pub(super) fn lose(&mut self, index: u64) {
        if let Some(by) = self.out.remove(&index) {
            self.alone.add(index, by);
        }
    }

    /// Counts a failed attempt: a worker could not replay this game, or was lost with this game
    /// alone.
    pub(super) fn fail(&mut self, index: u64) {
        if let Some(by) = self.out.remove(&index) {
            let failed = self.failed.entry(index).or_default();
            *failed += 1;
            if *failed < FAILED_MAX {
                self.alone.add(index, by);
            }
        }
    }

    /// Marks a game as being compared, because a worker sent its record.
    pub(super) fn reported(&mut self, index: u64, worker: WorkerId) {
        if let Some(by) = self.out.remove(&index) {
            self.compared.insert(index, (worker, by));
        }
    }

    /// Lists the games again that a worker reported before it left, because their comparison may
    /// never end.
    pub(super) fn left(&mut self, worker: WorkerId) {
        let of_worker = |_: &u64, (sender, _): &mut (WorkerId, WorkerProcess)| *sender == worker;
        let again: Vec<_> = self.compared.extract_if(.., of_worker).collect();
        for (index, (_, by)) in again {
            self.list(index, by);
        }
    }

    /// Removes a game from the comparisons. Returns the process that played it first; none if the
    /// game was not an audit of this worker.
    fn take_compared(&mut self, index: u64, worker: WorkerId) -> Option<WorkerProcess> {
        let compared = self.compared.get(&index);
        compared.filter(|(sender, _)| *sender == worker)?;
        self.compared.remove(&index).map(|(_, by)| by)
    }

    /// Gives up an audit whose record cannot be compared.
    pub(super) fn abandon(&mut self, index: u64, worker: WorkerId) {
        if self.take_compared(index, worker).is_some() {
            self.failed.insert(index, FAILED_MAX);
        }
    }

    /// Stores the result of comparing the record that a worker sent. Returns the process that
    /// played the game first; none if the game was not an audit of this worker.
    pub(super) fn settle(
        &mut self,
        index: u64,
        worker: WorkerId,
        differs: bool,
    ) -> Option<WorkerProcess> {
        let by = self.take_compared(index, worker)?;
        self.failed.remove(&index);
        self.audited.insert(index);
        if differs {
            self.differing.insert(index);
        }
        Some(by)
    }

    /// True if the records of an audited game differ; none if the game was not audited yet.
    pub(super) fn result(&self, index: u64) -> Option<bool> {
        let audited = self.audited.contains(index);
        audited.then(|| self.differing.contains(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: u64 = 10_000;
    const ONE: WorkerProcess = WorkerProcess::Process(1);
    const TWO: WorkerProcess = WorkerProcess::Process(2);

    fn audits(ppm: u32, games: u64) -> Audits {
        Audits::new(AuditSample::new(&[7; 32], "cup-1", ppm), games)
    }

    fn all(audits: &mut Audits, process: WorkerProcess) -> BTreeSet<u64> {
        let worker = 9;
        let mut taken = BTreeSet::new();
        loop {
            audits.find(|_| true);
            let mut some = audits.take(100, process);
            some.extend(audits.take_alone(process));
            if some.is_empty() {
                return taken;
            }
            for game in some {
                assert!(taken.insert(game.index), "once each");
                audits.reported(game.index, worker);
                assert!(audits.settle(game.index, worker, false).is_some());
            }
        }
    }

    #[test]
    fn audit_sample_survives_restart() {
        let mut whole = audits(300_000, GAMES);
        let mut before = audits(300_000, GAMES);
        for index in 0..GAMES {
            whole.durable(index, ONE);
            before.durable(index, ONE);
        }
        let expected = all(&mut whole, TWO);
        let share = expected.len() as u64;
        assert!((2_800..3_200).contains(&share), "{share}");
        assert_eq!(whole.so_far().waiting(), 0);
        let mut first = BTreeSet::new();
        for game in before.take(500, TWO) {
            before.reported(game.index, 2);
            before.settle(game.index, 2, game.index % 2 == 0);
            first.insert(game.index);
        }
        let mut after = audits(0, GAMES);
        let [mut audited, mut differing] = [Bitmap::new(GAMES), Bitmap::new(GAMES)];
        for &index in &first {
            audited.insert(index);
            if before.result(index) == Some(true) {
                differing.insert(index);
            }
        }
        after.restore(whole.sample, audited, differing, |_| true);
        assert_eq!(after.so_far(), before.so_far());
        let rest = all(&mut after, ONE);
        assert!(first.is_disjoint(&rest));
        assert_eq!(
            first.union(&rest).copied().collect::<BTreeSet<_>>(),
            expected
        );
    }

    #[test]
    fn process_does_not_audit_itself() {
        let mut audits = audits(1_000_000, 10);
        (0..10).for_each(|index| audits.durable(index, ONE));
        assert_eq!((audits.listed_for(ONE), audits.listed_for(TWO)), (0, 10));
        assert!(audits.take(10, ONE).is_empty());
        let leased = audits.take(4, TWO);
        assert_eq!((leased.len(), audits.listed_for(TWO)), (4, 6));
        audits.give_back(leased[0].index);
        audits.reported(leased[1].index, 2);
        for left in (0..FAILED_MAX).rev() {
            audits.fail(leased[2].index);
            assert!(!audits.has_alone_for(ONE));
            assert_eq!(audits.take_alone(TWO).len(), usize::from(left > 0));
        }
        let settled = leased[1].index;
        assert_eq!(audits.settle(settled, 3, false), None, "not its sender");
        assert_eq!(audits.settle(settled, 2, true), Some(ONE));
        assert_eq!(audits.settle(settled, 2, true), None, "settled already");
        assert_eq!(
            audits.settle(leased[3].index, 2, true),
            None,
            "not reported"
        );
        let shown = audits.so_far();
        assert_eq!((shown.agreed, shown.differing, shown.waiting()), (0, 1, 8));
        assert_eq!(shown.given_up, 1, "no longer waits");
        assert_eq!(
            audits.listed_for(TWO),
            7,
            "all but the leased, settled and given-up games"
        );
    }

    #[test]
    fn only_poisonous_audit_is_given_up() {
        let mut audits = audits(1_000_000, 8);
        (0..8).for_each(|index| audits.durable(index, ONE));
        audits.take(8, TWO);
        (0..8).for_each(|index| audits.lose(index));
        assert_eq!((audits.listed_for(TWO), audits.so_far().given_up), (0, 0));
        let poison = 5;
        while let [game] = audits.take_alone(TWO)[..] {
            if game.index == poison {
                audits.fail(poison);
            } else {
                audits.reported(game.index, 2);
                audits.settle(game.index, 2, false);
            }
            audits.find(|_| true);
            assert_eq!(audits.listed_for(TWO), 0, "none is listed twice");
        }
        let shown = audits.so_far();
        assert_eq!((shown.agreed, shown.given_up, shown.waiting()), (7, 1, 0));
    }

    #[test]
    fn uncompared_audit_of_lost_worker_is_repeated() {
        let mut audits = audits(1_000_000, 4);
        (0..4).for_each(|index| audits.durable(index, ONE));
        let leased = audits.take(2, TWO);
        audits.reported(leased[0].index, 2);
        audits.reported(leased[1].index, 2);
        assert!(audits.settle(leased[0].index, 2, false).is_some());
        audits.left(3);
        assert_eq!(audits.listed_for(TWO), 2, "worker 3 sent none of them");
        audits.left(2);
        assert_eq!(audits.listed_for(TWO), 3);
        assert_eq!(audits.settle(leased[1].index, 2, true), None, "waits again");
        assert_eq!(all(&mut audits, TWO).len(), 3);
        assert_eq!(audits.so_far().waiting(), 0);
    }
}
