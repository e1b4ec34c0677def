//! The opening of each block of a group.

use arena_model::{Tournament, engine::AgentRng, spec::BookOrder};

/// The order in which groups have the openings.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpeningOrder {
    /// Number of openings.
    pub(super) size: u64,
    word: u64,
    is_sequential: bool,
}

impl OpeningOrder {
    /// The order of a tournament's openings; none if its games have chance.
    pub(super) fn new(tournament: &Tournament) -> Option<Self> {
        Some(Self {
            size: tournament.openings?.size.max(1),
            word: tournament.seed.opening_order(),
            is_sequential: tournament.play.book_order == BookOrder::Sequential,
        })
    }

    /// The opening of a group's block, given the number of its earlier blocks.
    pub(super) fn number(self, group: u64, before: u64) -> u64 {
        if self.is_sequential {
            return before % self.size;
        }
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
