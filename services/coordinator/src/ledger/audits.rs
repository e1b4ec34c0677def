//! Audits: games of a tournament that another worker process replays for comparison.
//!
//! The sample follows from a secret (see [`AuditSample`]), so it is not stored. After a restart,
//! [`Audits::restore`] gets the results of earlier audits.
//!
//! An audit never runs on the worker process that played the game (see [`WorkerProcess`]), and on
//! one of its owner only if no other owner is connected (see [`Auditor`]). The store has the
//! process of each game, but a restart reads it for claimed and differing games alone. So any process may
//! audit other earlier games. If the records differ, a third process plays the game (see [`Disputes`]).

mod comparisons;
mod failed;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Assigned, AuditSample, Bitmap, Dispute, RestoredAudits, WorkerId, WorkerProcess,
    claims::Claims,
    disputes::Disputes,
    played_by::PlayedBy,
    waiting_audits::{Auditor, Players, Waiting},
};
use failed::Failures;

/// Maximum games that one search looks at.
const FIND_MAX: u64 = 1 << 12;
/// Maximum audits of the games of one process that are listed at a time. When these are done, the next ones
/// are searched.
const LISTED_MAX: usize = 1024;
/// Least share of audits among the games of a process in doubt, in parts per million.
const DOUBTFUL_PPM: u32 = 100_000;

/// Audits of a tournament.
#[derive(Debug, Default)]
pub(super) struct Audits {
    sample: AuditSample,
    /// Games that are audited although the sample lacks them, because their process is in doubt.
    doubted: Bitmap,
    /// The process of each game that was played in this start.
    played_by: PlayedBy,
    /// Durable games that are to be audited.
    due: u64,
    audited: Bitmap,
    differing: Bitmap,
    /// Games that were played again as a second sample, because a replay proves nothing.
    sampled: Bitmap,
    /// Games whose durable record a third play refuted.
    refuted: Bitmap,
    /// Games that were audited by another process of the owner whose process played them.
    own: Bitmap,
    /// Games with a fault that an audit of another owner did not have (see [`Claims`]).
    pub(super) contradicted: Bitmap,
    /// Games with a fault that one owner reported and no other owner has audited.
    pub(super) claimed: Bitmap,
    pub(super) disputes: Disputes,
    pub(super) claims: Claims,
    listed: Waiting,
    /// Disputed games that wait for their third play.
    thirds: Waiting,
    /// Games of lost leases with several games. They are leased alone, so that only a game that
    /// kills its workers is given up.
    alone: Waiting,
    /// Leased games, with the processes that played them before.
    out: BTreeMap<u64, Players>,
    /// Games whose new record is being compared: the worker that sent the record, and the processes
    /// that played the game before.
    compared: BTreeMap<u64, (WorkerId, Players)>,
    /// The failed attempts of each audit.
    failed: BTreeMap<u64, Failures>,
    /// Audits that are not tried any more in this start.
    given_up: BTreeSet<u64>,
    /// Those of them that a worker of another owner could not play.
    unverified: BTreeSet<u64>,
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
    /// Games played again as a second sample, because a replay proves nothing.
    pub sampled: u64,
    /// Games given up, because no attempt finished, until a worker joins.
    pub given_up: u64,
    /// Those of them that a worker of another owner could not play.
    pub unverified: u64,
    /// Differing games that no third play has settled yet.
    pub disputed: u64,
    /// Differing games whose durable record a third play refuted.
    pub refuted: u64,
    /// Audited games whose audit ran on another process of the same owner.
    pub own: u64,
    /// Games with a fault that an audit of another owner did not have.
    pub contradicted: u64,
    /// Games with a fault that one owner alone reported, and that another one still has to audit.
    pub claims: u64,
    /// True if two owners are connected that can replay games.
    pub awaited: bool,
}

impl Audited {
    /// Games that still have to be replayed.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.due - self.agreed - self.differing - self.sampled - self.given_up
    }
}

impl Audits {
    pub(super) fn new(sample: AuditSample, games: u64) -> Self {
        let none = || Bitmap::new(games);
        Self {
            sample,
            doubted: none(),
            audited: none(),
            differing: none(),
            sampled: none(),
            refuted: none(),
            own: none(),
            contradicted: none(),
            claimed: none(),
            claims: Claims::new(games),
            ..Self::default()
        }
    }

    /// Restores the results of an earlier start; `durable` returns true for those of the settled games
    /// that are done.
    pub(super) fn restore(
        &mut self,
        before: RestoredAudits,
        settled: &Bitmap,
        durable: impl Fn(u64) -> bool,
    ) {
        let games = self.audited.bound();
        *self = Self {
            audited: before.audited,
            differing: before.differing,
            sampled: before.sampled,
            refuted: before.refuted,
            own: before.own,
            contradicted: before.contradicted,
            claimed: before.claimed,
            doubted: before.doubted,
            ..Self::new(before.sample, games)
        };
        if self.sample.ppm > 0 {
            let due = settled.iter();
            self.due = due
                .filter(|&index| durable(index) && self.counts(index))
                .count() as u64;
        }
        for (index, dispute) in before.disputes {
            let done = settled.contains(index) && durable(index);
            if done && self.differing.contains(index) && !self.refuted.contains(index) {
                self.dispute(index, dispute);
            }
        }
    }

    /// Sets the number of known games.
    pub(super) fn extend(&mut self, games: u64) {
        let sets = [&mut self.doubted, &mut self.audited, &mut self.differing];
        let more = [&mut self.sampled, &mut self.refuted, &mut self.own];
        let sets = sets.into_iter().chain(more);
        let claims = [
            &mut self.contradicted,
            &mut self.claimed,
            &mut self.claims.open,
        ];
        sets.chain(claims).for_each(|set| set.grow(games));
    }

    /// True if a game is in the sample, in doubt, or was audited under another share.
    fn counts(&self, index: u64) -> bool {
        self.audited.contains(index) || self.doubted.contains(index) || self.sample.contains(index)
    }

    pub(super) fn so_far(&self) -> Audited {
        let (differing, sampled) = (self.differing.count(), self.sampled.count());
        Audited {
            due: self.due.max(self.audited.count()),
            agreed: self.audited.count() - differing - sampled,
            differing,
            sampled,
            given_up: self.given_up(),
            unverified: self.unverified.len() as u64,
            disputed: self.disputes.len() as u64,
            refuted: self.refuted.count(),
            own: self.own.count(),
            contradicted: self.contradicted.count(),
            claims: self.claimed.count() - self.given_up_claims(),
            awaited: false,
        }
    }

    /// True if games wait to be replayed.
    pub(super) fn is_open(&self) -> bool {
        self.so_far().waiting() > 0 || self.disputes.waiting() > 0
    }

    /// Adds a game that became durable to the list, if the game is in the sample.
    pub(super) fn durable(&mut self, index: u64, by: WorkerProcess) {
        self.played_by.insert(index, by);
        if self.sample.contains(index) {
            self.due += 1;
            self.list(index, Players::one(by));
        }
    }

    /// True if a game is audited if its process is in doubt. A share of 0 means no audits at all.
    pub(super) fn is_in_doubtful_sample(&self, index: u64) -> bool {
        self.sample.ppm > 0 && self.sample.is_below(index, DOUBTFUL_PPM)
    }

    /// True if any games are audited.
    pub(super) fn has_sample(&self) -> bool {
        self.sample.ppm > 0
    }

    /// The process that played a game.
    pub(super) fn process(&self, index: u64) -> WorkerProcess {
        self.played_by.process(index)
    }

    /// Adds a durable game to the list that is not in the sample.
    pub(super) fn doubt(&mut self, index: u64) {
        if !self.counts(index) && self.doubted.insert(index) {
            self.due += 1;
            self.list(index, Players::one(self.played_by.process(index)));
        }
    }

    /// Adds the games with faults that one owner reported, because another owner is connected now: those of
    /// these processes. What the same owner audited is audited again.
    pub(super) fn doubt_claimed(&mut self, is_other: impl Fn(WorkerProcess) -> bool) {
        if self.claimed.count() == 0 {
            return;
        }
        let claimed: Vec<u64> = self.claimed.iter().collect();
        for index in claimed {
            if is_other(self.played_by.process(index)) {
                self.doubt_again(index);
            }
        }
    }

    /// As [`doubt`](Self::doubt). What the same owner audited is audited again.
    pub(super) fn doubt_again(&mut self, index: u64) {
        if self.own.contains(index) && !self.differing.contains(index) {
            for set in [&mut self.own, &mut self.audited, &mut self.sampled] {
                set.remove(index);
            }
            self.doubted.insert(index);
            self.list(index, Players::one(self.played_by.process(index)));
        } else {
            self.doubt(index);
        }
    }

    /// The games of the processes for which `is` is true.
    pub(super) fn games_where(&self, is: impl Fn(WorkerProcess) -> bool) -> Vec<u64> {
        self.played_by.games_where(is)
    }

    /// Records the process that played a durable game in an earlier start.
    pub(super) fn know_process(&mut self, index: u64, process: WorkerProcess) {
        if self.played_by.process(index) == WorkerProcess::Unknown {
            self.played_by.insert(index, process);
        }
    }

    /// Number of ranges of games whose processes are known.
    pub(super) fn player_ranges(&self) -> usize {
        self.played_by.ranges()
    }

    /// Forgets which process played each game.
    pub(super) fn forget_processes(&mut self) {
        self.played_by = PlayedBy::default();
    }

    /// The games of the processes for which `is` is true, as far as no other process has confirmed them. One of
    /// the same owner counts only if `with_own` is true.
    pub(super) fn unconfirmed(
        &self,
        is: impl Fn(WorkerProcess) -> bool,
        with_own: bool,
    ) -> Vec<u64> {
        let mut games = self.played_by.games_where(is);
        games.retain(|&index| {
            !self.audited.contains(index)
                || !with_own && self.own.contains(index)
                || self.sampled.contains(index)
                || self.disputes.contains(index)
        });
        games
    }

    fn list(&mut self, index: u64, by: Players) {
        if by.second.is_some() {
            // The number of disputes is limited.
            self.thirds.add(index, by);
        } else if self.listed.count_of(by) < LISTED_MAX {
            self.listed.add(index, by);
        }
    }

    /// Lists a disputed game for its third play. Returns false if too many are disputed.
    fn dispute(&mut self, index: u64, dispute: Dispute) -> bool {
        let players = Players::of(&dispute);
        let added = self.disputes.add(index, dispute);
        if added {
            self.list(index, players);
        }
        added
    }

    /// Disputes a game that is not being audited. Returns false if another record of it is known, or on its way.
    pub(super) fn dispute_report(&mut self, index: u64, dispute: Dispute) -> bool {
        if self.differing.contains(index)
            || self.sampled.contains(index)
            || self.out.contains_key(&index)
            || self.compared.contains_key(&index)
            || !self.dispute(index, dispute)
        {
            return false;
        }
        if !self.counts(index) {
            self.doubted.insert(index);
            self.due += 1;
        }
        self.listed.remove(index);
        self.alone.remove(index);
        self.forget_failures(index);
        self.audited.insert(index);
        self.differing.insert(index);
        true
    }

    /// Lists more games of the sample if the list is empty.
    pub(super) fn find(&mut self, durable: impl Fn(u64) -> bool) {
        let at_hand = self.alone.count + self.out.len() + self.compared.len();
        // Disputed games are audited already.
        let again = self.disputes.waiting() - self.thirds.count;
        let known = self.audited.count() + (at_hand - again) as u64 + self.given_up();
        // Listed games may be those that no connected process may replay.
        if self.due <= known + self.listed.count as u64 {
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
                || self.listed.has(index)
                || self.given_up.contains(&index);
            if !known && durable(index) {
                self.list(index, Players::one(self.played_by.process(index)));
            }
        }
    }

    /// Number of listed games that a process may replay.
    pub(super) fn listed_for(&self, auditor: &Auditor<'_>) -> usize {
        self.listed.count_for(auditor) + self.thirds.count_for(auditor)
    }

    /// Leases up to `count` games that a process may replay.
    pub(super) fn take(&mut self, count: usize, auditor: &Auditor<'_>) -> Vec<Assigned> {
        let mut taken = self.thirds.take(count, auditor);
        taken.extend(self.listed.take(count - taken.len(), auditor));
        self.assign(taken)
    }

    fn assign(&mut self, mut taken: Vec<(u64, Players)>) -> Vec<Assigned> {
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

    /// The stored sets that contain a game: audited, differing, sampled and refuted ones, those audited
    /// by the same owner, contradicted and claimed ones, and those of processes in doubt.
    pub(super) fn sets(&self, index: u64) -> [bool; 8] {
        [
            &self.audited,
            &self.differing,
            &self.sampled,
            &self.refuted,
            &self.own,
            &self.contradicted,
            &self.claimed,
            &self.doubted,
        ]
        .map(|set| set.contains(index))
    }

    /// Games whose durable record a third play refuted.
    pub(super) fn refuted(&self) -> &Bitmap {
        &self.refuted
    }
}

#[cfg(test)]
mod tests;
