//! The opening of each block of a group.
//!
//! In a random order, the blocks of a group have the openings first, first + step, first + 2·step, …
//! (mod size), with `first` and `step` drawn for the group. Because step and size are coprime, `size`
//! blocks in a row visit every opening once: first + k·step has the same remainder for two k only if
//! size divides their difference. So an opening repeats only after all others.

use arena_model::{Tournament, engine::AgentRng, spec::BookOrder};

/// The order in which each group plays the openings of a tournament.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpeningOrder {
    /// Number of openings.
    pub(super) size: u64,
    /// The random number of the tournament from which the order of each group is drawn.
    word: u64,
    /// True if every group plays the openings in the order of the book.
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

    /// The number of the opening of a group's next block; `before` is the number of earlier blocks of
    /// this group.
    pub(super) fn number(self, group: u64, before: u64) -> u64 {
        if self.is_sequential {
            return before % self.size;
        }
        let mut draws = AgentRng::new(self.word ^ group);
        let [first, step] = [draws.word(), draws.word()].map(|word| word % self.size);
        // The next number that is coprime to the size.
        let mut steps = (step..).filter(|&step| gcd(step, self.size) == 1);
        let step = steps.next().unwrap_or(1);
        let place = u128::from(step) * u128::from(before) + u128::from(first);
        (place % u128::from(self.size)) as u64
    }
}

/// The greatest common divisor, by Euclid's algorithm.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
