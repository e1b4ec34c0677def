//! Who has which games: the accounting of the coordinator, without IO, clock,
//! thread or randomness.
//!
//! Time enters as the duration since the start. The same calls give the same
//! answers, so whole histories of losses, duplicates and restarts can be
//! played through in a test.
//!
//! A game is *waiting*, *leased* (it is in a lease), *pending* (its first record
//! is on the way to the disk) or *done*. It leaves `done` never, and `pending`
//! only for `done`. Leases live here alone; a restart forgets them, and what is
//! neither pending nor done is waiting again.

mod agent_starts;
mod audits;
mod bitmap;
mod defects;
mod failures;
mod game_queue;
mod leases;
mod leasing;
mod reports;
mod terms;
#[cfg(test)]
mod tests;
mod worker_processes;

use defects::is_injected;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use agent_starts::AgentStarts;
pub use audits::Audited;
use audits::Audits;
pub use bitmap::Bitmap;
pub use defects::Defect;
#[cfg(feature = "defects")]
pub use defects::inject;
use game_queue::GameQueue;
use leases::Leases;
pub use leasing::{LEASE_GAMES_MAX, LEASE_GAMES_MIN};
use leasing::{Pace, Worker};
pub use reports::{Report, ReportId, Reports, Sorted, Taken, Written};
pub use terms::{
    AfterGame, Ask, Assigned, Continuation, Ended, Failed, Grant, LeaseId, Progress,
    ProgressTimeouts, Settings, State, TournamentNo, Verdict, WorkerId, WorkerLoad, WorkerProcess,
};
use worker_processes::WorkerProcesses;

#[derive(Debug)]
struct Entry {
    queue: GameQueue,
    state: State,
    continuation: Continuation,
    progress_timeouts: ProgressTimeouts,
    /// Number of the grant that served it last.
    served: u64,
    pace: Pace,
}

impl Entry {
    /// Whether all its known games are durable, and it is not over.
    fn is_played(&self) -> bool {
        matches!(self.state, State::Running | State::Paused)
            && self.queue.done() == self.queue.games()
    }
}

/// The accounting of all tournaments.
#[derive(Debug)]
pub struct Ledger {
    settings: Settings,
    /// Of this start.
    boot_epoch: u64,
    /// The time, as far as it was reported.
    now: Duration,
    tournaments: BTreeMap<TournamentNo, Entry>,
    /// The running ones.
    running: BTreeSet<TournamentNo>,
    /// The finished ones with audits to come.
    auditing: BTreeSet<TournamentNo>,
    /// Where among those who asks next looks first.
    look: TournamentNo,
    workers: BTreeMap<WorkerId, Worker>,
    /// Processes that left: what they played may still be reported.
    gone: BTreeMap<WorkerId, WorkerProcess>,
    processes: WorkerProcesses,
    leases: Leases,
    tournaments_ever: TournamentNo,
    workers_ever: WorkerId,
    leases_ever: LeaseId,
}

impl Ledger {
    /// Nothing to account for yet; `boot_epoch` is of this start alone.
    #[must_use]
    pub fn new(settings: Settings, boot_epoch: u64) -> Self {
        Self {
            settings,
            boot_epoch,
            now: Duration::ZERO,
            tournaments: BTreeMap::new(),
            running: BTreeSet::new(),
            auditing: BTreeSet::new(),
            look: 0,
            workers: BTreeMap::new(),
            gone: BTreeMap::new(),
            processes: WorkerProcesses::new(settings.host_grace_period),
            leases: Leases::default(),
            tournaments_ever: 0,
            workers_ever: 0,
            leases_ever: 0,
        }
    }

    /// Adds a tournament; `done` are its durable games, its bound how many games
    /// are known.
    pub fn add(
        &mut self,
        done: Bitmap,
        state: State,
        continuation: Continuation,
        progress_timeouts: ProgressTimeouts,
    ) -> TournamentNo {
        let number = self.tournaments_ever;
        self.tournaments_ever += 1;
        let done = if is_injected(Defect::ForgetsDurable) {
            Bitmap::new(done.bound())
        } else {
            done
        };
        let audits = Audits::new(u64::from(number), self.settings.audit_ppm, done.bound());
        self.tournaments.insert(
            number,
            Entry {
                queue: GameQueue::new(done, audits),
                state,
                continuation,
                progress_timeouts,
                served: 0,
                pace: Pace::default(),
            },
        );
        self.come(number);
        self.sort_in(number);
        number
    }

    /// An earlier start had this tournament: who played it there may come back.
    pub fn goes_on(&mut self, tournament: TournamentNo) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.agents.resumed(self.now);
        }
    }

    /// Tells what follows the games of a tournament that were known: so many
    /// games there are now, never fewer than before. True where that finished it.
    pub fn extend(
        &mut self,
        tournament: TournamentNo,
        games: u64,
        continuation: Continuation,
    ) -> bool {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return false;
        };
        entry.continuation = continuation;
        entry.queue.extend(games);
        if is_injected(Defect::ForgetsAudits) {
            entry.queue.audits = Audits::new(0, 0, games);
        }
        self.sort_in(tournament);
        self.come(tournament) == AfterGame::Finished
    }

    /// Whether all known games of a tournament are durable, and it is to be reported
    /// what follows.
    #[must_use]
    pub fn is_due(&self, tournament: TournamentNo) -> bool {
        let entry = self.tournaments.get(&tournament);
        entry.is_some_and(|entry| entry.is_played() && entry.continuation == Continuation::More)
    }

    /// Goes on with the audits of an earlier start. `key` names the tournament
    /// in every start: which games are audited is drawn from it.
    pub fn restore_audits(
        &mut self,
        tournament: TournamentNo,
        key: u64,
        audited: Bitmap,
        differing: Bitmap,
    ) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.restore_audits(key, audited, differing);
        }
        self.sort_in(tournament);
    }

    /// How far the audits of a tournament are.
    #[must_use]
    pub fn audited(&self, tournament: TournamentNo) -> Option<Audited> {
        let entry = self.tournaments.get(&tournament)?;
        Some(entry.queue.audits.so_far())
    }

    /// What came of the audit of a game: whether it differed; none where it was
    /// not audited.
    #[must_use]
    pub fn came_of_audit(&self, tournament: TournamentNo, index: u64) -> Option<bool> {
        let entry = self.tournaments.get(&tournament)?;
        entry.queue.audits.came_of(index)
    }

    /// The record that a worker brought was compared with the durable one; true
    /// where that was the audit of a game.
    pub fn settle_audit(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        worker: WorkerId,
        differs: bool,
    ) -> bool {
        let entry = self.tournaments.get_mut(&tournament);
        let audit = entry.is_some_and(|entry| entry.queue.audits.settle(index, worker, differs));
        if audit {
            self.sort_in(tournament);
        }
        audit
    }

    /// The record that a worker brought for an audit has nothing to be compared
    /// with: the game is left alone until the next start.
    pub fn abandon_audit(&mut self, tournament: TournamentNo, index: u64, worker: WorkerId) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.audits.abandon(index, worker);
        }
        self.sort_in(tournament);
    }

    /// Keeps the sets of tournaments in step after one changed its state, or an
    /// audit of it its own.
    fn sort_in(&mut self, tournament: TournamentNo) {
        let entry = self.tournaments.get(&tournament);
        let state = entry.map(|entry| entry.state);
        let audits = entry.is_some_and(|entry| entry.queue.audits.so_far().waiting() > 0);
        let (runs, finished) = (
            state == Some(State::Running),
            state == Some(State::Finished),
        );
        keep(&mut self.running, tournament, runs);
        keep(&mut self.auditing, tournament, finished && audits);
        if runs || finished && audits {
            return;
        }
        if let Some(entry) = self.tournaments.get_mut(&tournament)
            && !matches!(entry.state, State::Paused | State::Held)
        {
            entry.queue.agents = AgentStarts::default();
        }
    }

    /// How far a tournament is.
    #[must_use]
    pub fn progress(&self, tournament: TournamentNo) -> Option<Progress> {
        self.tournaments.get(&tournament).map(|entry| Progress {
            state: entry.state,
            games: entry.queue.games(),
            done: entry.queue.done(),
            leased: entry.queue.leased(),
            waiting: entry.queue.waiting(),
        })
    }

    /// Games of running tournaments that wait for a worker.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.running().map(|entry| entry.queue.waiting()).sum()
    }

    fn running(&self) -> impl Iterator<Item = &Entry> {
        let running = self.running.iter();
        running.filter_map(|number| self.tournaments.get(number))
    }

    /// The time, as far as it was reported.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Leases held now.
    #[must_use]
    pub fn leases(&self) -> usize {
        self.leases.len()
    }

    /// A worker tells how many plies it has played in a lease; false where it
    /// does not have that lease (any more).
    pub fn advance(&mut self, now: Duration, worker: WorkerId, lease: LeaseId, plies: u64) -> bool {
        let Some(held) = self
            .leases
            .get_mut(lease)
            .filter(|held| held.worker == worker)
        else {
            return false;
        };
        if plies > held.plies || is_injected(Defect::BelievesCalls) {
            held.plies = plies;
            self.renew(now, lease);
        }
        true
    }

    fn renew(&mut self, now: Duration, lease: LeaseId) {
        if let Some(held) = self.leases.get(lease) {
            let progress_timeouts = self
                .tournaments
                .get(&held.tournament)
                .map_or(Duration::ZERO, |entry| entry.progress_timeouts.between);
            let deadline = now + self.settings.lease_deadline + progress_timeouts;
            self.leases.renew(lease, deadline);
        }
    }

    /// What a record of this game would be, were it reported now.
    #[must_use]
    pub fn verdict(&self, tournament: TournamentNo, index: u64) -> Verdict {
        match self.tournaments.get(&tournament) {
            Some(entry) if index < entry.queue.games() => match entry.queue.pending(index) {
                _ if entry.state == State::Cancelled && !is_injected(Defect::CountsCancelled) => {
                    Verdict::Unwanted
                }
                _ if is_injected(Defect::Adds) => Verdict::New,
                Some(first) => Verdict::Pending(first),
                None if entry.queue.is_settled(index) => Verdict::Done,
                None => Verdict::New,
            },
            _ => Verdict::Outside,
        }
    }

    /// A record of a game arrived, under this lease or a later or lost one. A
    /// first record makes the game pending.
    pub fn report(
        &mut self,
        now: Duration,
        tournament: TournamentNo,
        lease: LeaseId,
        index: u64,
        hash: [u8; 32],
    ) -> Verdict {
        let verdict = self.verdict(tournament, index);
        if verdict == Verdict::New
            && let Some(entry) = self.tournaments.get_mut(&tournament)
            && let Some(holder) = entry.queue.settle(index, hash)
        {
            if holder == lease
                && let Some(lease) = self.leases.get(lease)
            {
                entry.pace.add(now.saturating_sub(lease.since));
            }
            self.strike(now, tournament, holder, index);
        }
        self.strike(now, tournament, lease, index);
        verdict
    }

    /// Crosses a game off a lease, which ends when it has none left.
    fn strike(&mut self, now: Duration, tournament: TournamentNo, lease: LeaseId, index: u64) {
        let Some(held) = self.leases.get_mut(lease) else {
            return;
        };
        if held.tournament != tournament || !held.games.remove(&index) {
            return;
        }
        if held.audit
            && let Some(entry) = self.tournaments.get_mut(&tournament)
        {
            entry.queue.audits.reported(index, held.worker);
        }
        if held.games.is_empty() {
            let worker = held.worker;
            self.leases.remove(lease);
            if let Some(worker) = self.workers.get_mut(&worker) {
                worker.leases.remove(&lease);
            }
        } else {
            self.renew(now, lease);
        }
    }

    /// A pending record is on the disk; tells what came of it for the
    /// tournament. `by` tells who played it.
    pub fn durable(
        &mut self,
        tournament: TournamentNo,
        index: u64,
        by: WorkerProcess,
    ) -> AfterGame {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return AfterGame::Nothing;
        };
        match entry.queue.durable(index) {
            None => return AfterGame::Nothing,
            Some(true) => entry.queue.audits.durable(index, by),
            Some(false) => {}
        }
        self.come(tournament)
    }

    /// Finishes a tournament whose games are all durable.
    fn come(&mut self, tournament: TournamentNo) -> AfterGame {
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return AfterGame::Nothing;
        };
        if !entry.is_played() {
            return AfterGame::Nothing;
        }
        if entry.continuation == Continuation::More && !is_injected(Defect::EndsWithAStage) {
            return AfterGame::Due;
        }
        entry.state = State::Finished;
        self.sort_in(tournament);
        AfterGame::Finished
    }

    /// Assigns no more of its games and takes back those leased.
    pub fn pause(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        self.halt(tournament, State::Running, State::Paused)
    }

    /// Pauses a tournament until a user resumes it, even where its games are all
    /// done; gives the leases taken back.
    pub fn hold(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        let mut ended = self.halt(tournament, State::Running, State::Held);
        ended.extend(self.halt(tournament, State::Paused, State::Held));
        ended.extend(self.halt(tournament, State::Finished, State::Held));
        ended
    }

    /// Assigns games again. After [`Ledger::hold`], agents and games are tried as if
    /// none had failed, and where all games are done, tells what follows.
    pub fn resume(&mut self, tournament: TournamentNo) -> AfterGame {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            match entry.state {
                State::Paused => entry.queue.agents.wait_anew(self.now),
                State::Held => entry.queue.try_anew(),
                State::Running | State::Finished | State::Cancelled => return AfterGame::Nothing,
            }
            entry.state = State::Running;
        }
        self.sort_in(tournament);
        self.come(tournament)
    }

    /// Forgets a tournament; gives the leases taken back.
    pub fn remove(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        let ended = self.end(self.leases.of(tournament), false);
        self.tournaments.remove(&tournament);
        self.sort_in(tournament);
        ended
    }

    /// Ends it without its remaining games.
    pub fn cancel(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        let mut ended = self.halt(tournament, State::Running, State::Cancelled);
        ended.extend(self.halt(tournament, State::Paused, State::Cancelled));
        ended.extend(self.halt(tournament, State::Held, State::Cancelled));
        ended
    }

    fn halt(&mut self, tournament: TournamentNo, from: State, to: State) -> Vec<Ended> {
        match self.tournaments.get_mut(&tournament) {
            Some(entry) if entry.state == from => {
                entry.state = to;
            }
            _ => return Vec::new(),
        }
        self.sort_in(tournament);
        let leases = self.leases.of(tournament);
        self.end(leases, false)
    }
}

fn keep(set: &mut BTreeSet<TournamentNo>, tournament: TournamentNo, is_in: bool) {
    if is_in {
        set.insert(tournament);
    } else {
        set.remove(&tournament);
    }
}
