//! The work that is left, in seconds of one worker. It decides how many workers an autoscaler runs.
//!
//! By Little's law, a worker that holds `n` games, each for `t` seconds, finishes a game every `t / n`
//! seconds. Both numbers are sampled with each report: the time since the lease of its games, and the
//! games that the worker held when the report arrived.

use std::time::Duration;

use super::{LeaseId, Ledger, TournamentNo, Worker};

/// Seconds of a game in a tournament of which no game is finished. The estimate is short, because
/// the first reports correct it, and workers that were started for nothing stay for a while.
const FIRST_SECONDS: f64 = 0.01;
/// The estimate is an average over about this many games.
const WINDOW: f64 = 1_000.0;

/// The average time for which one worker is busy with a game.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GameTime {
    /// Sum of the times from the lease of a game to its report.
    took: f64,
    /// Sum of the games that the worker of each game held then.
    held: f64,
    /// Number of games in both sums.
    games: f64,
}

impl GameTime {
    fn add(&mut self, games: u64, took: Duration, held: u64) {
        let games = games as f64;
        let kept = (1.0 - games / WINDOW).max(0.0);
        let kept = if self.games + games > WINDOW {
            kept
        } else {
            1.0
        };
        self.took = self.took * kept + games * took.as_secs_f64();
        self.held = self.held * kept + games * held as f64;
        self.games = self.games * kept + games;
    }

    fn seconds(self) -> f64 {
        match self.held > 0.0 {
            true => self.took / self.held,
            false => FIRST_SECONDS,
        }
    }
}

impl Ledger {
    /// True while a tournament runs, so that a worker is needed.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.running.is_empty()
    }

    /// Estimated seconds of work of one worker until all known games of running tournaments are
    /// finished, if a worker is to have `per_worker` seconds of work. A game counts as at most
    /// `per_worker`, because more than one worker cannot play it. Leased games count as at most
    /// `per_worker` for each worker that has some, because other workers cannot play them.
    #[must_use]
    pub fn work_seconds(&self, per_worker: f64) -> f64 {
        let (mut queued, mut leased) = (0.0, 0.0);
        for entry in self.running() {
            let game = entry.game_time.seconds().min(per_worker);
            queued += entry.queue.waiting() as f64 * game;
            leased += entry.queue.leased() as f64 * game;
        }
        let is_busy = |worker: &&Worker| !worker.leases.is_empty();
        let busy = self.workers.values().filter(is_busy).count();
        queued + leased.min(busy as f64 * per_worker)
    }

    /// Measures the time of the games of a report, before it is taken.
    pub(super) fn measure(
        &mut self,
        now: Duration,
        tournament: TournamentNo,
        lease: LeaseId,
        games: u64,
    ) {
        let held = self.leases.get(lease);
        let Some(held) = held.filter(|held| held.tournament == tournament) else {
            return;
        };
        let took = now.saturating_sub(held.since);
        let load = self.load(held.worker).unwrap_or_default();
        if let Some(entry) = self.tournaments.get_mut(&tournament) {
            entry.game_time.add(games, took, load.games);
        }
    }
}
