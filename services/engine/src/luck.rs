//! The effect of chance on each seat over a game.
//!
//! At a chance node, the luck of a seat is the value of the drawn outcome minus the mean over all
//! outcomes, see [`Game::chance_values`]. Whatever the values are, the mean of this difference is
//! zero, so luck explains results without bias: it is a control variate, as in the rollouts of
//! backgammon and in AIVAT (N. Burch, M. Schmid, M. Moravcik, D. Morrill and M. Bowling, "AIVAT:
//! A new variance reduction technique for agent evaluation in imperfect information games", AAAI
//! 2018, section 3).
//!
//! Sums are exact: their unit is a millionth divided by the sum of the outcomes' weights, so that
//! the mean at a node is zero without rounding. The sum of a game is rounded to whole millionths
//! once at its end, and whenever the sum of the weights changes: by at most half a millionth each
//! time, ties away from zero.

use crate::{
    game::Game,
    seat::{OutcomeId, PerSeat},
};

/// The luck of each seat so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Luck {
    /// The sum of weights that `parts` are divided by; 0 before the first chance node.
    weight: i64,
    /// Millionths times `weight`.
    parts: PerSeat<i64>,
    /// Millionths of chance nodes with other weights.
    whole: PerSeat<i64>,
    /// Buffer for the values of a node.
    values: Vec<i64>,
}

impl Luck {
    /// No luck yet.
    pub(crate) fn new() -> Self {
        Self {
            values: Vec::with_capacity(32),
            ..Self::default()
        }
    }

    /// Adds the value of an outcome minus the mean, in the position before it.
    pub(crate) fn add<G: Game>(&mut self, game: &G, state: &G::State, outcome: OutcomeId) {
        self.values.clear();
        game.chance_values(state, &mut self.values);
        let weights = game.weights(state);
        let sum = weights.iter().map(|&weight| i64::from(weight)).sum();
        if sum != self.weight {
            self.settle();
            self.weight = sum;
        }
        let seats = game.seats();
        let drawn = &self.values[usize::from(outcome) * seats..][..seats];
        let parts = &mut self.parts[..seats];
        // The only outcome has no luck.
        for (&weight, values) in weights.iter().zip(self.values.chunks_exact(seats)) {
            let weight = i64::from(weight);
            for ((part, drawn), value) in parts.iter_mut().zip(drawn).zip(values) {
                *part += weight * (drawn - value);
            }
        }
    }

    /// Rounds the parts to whole millionths.
    fn settle(&mut self) {
        if self.weight > 0 {
            for (whole, part) in self.whole.iter_mut().zip(&mut self.parts) {
                *whole += rounded(*part, self.weight);
                *part = 0;
            }
        }
    }

    /// Millionths of a game's score for each seat; empty without a chance node. Values that do not
    /// fit are clamped.
    pub(crate) fn finish(mut self, seats: usize) -> Vec<i32> {
        if self.weight == 0 {
            return Vec::new();
        }
        self.settle();
        let narrow = |&luck: &i64| luck.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        self.whole[..seats].iter().map(narrow).collect()
    }
}

/// The nearest whole number, ties away from zero.
fn rounded(part: i64, weight: i64) -> i64 {
    let size = (part.abs() + weight / 2) / weight;
    size * part.signum()
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rounding_is_symmetric() {
        for (part, weight, whole) in [(0, 6, 0), (2, 6, 0), (3, 6, 1), (8, 5, 2), (7, 5, 1)] {
            assert_eq!(rounded(part, weight), whole, "{part}/{weight}");
            assert_eq!(rounded(-part, weight), -whole, "-{part}/{weight}");
        }
    }
}
