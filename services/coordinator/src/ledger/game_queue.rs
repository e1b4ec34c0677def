//! The games of one tournament: settled, leased, or queued.
//!
//! | What happened to a game | Consequence |
//! |---|---|
//! | its worker could not play it | it rests, then other processes try it first |
//! | a lease of this and other games was lost, for the third time | it is leased alone |
//! | five attempts failed on at least three processes, or ten attempts on fewer | it is void |
//! | twenty attempts failed, also because agents did not start, and no other process can play it | it is void |
//!
//! [`AgentStarts`] handles attempts in which an agent did not start. Such attempts count here only
//! if it can never be decided whether the agent is at fault.

mod attempts;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use arena_wire::ATTEMPTS_MAX;

use super::{
    Assigned, Bitmap, LeaseId, RestoredAudits, WorkerProcess,
    agent_starts::{AgentStarts, StartOutcomes},
    audits::Audits,
    defects::{Defect, is_injected},
    overdue::Overdue,
    terms::Attempt,
    worker_processes::WorkerProcesses,
};
use attempts::AttemptHistory;

/// Maximum number of failed games that one request searches.
const LOOK_MAX: usize = 64;

/// Why a game returns without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnReason {
    /// The worker could not play the game.
    Failed,
    /// The worker disconnected, or made no progress.
    Lost {
        /// True if the lease had no other game.
        alone: bool,
    },
    /// No failure: the tournament was paused, or the worker left or dropped the lease.
    Unplayed,
}

/// The process that requests games.
pub(super) struct LeaseRequester<'a> {
    pub(super) now: Duration,
    pub(super) process: WorkerProcess,
    pub(super) processes: &'a WorkerProcesses,
    /// State of agents that did not start somewhere.
    outcomes: StartOutcomes,
    /// Agents that the process charges without a question. A game that failed because of them can
    /// be played by this process.
    pub(super) charged: Vec<u16>,
}

impl<'a> LeaseRequester<'a> {
    /// The state of a process that requests games of this queue.
    pub(super) fn new(
        now: Duration,
        process: WorkerProcess,
        queue: &GameQueue,
        processes: &'a WorkerProcesses,
    ) -> Self {
        let outcomes = queue.agents.outcomes(now, processes);
        let charged = queue.agents.charged_at(process, &outcomes);
        Self {
            now,
            process,
            processes,
            outcomes,
            charged,
        }
    }
}

/// A game that returns from a lease.
pub(super) struct Returned<'a> {
    pub(super) processes: &'a WorkerProcesses,
    pub(super) lease: LeaseId,
    /// True if the lease was to replay durable games.
    pub(super) audit: bool,
    pub(super) now: Duration,
    /// The attempt, if the lease failed.
    pub(super) attempt: Attempt,
    /// True if workers of one owner made all attempts, and another owner has not tried the game: it does not
    /// rest, so that one owner cannot hold it up.
    pub(super) is_passed_on: bool,
    pub(super) grace_period: Duration,
}

/// A leased game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leased {
    pub(super) lease: LeaseId,
    pub(super) process: WorkerProcess,
    /// True if the worker has to report the game as void.
    void: bool,
}

/// The games of one tournament.
#[derive(Debug, Default)]
pub(super) struct GameQueue {
    /// Games that are durable or pending.
    settled: Bitmap,
    /// Pending games, with the hash of their record.
    pending: BTreeMap<u64, [u8; 32]>,
    /// Every game with a lower index has been leased or settled at least once.
    cursor: u64,
    /// Games that returned from a lease without a failure.
    returned: BTreeSet<u64>,
    /// Failed games whose rest has ended.
    again: BTreeSet<u64>,
    /// Games to be leased alone, with their number of failures.
    suspects: BTreeSet<(u32, u64)>,
    /// Resting games, with the end of their rest.
    resting: BTreeSet<(Duration, u64)>,
    /// The game in `again` at which the search continues.
    look: u64,
    histories: BTreeMap<u64, AttemptHistory>,
    pub(super) leased: BTreeMap<u64, Leased>,
    pub(super) overdue: Overdue,
    /// Pending games that are void.
    voids: BTreeSet<u64>,
    /// The processes on which agents have started or failed.
    pub(super) agents: AgentStarts,
    /// Durable games to be replayed as audits.
    pub(super) audits: Audits,
}

impl GameQueue {
    pub(super) fn new(done: Bitmap, audits: Audits) -> Self {
        Self {
            settled: done,
            audits,
            ..Self::default()
        }
    }

    pub(super) fn games(&self) -> u64 {
        self.settled.bound()
    }

    /// Sets the number of known games.
    pub(super) fn extend(&mut self, games: u64) {
        self.settled.grow(games);
        self.audits.extend(games);
    }

    /// Number of durable games.
    pub(super) fn done(&self) -> u64 {
        self.settled.count() - self.pending.len() as u64
    }

    /// Number of leased games.
    pub(super) fn leased(&self) -> u64 {
        self.leased.len() as u64
    }

    /// Number of games that are neither settled nor leased.
    pub(super) fn waiting(&self) -> u64 {
        self.games() - self.settled.count() - self.leased()
    }

    /// Moves games whose rest has ended to `again`, and continues the search there with other games.
    pub(super) fn wake(&mut self, now: Duration) {
        // Each request searches the next games, so that every game is considered.
        let mut next = self.again.range(self.look..).skip(LOOK_MAX);
        self.look = next.next().copied().unwrap_or(0);
        while let Some(&(until, index)) = self.resting.first()
            && until <= now
        {
            self.resting.pop_first();
            self.requeue(index);
        }
    }

    /// Forgets all failures, because a user resumed the tournament: failed games can be leased at
    /// once. Games that may kill their workers are still leased alone.
    pub(super) fn forget_failures(&mut self) {
        self.agents.forget();
        let resting = std::mem::take(&mut self.resting);
        let again = std::mem::take(&mut self.again);
        let failed = resting.into_iter().map(|(_, index)| index).chain(again);
        for index in failed {
            self.histories.remove(&index);
            self.returned.insert(index);
        }
    }

    fn requeue(&mut self, index: u64) {
        match self.histories.get(&index) {
            Some(history) if history.is_suspect() => {
                self.suspects.insert((history.count(), index));
            }
            Some(history) if !history.failed.is_empty() => {
                self.again.insert(index);
            }
            _ => {
                self.returned.insert(index);
            }
        }
    }

    /// True if the process may try this failed game.
    pub(super) fn may_try(&self, index: u64, requester: &LeaseRequester<'_>) -> bool {
        let Some(history) = self.histories.get(&index) else {
            return true;
        };
        let processes = requester.processes;
        let tried = history.without(|agent| requester.charged.contains(&agent));
        let is_better = || {
            processes.has_better_candidate(requester.process, &tried, &self.agents)
                || processes.is_tried_by_own(requester.process, &tried)
                    && processes.has_other_owner_sound(&tried, &self.agents)
        };
        is_injected(Defect::ForgetsWhoFailed)
            || !is_better()
            || requester.now >= history.since + processes.grace_period
            || history.is_void(requester, &self.agents)
    }

    /// Failed games that this process may try, in the order of the search.
    fn again<'a>(&'a self, requester: &'a LeaseRequester<'_>) -> impl Iterator<Item = u64> + 'a {
        let (before, behind) = (self.again.range(..self.look), self.again.range(self.look..));
        let again = behind.chain(before).copied().take(LOOK_MAX);
        again.filter(|&index| self.may_try(index, requester))
    }

    /// A game that has to be leased alone, with its number of failures.
    pub(super) fn suspect(&self, requester: &LeaseRequester<'_>) -> Option<(u32, u64)> {
        let mut suspects = self.suspects.iter().copied().take(LOOK_MAX);
        suspects.find(|&(_, index)| self.may_try(index, requester))
    }

    /// True if a game has to be leased alone.
    pub(super) fn is_suspect(&self, index: u64) -> bool {
        let history = self.histories.get(&index);
        history.is_some_and(AttemptHistory::is_suspect)
    }

    /// True if a game can be leased with others.
    pub(super) fn has_ready(&self, requester: &LeaseRequester<'_>) -> bool {
        !self.returned.is_empty()
            || self.settled.next_absent(self.cursor).is_some()
            || self.again(requester).next().is_some()
    }

    /// Leases up to `count` games: failed games first, then returned games, then new ones.
    pub(super) fn take(
        &mut self,
        count: usize,
        lease: LeaseId,
        requester: &LeaseRequester<'_>,
    ) -> Vec<Assigned> {
        let mut taken: Vec<u64> = self.again(requester).take(count).collect();
        for index in &taken {
            self.again.remove(index);
        }
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
            taken.push(index);
        }
        let assign = |index| self.assign(index, lease, requester);
        taken.into_iter().map(assign).collect()
    }

    /// Leases one game that has to be leased alone.
    pub(super) fn take_suspect(
        &mut self,
        lease: LeaseId,
        requester: &LeaseRequester<'_>,
    ) -> Option<Assigned> {
        let suspect = self.suspect(requester)?;
        self.suspects.remove(&suspect);
        Some(self.assign(suspect.1, lease, requester))
    }

    pub(super) fn assign(
        &mut self,
        index: u64,
        lease: LeaseId,
        requester: &LeaseRequester<'_>,
    ) -> Assigned {
        let history = self.histories.get(&index);
        let void = history.is_some_and(|history| history.is_void(requester, &self.agents));
        let process = requester.process;
        let leased = Leased {
            lease,
            process,
            void,
        };
        self.leased.insert(index, leased);
        let failed = history.map_or(0, |history| history.unexplained(&requester.outcomes));
        let attempts = match void {
            true => failed.max(ATTEMPTS_MAX),
            false => failed.min(ATTEMPTS_MAX - 2),
        };
        Assigned { index, attempts }
    }

    /// Lists further audits once all listed ones are done.
    pub(super) fn find_audits(&mut self) {
        let (settled, pending) = (&self.settled, &self.pending);
        self.audits
            .find(|index| settled.contains(index) && !pending.contains_key(&index));
    }

    /// Restores the audits of an earlier start.
    pub(super) fn restore_audits(&mut self, before: RestoredAudits) {
        let (settled, pending) = (&self.settled, &self.pending);
        self.audits
            .restore(before, settled, |index| !pending.contains_key(&index));
    }

    /// Takes a game back from a lease; does nothing if the lease no longer has it.
    pub(super) fn give_back(&mut self, index: u64, why: ReturnReason, back: &Returned<'_>) {
        if back.audit {
            match why {
                // These attempts are counted, so the audit of a game that kills its workers ends.
                ReturnReason::Lost { alone: true } | ReturnReason::Failed => {
                    let by = back.attempt.by;
                    self.audits.fail(index, by, back.processes, &self.agents);
                }
                ReturnReason::Lost { alone: false } => self.audits.lose(index),
                ReturnReason::Unplayed => self.audits.give_back(index),
            }
            return;
        }
        match self.leased.get(&index) {
            Some(leased) if leased.lease == back.lease => {
                self.overdue.unmark(index, leased.process);
                self.leased.remove(&index);
            }
            _ => {
                self.overdue.end_earlier(index, back.lease);
                return;
            }
        }
        match why {
            ReturnReason::Unplayed => {}
            ReturnReason::Lost { alone: false } => {
                self.histories.entry(index).or_default().lost += 1;
            }
            ReturnReason::Lost { alone: true } | ReturnReason::Failed => {
                let history = self.histories.entry(index).or_default();
                history.add(back.attempt);
                history.since = back.now;
                if why == ReturnReason::Failed && !back.is_passed_on {
                    history.since += history.rest().min(back.grace_period / 10);
                    self.resting.insert((history.since, index));
                    return;
                }
            }
        }
        self.requeue(index);
    }

    /// The failed attempts at a game.
    pub(super) fn attempts(&self, index: u64) -> Vec<Attempt> {
        let history = self.histories.get(&index);
        history.map_or_else(Vec::new, |history| history.without(|_| false))
    }

    /// Number of failed attempts at a game, without those that a given-up agent explains.
    pub(super) fn failed(&self, index: u64, outcomes: &StartOutcomes) -> u32 {
        let history = self.histories.get(&index);
        history.map_or(0, |history| history.unexplained(outcomes))
    }

    /// True if this game is in the lease only to be reported as void.
    pub(super) fn is_to_be_void(&self, index: u64, lease: LeaseId) -> bool {
        let leased = self.leased.get(&index);
        leased.is_some_and(|leased| leased.lease == lease && leased.void)
    }

    pub(super) fn is_settled(&self, index: u64) -> bool {
        self.settled.contains(index)
    }

    pub(super) fn pending(&self, index: u64) -> Option<[u8; 32]> {
        self.pending.get(&index).copied()
    }

    /// Settles a game whose first record arrived. Returns the lease that had it, and earlier ones of
    /// an overdue game.
    pub(super) fn settle(&mut self, index: u64, hash: [u8; 32]) -> (Option<LeaseId>, Vec<LeaseId>) {
        self.settled.insert(index);
        self.pending.insert(index, hash);
        let history = self.histories.remove(&index).unwrap_or_default();
        self.returned.remove(&index);
        self.again.remove(&index);
        self.suspects.remove(&(history.count(), index));
        self.resting.remove(&(history.since, index));
        let leased = self.leased.remove(&index);
        if let Some(leased) = leased {
            self.overdue.unmark(index, leased.process);
        }
        let earlier = self.overdue.settle(index);
        (leased.map(|it| it.lease), earlier)
    }

    /// Marks the pending record as that of a void game.
    pub(super) fn mark_void(&mut self, index: u64) {
        self.voids.insert(index);
    }

    /// Marks a pending game as durable. Returns false for a void game, which cannot be
    /// compared, and none if the game was not pending.
    pub(super) fn durable(&mut self, index: u64) -> Option<bool> {
        self.pending.remove(&index)?;
        Some(!self.voids.remove(&index))
    }
}
