//! Portable randomness with a name: integer thresholds over ChaCha8.
//!
//! Every draw takes exactly one 64-bit word, so the k-th draw of a stream is the k-th word of its
//! key, whatever was drawn before.

use std::{fmt, sync::Arc};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::seat::{MAX_SEATS, Seat};

/// The key of a stream; `arena_model::seed` derives it.
pub type Key = [u8; 32];

/// One of the streams of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamOf {
    /// Chance of a seat.
    Dice(Seat),
    /// Chance of no seat.
    Table,
    /// Random opening moves.
    Opening,
    /// The seeds of a seat's agent: word n of the stream is the seed of the n-th decision.
    Agent(Seat),
    /// Moves played in place of a seat's faulty agent.
    Substitute(Seat),
}

/// The keys of all streams of one game, each derived when it is asked for: most games need few.
#[derive(Clone)]
pub struct GameKeys(Arc<dyn Fn(StreamOf) -> Key + Send + Sync>);

impl GameKeys {
    /// Keys that `derive` derives.
    #[must_use]
    pub fn new(derive: impl Fn(StreamOf) -> Key + Send + Sync + 'static) -> Self {
        Self(Arc::new(derive))
    }

    /// The key of a stream.
    #[must_use]
    pub fn key(&self, of: StreamOf) -> Key {
        (self.0)(of)
    }

    /// A stream, at its first word.
    #[must_use]
    pub fn stream(&self, of: StreamOf) -> Stream {
        Stream::new(&self.key(of))
    }
}

impl fmt::Debug for GameKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GameKeys")
    }
}

impl StreamOf {
    /// Number of streams of a game.
    const COUNT: usize = 2 + 3 * MAX_SEATS;

    /// The stream of a chance event, from the seat that it belongs to.
    pub(crate) fn of_chance(owner: Option<Seat>) -> Self {
        owner.map_or(Self::Table, Self::Dice)
    }

    fn index(self) -> usize {
        match self {
            Self::Table => 0,
            Self::Opening => 1,
            Self::Dice(seat) => 2 + usize::from(seat),
            Self::Agent(seat) => 2 + MAX_SEATS + usize::from(seat),
            Self::Substitute(seat) => 2 + 2 * MAX_SEATS + usize::from(seat),
        }
    }
}

/// The streams of a game in progress, each made when it is first needed: a stream has a buffer of
/// 256 bytes.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    /// Places in `made`, plus one; 0 for a stream that was not needed yet.
    places: [u8; StreamOf::COUNT],
    made: Vec<Stream>,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self {
            places: [0; StreamOf::COUNT],
            // Dice and seeds of two seats.
            made: Vec::with_capacity(4),
        }
    }

    /// A stream of the game with these keys.
    #[inline]
    pub(crate) fn get(&mut self, of: StreamOf, keys: &GameKeys) -> &mut Stream {
        let place = &mut self.places[of.index()];
        if *place == 0 {
            self.made.push(keys.stream(of));
            *place = self.made.len() as u8;
        }
        &mut self.made[usize::from(*place) - 1]
    }
}

/// A sequence of draws from one key.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a key, at its first word.
    #[must_use]
    pub fn new(key: &Key) -> Self {
        Self(ChaCha8Rng::from_seed(*key))
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound` (above 0): `word * bound / 2^64`, rounded down.
    /// The bias is below `bound / 2^64`.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        scale(self.word(), bound)
    }

    /// An index drawn with the given weights, whose sum is above 0.
    #[inline]
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        weighted(self.word(), weights)
    }
}

/// The index that a word falls on.
#[inline]
fn weighted(word: u64, weights: &[u32]) -> usize {
    let mut point = scale(word, weights.iter().sum());
    for (index, &weight) in weights.iter().enumerate() {
        if point < weight {
            return index;
        }
        point -= weight;
    }
    unreachable!("the point lies below the sum of the weights")
}

/// `word * bound / 2^64`, rounded down.
#[inline]
fn scale(word: u64, bound: u32) -> u32 {
    ((u128::from(word) * u128::from(bound)) >> 64) as u32
}

/// The random numbers of agents: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), started at the
/// seed of the request. It takes a few lines in any language.
#[derive(Clone, Debug)]
pub struct AgentRng(u64);

impl AgentRng {
    /// The stream of an agent seed.
    #[inline]
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound` (above 0), as [`Stream::below`].
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        scale(self.word(), bound)
    }

    /// An index drawn with the given weights, as [`Stream::weighted`].
    #[inline]
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        weighted(self.word(), weights)
    }

    /// One of the items, uniformly; `items` is not empty.
    #[inline]
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_key_are_pinned() {
        let golden = include_str!("../data/streams.txt");
        for line in golden.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split_whitespace();
            let name = fields.next().expect("a name");
            let byte: u8 = fields.next().expect("a byte").parse().expect("a number");
            for (index, expected) in fields.enumerate() {
                let word = match name {
                    "chacha8" => {
                        let mut stream = Stream::new(&[byte; 32]);
                        (0..index).for_each(|_| {
                            stream.word();
                        });
                        stream.word()
                    }
                    "splitmix64" => {
                        let mut rng = AgentRng::new(u64::from(byte));
                        (0..index).for_each(|_| {
                            rng.word();
                        });
                        rng.word()
                    }
                    other => panic!("unknown generator {other}"),
                };
                assert_eq!(
                    format!("{word:016x}"),
                    expected,
                    "{name} {byte} word {index}"
                );
            }
        }
    }

    #[test]
    fn weights_are_drawn_in_proportion() {
        let mut stream = Stream::new(&[7; 32]);
        let mut counts = [0u32; 4];
        for _ in 0..100_000 {
            counts[stream.weighted(&[1, 0, 2, 7])] += 1;
        }
        assert_eq!(counts[1], 0);
        for (count, share) in [
            (counts[0], 10_000),
            (counts[2], 20_000),
            (counts[3], 70_000),
        ] {
            // Six standard deviations of a seeded draw.
            assert!(count.abs_diff(share) < 900, "{counts:?}");
        }
    }
}
