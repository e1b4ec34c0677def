//! The life of a tournament in the ledger: added, extended, paused, held, resumed, finished,
//! cancelled and removed.

use std::collections::BTreeSet;

use super::{
    AfterGame, AuditSample, Bitmap, Continuation, Ended, Ledger, LedgerEntry, ProgressTimeouts,
    State, TournamentNo,
    agent_starts::AgentStarts,
    audits::Audits,
    defects::{Defect, is_injected},
    game_queue::GameQueue,
    leasing::Pace,
    overdue::PaceByOwner,
    work::GameTime,
};

/// Maximum number of ranges of games of finished tournaments whose processes are known. A lease is one range.
const PLAYERS_MAX: usize = 1 << 20;

impl Ledger {
    /// Adds a tournament. `done` is the set of its durable games, and the bound of this set is
    /// the number of known games.
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
        let sample = AuditSample::new(&[0; 32], &number.to_string(), self.settings.audit_ppm);
        let audits = Audits::new(sample, done.bound());
        self.tournaments.insert(
            number,
            LedgerEntry {
                queue: GameQueue::new(done, audits),
                state,
                continuation,
                progress_timeouts,
                served: 0,
                pace: Pace::default(),
                paces: PaceByOwner::default(),
                game_time: GameTime::default(),
            },
        );
        self.finish_if_played(number);
        self.update_sets(number);
        number
    }

    /// Marks a tournament as resumed after a restart, so that the ledger waits for its workers to
    /// return.
    pub fn goes_on(&mut self, tournament: TournamentNo) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.queue.agents.mark_resumed(self.now);
        }
    }

    /// Sets the number of known games, which never decreases, and whether more can follow.
    /// Returns true if the tournament is finished now.
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
            entry.queue.audits = Audits::new(AuditSample::default(), games);
        }
        self.update_sets(tournament);
        self.finish_if_played(tournament) == AfterGame::Finished
    }

    /// Sets the extra time that leases of a tournament may go without progress.
    pub fn set_progress_timeouts(
        &mut self,
        tournament: TournamentNo,
        progress_timeouts: ProgressTimeouts,
    ) {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.progress_timeouts = progress_timeouts;
        }
    }

    /// Updates the sets of running and auditing tournaments after a change of a tournament.
    pub(super) fn update_sets(&mut self, tournament: TournamentNo) {
        let entry = self.tournaments.get(&tournament);
        let state = entry.map(|entry| entry.state);
        let audits = entry.is_some_and(|entry| entry.queue.audits.is_open());
        let (runs, finished) = (
            state == Some(State::Running),
            state == Some(State::Finished),
        );
        set_member(&mut self.running, tournament, runs);
        set_member(&mut self.auditing, tournament, finished && audits);
        if runs || finished && audits {
            return;
        }
        if let Some(entry) = self.tournaments.get_mut(&tournament)
            && !matches!(entry.state, State::Paused | State::Held)
        {
            entry.queue.agents = AgentStarts::default();
        }
        self.bound_players(tournament, state);
    }

    /// Keeps which process played each game of finished tournaments, because it may go into quarantine later.
    /// If these are too many, those of the oldest tournaments are forgotten.
    fn bound_players(&mut self, tournament: TournamentNo, state: Option<State>) {
        let entry = self.tournaments.get_mut(&tournament);
        let ranges = match (entry, state) {
            (Some(entry), Some(State::Finished)) => entry.queue.audits.player_ranges(),
            (Some(entry), Some(State::Cancelled)) => {
                entry.queue.audits.forget_processes();
                0
            }
            _ => 0,
        };
        match ranges {
            0 => self.players.remove(&tournament),
            ranges => self.players.insert(tournament, ranges),
        };
        let mut all: usize = self.players.values().sum();
        while all > PLAYERS_MAX
            && let Some((oldest, ranges)) = self.players.pop_first()
        {
            all -= ranges;
            if let Some(entry) = self.tournaments.get_mut(&oldest) {
                entry.queue.audits.forget_processes();
            }
        }
    }

    /// Finishes a tournament if all its games are durable and no more can follow.
    pub(super) fn finish_if_played(&mut self, tournament: TournamentNo) -> AfterGame {
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
        self.update_sets(tournament);
        AfterGame::Finished
    }

    /// Pauses a tournament: takes its leases back and grants no new ones. Returns the leases
    /// taken back.
    pub fn pause(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        self.halt(tournament, &[State::Running], State::Paused)
    }

    /// Holds a tournament until a user resumes it, even if all games are done. Returns the
    /// leases taken back.
    pub fn hold(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        let from = [State::Running, State::Paused, State::Finished];
        self.halt(tournament, &from, State::Held)
    }

    /// Resumes a tournament. After [`Ledger::hold`], forgets all failures of agents and games. If
    /// all games are done, finishes the tournament, or returns that the next stage is due.
    pub fn resume(&mut self, tournament: TournamentNo) -> AfterGame {
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            match entry.state {
                State::Paused => entry.queue.agents.restart_waiting(self.now),
                State::Held => entry.queue.forget_failures(),
                State::Running | State::Finished | State::Cancelled => return AfterGame::Nothing,
            }
            entry.state = State::Running;
        }
        self.update_sets(tournament);
        self.finish_if_played(tournament)
    }

    /// Removes a tournament. Returns the leases taken back.
    pub fn remove(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        let ended = self.end(self.leases.of(tournament), false);
        self.tournaments.remove(&tournament);
        self.update_sets(tournament);
        ended
    }

    /// Cancels a tournament. Returns the leases taken back.
    pub fn cancel(&mut self, tournament: TournamentNo) -> Vec<Ended> {
        let from = [State::Running, State::Paused, State::Held];
        self.halt(tournament, &from, State::Cancelled)
    }

    /// Changes the state from one of `from`, and takes all leases back.
    fn halt(&mut self, tournament: TournamentNo, from: &[State], to: State) -> Vec<Ended> {
        match self.tournaments.get_mut(&tournament) {
            Some(entry) if from.contains(&entry.state) => entry.state = to,
            _ => return Vec::new(),
        }
        self.update_sets(tournament);
        let leases = self.leases.of(tournament);
        self.end(leases, false)
    }
}

/// Adds a tournament to a set, or removes it.
fn set_member(set: &mut BTreeSet<TournamentNo>, tournament: TournamentNo, is_in: bool) {
    if is_in {
        set.insert(tournament);
    } else {
        set.remove(&tournament);
    }
}
