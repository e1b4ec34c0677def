//! Random draws: the same seed gives the same schedule.

use arena_engine::AgentRng;

/// Draws of one schedule.
pub(super) struct Random(AgentRng);

/// Spreads a number over all bits.
pub(super) fn spread(number: u64) -> u64 {
    AgentRng::new(number).word()
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = AgentRng::new(spread(seed));
        // The first word is not used, so that a seed keeps its schedule.
        rng.word();
        Self(rng)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.word()
    }

    /// Returns a number below a bound above 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns true this many times in a thousand.
    pub(super) fn permille(&mut self, times: u64) -> bool {
        times > 0 && self.below(1000) < times
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
