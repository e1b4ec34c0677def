//! The test of single games in fastchess, implemented again from its definition (its formula for
//! wins, draws and losses; M. Van den Bergh, "A practical introduction to the GSPRT", section 2).
//! The most likely probabilities of a loss, a draw and a win under which the score is that of a
//! hypothesis are p / (1 + x·(a − s)) for the shares p of the scores a, with x such that the mean
//! of a − s is 0. An outcome that has not occurred counts as a thousandth of a game.

use arena_model::format::{EloModel, Sprt};

use super::field::Random;

/// Games between two checks.
const STEP: u64 = 16;
/// Scores of a loss, a draw and a win.
const SCORES: [f64; 3] = [0.0, 0.5, 1.0];

/// Whether the test accepts the second hypothesis, and after how many games.
pub(super) fn decide(
    test: &Sprt,
    chances: &[f64],
    games_max: u64,
    random: &mut Random,
) -> (Option<bool>, u64) {
    let lower = (test.beta / (1.0 - test.alpha)).ln();
    let upper = ((1.0 - test.beta) / test.alpha).ln();
    let mut counts = [0_u64; 3];
    let mut played = 0;
    while played < games_max {
        for _ in 0..STEP {
            counts[random.outcome(chances)] += 1;
            played += 1;
        }
        let llr = ratio(counts, test);
        if llr <= lower || llr >= upper {
            return (Some(llr >= upper), played);
        }
    }
    (None, played)
}

/// The log-likelihood ratio of the hypotheses.
fn ratio(counts: [u64; 3], test: &Sprt) -> f64 {
    let weights = counts.map(|count| (count as f64).max(1e-3));
    let games: f64 = weights.iter().sum();
    let shares = weights.map(|weight| weight / games);
    let mean = |of: [f64; 3]| (0..3).map(|at| shares[at] * of[at]).sum::<f64>();
    let score = mean(SCORES);
    let variance = mean(SCORES.map(|own| (own - score).powi(2)));
    match test.model {
        EloModel::Logistic => {
            let [none, some] = [test.elo0, test.elo1].map(|elo| {
                let away = SCORES.map(|own| own - 1.0 / (1.0 + 10_f64.powf(-elo / 400.0)));
                root(shares, away)
            });
            games * mean([0, 1, 2].map(|at| (some[at] / none[at]).ln()))
        }
        // A normal approximation with the observed variance: equal if the difference is small.
        EloModel::Normalized => {
            let deviations = |elo: f64| elo * std::f64::consts::LN_10 / 800.0;
            let found = (score - 0.5) / variance.sqrt();
            let (none, some) = (deviations(test.elo0), deviations(test.elo1));
            games * (some - none) * (2.0 * found - none - some) / 2.0
        }
    }
}

/// The most likely probabilities under which the mean of `away` is 0, by Newton's method within the
/// bounds of x.
fn root(shares: [f64; 3], away: [f64; 3]) -> [f64; 3] {
    let (mut low, mut high) = (-1.0 / away[2], -1.0 / away[0]);
    let mut x = 0.0;
    for _ in 0..60 {
        let terms = [0, 1, 2].map(|at| away[at] / (1.0 + x * away[at]));
        let sum: f64 = (0..3).map(|at| shares[at] * terms[at]).sum();
        let slope: f64 = (0..3).map(|at| shares[at] * terms[at] * terms[at]).sum();
        if sum > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let next = x + sum / slope;
        let next = if low < next && next < high {
            next
        } else {
            f64::midpoint(low, high)
        };
        if (next - x).abs() < 1e-13 {
            break;
        }
        x = next;
    }
    [0, 1, 2].map(|at| shares[at] / (1.0 + x * away[at]))
}

#[cfg(test)]
mod tests {
    use arena_tournament::sequential::gsprt;

    use super::*;

    #[test]
    fn equals_sprt_of_single_games() {
        for counts in [[10, 20, 15], [0, 3, 1], [900, 10, 1000]] {
            let test = Sprt::default();
            let ours = gsprt::llr(&counts, 1, &test).expect("games");
            let theirs = ratio(counts, &test);
            assert!((ours - theirs).abs() < 1e-6, "{counts:?}: {ours} {theirs}");
        }
    }
}
