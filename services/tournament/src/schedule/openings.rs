//! The opening of each block of a group.

use arena_model::{TournamentSeed, engine::AgentRng};

/// The order in which groups have the openings.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpeningOrder {
    /// Number of openings.
    pub(super) size: u64,
    word: u64,
}

impl OpeningOrder {
    /// The order of `size` openings, or of one if there are none.
    pub(super) fn new(size: u64, seed: TournamentSeed) -> Self {
        Self {
            size: size.max(1),
            word: seed.opening_order(),
        }
    }

    /// The opening of a group's block, given the number of its earlier blocks.
    pub(super) fn number(self, group: u64, before: u64) -> u64 {
        let mut draws = AgentRng::new(self.word ^ group);
        let [first, step] = [draws.word(), draws.word()].map(|word| word % self.size);
        let mut steps = (step..).filter(|&step| gcd(step, self.size) == 1);
        let step = steps.next().unwrap_or(1);
        let place = u128::from(step) * u128::from(before) + u128::from(first);
        (place % u128::from(self.size)) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
