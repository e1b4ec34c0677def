//! What tells the beginnings of two games apart.

use serde::{Deserialize, Serialize};

/// After how many plies beginnings are compared.
pub const BEGINNING_PLIES: [u32; 16] =
    [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];

/// A number for the events of a game after each of [`BEGINNING_PLIES`], as far as it went
/// before its first fault: the same for games that began alike, and else nearly always
/// another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    count: u8,
    numbers: [u32; BEGINNING_PLIES.len()],
}

impl Beginning {
    /// Of these numbers; more than there are plies are left out.
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

    /// Whether two games parted before a fault ended what can be compared.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let both = self.count.min(other.count).into();
        self.numbers[..both] != other.numbers[..both]
    }

    /// The one that goes further, of two that do not differ.
    #[must_use]
    pub fn longer(self, other: Self) -> Self {
        if other.count > self.count {
            other
        } else {
            self
        }
    }
}
