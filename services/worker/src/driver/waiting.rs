//! Leased games that did not start: one queue for each tournament, which take turns.

use std::{collections::VecDeque, rc::Rc};

use arena_wire::{ATTEMPTS_MAX, v1};

use super::agents::TournamentAgents;

/// Maximum games of a tournament searched for one whose agents have time.
const LOOK: usize = 256;
/// Number of games that cannot start after which no more are requested.
const BLOCKED: usize = 8;

pub(super) struct Waiting {
    pub(super) lease: u64,
    pub(super) tournament: Rc<TournamentAgents>,
    pub(super) game: v1::GameAssignment,
}

impl Waiting {
    /// True if it may start. Games without questions to agents always may. Games with an agent
    /// that never answered here may if there is a place for `untried` agents.
    fn has_room(&self, untried: bool) -> bool {
        let Self {
            tournament, game, ..
        } = self;
        game.attempts >= ATTEMPTS_MAX
            || tournament.is_native(game)
            || tournament.has_room(game) && (untried || !tournament.is_untried(game))
    }
}

/// The games of a tournament, in the order of their leases.
struct Queue {
    tournament: Rc<TournamentAgents>,
    games: VecDeque<Waiting>,
    /// True if its agents have no time.
    blocked: bool,
}

impl Queue {
    /// True if enough of its games cannot start before others end: another worker may have time
    /// for more.
    fn is_sated(&self) -> bool {
        self.blocked && self.games.len() >= self.tournament.playing().max(BLOCKED)
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
    pub(super) fn add(
        &mut self,
        tournament: &Rc<TournamentAgents>,
        games: impl Iterator<Item = Waiting>,
    ) {
        let mut queues = self.queues.iter_mut();
        match queues.find(|queue| Rc::ptr_eq(&queue.tournament, tournament)) {
            Some(queue) => queue.games.extend(games),
            None => self.queues.push_back(Queue {
                tournament: tournament.clone(),
                games: games.collect(),
                blocked: false,
            }),
        }
    }

    /// Agents may have time again.
    pub(super) fn unblock(&mut self) {
        self.queues.retain(|queue| !queue.games.is_empty());
        for queue in &mut self.queues {
            queue.blocked = false;
        }
    }

    /// Takes a game that may start, of the next tournament that has one.
    pub(super) fn take(&mut self, untried: bool) -> Option<Waiting> {
        for _ in 0..self.queues.len() {
            self.queues.rotate_left(1);
            let Some(queue) = self.queues.back_mut().filter(|queue| !queue.blocked) else {
                continue;
            };
            let mut looked = queue.games.iter().take(LOOK);
            match looked.position(|it| it.has_room(untried)) {
                Some(place) => return queue.games.remove(place),
                None => queue.blocked = !queue.games.is_empty(),
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

    /// Drops the games of a lease.
    pub(super) fn remove_lease(&mut self, lease: u64) {
        for queue in &mut self.queues {
            queue.games.retain(|game| game.lease != lease);
        }
    }

    /// Removes all games.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Waiting> + use<> {
        std::mem::take(&mut self.queues)
            .into_iter()
            .flat_map(|queue| queue.games)
    }

    /// Number of games of tournaments whose agents have no time for more games.
    pub(super) fn sated(&self) -> usize {
        let sated = self.queues.iter().filter(|queue| queue.is_sated());
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
