//! The games of one tournament: settled, leased, or queued.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use arena_wire::ATTEMPTS_MAX;

use super::{
    Assigned, Bitmap, LeaseId, WorkerProcess,
    agent_starts::{AgentStarts, StartOutcome, StartOutcomes, is_given_up},
    audits::Audits,
    terms::Attempt,
};

/// After this many lost leases with other games, a game is leased alone: a game that kills
/// its workers is found, and takes no other game with it.
const LOSSES_IN_COMPANY: u32 = 3;
/// Maximum attempts at a game whose agents run on connected workers, but not all on one of
/// them. Their rests take ten minutes.
const SCATTERED: usize = 20;
/// Maximum attempts that are remembered for a game.
const ATTEMPTS_KEPT: usize = 32;
/// Number of failed processes after which a game is void.
const PROCESSES: usize = 3;
/// First rest of a game after a failed attempt. It grows fourfold, so that five attempts on
/// one process take three quarters of a minute.
const REST: Duration = Duration::from_millis(500);
const REST_MAX: Duration = Duration::from_secs(32);
/// Maximum time that a failed game waits for a process that is more likely to play it.
const CLAIM: Duration = Duration::from_secs(60);
/// The same if the requesting process has failed on the game: longer than most games, so
/// that a busy process becomes free.
const CLAIM_AGAIN: Duration = Duration::from_secs(600);
/// Maximum games that are searched for one that can be leased.
const LOOK_MAX: usize = 64;

/// The failed attempts at a game.
#[derive(Clone, Debug, Default)]
struct AttemptHistory {
    /// Attempts that count towards the cap.
    failed: Vec<Attempt>,
    /// Leases with other games that were lost.
    lost: u32,
    /// True if the game will be reported as void.
    void: bool,
    /// End of its rest, or start of its waiting time.
    since: Duration,
    /// Time of the newest failed attempt.
    tried: Duration,
}

/// Why a game returns without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnReason {
    /// Its worker could not play it.
    Failed,
    /// Its worker disconnected, or made no progress.
    Lost {
        /// True if it was the only game of its lease.
        alone: bool,
    },
    /// No failure: the tournament was paused, or the worker took no more games.
    Unplayed,
}

/// The process that requests games.
pub(super) struct LeaseRequester<'a> {
    pub(super) now: Duration,
    pub(super) process: WorkerProcess,
    /// True if another process is more likely to play a game after these attempts.
    pub(super) has_better_candidate: &'a dyn Fn(&[Attempt]) -> bool,
    /// Agents that the process charges without asking them. A game that failed because of
    /// them can be played.
    pub(super) charged: &'a [u16],
}

/// A game that returns from a lease.
pub(super) struct Returned<'a> {
    pub(super) lease: LeaseId,
    pub(super) now: Duration,
    /// The process, and the agent that did not start there.
    pub(super) attempt: Attempt,
    /// State of agents that did not start somewhere.
    pub(super) outcomes: &'a StartOutcomes,
    /// Time at which the process last played a game.
    pub(super) played: Option<Duration>,
    /// Rest of the game if the process has played none since it failed: trouble of a host
    /// that ends within minutes makes no game void.
    pub(super) rest: Duration,
    /// True if another process can still try the game after these attempts.
    pub(super) can_others_try: &'a dyn Fn(&[Attempt], &AgentStarts) -> bool,
}

/// The games of one tournament.
#[derive(Debug)]
pub(super) struct GameQueue {
    /// Games that are durable or pending.
    settled: Bitmap,
    /// Pending games, with the hash of their record.
    pending: BTreeMap<u64, [u8; 32]>,
    /// Every game below was leased or settled once.
    cursor: u64,
    /// Games that returned from a lease.
    returned: BTreeSet<u64>,
    /// Games that returned after a failure and have rested, or will be void.
    again: BTreeSet<u64>,
    /// Games to be leased alone, with their number of failures.
    suspects: BTreeSet<(u32, u64)>,
    /// Resting games, with the end of their rest.
    resting: BTreeSet<(Duration, u64)>,
    /// Where the search in `again` continues.
    look: u64,
    attempts_of: BTreeMap<u64, AttemptHistory>,
    /// Leased games.
    out: BTreeMap<u64, LeaseId>,
    /// Pending games that are void.
    voids: BTreeSet<u64>,
    /// Where agents have started and failed.
    pub(super) agents: AgentStarts,
    /// Durable games to be replayed as audits.
    pub(super) audits: Audits,
}

impl GameQueue {
    pub(super) fn new(done: Bitmap, audits: Audits) -> Self {
        Self {
            settled: done,
            pending: BTreeMap::new(),
            cursor: 0,
            returned: BTreeSet::new(),
            again: BTreeSet::new(),
            suspects: BTreeSet::new(),
            resting: BTreeSet::new(),
            look: 0,
            attempts_of: BTreeMap::new(),
            out: BTreeMap::new(),
            voids: BTreeSet::new(),
            agents: AgentStarts::default(),
            audits,
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
        self.out.len() as u64
    }

    /// Number of games that are neither settled nor leased.
    pub(super) fn waiting(&self) -> u64 {
        self.games() - self.settled.count() - self.leased()
    }

    /// Moves games whose rest has ended to `again`.
    pub(super) fn wake(&mut self, now: Duration) {
        // The last search may have ended at games that this process can play.
        let mut next = self.again.range(self.look..).skip(LOOK_MAX);
        self.look = next.next().copied().unwrap_or(0);
        while let Some(&(until, index)) = self.resting.first()
            && until <= now
        {
            self.resting.pop_first();
            self.requeue(index, now);
        }
    }

    /// A worker joined: games that will be void are tried again, unless they failed too
    /// often on any worker.
    pub(super) fn hope_again(&mut self) {
        let waiting = |index: &u64| !self.out.contains_key(index);
        let void = self
            .attempts_of
            .iter_mut()
            .filter(|(index, it)| it.void && waiting(index));
        for (&index, attempts_of) in void {
            attempts_of.hope_again();
            if !attempts_of.void
                && attempts_of.lost >= LOSSES_IN_COMPANY
                && self.again.remove(&index)
            {
                self.suspects.insert((attempts_of.count(), index));
            }
        }
    }

    /// A user resumed the tournament: failed games are tried at once, except games that may
    /// kill their workers.
    pub(super) fn try_anew(&mut self) {
        self.agents.forget();
        let resting = std::mem::take(&mut self.resting);
        let again = std::mem::take(&mut self.again);
        let failed = resting.into_iter().map(|(_, index)| index).chain(again);
        for index in failed {
            self.attempts_of.remove(&index);
            self.returned.insert(index);
        }
    }

    fn requeue(&mut self, index: u64, now: Duration) {
        let Some(attempts_of) = self.attempts_of.get_mut(&index) else {
            self.returned.insert(index);
            return;
        };
        attempts_of.since = now;
        if attempts_of.void {
            self.again.insert(index);
        } else if attempts_of.lost >= LOSSES_IN_COMPANY {
            self.suspects.insert((attempts_of.count(), index));
        } else if !attempts_of.failed.is_empty() {
            self.again.insert(index);
        } else {
            self.returned.insert(index);
        }
    }

    /// True if the process may try this failed game.
    fn may_try(&self, index: u64, requester: &LeaseRequester<'_>) -> bool {
        self.attempts_of.get(&index).is_none_or(|attempts_of| {
            let counts =
                |it: &&Attempt| it.unready.is_none_or(|of| !requester.charged.contains(&of));
            let failed = attempts_of.failed.iter().filter(counts).copied();
            let failed: Vec<Attempt> = failed.collect();
            let again = failed.iter().any(|it| it.by == requester.process);
            let claim = if again { CLAIM_AGAIN } else { CLAIM };
            attempts_of.void
                || failed.len() < attempts_of.failed.len() && failed.is_empty()
                || requester.now.saturating_sub(attempts_of.since) >= claim
                || !(requester.has_better_candidate)(&failed)
        })
    }

    /// Failed games that can be leased with others.
    fn again<'a>(&'a self, requester: &'a LeaseRequester<'_>) -> impl Iterator<Item = u64> + 'a {
        let (before, behind) = (self.again.range(..self.look), self.again.range(self.look..));
        let again = behind.chain(before).copied().take(LOOK_MAX);
        again.filter(|&index| self.may_try(index, requester))
    }

    fn suspect(&self, requester: &LeaseRequester<'_>) -> Option<(u32, u64)> {
        let mut suspects = self.suspects.iter().copied().take(LOOK_MAX);
        suspects.find(|&(_, index)| self.may_try(index, requester))
    }

    /// True if a game can be leased with others.
    pub(super) fn has_ready(&self, requester: &LeaseRequester<'_>) -> bool {
        !self.returned.is_empty()
            || self.settled.next_absent(self.cursor).is_some()
            || self.again(requester).next().is_some()
    }

    pub(super) fn has_suspect(&self, requester: &LeaseRequester<'_>) -> bool {
        self.suspect(requester).is_some()
    }

    /// Leases up to `count` games, returned games first.
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
        let assign = |index| self.assign(index, lease);
        taken.into_iter().map(assign).collect()
    }

    /// Leases one game that has to be alone.
    pub(super) fn take_suspect(
        &mut self,
        lease: LeaseId,
        requester: &LeaseRequester<'_>,
    ) -> Option<Assigned> {
        let suspect = self.suspect(requester)?;
        self.suspects.remove(&suspect);
        Some(self.assign(suspect.1, lease))
    }

    fn assign(&mut self, index: u64, lease: LeaseId) -> Assigned {
        self.out.insert(index, lease);
        Assigned {
            index,
            attempts: self
                .attempts_of
                .get(&index)
                .map_or(0, AttemptHistory::reported_attempts),
        }
    }

    /// Lists further audits once all listed ones are done.
    pub(super) fn find_audits(&mut self) {
        let (settled, pending) = (&self.settled, &self.pending);
        self.audits
            .find(|index| settled.contains(index) && !pending.contains_key(&index));
    }

    /// Restores the audits of an earlier start.
    pub(super) fn restore_audits(&mut self, key: u64, audited: Bitmap, differing: Bitmap) {
        let (settled, pending) = (&self.settled, &self.pending);
        self.audits.restore(key, audited, differing, |index| {
            settled.contains(index) && !pending.contains_key(&index)
        });
    }

    /// Takes a game back from a lease; does nothing if the lease no longer has it.
    pub(super) fn give_back(&mut self, index: u64, why: ReturnReason, back: &Returned<'_>) {
        if self.out.get(&index) != Some(&back.lease) {
            return;
        }
        self.out.remove(&index);
        if let Some(attempts_of) = self.attempts_of.get_mut(&index) {
            attempts_of.forgive(back.outcomes);
            // A worker may have joined since the game was leased.
            if attempts_of.void && (back.can_others_try)(&attempts_of.failed, &self.agents) {
                attempts_of.hope_again();
            }
        }
        let failed = matches!(
            why,
            ReturnReason::Failed | ReturnReason::Lost { alone: true }
        );
        if failed {
            let attempts_of = self.attempts_of.entry(index).or_default();
            let rest = attempts_of.fail(back, &self.agents);
            if why == ReturnReason::Failed && !attempts_of.void {
                attempts_of.since = back.now + rest;
                self.resting.insert((attempts_of.since, index));
                return;
            }
        } else if why == (ReturnReason::Lost { alone: false }) {
            self.attempts_of.entry(index).or_default().lost += 1;
        }
        self.requeue(index, back.now);
    }

    /// Failed attempts at a game.
    pub(super) fn failed(&self, index: u64) -> u32 {
        self.attempts_of
            .get(&index)
            .map_or(0, AttemptHistory::count)
    }

    /// True if a lease has this game in order to report it as void.
    pub(super) fn is_to_be_void(&self, index: u64, lease: LeaseId) -> bool {
        let void = self
            .attempts_of
            .get(&index)
            .is_some_and(|attempts_of| attempts_of.void);
        void && self.out.get(&index) == Some(&lease)
    }

    pub(super) fn is_settled(&self, index: u64) -> bool {
        self.settled.contains(index)
    }

    pub(super) fn pending(&self, index: u64) -> Option<[u8; 32]> {
        self.pending.get(&index).copied()
    }

    /// Settles a game whose first record arrived. Returns the lease that had it.
    pub(super) fn settle(&mut self, index: u64, hash: [u8; 32]) -> Option<LeaseId> {
        self.settled.insert(index);
        self.pending.insert(index, hash);
        let attempts_of = self.attempts_of.remove(&index).unwrap_or_default();
        self.returned.remove(&index);
        self.again.remove(&index);
        self.suspects.remove(&(attempts_of.count(), index));
        self.resting.remove(&(attempts_of.since, index));
        self.out.remove(&index)
    }

    /// The pending record is that of a void game.
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

/// True if the failed attempts make a game void: on several processes and not because of an
/// agent that did not start there, or very many, or no other process is left.
fn is_enough<'a>(attempts: impl Iterator<Item = &'a Attempt>, alone: bool) -> bool {
    let (mut count, mut at) = (0, Vec::new());
    for attempt in attempts {
        count += 1;
        if attempt.unready.is_none() && !at.contains(&attempt.by) {
            at.push(attempt.by);
        }
    }
    count >= ATTEMPTS_MAX && (at.len() >= PROCESSES || count >= 2 * ATTEMPTS_MAX || alone)
}

impl AttemptHistory {
    /// Adds a failed attempt. The game becomes void after failures on several processes
    /// that no agent explains, or if no other process is left. An agent that did not start
    /// counts if its fault can never be decided. Returns the rest of the game.
    fn fail(&mut self, back: &Returned<'_>, agents: &AgentStarts) -> Duration {
        let before = std::mem::replace(&mut self.tried, back.now);
        let idle = !self.failed.is_empty() && back.played.is_none_or(|at| at <= before);
        if self.failed.len() < ATTEMPTS_KEPT || !self.failed.contains(&back.attempt) {
            self.failed.push(back.attempt);
        }
        let unknown = |agent| back.outcomes.contains(&(agent, StartOutcome::Unknown));
        let counts = |it: &&Attempt| it.unready.is_none_or(unknown);
        let counting = self.failed.iter().filter(counts);
        let alone = !(back.can_others_try)(&self.failed, agents);
        let awaited = |agent| back.outcomes.contains(&(agent, StartOutcome::Waits));
        let awaits = self.failed.iter().any(|it| it.unready.is_some_and(awaited));
        let scattered = self.failed.len() >= SCATTERED && alone && !awaits;
        self.void |= scattered || is_enough(counting, alone && !awaits);
        if idle { back.rest } else { self.rest() }
    }

    /// Another process can try the game: it stays void only if it failed too often on any
    /// process.
    fn hope_again(&mut self) {
        let attempts = self.failed.iter().filter(|it| it.unready.is_none());
        self.void = is_enough(attempts, false);
    }

    /// These agents are charged without being asked, so the game can be played where they
    /// did not start.
    fn forgive(&mut self, outcomes: &StartOutcomes) {
        let counts = |it: &Attempt| it.unready.is_none_or(|agent| !is_given_up(outcomes, agent));
        self.failed.retain(counts);
        self.void &= self.count() >= ATTEMPTS_MAX;
    }

    fn count(&self) -> u32 {
        self.failed.len() as u32
    }

    fn rest(&self) -> Duration {
        (REST * (1 << (2 * (self.count() - 1)).min(8))).min(REST_MAX)
    }

    /// The number of failed attempts that a worker gets; with five the game is void.
    fn reported_attempts(&self) -> u32 {
        if self.void {
            self.count().max(ATTEMPTS_MAX)
        } else {
            self.count().min(ATTEMPTS_MAX - 2)
        }
    }
}
