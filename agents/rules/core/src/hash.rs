//! Hashes of positions: fast, and equal in every process and language.

use std::hash::{Hash, Hasher};

/// Any odd number with as many ones as zeros; this is the fractional part of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a position, as `State::hash` returns it.
#[must_use]
pub fn hash<S: Hash>(position: &S) -> u64 {
    let mut mixer = Mixer(FACTOR);
    position.hash(&mut mixer);
    mixer.finish()
}

/// Multiplies to 128 bits and folds the halves, for each word of 64 bits.
struct Mixer(u64);

impl Mixer {
    #[inline]
    fn word(&mut self, word: u64) {
        // The rotation keeps words that cancel the sum from leading to zero again and again.
        let product = u128::from(self.0.rotate_left(23) ^ word) * u128::from(FACTOR);
        self.0 = (product as u64 ^ (product >> 64) as u64).wrapping_add(FACTOR);
    }
}

impl Hasher for Mixer {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let mut buffer = [0; 8];
            buffer.copy_from_slice(word);
            self.word(u64::from_le_bytes(buffer));
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            let mut buffer = [0; 8];
            buffer[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(buffer));
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.word(number.into());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.word(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.word(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.word(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.word(number as u64);
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.word(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let product = u128::from(self.0) * u128::from(FACTOR);
        product as u64 ^ (product >> 64) as u64
    }
}
