//! The tournaments of a small world: the result of each game depends only on its seed and its
//! index.

use arena_coordinator::ledger::Assigned;
use arena_wire::ATTEMPTS_MAX;

use super::{
    net::{MILLI, SECOND},
    random::{Random, spread},
};

/// The result of a void game.
pub(super) const VOID: u64 = 1;
/// The result of a game that the coordinator refuses.
pub(super) const REFUSED: u64 = 4;
/// The result of a game with an agent that does not start anywhere.
pub(super) const FORFEIT: u64 = 6;
/// The reported hash of a game whose agent did not start.
pub(super) const UNREADY: u64 = 8;

/// Agents of a tournament; each game has one.
const AGENTS: u64 = 3;

/// The state of a worker's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// The host has everything.
    Good,
    /// Every attempt fails immediately.
    Bad,
    /// This agent does not start.
    Lacks(u16),
}

impl Host {
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(2) {
            0 => Self::Bad,
            _ => Self::lacking(random),
        }
    }

    pub(super) fn lacking(random: &mut Random) -> Self {
        Self::Lacks(random.below(AGENTS) as u16)
    }
}

/// The approximate number of stages.
const STAGES: u64 = 4;
/// The largest number of games of a later stage.
const STAGE_GAMES: u64 = 9;

/// A tournament.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    seed: u64,
    /// Games of all stages.
    pub(super) games: usize,
    /// Games of the first stage, if there are several. Later stages depend on results.
    first: Option<u64>,
    /// The approximate duration of a game, in microseconds.
    pace: u64,
    /// A game that kills its worker.
    pub(super) poison: Option<u64>,
    /// A game whose result the coordinator refuses.
    refused: Option<u64>,
    /// An agent that does not start anywhere.
    nowhere: Option<u16>,
    /// Whether the same games were played before in this tournament.
    pub(super) again_of: Option<usize>,
    /// Longest time without progress in addition to the default.
    pub(super) progress_timeout: u64,
}

impl Spec {
    pub(super) fn draw(random: &mut Random) -> Self {
        let few = random.permille(600);
        let games = random.between(1, if few { 12 } else { 60 });
        let first = random.permille(300).then_some(games);
        let pace = match random.below(10) {
            0..5 => random.between(MILLI / 2, 20 * MILLI),
            5..9 => random.between(20 * MILLI, 500 * MILLI),
            _ => random.between(SECOND, 6 * SECOND),
        };
        let mut spec = Self {
            seed: random.next(),
            games: games as usize,
            first,
            pace,
            poison: random.permille(40).then(|| random.below(games)),
            refused: random.permille(60).then(|| random.below(games)),
            nowhere: random.permille(30).then(|| random.below(AGENTS) as u16),
            again_of: None,
            progress_timeout: random.pick(&[0, 0, SECOND]),
        };
        let (games, _) = spec.known(|index| spec.result(index));
        spec.games = games as usize;
        spec
    }

    /// The number of games that are known from the results so far (0 means not played), and whether
    /// the tournament has no others.
    pub(super) fn known(&self, result: impl Fn(u64) -> u64) -> (u64, bool) {
        let Some(mut known) = self.first else {
            return (self.games as u64, true);
        };
        let mut came_to = 0;
        let mut from = 0;
        loop {
            for index in from..known {
                match result(index) {
                    0 => return (known, false),
                    result => came_to = spread(came_to ^ result),
                }
            }
            if came_to.is_multiple_of(STAGES) {
                return (known, true);
            }
            from = known;
            known += 1 + (came_to >> 32) % STAGE_GAMES;
        }
    }

    /// Whether later games depend on results.
    pub(super) fn has_stages(&self) -> bool {
        self.first.is_some()
    }

    pub(super) fn again(&self, of: usize) -> Self {
        Self {
            again_of: Some(of),
            ..self.clone()
        }
    }

    /// Whether a host can play the tournament. One host can play every tournament.
    pub(super) fn suits(&self, place: usize) -> bool {
        let draw = spread(!self.seed) % 1000;
        let unsuited = (draw < 100).then_some(1 + draw as usize % 3);
        unsuited != Some(place)
    }

    fn draw_of(&self, index: u64) -> u64 {
        spread(self.seed ^ spread(index))
    }

    /// The hash of a game's record.
    pub(super) fn result(&self, index: u64) -> u64 {
        if [self.poison, self.refused].contains(&Some(index)) {
            VOID
        } else if self.nowhere == Some(self.agent(index)) {
            FORFEIT
        } else {
            self.draw_of(index) | 2
        }
    }

    /// The agent that plays a game.
    pub(super) fn agent(&self, index: u64) -> u16 {
        (spread(self.draw_of(index)) % AGENTS) as u16
    }

    /// The result of an attempt; 0 if it fails.
    pub(super) fn attempt(&self, game: Assigned, host: Host, given_up: &[u16]) -> u64 {
        let agent = self.agent(game.index);
        if game.attempts >= ATTEMPTS_MAX {
            VOID
        } else if host == Host::Bad {
            0
        } else if self.refused == Some(game.index) {
            REFUSED
        } else if given_up.contains(&agent) {
            FORFEIT
        } else if host == Host::Lacks(agent) || self.nowhere == Some(agent) {
            UNREADY
        } else if game.attempts < self.failures(game.index) {
            0
        } else {
            self.result(game.index)
        }
    }

    /// The size of the result in a report: from a byte to half of the limit.
    pub(super) fn bytes(&self, index: u64) -> usize {
        1 << (self.draw_of(index) % 22)
    }

    pub(super) fn takes(&self, index: u64) -> u64 {
        self.pace / 2 + self.draw_of(index) % self.pace
    }

    /// The number of failing attempts at a game.
    fn failures(&self, index: u64) -> u32 {
        let draw = (self.draw_of(index) >> 32) % 1000;
        if draw < 15 { (draw % 3) as u32 + 1 } else { 0 }
    }

    /// The standings: a fold over results in index order.
    pub(super) fn standings(results: impl Iterator<Item = u64>) -> (u64, [u64; 3]) {
        let mut table = (0, [0; 3]);
        for result in results {
            table.0 = spread(table.0 ^ result);
            table.1[(result % 3) as usize] += 1;
        }
        table
    }
}
