//! The tournaments of a small world: what each game comes to depends on its
//! seed and index alone.

use arena_wire::ATTEMPTS_MAX;

use super::{
    net::{MILLI, SECOND},
    random::{Random, spread},
};

/// The result of a game that is void.
pub(super) const VOID: u64 = 1;
/// The result of a game that the coordinator refuses.
pub(super) const REFUSED: u64 = 4;

/// A tournament.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    seed: u64,
    pub(super) games: usize,
    /// What a game takes about, in microseconds.
    pace: u64,
    /// A game that kills whoever plays it.
    pub(super) poison: Option<u64>,
    /// A game whose result the coordinator refuses.
    refused: Option<u64>,
    /// The same games were played before in this tournament.
    pub(super) again_of: Option<usize>,
    /// Longest time without progress beyond the usual.
    pub(super) patience: u64,
}

impl Spec {
    pub(super) fn draw(random: &mut Random) -> Self {
        let games = if random.permille(600) {
            random.between(1, 12)
        } else {
            random.between(1, 60)
        };
        let pace = match random.below(10) {
            0..5 => random.between(MILLI / 2, 20 * MILLI),
            5..9 => random.between(20 * MILLI, 500 * MILLI),
            _ => random.between(SECOND, 6 * SECOND),
        };
        Self {
            seed: random.next(),
            games: games as usize,
            pace,
            poison: random.permille(15).then(|| random.below(games)),
            refused: random.permille(30).then(|| random.below(games)),
            again_of: None,
            patience: random.pick(&[0, 0, SECOND]),
        }
    }

    pub(super) fn again(&self, of: usize) -> Self {
        Self {
            again_of: Some(of),
            ..self.clone()
        }
    }

    fn draw_of(&self, index: u64) -> u64 {
        spread(self.seed ^ spread(index))
    }

    /// The hash of the record that a game comes to.
    pub(super) fn result(&self, index: u64) -> u64 {
        if [self.poison, self.refused].contains(&Some(index)) {
            VOID
        } else {
            self.draw_of(index) | 2
        }
    }

    /// What an attempt comes to.
    pub(super) fn attempt(&self, index: u64, attempts: u32) -> u64 {
        if self.refused == Some(index) && attempts < ATTEMPTS_MAX {
            REFUSED
        } else {
            self.result(index)
        }
    }

    /// How large its result is in a report: from a byte to half of what one
    /// may have.
    pub(super) fn bytes(&self, index: u64) -> usize {
        1 << (self.draw_of(index) % 22)
    }

    pub(super) fn takes(&self, index: u64) -> u64 {
        self.pace / 2 + self.draw_of(index) % self.pace
    }

    /// How many attempts at a game fail.
    pub(super) fn failures(&self, index: u64) -> u32 {
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
