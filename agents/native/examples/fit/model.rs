//! The likelihood of who comes before whom, and its maximum.

/// One pair of seats in one position.
pub(crate) struct Sample {
    /// By parameter, ascending: how often it counts for the first seat less how
    /// often for the second.
    pub(crate) lead: Vec<(u16, f32)>,
    /// How often it counts in what both have to go.
    pub(crate) left: Vec<(u16, f32)>,
    /// The first seat's share of the point between the two.
    pub(crate) share: f32,
}

/// How the log-odds follow from the parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Model {
    /// They are the lead.
    Linear,
    /// The lead by the root of what is left.
    Root,
}

/// What is left is not taken below this.
const LEFT_MIN: f64 = 0.05;
const STEPS: usize = 30;
/// Keeps parameters that hardly occur near to nothing.
const RIDGE: f64 = 0.02;

impl Model {
    /// Log-odds, and the share of each part of their gradient: of the lead and
    /// of what is left.
    fn odds(self, sample: &Sample, parameters: &[f64]) -> (f64, f64, f64) {
        let sum = |terms: &[(u16, f32)]| -> f64 {
            let terms = terms.iter();
            terms
                .map(|&(at, count)| parameters[usize::from(at)] * f64::from(count))
                .sum()
        };
        let lead = sum(&sample.lead);
        if self == Self::Linear {
            return (lead, 1.0, 0.0);
        }
        let left = sum(&sample.left);
        if left <= LEFT_MIN {
            let root = LEFT_MIN.sqrt();
            return (lead / root, 1.0 / root, 0.0);
        }
        let root = left.sqrt();
        (lead / root, 1.0 / root, -0.5 * lead / (left * root))
    }

    /// Mean log-likelihood in nats.
    pub(crate) fn likelihood(self, samples: &[Sample], parameters: &[f64]) -> f64 {
        let sum: f64 = samples
            .iter()
            .map(|sample| {
                let odds = self.odds(sample, parameters).0;
                let share = f64::from(sample.share);
                -share * (-odds).exp().ln_1p() - (1.0 - share) * odds.exp().ln_1p()
            })
            .sum();
        sum / samples.len() as f64
    }

    /// The parameters of greatest likelihood near to these, by scoring with
    /// halved steps where a step does not help.
    pub(crate) fn fit(self, samples: &[Sample], mut parameters: Vec<f64>) -> Vec<f64> {
        let size = parameters.len();
        let mut best = self.likelihood(samples, &parameters);
        for _ in 0..STEPS {
            let mut matrix = vec![vec![0.0; size]; size];
            let mut slope = vec![0.0; size];
            let mut gradient: Vec<(usize, f64)> = Vec::new();
            for sample in samples {
                let (odds, of_lead, of_left) = self.odds(sample, &parameters);
                let expected = 1.0 / (1.0 + (-odds).exp());
                let weight = expected * (1.0 - expected);
                gradient.clear();
                let mut add = |terms: &[(u16, f32)], by: f64| {
                    for &(at, count) in terms {
                        gradient.push((usize::from(at), by * f64::from(count)));
                    }
                };
                add(&sample.lead, of_lead);
                if of_left != 0.0 {
                    add(&sample.left, of_left);
                }
                let error = f64::from(sample.share) - expected;
                for &(row, one) in &gradient {
                    slope[row] += error * one;
                    for &(column, other) in &gradient {
                        matrix[row][column] += weight * one * other;
                    }
                }
            }
            for (at, row) in matrix.iter_mut().enumerate() {
                row[at] += RIDGE * samples.len() as f64 / 1e4 + 1e-9;
            }
            let step = solve(matrix, slope);
            let mut scale = 1.0;
            let better = loop {
                let tried: Vec<f64> = parameters
                    .iter()
                    .zip(&step)
                    .map(|(parameter, step)| parameter + scale * step)
                    .collect();
                let reached = self.likelihood(samples, &tried);
                if reached > best {
                    parameters = tried;
                    break reached;
                }
                scale /= 2.0;
                if scale < 1e-3 {
                    break best;
                }
            };
            if better - best < 1e-7 {
                break;
            }
            best = better;
        }
        parameters
    }
}

/// Solves a positive definite system by Cholesky's method.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column)
                .map(|k| matrix[row][k] * matrix[column][k])
                .sum();
            let rest = matrix[row][column] - known;
            matrix[row][column] = if row == column {
                rest.max(1e-12).sqrt()
            } else {
                rest / matrix[column][column]
            };
        }
    }
    for row in 0..size {
        let known: f64 = (0..row).map(|k| matrix[row][k] * right[k]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| matrix[k][row] * right[k]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}
