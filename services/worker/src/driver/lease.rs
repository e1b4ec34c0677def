//! A lease, and whether it makes progress.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::leased::LeasedGames;

/// Maximum time without progress, in addition to the time for a move, for which a lease is kept
/// alive. After that, the coordinator waits as long as agents may take.
pub(super) const STILL_MAX: Duration = Duration::from_secs(60);

pub(super) struct Lease {
    pub(super) games: Arc<LeasedGames>,
    /// Games without a result.
    pub(super) left: usize,
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
    pub(super) fn new(games: Arc<LeasedGames>, left: usize) -> Self {
        Self {
            games,
            left,
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
    }

    /// Checks its progress.
    pub(super) fn look(&mut self, now: Instant) {
        let attended = self.games.attended();
        let (plies, is_pooled) = self.games.plies();
        self.at_work = attended.is_some() || is_pooled;
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
        let longest = { self.games.tournament.context() }
            .time_control()
            .longest_move();
        now.saturating_duration_since(self.moved) < STILL_MAX + longest
    }
}
