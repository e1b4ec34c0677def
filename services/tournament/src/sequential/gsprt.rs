//! The generalised sequential probability ratio test over blocks.
//!
//! The outcome of a block is one side's share of the units. The test uses only the count of
//! each outcome: five outcomes if two agents play a pair of games, more if blocks have more
//! games or seats. The log-likelihood ratio compares the most likely distribution of
//! outcomes under each of two hypotheses about their mean (M. Van den Bergh, "A practical
//! introduction to the GSPRT", sections 2 and 3), or about their mean in standard
//! deviations ("Normalized Elo", section 4). Outcomes that never occurred count as a
//! thousandth of one, as in fishtest.
//!
//! The choice of games depends on these numbers, so they must be the same on every machine:
//! logarithms and powers are those of the crate `libm`.

use arena_model::format::{EloModel, Sprt};

/// Count of an outcome that never occurred.
const NEVER: f64 = 1e-3;
/// Number of bisections that reaches full precision.
const HALVINGS: u32 = 80;
/// Maximum number of iterations to find the most likely distribution with a given mean in
/// standard deviations.
const ROUNDS: u32 = 10;
/// Normalised Elo of one standard deviation: 800 / ln 10.
const ELO_OF_DEVIATION: f64 = 800.0 / std::f64::consts::LN_10;

/// The log-likelihood ratio of `elo1` to `elo0`, for blocks of `games` games. `counts[u]`
/// are the blocks in which the tested side got `u` of the `counts.len() − 1` units of a
/// block. `None` without a block, or if there is only one possible outcome. Never infinite.
#[must_use]
pub fn llr(counts: &[u64], games: u32, test: &Sprt) -> Option<f64> {
    let blocks: u64 = counts.iter().sum();
    if blocks == 0 || counts.len() < 2 {
        return None;
    }
    let sum: f64 = counts.iter().map(|&count| weight(count)).sum();
    let seen = outcomes(counts);
    let each = match test.model {
        EloModel::Logistic => {
            let [none, some] = [test.elo0, test.elo1].map(|elo| likeliest(&seen, score(elo)));
            ratio(&seen, &none?, &some?)
        }
        EloModel::Normalized => {
            let of_block = libm::sqrt(f64::from(games)) / ELO_OF_DEVIATION;
            let [none, some] = [test.elo0, test.elo1].map(|elo| elo * of_block);
            match (standard(&seen, none), standard(&seen, some)) {
                (Some(none), Some(some)) => ratio(&seen, &none, &some),
                _ => of_normal(&seen, none, some),
            }
        }
    };
    Some(sum * each)
}

/// Mean and variance of one block's contribution to the ratio, if blocks are distributed as
/// observed. The mean is that of the ratio itself; the variance is that of the outcomes, in
/// which the ratio is approximately linear. `None` as in [`llr`].
#[must_use]
pub fn of_block(counts: &[u64], games: u32, test: &Sprt) -> Option<(f64, f64)> {
    let blocks: u64 = counts.iter().sum();
    let mean = llr(counts, games, test)? / blocks as f64;
    let deviations = match test.model {
        EloModel::Logistic => {
            let seen = outcomes(counts);
            let chances: Vec<f64> = seen.iter().map(|seen| seen.chance).collect();
            let (_, variance) = moments(&seen, &chances);
            (score(test.elo1) - score(test.elo0)) / libm::sqrt(variance)
        }
        EloModel::Normalized => {
            (test.elo1 - test.elo0) * libm::sqrt(f64::from(games)) / ELO_OF_DEVIATION
        }
    };
    Some((mean, deviations * deviations))
}

/// Wald's bounds: H0 is accepted below the first and H1 above the second: ln(β / (1 − α))
/// and ln((1 − β) / α).
#[must_use]
pub fn bounds(test: &Sprt) -> (f64, f64) {
    (
        libm::log(test.beta / (1.0 - test.alpha)),
        libm::log((1.0 - test.beta) / test.alpha),
    )
}

/// The expected score of an Elo difference.
#[must_use]
pub fn score(elo: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-elo / 400.0))
}

/// The weight of a count.
fn weight(count: u64) -> f64 {
    if count == 0 { NEVER } else { count as f64 }
}

/// Outcomes with their frequencies.
fn outcomes(counts: &[u64]) -> Vec<Outcome> {
    let whole = (counts.len() - 1) as f64;
    let sum: f64 = counts.iter().map(|&count| weight(count)).sum();
    let seen = counts.iter().enumerate();
    seen.map(|(units, &count)| Outcome {
        score: units as f64 / whole,
        chance: weight(count) / sum,
    })
    .collect()
}

#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// From 0 to 1.
    score: f64,
    /// Probability.
    chance: f64,
}

/// The mean log-likelihood ratio of a block.
fn ratio(seen: &[Outcome], none: &[f64], some: &[f64]) -> f64 {
    let each = seen.iter().zip(none.iter().zip(some));
    each.map(|(seen, (none, some))| seen.chance * libm::log(some / none))
        .sum()
}

/// The maximum likelihood probabilities with this mean.
fn likeliest(seen: &[Outcome], mean: f64) -> Option<Vec<f64>> {
    let away: Vec<f64> = seen.iter().map(|seen| seen.score - mean).collect();
    reweighed(seen, &away)
}

/// The maximum likelihood probabilities whose mean is this number of standard deviations
/// above one half.
fn standard(seen: &[Outcome], deviations: f64) -> Option<Vec<f64>> {
    let mut chances = vec![1.0 / seen.len() as f64; seen.len()];
    for _ in 0..ROUNDS {
        let (mean, variance) = moments(seen, &chances);
        let deviation = libm::sqrt(variance);
        let away: Vec<f64> = seen
            .iter()
            .map(|seen| {
                let from_mean = (mean - seen.score) / deviation;
                seen.score - 0.5 - deviations * deviation * (1.0 + from_mean * from_mean) / 2.0
            })
            .collect();
        let next = reweighed(seen, &away)?;
        let moved = next.iter().zip(&chances).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        chances = next;
        if moved < 1e-9 {
            break;
        }
    }
    Some(chances)
}

fn moments(seen: &[Outcome], chances: &[f64]) -> (f64, f64) {
    let each = || seen.iter().zip(chances);
    let mean: f64 = each().map(|(seen, chance)| chance * seen.score).sum();
    let variance = each()
        .map(|(seen, chance)| chance * (seen.score - mean) * (seen.score - mean))
        .sum();
    (mean, variance)
}

/// Probabilities p / (1 + x·away) with x such that the mean of `away` is 0 under them;
/// `None` if `away` has one sign only.
fn reweighed(seen: &[Outcome], away: &[f64]) -> Option<Vec<f64>> {
    let least = away.iter().copied().fold(f64::INFINITY, f64::min);
    let most = away.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(least < 0.0 && most > 0.0) {
        return None;
    }
    // The sum falls from +∞ at the lower end to −∞ at the upper.
    let sum = |x: f64| -> f64 {
        let each = seen.iter().zip(away);
        each.map(|(seen, away)| seen.chance * away / (1.0 + x * away))
            .sum()
    };
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if sum(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = low + (high - low) / 2.0;
    let chances = seen.iter().zip(away);
    Some(
        chances
            .map(|(seen, away)| seen.chance / (1.0 + x * away))
            .collect(),
    )
}

/// The mean log-likelihood ratio of normal outcomes, for hypotheses too far apart for any
/// distribution over the outcomes.
fn of_normal(seen: &[Outcome], none: f64, some: f64) -> f64 {
    let chances: Vec<f64> = seen.iter().map(|seen| seen.chance).collect();
    let (mean, variance) = moments(seen, &chances);
    let found = (mean - 0.5) / libm::sqrt(variance);
    let distance = |to: f64| 1.0 + (found - to) * (found - to);
    libm::log(distance(none) / distance(some)) / 2.0
}

#[cfg(test)]
mod tests;
