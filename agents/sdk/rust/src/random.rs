//! Randomness of agents.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), started at the seed of a
/// question: the same stream of words in every SDK of Arena.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`: `word * bound / 2^64`, rounded down.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u32
    }

    /// One of the items, uniformly.
    ///
    /// # Panics
    /// Where there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_engine() {
        let golden = include_str!("../../../../services/engine/data/streams.txt");
        let lines = golden
            .lines()
            .filter_map(|line| line.strip_prefix("splitmix64 "));
        let mut checked = 0;
        for line in lines {
            let mut fields = line.split_whitespace();
            let seed = fields.next().expect("a seed").parse().expect("a number");
            let mut random = Random::new(seed);
            for expected in fields {
                assert_eq!(format!("{:016x}", random.word()), expected, "seed {seed}");
                checked += 1;
            }
        }
        assert!(checked > 0);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_below_it() {
        let mut random = Random::new(1);
        let mut seen = [false; 6];
        for _ in 0..1000 {
            seen[random.below(6) as usize] = true;
        }
        assert_eq!(seen, [true; 6]);
    }
}
