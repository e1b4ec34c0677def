//! The games of a worker.

use std::{collections::VecDeque, rc::Rc};

use arena_coordinator::ledger::Assigned;
use arena_worker::protocol::{LeaseNo, Playing, Progress};

pub(super) struct Game {
    pub(super) lease: LeaseNo,
    pub(super) tournament: usize,
    pub(super) game: Assigned,
    /// Agents that do not start anywhere, as far as it knows.
    pub(super) given_up: Rc<[u16]>,
    /// The event that ends the game; 0 before it begins.
    pub(super) token: u64,
}

pub(super) struct Held {
    pub(super) lease: LeaseNo,
    pub(super) plies: u64,
    pub(super) left: usize,
}

/// The leased games.
#[derive(Default)]
pub(super) struct Hand {
    pub(super) capacity: usize,
    pub(super) held: Vec<Held>,
    pub(super) waiting: VecDeque<Game>,
    pub(super) playing: Vec<Game>,
    pub(super) tokens: u64,
    /// Leases whose games do not end until they are dropped.
    pub(super) stuck: Vec<LeaseNo>,
}

impl Playing for Hand {
    fn unfinished(&self) -> usize {
        self.waiting.len() + self.playing.len()
    }

    fn is_done(&self) -> bool {
        self.held.is_empty()
    }

    fn progress(&mut self) -> Vec<Progress> {
        let stuck = &self.stuck;
        let playing = &self.playing;
        let plays = self.playing.iter().any(|it| !stuck.contains(&it.lease));
        let shown = |held: &mut Held| {
            held.plies += u64::from(plays && !stuck.contains(&held.lease));
            Progress {
                lease: held.lease,
                reported: held.plies,
                plies: held.plies,
                waits: !playing.iter().any(|it| it.lease == held.lease),
            }
        };
        self.held.iter_mut().map(shown).collect()
    }
}

impl Hand {
    pub(super) fn settle(&mut self, lease: LeaseNo, games: usize) {
        if let Some(place) = self.held.iter().position(|held| held.lease == lease) {
            let held = &mut self.held[place];
            held.plies += games as u64;
            held.left -= games;
            if held.left == 0 {
                self.held.remove(place);
            }
        }
    }

    pub(super) fn drop_waiting(&mut self) {
        for game in std::mem::take(&mut self.waiting) {
            self.settle(game.lease, 1);
        }
    }

    pub(super) fn drop_lease(&mut self, lease: LeaseNo) {
        self.held.retain(|held| held.lease != lease);
        self.waiting.retain(|game| game.lease != lease);
        self.playing.retain(|game| game.lease != lease);
    }
}
