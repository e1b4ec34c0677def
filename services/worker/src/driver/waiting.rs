//! Leased games that did not start: one queue for each tournament, which take turns. All drivers
//! take games from these queues.

use std::{collections::VecDeque, sync::Arc};

use arena_wire::v1;

use super::leased::{LeasedGames, SharedTournament};

/// Maximum games of a tournament searched for one whose agents have time.
const LOOK: usize = 256;
/// Number of games that cannot start after which no more are requested.
const BLOCKED: usize = 8;

pub(super) struct Waiting {
    pub(super) lease: Arc<LeasedGames>,
    pub(super) game: v1::GameAssignment,
}

/// The games of a tournament, in the order of their leases.
struct Queue {
    tournament: Arc<SharedTournament>,
    games: VecDeque<Waiting>,
    /// One bit for each driver: set if the agents of this driver have no time.
    blocked: u64,
}

impl Queue {
    /// True if enough of its games cannot start before others end: another worker may have time
    /// for more.
    fn is_sated(&self) -> bool {
        let active = self.tournament.active_drivers();
        self.blocked & active == active
            && self.games.len() >= self.tournament.playing().max(BLOCKED)
    }
}

/// All games that did not start.
#[derive(Default)]
pub(super) struct WaitingGames {
    queues: VecDeque<Queue>,
}

impl WaitingGames {
    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.games.len()).sum()
    }

    /// Adds games of a tournament.
    pub(super) fn add(&mut self, lease: &Arc<LeasedGames>, games: Vec<v1::GameAssignment>) {
        let games = games.into_iter().map(|game| Waiting {
            lease: lease.clone(),
            game,
        });
        let mut queues = self.queues.iter_mut();
        match queues.find(|queue| Arc::ptr_eq(&queue.tournament, &lease.tournament)) {
            Some(queue) => queue.games.extend(games),
            None => self.queues.push_back(Queue {
                tournament: lease.tournament.clone(),
                games: games.collect(),
                blocked: 0,
            }),
        }
    }

    /// The agents of a driver may have time again.
    pub(super) fn unblock(&mut self, driver: usize) {
        self.queues.retain(|queue| !queue.games.is_empty());
        for queue in &mut self.queues {
            queue.blocked &= !(1 << driver);
        }
    }

    /// Tournaments with games that wait, which a driver plays.
    pub(super) fn tournaments_of(
        &self,
        driver: usize,
    ) -> impl Iterator<Item = &Arc<SharedTournament>> {
        let tournaments = self.queues.iter().map(|queue| &queue.tournament);
        tournaments.filter(move |tournament| tournament.is_active(driver))
    }

    /// Takes a game that may start on a driver, of the next tournament that has one. The driver
    /// decides with `may_start`, which also gets the number of games that wait. If the worker has no
    /// place, games that may not start show nothing about their agents.
    pub(super) fn take(
        &mut self,
        driver: usize,
        has_place: bool,
        may_start: impl Fn(&Waiting, usize) -> bool,
    ) -> Option<Waiting> {
        for _ in 0..self.queues.len() {
            self.queues.rotate_left(1);
            let open = |queue: &&mut Queue| {
                queue.tournament.is_active(driver) && queue.blocked & (1 << driver) == 0
            };
            let Some(queue) = self.queues.back_mut().filter(open) else {
                continue;
            };
            let waiting = queue.games.len();
            let mut looked = queue.games.iter().take(LOOK);
            match looked.position(|it| may_start(it, waiting)) {
                Some(place) => return queue.games.remove(place),
                None if waiting > 0 && has_place => queue.blocked |= 1 << driver,
                None => {}
            }
        }
        None
    }

    /// Takes another game of the tournament whose turn it was, if it is the next one and fits.
    pub(super) fn take_another(
        &mut self,
        fits: impl FnOnce(&mut Waiting) -> bool,
    ) -> Option<Waiting> {
        self.queues.back_mut()?.games.pop_front_if(fits)
    }

    /// Tournaments with games that wait because the agents of a driver have no time.
    pub(super) fn blocked(&self, driver: usize) -> impl Iterator<Item = &Arc<SharedTournament>> {
        let blocked = move |queue: &&Queue| queue.blocked & (1 << driver) != 0;
        self.queues.iter().filter(blocked).map(|it| &it.tournament)
    }

    /// Drops the games of a lease.
    pub(super) fn remove_lease(&mut self, lease: u64) {
        for queue in &mut self.queues {
            queue.games.retain(|game| game.lease.number != lease);
        }
    }

    /// Removes all games.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Waiting> + use<> {
        std::mem::take(&mut self.queues)
            .into_iter()
            .flat_map(|queue| queue.games)
    }

    /// Number of games of tournaments whose agents have no time for more games, or whose jobs in
    /// the pool are stuck.
    pub(super) fn sated(&self, is_stuck: impl Fn(&Arc<SharedTournament>) -> bool) -> usize {
        let sated = |queue: &&Queue| queue.is_sated() || is_stuck(&queue.tournament);
        let sated = self.queues.iter().filter(sated);
        sated.map(|queue| queue.games.len()).sum()
    }

    /// These tournaments.
    pub(super) fn sated_tournaments(&self) -> Vec<String> {
        let sated = self.queues.iter().filter(|queue| queue.is_sated());
        sated
            .map(|queue| queue.tournament.context().tournament_id().to_owned())
            .collect()
    }
}
