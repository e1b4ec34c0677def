//! Fingerprints of the first moves of games.

use serde::{Deserialize, Serialize};

/// Numbers of plies after which beginnings are compared.
pub const BEGINNING_PLIES: [u32; 16] =
    [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];

/// A fingerprint of a game's events after each of [`BEGINNING_PLIES`], as far as the game went
/// before its first fault: the same for games with the same events, and almost always another one
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    count: u8,
    numbers: [u32; BEGINNING_PLIES.len()],
}

impl Beginning {
    /// From these numbers; numbers in excess are dropped.
    pub fn new(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut beginning = Self::default();
        for (place, number) in beginning.numbers.iter_mut().zip(numbers) {
            *place = number;
            beginning.count += 1;
        }
        beginning
    }

    /// Its numbers.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers[..usize::from(self.count)]
    }

    /// True if two games differ before a fault ends the comparison.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let both = self.count.min(other.count).into();
        self.numbers[..both] != other.numbers[..both]
    }

    /// The longer one of two that do not differ.
    #[must_use]
    pub fn longer(self, other: Self) -> Self {
        if other.count > self.count {
            other
        } else {
            self
        }
    }
}
