//! The games of one tournament: settled, leased, or waiting.

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

/// After this many losses in company a game is leased alone, so that one that
/// kills its workers is found and takes no others with it.
const LOSSES_IN_COMPANY: u32 = 3;
/// After so many attempts a game is void whose agents run here, though not all at one
/// process: ten minutes of rests.
const SCATTERED: usize = 20;
/// Beyond so many, attempts that were made before are not kept.
const ATTEMPTS_KEPT: usize = 32;
/// Where a game failed at so many processes, its attempts are enough.
const PROCESSES: usize = 3;
/// How long a game rests after its first failed attempt; each time four times as
/// long, so that five attempts at one process that plays take three quarters of a minute.
const REST: Duration = Duration::from_millis(500);
const REST_MAX: Duration = Duration::from_secs(32);
/// How long a game that failed waits at most for those who are likelier to play
/// it.
const CLAIM: Duration = Duration::from_secs(60);
/// The same where who asks has failed at it before: longer than most games take,
/// so that one who is busy gets to it.
const CLAIM_AGAIN: Duration = Duration::from_secs(600);
/// Games looked through for one that may be leased.
const LOOK_MAX: usize = 64;

/// What befell a game before.
#[derive(Clone, Debug, Default)]
struct AttemptHistory {
    /// Attempts that count towards the cap.
    failed: Vec<Attempt>,
    /// Leases in company that ended without it.
    lost: u32,
    /// It is not to be played any more, but to be void.
    void: bool,
    /// Until when it rests, or since when it waits.
    since: Duration,
    /// When it was tried last, and failed.
    tried: Duration,
}

/// Why a game comes back without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnReason {
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

/// Who asks for games.
pub(super) struct LeaseRequester<'a> {
    pub(super) now: Duration,
    pub(super) process: WorkerProcess,
    /// Whether another is likelier to play a game that failed at these.
    pub(super) has_better_candidate: &'a dyn Fn(&[Attempt]) -> bool,
    /// Agents that it charges without asking: what failed because of them need not
    /// fail again.
    pub(super) charged: &'a [u16],
}

/// A game that came back from a lease.
pub(super) struct Returned<'a> {
    pub(super) lease: LeaseId,
    pub(super) now: Duration,
    /// Who had it, and which agent did not start there.
    pub(super) attempt: Attempt,
    /// Of agents that did not start somewhere.
    pub(super) outcomes: &'a StartOutcomes,
    /// When who had it played another one last.
    pub(super) played: Option<Duration>,
    /// How long it rests where that was before it failed last: trouble of a host that
    /// ends within minutes is to make no game void.
    pub(super) rest: Duration,
    /// Whether somebody else is left to try a game after these.
    pub(super) can_others_try: &'a dyn Fn(&[Attempt], &AgentStarts) -> bool,
}

/// The games of one tournament.
#[derive(Debug)]
pub(super) struct GameQueue {
    /// Durable, or on the way to it.
    settled: Bitmap,
    /// On the way to the disk, with the hash of the record.
    pending: BTreeMap<u64, [u8; 32]>,
    /// Everything below was leased or settled once.
    cursor: u64,
    /// Leased once and come back.
    returned: BTreeSet<u64>,
    /// Come back after a failure and a rest, or to be void.
    again: BTreeSet<u64>,
    /// To be leased alone, those that failed least first.
    suspects: BTreeSet<(u32, u64)>,
    /// Come back after a failure, with the time before which they rest.
    resting: BTreeSet<(Duration, u64)>,
    /// Where in `again` the next one is looked for.
    look: u64,
    attempts_of: BTreeMap<u64, AttemptHistory>,
    /// Leased now.
    out: BTreeMap<u64, LeaseId>,
    /// On the way to the disk, and void.
    voids: BTreeSet<u64>,
    /// Where agents started, and where not.
    pub(super) agents: AgentStarts,
    /// Durable games to be played again.
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

    /// So many games are known now.
    pub(super) fn extend(&mut self, games: u64) {
        self.settled.grow(games);
        self.audits.extend(games);
    }

    /// Durable games.
    pub(super) fn done(&self) -> u64 {
        self.settled.count() - self.pending.len() as u64
    }

    /// Games leased now.
    pub(super) fn leased(&self) -> u64 {
        self.out.len() as u64
    }

    /// Games neither settled nor leased.
    pub(super) fn waiting(&self) -> u64 {
        self.games() - self.settled.count() - self.leased()
    }

    /// Wakes those that have rested, before somebody is leased games.
    pub(super) fn wake(&mut self, now: Duration) {
        // Those looked through last may not be for whoever asks next.
        let mut next = self.again.range(self.look..).skip(LOOK_MAX);
        self.look = next.next().copied().unwrap_or(0);
        while let Some(&(until, index)) = self.resting.first()
            && until <= now
        {
            self.resting.pop_first();
            self.requeue(index, now);
        }
    }

    /// Somebody came who may play what nobody who was here could: what is to be void
    /// is tried again, unless it failed often enough whoever comes.
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

    /// A user repaired what kept games from being played: those that failed are tried
    /// at once, as if they had not, but for those that may kill their workers.
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

    /// Whether a game that failed before is this one's to try.
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

    /// Games to be tried again in company.
    fn again<'a>(&'a self, requester: &'a LeaseRequester<'_>) -> impl Iterator<Item = u64> + 'a {
        let (before, behind) = (self.again.range(..self.look), self.again.range(self.look..));
        let again = behind.chain(before).copied().take(LOOK_MAX);
        again.filter(|&index| self.may_try(index, requester))
    }

    fn suspect(&self, requester: &LeaseRequester<'_>) -> Option<(u32, u64)> {
        let mut suspects = self.suspects.iter().copied().take(LOOK_MAX);
        suspects.find(|&(_, index)| self.may_try(index, requester))
    }

    /// Whether a game may be leased in company.
    pub(super) fn has_ready(&self, requester: &LeaseRequester<'_>) -> bool {
        !self.returned.is_empty()
            || self.settled.next_absent(self.cursor).is_some()
            || self.again(requester).next().is_some()
    }

    pub(super) fn has_suspect(&self, requester: &LeaseRequester<'_>) -> bool {
        self.suspect(requester).is_some()
    }

    /// Assigns up to `count` games, those that came back first.
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

    /// Assigns one game that is to be alone.
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
    pub(super) fn give_back(&mut self, index: u64, why: ReturnReason, back: &Returned<'_>) {
        if self.out.get(&index) != Some(&back.lease) {
            return;
        }
        self.out.remove(&index);
        if let Some(attempts_of) = self.attempts_of.get_mut(&index) {
            attempts_of.forgive(back.outcomes);
            // Somebody may have come while it was out.
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

    /// Attempts at a game that failed so far.
    pub(super) fn failed(&self, index: u64) -> u32 {
        self.attempts_of
            .get(&index)
            .map_or(0, AttemptHistory::count)
    }

    /// Whether a lease has this game to report it as void.
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

    /// A first record arrived; tells which lease had the game.
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

    /// The record on its way is that of a void game.
    pub(super) fn is_void(&mut self, index: u64) {
        self.voids.insert(index);
    }

    /// The record is on the disk: whether it can be held against another, that
    /// is, is not void. None where it was not on the way there.
    pub(super) fn durable(&mut self, index: u64) -> Option<bool> {
        self.pending.remove(&index)?;
        Some(!self.voids.remove(&index))
    }
}

/// Whether attempts that failed are enough: many at several processes, where none was
/// because of an agent that did not start there, very many, or where nobody is left
/// to make another.
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
    /// An attempt failed. Too many are enough where they were at several
    /// processes, and not because an agent did not start there, or where nobody
    /// else is left to try. An agent that did not start counts where nobody will
    /// ever know whose fault that was. Tells how long the game rests.
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

    /// Somebody else is left to try: it is void only where it failed often enough
    /// whoever does.
    fn hope_again(&mut self) {
        let attempts = self.failed.iter().filter(|it| it.unready.is_none());
        self.void = is_enough(attempts, false);
    }

    /// Those agents are charged without being asked: the game can be played where
    /// they did not start.
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

    /// What a worker is informed of failed attempts: with five the game is void.
    fn reported_attempts(&self) -> u32 {
        if self.void {
            self.count().max(ATTEMPTS_MAX)
        } else {
            self.count().min(ATTEMPTS_MAX - 2)
        }
    }
}
