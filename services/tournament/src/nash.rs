//! The Nash average of agents that no single order of strengths fits.
//!
//! Each agent's payoff against another is twice its score, minus one. In the meta-game two
//! players each choose an agent. The equilibrium of maximal entropy gives the weight of
//! each agent: an agent that others make superfluous has weight 0, copies share a weight,
//! and three agents in a cycle have equal weights (D. Balduzzi, K. Tuyls, J. Perolat and T.
//! Graepel, "Re-evaluating evaluation", Advances in Neural Information Processing Systems
//! 31, 2018).
//!
//! It is computed as the limit of equilibria in which both players are rewarded for
//! entropy, with a decreasing temperature: p ∝ exp(A·p / τ). The last τ is [`TEMPERATURE`]:
//! scores that differ by much less are treated as equal, which is far below the precision
//! of any tournament.

use crate::{format, pairs::PairStanding};

/// Maximum number of agents.
pub(crate) const AGENTS_MAX: usize = 32;

/// Smaller payoff differences are hardly distinguished.
const TEMPERATURE: f64 = 1e-3;
/// Ratio of the temperatures of successive equilibria.
const COOLING: f64 = 0.8;
/// Maximum number of steps at one temperature, and the change that ends them.
const STEPS_MAX: usize = 50;
const STEP_LAST: f64 = 1e-11;

/// Shares of all agents, which sum to 1, from the scores of all pairs in the order of the
/// spec. `None` with fewer than three agents or more than [`AGENTS_MAX`], and if two agents
/// have not met.
#[must_use]
pub(crate) fn average(agents: usize, pairs: &[PairStanding]) -> Option<Vec<f64>> {
    if !(3..=AGENTS_MAX).contains(&agents) || pairs.len() != agents * (agents - 1) / 2 {
        return None;
    }
    let mut payoff = vec![vec![0.0; agents]; agents];
    for ((one, other), pair) in format::pairs(agents).zip(pairs) {
        let value = 2.0 * pair.score?.value - 1.0;
        payoff[one][other] = value;
        payoff[other][one] = -value;
    }
    Some(equilibrium(&payoff))
}

/// The equilibrium at the last temperature, for an antisymmetric payoff.
fn equilibrium(payoff: &[Vec<f64>]) -> Vec<f64> {
    let mut logs = vec![0.0; payoff.len()];
    let mut temperature = 4.0;
    while temperature > TEMPERATURE {
        temperature = f64::max(temperature * COOLING, TEMPERATURE);
        for _ in 0..STEPS_MAX {
            if settle(payoff, &mut logs, temperature) < STEP_LAST {
                break;
            }
        }
    }
    shares(&logs)
}

fn shares(logs: &[f64]) -> Vec<f64> {
    let top = logs.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - top)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// One step of Newton's method for x = A·p(x) / τ, up to a constant. Returns the change of
/// the shares.
fn settle(payoff: &[Vec<f64>], logs: &mut [f64], temperature: f64) -> f64 {
    let n = logs.len();
    let p = shares(logs);
    let value = |row: &[f64]| row.iter().zip(&p).map(|(a, p)| a * p).sum::<f64>() / temperature;
    let values: Vec<f64> = payoff.iter().map(|row| value(row)).collect();
    // Rows: (I − A·(diag p − p·pᵀ) / τ) step = A·p / τ − x.
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row: Vec<f64> = (0..n)
                .map(|j| -p[j] * (payoff[i][j] / temperature - values[i]))
                .collect();
            row[i] += 1.0;
            row.push(values[i] - logs[i]);
            row
        })
        .collect();
    let step = eliminate(&mut rows);
    let longest = step
        .iter()
        .fold(0.0, |most: f64, step| most.max(step.abs()));
    // Far from the solution, a full step may diverge.
    let factor = if longest > 2.0 { 2.0 / longest } else { 1.0 };
    for (log, step) in logs.iter_mut().zip(&step) {
        *log += factor * step;
    }
    let moved = shares(logs)
        .into_iter()
        .zip(p)
        .map(|(new, old)| (new - old).abs());
    moved.fold(0.0, f64::max)
}

/// Solves linear equations by elimination with pivoting; the right-hand side is last in
/// each row. A column without a pivot has solution 0.
fn eliminate(rows: &mut [Vec<f64>]) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let size = |row: &usize| rows[*row][column].abs();
        let Some(best) = (column..n).max_by(|a, b| size(a).total_cmp(&size(b))) else {
            continue;
        };
        rows.swap(column, best);
        if rows[column][column].abs() < 1e-300 {
            continue;
        }
        let (above, below) = rows.split_at_mut(column + 1);
        let pivot = &above[column];
        for row in below {
            let factor = row[column] / pivot[column];
            for (cell, pivot) in row.iter_mut().zip(pivot).skip(column) {
                *cell -= factor * pivot;
            }
        }
    }
    let mut found = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * found[j]).sum();
        let pivot = rows[i][i];
        found[i] = if pivot.abs() < 1e-300 {
            0.0
        } else {
            (rows[i][n] - known) / pivot
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    /// Payoffs above the diagonal, row by row.
    fn average_of(agents: usize, above: &[f64]) -> Vec<f64> {
        let pair = |payoff: &f64| PairStanding {
            score: Some(Estimate {
                value: (payoff + 1.0) / 2.0,
                ..Estimate::default()
            }),
            ..PairStanding::default()
        };
        let pairs: Vec<_> = above.iter().map(pair).collect();
        average(agents, &pairs).expect("an average")
    }

    fn close(found: &[f64], expected: &[f64]) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 0.01, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn nash_of_a_cycle_is_uniform() {
        close(&average_of(3, &[1.0, -1.0, 1.0]), &[1.0 / 3.0; 3]);
        let with_loser = [0.5, -0.5, 0.2, 0.5, 0.2, 0.2];
        close(
            &average_of(4, &with_loser),
            &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0],
        );
    }

    #[test]
    fn nash_copies_share_weight() {
        // The example of the paper, section 4: the third agent twice.
        let copied = [1.0, -1.0, -1.0, 1.0, 1.0, 0.0];
        close(
            &average_of(4, &copied),
            &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0],
        );
        close(&average_of(3, &[0.2, 0.3, 0.1]), &[1.0, 0.0, 0.0]);
        close(&average_of(3, &[0.0, 0.0, 0.0]), &[1.0 / 3.0; 3]);
    }

    #[test]
    fn nash_of_an_uneven_cycle_balances() {
        // The weight of each is the margin between the other two: 0.1, 0.3 and 0.6.
        close(&average_of(3, &[0.6, -0.3, 0.1]), &[0.1, 0.3, 0.6]);
    }

    #[test]
    fn nash_is_unbeaten_in_random_fields() {
        for seed in 0..50 {
            let mut draws = crate::tests::Draws(seed);
            let agents = 3 + draws.below(12) as usize;
            let payoffs: Vec<f64> = (0..agents * (agents - 1) / 2)
                .map(|_| draws.below(2001) as f64 / 1000.0 - 1.0)
                .collect();
            let shares = average_of(agents, &payoffs);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let mut values = vec![0.0; agents];
            for ((one, other), payoff) in format::pairs(agents).zip(&payoffs) {
                values[one] += payoff * shares[other];
                values[other] -= payoff * shares[one];
            }
            assert!(
                values.iter().all(|&value| value < 0.02),
                "seed {seed}: {values:?}"
            );
        }
    }

    #[test]
    fn nash_needs_every_pair() {
        let pairs = vec![PairStanding::default(); 3];
        assert_eq!(average(3, &pairs), None);
        assert_eq!(average(2, &pairs[..1]), None);
    }
}
