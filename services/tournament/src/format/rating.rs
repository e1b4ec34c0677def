//! Ratings for choosing the next pairings: Bradley–Terry by maximum a posteriori with a
//! normal prior, and its covariance (Laplace's approximation).
//!
//! Only a ladder uses them, to choose games, and an open ladder to carry ratings from an agent to
//! its successor. Standings have separate ratings with intervals. The choice depends on these ratings, so they must be the same on every
//! machine: exponentials are those of the crate `libm`.

use super::Units;

/// Standard deviation of the prior of a rating, in natural logarithms of the odds: about
/// 350 Elo.
const PRIOR: f64 = 2.0;
/// Newton iterations; the last ones no longer change the result.
const STEPS: usize = 20;

/// The results of two agents against each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) one: usize,
    pub(super) other: usize,
    /// Units of the first agent.
    pub(super) units: Units,
}

/// Ratings and their covariance.
#[derive(Clone, Debug)]
pub(super) struct Ratings {
    /// In natural logarithms of the odds.
    pub(super) values: Vec<f64>,
    covariance: Vec<f64>,
}

impl Ratings {
    /// Computes the maximum a posteriori ratings. A unit counts as half a game.
    pub(super) fn fit(agents: usize, pairs: &[Pair]) -> Self {
        let mut ratings = Self {
            values: vec![0.0; agents],
            covariance: Vec::new(),
        };
        for _ in 0..STEPS {
            let values = &ratings.values;
            let mut slope: Vec<f64> = values
                .iter()
                .map(|value| -value / (PRIOR * PRIOR))
                .collect();
            let mut information = vec![0.0; agents * agents];
            for place in 0..agents {
                information[place * agents + place] = 1.0 / (PRIOR * PRIOR);
            }
            add_results(values, pairs, &mut slope, &mut information);
            ratings.covariance = inverse(information, agents);
            if ratings.step(&slope) < 1e-12 {
                break;
            }
        }
        ratings
    }

    /// Ratings before the first result.
    pub(super) fn prior(agents: usize) -> Self {
        let mut ratings = Self {
            values: Vec::new(),
            covariance: Vec::new(),
        };
        for _ in 0..agents {
            ratings.push(0.0);
        }
        ratings
    }

    /// Adds an agent whose rating is independent of the others.
    pub(super) fn push(&mut self, value: f64) {
        let before = self.values.len();
        let mut covariance = vec![0.0; (before + 1) * (before + 1)];
        for row in 0..before {
            let kept = &self.covariance[row * before..(row + 1) * before];
            covariance[row * (before + 1)..][..before].copy_from_slice(kept);
        }
        covariance[before * (before + 1) + before] = PRIOR * PRIOR;
        self.values.push(value);
        self.covariance = covariance;
    }

    /// Removes an agent.
    pub(super) fn remove(&mut self, place: usize) {
        let before = self.values.len();
        let cells = std::mem::take(&mut self.covariance);
        let kept = cells.into_iter().enumerate();
        let kept = kept.filter(|(cell, _)| cell / before != place && cell % before != place);
        self.covariance = kept.map(|(_, value)| value).collect();
        self.values.remove(place);
    }

    /// Makes a rating less certain, by this variance.
    pub(super) fn loosen(&mut self, place: usize, variance: f64) {
        let agents = self.values.len();
        self.covariance[place * agents + place] += variance;
    }

    /// The rating of an agent minus the mean of these agents, and its variance.
    pub(super) fn about(&self, place: usize, mean_of: &[usize]) -> (f64, f64) {
        let count = mean_of.len().max(1) as f64;
        let mean = mean_of.iter().map(|&it| self.values[it]).sum::<f64>() / count;
        let cross = mean_of.iter().map(|&it| self.at(place, it)).sum::<f64>() / count;
        let cells = mean_of.iter();
        let cells = cells.flat_map(|&one| mean_of.iter().map(move |&other| self.at(one, other)));
        let of_mean = cells.sum::<f64>() / (count * count);
        let variance = self.at(place, place) - 2.0 * cross + of_mean;
        (self.values[place] - mean, variance.max(0.0))
    }

    /// Updates the ratings with new results: the maximum a posteriori with these ratings as the
    /// prior, and its covariance.
    pub(super) fn update(&mut self, pairs: &[Pair]) {
        let agents = self.values.len();
        let before = self.values.clone();
        let precision = inverse(self.covariance.clone(), agents);
        for _ in 0..STEPS {
            let mut information = precision.clone();
            let moved: Vec<f64> = self
                .values
                .iter()
                .zip(&before)
                .map(|(a, b)| a - b)
                .collect();
            let mut slope: Vec<f64> = (0..agents)
                .map(|row| {
                    let row = &precision[row * agents..(row + 1) * agents];
                    -row.iter().zip(&moved).map(|(a, b)| a * b).sum::<f64>()
                })
                .collect();
            add_results(&self.values, pairs, &mut slope, &mut information);
            self.covariance = inverse(information, agents);
            if self.step(&slope) < 1e-12 {
                break;
            }
        }
    }

    /// A Newton step along the slope. Returns how far it went.
    fn step(&mut self, slope: &[f64]) -> f64 {
        let agents = self.values.len();
        let mut moved = 0.0_f64;
        for (place, value) in self.values.iter_mut().enumerate() {
            let row = &self.covariance[place * agents..(place + 1) * agents];
            let step: f64 = row.iter().zip(slope).map(|(a, b)| a * b).sum();
            // Far from the maximum, a full step may overshoot.
            let step = step.clamp(-1.0, 1.0);
            *value += step;
            moved = moved.max(step.abs());
        }
        moved
    }

    /// Agents, best first.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&a, &b| self.values[b].total_cmp(&self.values[a]).then(a.cmp(&b)));
        order
    }

    fn at(&self, one: usize, other: usize) -> f64 {
        self.covariance[one * self.values.len() + other]
    }

    /// Covariance of the differences of two pairs.
    fn between(&self, (a, b): (usize, usize), (c, d): (usize, usize)) -> f64 {
        self.at(a, c) - self.at(a, d) - self.at(b, c) + self.at(b, d)
    }

    /// Information of `games` games of a pair on the pair's own difference.
    fn information(&self, (one, other): (usize, usize), games: f64) -> f64 {
        let chance = chance(self.values[one] - self.values[other]);
        games * chance * (1.0 - chance)
    }

    /// Weighted sum of the variance reductions of these pairs' differences after `games`
    /// games of a pair.
    pub(super) fn gain(
        &self,
        pair: (usize, usize),
        games: f64,
        of: &[((usize, usize), f64)],
    ) -> f64 {
        let noise = 1.0 / self.information(pair, games);
        let whole = noise + self.between(pair, pair);
        of.iter()
            .map(|&(other, weight)| {
                let common = self.between(other, pair);
                weight * common * common / whole
            })
            .sum()
    }

    /// Uncertainty of the order of two agents, from 0 to 1: the density of their difference
    /// at 0 divided by its density at the estimate.
    pub(super) fn openness(&self, pair: (usize, usize)) -> f64 {
        let difference = self.values[pair.0] - self.values[pair.1];
        libm::exp(-difference * difference / (2.0 * self.between(pair, pair)))
    }

    /// Updates the covariance as if a pair had played `games` games, for any result.
    pub(super) fn foresee(&mut self, pair: (usize, usize), games: f64) {
        let agents = self.values.len();
        let noise = 1.0 / self.information(pair, games);
        let whole = noise + self.between(pair, pair);
        let column: Vec<f64> = (0..agents)
            .map(|place| self.at(place, pair.0) - self.at(place, pair.1))
            .collect();
        for (row, &left) in column.iter().enumerate() {
            for (place, &right) in column.iter().enumerate() {
                self.covariance[row * agents + place] -= left * right / whole;
            }
        }
    }
}

/// Adds results to the slope of the logarithm of the likelihood and to its information.
fn add_results(values: &[f64], pairs: &[Pair], slope: &mut [f64], information: &mut [f64]) {
    let agents = values.len();
    for pair in pairs {
        let (one, other) = (pair.one, pair.other);
        let games = pair.units.of as f64 / 2.0;
        let chance = chance(values[one] - values[other]);
        let surprise = pair.units.got as f64 / 2.0 - games * chance;
        slope[one] += surprise;
        slope[other] -= surprise;
        let known = games * chance * (1.0 - chance);
        information[one * agents + one] += known;
        information[other * agents + other] += known;
        information[one * agents + other] -= known;
        information[other * agents + one] -= known;
    }
}

/// Win probability at a difference of ratings.
fn chance(difference: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-difference))
}

/// The inverse of a symmetric, positive definite matrix, by Cholesky's
/// decomposition.
fn inverse(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    for column in 0..size {
        for row in column..size {
            let mut sum = matrix[row * size + column];
            for place in 0..column {
                sum -= matrix[row * size + place] * matrix[column * size + place];
            }
            matrix[row * size + column] = if row == column {
                libm::sqrt(sum)
            } else {
                sum / matrix[column * size + column]
            };
        }
    }
    let mut inverse = vec![0.0; size * size];
    for unit in 0..size {
        let mut solution = vec![0.0; size];
        for row in unit..size {
            let mut sum = if row == unit { 1.0 } else { 0.0 };
            for place in unit..row {
                sum -= matrix[row * size + place] * solution[place];
            }
            solution[row] = sum / matrix[row * size + row];
        }
        for row in (0..size).rev() {
            let mut sum = solution[row];
            for place in row + 1..size {
                sum -= matrix[place * size + row] * solution[place];
            }
            solution[row] = sum / matrix[row * size + row];
        }
        for (row, value) in solution.into_iter().enumerate() {
            inverse[row * size + unit] = value;
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(one: usize, other: usize, got: u64, of: u64) -> Pair {
        Pair {
            one,
            other,
            units: Units { got, of },
        }
    }

    #[test]
    fn inverse_times_matrix_is_identity() {
        let matrix = vec![4.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 2.0];
        let inverse = inverse(matrix.clone(), 3);
        for row in 0..3 {
            for column in 0..3 {
                let sum: f64 = (0..3)
                    .map(|it| inverse[row * 3 + it] * matrix[it * 3 + column])
                    .sum();
                let expected = f64::from(u8::from(row == column));
                assert!((sum - expected).abs() < 1e-12, "{sum}");
            }
        }
    }

    #[test]
    fn perfect_results_have_finite_ratings() {
        let ratings = Ratings::fit(3, &[pair(0, 1, 2000, 2000), pair(1, 2, 300, 400)]);
        assert_eq!(ratings.order(), [0, 1, 2]);
        assert!(ratings.values.iter().all(|value| value.is_finite()));
        let odds = ratings.values[1] - ratings.values[2];
        assert!((odds - 3_f64.ln()).abs() < 0.05, "{odds}");
    }

    #[test]
    fn predicted_gain_equals_gain() {
        let mut ratings = Ratings::fit(3, &[pair(0, 1, 30, 60), pair(1, 2, 10, 40)]);
        let neighbours = [(0, 1), (1, 2)];
        let variance = |ratings: &Ratings| -> f64 {
            let each = neighbours.iter();
            each.map(|&pair| ratings.between(pair, pair)).sum()
        };
        let before = variance(&ratings);
        let gain = ratings.gain((0, 2), 16.0, &neighbours.map(|pair| (pair, 1.0)));
        ratings.foresee((0, 2), 16.0);
        let after = variance(&ratings);
        assert!(gain > 0.0 && (before - after - gain).abs() < 1e-12);
    }
}
