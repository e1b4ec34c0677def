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
/// Nodes of an integral on each side of the maximum, and their distance in standard deviations.
const NODES: i32 = 40;
const NODE_STEP: f64 = 0.25;
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
        let mut values = vec![0.0; agents];
        let mut covariance = Vec::new();
        for _ in 0..STEPS {
            let mut slope: Vec<f64> = values
                .iter()
                .map(|value| -value / (PRIOR * PRIOR))
                .collect();
            let mut information = vec![0.0; agents * agents];
            for place in 0..agents {
                information[place * agents + place] = 1.0 / (PRIOR * PRIOR);
            }
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
            covariance = inverse(information, agents);
            let mut moved = 0.0_f64;
            for (place, value) in values.iter_mut().enumerate() {
                let row = &covariance[place * agents..(place + 1) * agents];
                let step: f64 = row.iter().zip(&slope).map(|(a, b)| a * b).sum();
                // Far from the maximum, a full step may overshoot.
                let step = step.clamp(-1.0, 1.0);
                *value += step;
                moved = moved.max(step.abs());
            }
            if moved < 1e-12 {
                break;
            }
        }
        Self { values, covariance }
    }

    /// Ratings before the first result, with this variance.
    pub(super) fn prior(agents: usize, variance: f64) -> Self {
        let mut ratings = Self {
            values: Vec::new(),
            covariance: Vec::new(),
        };
        for _ in 0..agents {
            ratings.push(0.0, variance);
        }
        ratings
    }

    /// Adds an agent whose rating is independent of the others.
    pub(super) fn push(&mut self, value: f64, variance: f64) {
        let before = self.values.len();
        let mut covariance = vec![0.0; (before + 1) * (before + 1)];
        for row in 0..before {
            let kept = &self.covariance[row * before..(row + 1) * before];
            covariance[row * (before + 1)..][..before].copy_from_slice(kept);
        }
        covariance[before * (before + 1) + before] = variance;
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

    /// Updates the ratings with new results, one pair after another. The new mean and variance of the
    /// pair's difference are those of its posterior; all other ratings follow by their covariance.
    pub(super) fn update(&mut self, pairs: &[Pair]) {
        let agents = self.values.len();
        for pair in pairs {
            let column: Vec<f64> = (0..agents)
                .map(|place| self.at(place, pair.one) - self.at(place, pair.other))
                .collect();
            let variance = column[pair.one] - column[pair.other];
            let mean = self.values[pair.one] - self.values[pair.other];
            let (games, won) = (pair.units.of as f64 / 2.0, pair.units.got as f64 / 2.0);
            let (after, left) = posterior((mean, variance), games, won);
            let moved = (after - mean) / variance;
            let gained = (variance - left) / (variance * variance);
            for (row, &cell) in column.iter().enumerate() {
                self.values[row] += cell * moved;
                for (place, &other) in column.iter().enumerate() {
                    self.covariance[row * agents + place] -= cell * other * gained;
                }
            }
        }
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

/// Mean and variance of a difference with a normal prior, after `won` of `games` games.
fn posterior((mean, variance): (f64, f64), games: f64, won: f64) -> (f64, f64) {
    // The maximum, by Newton's method; the logarithm of the density is concave.
    let mut mode = mean;
    let curvature = |at: f64| {
        let chance = chance(at);
        1.0 / variance + games * chance * (1.0 - chance)
    };
    for _ in 0..STEPS {
        let slope = (mean - mode) / variance + won - games * chance(mode);
        mode += (slope / curvature(mode)).clamp(-1.0, 1.0);
    }
    // Both moments, by the trapezoidal rule around it.
    let log_density = |at: f64| {
        let away = at - mean;
        -away * away / (2.0 * variance) - won * softplus(-at) - (games - won) * softplus(at)
    };
    let (top, width) = (log_density(mode), 1.0 / libm::sqrt(curvature(mode)));
    let mut sums = [0.0; 3];
    for node in -NODES..=NODES {
        let away = f64::from(node) * NODE_STEP * width;
        let weight = libm::exp(log_density(mode + away) - top);
        sums[0] += weight;
        sums[1] += weight * away;
        sums[2] += weight * away * away;
    }
    let [all, first, second] = sums;
    let off = first / all;
    (mode + off, (second / all - off * off).min(variance))
}

/// ln(1 + e^x).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
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
    fn posterior_has_the_moments_of_an_integral() {
        // By a fine grid: a normal prior times the likelihood.
        for (mean, variance, games, won) in [
            (0.0, 8.0, 2.0, 2.0),
            (1.0, 0.3, 4.0, 1.0),
            (-0.5, 4.0, 300.0, 20.5),
            (2.0, 5.0, 6.0, 0.0),
        ] {
            let mut sums = [0.0; 3];
            for node in -200_000..=200_000_i32 {
                let d = f64::from(node) * 1e-4;
                let prior = -(d - mean).powi(2) / (2.0 * variance);
                let likely = won * chance(d).ln() + (games - won) * chance(-d).ln();
                let weight = (prior + likely + games * 0.3).exp();
                sums[0] += weight;
                sums[1] += weight * d;
                sums[2] += weight * d * d;
            }
            let expected = sums[1] / sums[0];
            let spread = sums[2] / sums[0] - expected * expected;
            let found = posterior((mean, variance), games, won);
            assert!((found.0 - expected).abs() < 1e-6, "{found:?} {expected}");
            assert!((found.1 - spread).abs() < 1e-6, "{found:?} {spread}");
        }
    }

    #[test]
    fn results_of_one_pair_move_no_other() {
        let mut ratings = Ratings::prior(3, PRIOR * PRIOR);
        ratings.update(&[pair(0, 1, 12, 16)]);
        assert!(ratings.values[0] > 0.5 && ratings.values[1] < -0.5);
        assert!(ratings.values[2].abs() < 1e-12);
        let fitted = Ratings::fit(3, &[pair(0, 1, 12, 16)]);
        assert!((ratings.values[0] - fitted.values[0]).abs() < 0.1);
        // A successor differs by its variance only.
        let (before, _) = ratings.about(0, &[0, 1, 2]);
        ratings.loosen(0, 0.25);
        assert!((ratings.about(0, &[0, 1, 2]).0 - before).abs() < 1e-12);
        ratings.remove(1);
        assert_eq!(ratings.values.len(), 2);
        assert!((ratings.at(0, 0) - fitted.at(0, 0) - 0.25).abs() < 0.1);
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
