//! A set of game indices, with one bit for each index.

use std::iter::successors;

/// A set of numbers below a bound. Its memory grows with its greatest number, not with the bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    bound: u64,
    count: u64,
}

impl Bitmap {
    /// The empty set of numbers below `bound`.
    #[must_use]
    pub fn new(bound: u64) -> Self {
        Self {
            words: Vec::new(),
            bound,
            count: 0,
        }
    }

    /// All numbers below `bound`.
    #[must_use]
    pub fn full(bound: u64) -> Self {
        let mut words = vec![u64::MAX; (bound / 64) as usize];
        if !bound.is_multiple_of(64) {
            words.push((1 << (bound % 64)) - 1);
        }
        Self {
            words,
            bound,
            count: bound,
        }
    }

    /// The bound: all elements are smaller.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// Raises the bound; a lower bound has no effect.
    pub fn grow(&mut self, bound: u64) {
        self.bound = self.bound.max(bound);
    }

    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// True if the set contains the number.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        self.words
            .get((number / 64) as usize)
            .is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// The numbers, ascending. Takes time for the greatest number, not for the bound.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let words = self.words.iter().zip((0..).step_by(64));
        words.flat_map(|(&word, first)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let words = successors(Some(word).filter(|word| *word != 0), rest);
            words.map(move |word| first + u64::from(word.trailing_zeros()))
        })
    }

    /// Adds a number. Returns false if the set has the number already, or if it is not below the
    /// bound.
    pub fn insert(&mut self, number: u64) -> bool {
        if number >= self.bound || self.contains(number) {
            return false;
        }
        let place = (number / 64) as usize;
        if self.words.len() <= place {
            self.words.resize(place + 1, 0);
        }
        self.words[place] |= 1 << (number % 64);
        self.count += 1;
        true
    }

    /// Removes a number.
    pub fn remove(&mut self, number: u64) -> bool {
        let known = self.contains(number);
        if known {
            self.words[(number / 64) as usize] &= !(1 << (number % 64));
            self.count -= 1;
        }
        known
    }

    /// The first number from `from` on that is not in the set.
    #[must_use]
    pub fn next_absent(&self, from: u64) -> Option<u64> {
        let first = (from / 64) as usize;
        for (place, &word) in self.words.iter().enumerate().skip(first) {
            let below = if place == first {
                (1 << (from % 64)) - 1
            } else {
                0
            };
            let absent = !(word | below);
            if absent != 0 {
                let number = place as u64 * 64 + u64::from(absent.trailing_zeros());
                return (number < self.bound).then_some(number);
            }
        }
        let beyond = from.max(self.words.len() as u64 * 64);
        (beyond < self.bound).then_some(beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_bitmap_equals_added_bits() {
        for bound in [0, 1, 63, 64, 65, 200] {
            let mut set = Bitmap::new(bound);
            for number in 0..bound {
                set.insert(number);
            }
            assert_eq!(Bitmap::full(bound), set);
        }
    }

    #[test]
    fn absent_bits_are_found_across_words() {
        for bound in [0, 1, 63, 64, 65, 200] {
            let mut set = Bitmap::new(bound);
            for number in 0..bound {
                assert_eq!(set.next_absent(0), Some(number));
                assert!(set.iter().eq(0..number));
                assert!(set.insert(number));
                assert!(!set.insert(number), "twice");
            }
            assert_eq!(set.next_absent(0), None);
            assert_eq!(set.count(), bound);
            assert!(!set.insert(bound), "out of bounds");
        }
    }

    #[test]
    fn grown_bitmap_equals_large_one() {
        for (before, after) in [(0, 1), (3, 64), (64, 65), (70, 70), (100, 7)] {
            let mut grown = Bitmap::full(before);
            grown.grow(after);
            let mut made = Bitmap::new(before.max(after));
            (0..before).for_each(|number| assert!(made.insert(number)));
            assert_eq!(grown, made);
            assert_eq!(grown.next_absent(0), (before < after).then_some(before));
        }
    }

    #[test]
    fn numbers_are_listed_once() {
        let numbers = [0, 1, 63, 64, 130, 191, 192, 1_000_000];
        let mut set = Bitmap::new(1 << 40);
        assert_eq!(set.iter().count(), 0);
        for number in numbers {
            set.insert(number);
        }
        assert!(set.iter().eq(numbers));
    }

    #[test]
    fn next_absent_starts_in_the_middle_of_a_word() {
        let mut set = Bitmap::new(130);
        for number in 5..129 {
            set.insert(number);
        }
        assert_eq!(set.next_absent(3), Some(3));
        assert_eq!(set.next_absent(5), Some(129));
        assert_eq!(set.next_absent(130), None);
    }
}
