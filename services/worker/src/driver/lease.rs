//! A lease, and whether it makes progress.

use std::{rc::Rc, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{active::GivenUp, agents::TournamentAgents};
use crate::native::{PlyCounter, PoolJob};

/// Maximum time without progress, in addition to the time for a move, for which a lease is kept
/// alive. After that, the coordinator waits as long as agents may take.
pub(super) const STILL_MAX: Duration = Duration::from_secs(60);

pub(super) struct Lease {
    pub(super) tournament: Rc<TournamentAgents>,
    /// Games without a result.
    pub(super) left: usize,
    pub(super) job: PoolJob,
    /// Plies of its games in the pool.
    pub(super) pooled: Vec<Arc<PlyCounter>>,
    pub(super) given_up: GivenUp,
    /// Signs of life that are not plies.
    pub(super) signs: u64,
    /// Its plies at the last check, and the progress of its open questions.
    plies: u64,
    attended: u64,
    /// True if something worked on a game of it then.
    at_work: bool,
    /// Time of the last progress: arrival, a ply, the end of a game.
    moved: Instant,
}

impl Lease {
    pub(super) fn new(
        tournament: Rc<TournamentAgents>,
        games: usize,
        job: PoolJob,
        given_up: GivenUp,
    ) -> Self {
        Self {
            tournament,
            left: games,
            job,
            pooled: Vec::new(),
            given_up,
            signs: 0,
            plies: 0,
            attended: 0,
            at_work: false,
            moved: Instant::now(),
        }
    }

    /// This many games are over.
    pub(super) fn settle(&mut self, games: usize) {
        self.left = self.left.saturating_sub(games);
        self.moved = Instant::now();
        self.tournament.touch();
    }

    /// Checks its progress; `attended` is the progress of its open questions, none if nothing works
    /// on them.
    pub(super) fn look(&mut self, now: Instant, attended: Option<u64>) {
        let pooled = self.pooled.iter().map(|plies| plies.get());
        let plies = self.job.plies.get() + pooled.sum::<u64>();
        self.at_work = attended.is_some() || self.pooled.iter().any(|plies| plies.is_at_work());
        let attended = attended.unwrap_or(self.attended);
        if (plies, attended) != (self.plies, self.attended) {
            (self.plies, self.attended) = (plies, attended);
            self.moved = now;
        }
    }

    pub(super) fn plies(&self) -> u64 {
        self.plies
    }

    /// Nothing works on its games: they wait behind others.
    pub(super) fn waits(&self) -> bool {
        !self.at_work
    }

    /// It made progress a short time ago: a late decision is asked again before it is charged.
    pub(super) fn moves(&self, now: Instant) -> bool {
        let time_limit = STILL_MAX + self.tournament.context().time_control().longest_move();
        now.saturating_duration_since(self.moved) < time_limit
    }
}
