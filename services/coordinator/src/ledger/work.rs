//! The work that is left, in seconds of one worker. It decides how many workers an autoscaler runs.
//!
//! The time of a worker between two reports is divided among its tournaments by the games that it plays.
//! The time of a tournament, divided by its games, is the time for which one worker is busy with a game.
//! A worker that plays many games at once needs as long for the first one as for many of them, so at its
//! first report, each game that it is playing counts half.

use std::{collections::BTreeMap, time::Duration};

use super::{LeaseId, Ledger, TournamentNo, Worker};

/// Seconds of a game in a tournament of which no game is finished. The estimate is short, because
/// the first reports correct it, and workers that were started for nothing stay for a while.
const FIRST_SECONDS: f64 = 0.01;
/// The estimate is an average over about this many games, or over so many seconds of workers, if that is
/// longer: the reports of quick games come in bursts.
const WINDOW_GAMES: f64 = 1_000.0;
const WINDOW_SECONDS: f64 = 10.0;

/// The average time for which one worker is busy with a game.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GameTime {
    /// Seconds of workers.
    busy: f64,
    games: f64,
}

impl GameTime {
    /// Adds games, whose time was added before. Earlier ones lose weight.
    fn add_games(&mut self, games: f64) {
        self.games += games;
        if self.games > WINDOW_GAMES && self.busy > WINDOW_SECONDS {
            let kept = (WINDOW_GAMES / self.games).max(WINDOW_SECONDS / self.busy);
            self.busy *= kept;
            self.games *= kept;
        }
    }

    fn seconds(self) -> f64 {
        match self.games > 0.0 {
            true => self.busy / self.games,
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

    /// Measures the time of a worker until a report with so many new games, before the report is taken.
    pub(super) fn measure(
        &mut self,
        now: Duration,
        tournament: TournamentNo,
        lease: LeaseId,
        games: usize,
    ) {
        let reported = self.leases.get(lease);
        let Some(reported) = reported.filter(|it| it.tournament == tournament) else {
            return;
        };
        let Some(worker) = self.workers.get_mut(&reported.worker) else {
            return;
        };
        let mut playing: BTreeMap<TournamentNo, usize> = BTreeMap::new();
        for lease in worker.leases.iter().filter_map(|id| self.leases.get(*id)) {
            let games = playing.entry(lease.tournament).or_default();
            *games = (*games + lease.games.len()).min(worker.capacity);
        }
        let busy = now.saturating_sub(worker.measured).as_secs_f64();
        worker.measured = now;
        let all: usize = playing.values().sum();
        for (number, playing) in &playing {
            if let Some(entry) = self.tournaments.get_mut(number) {
                entry.game_time.busy += busy * *playing as f64 / all as f64;
            }
        }
        let Some(entry) = self.tournaments.get_mut(&tournament) else {
            return;
        };
        let playing = playing.get(&tournament).copied().unwrap_or(0);
        let begun = match worker.reported == 0 || entry.game_time.games == 0.0 {
            true => playing.saturating_sub(games),
            false => 0,
        };
        if games > 0 {
            entry.game_time.add_games(games as f64 + begun as f64 / 2.0);
        }
    }
}
