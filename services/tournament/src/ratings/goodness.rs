//! Whether one number for each agent fits what pairs of agents scored.
//!
//! Of each pair the score over its complete blocks less that expected by the ratings
//! is compared with how its blocks vary. Ratings may still move to where they fit best:
//! what is left is that of a regression by weighted least squares, with variances
//! that are estimated from each pair's own blocks (S. Johansen, "The Welch–James
//! approximation to the distribution of the residual sum of squares in a weighted
//! linear regression", Biometrika 67, 1980). The logarithm of ties' weight may move
//! too: draws need not become rarer with distance just as the model has
//! it. The crate's README.md has the formulas.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::{fit::Fit, matrix::Matrix, scale::Scale};
use crate::tally::Evidence;

/// Pairs with fewer blocks hardly know how those vary.
const BLOCKS_MIN: u64 = 10;
/// With more agents the regression would take too long.
const AGENTS_MAX: usize = 128;
/// A column whose square is reduced to less of itself by others is one of theirs.
const DEPENDENT: f64 = 1e-9;
/// By about so much the logarithm of ties' weight may move.
const TIE: f64 = 3.0;
/// Beyond it degrees of freedom change nothing.
const FREEDOM_MAX: f64 = 1e7;

/// A test of whether the model of ratings fits the scores of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goodness {
    /// Pairs with enough blocks.
    pub pairs: u64,
    /// F of what is left.
    pub statistic: f64,
    /// Its degrees of freedom: pairs less what ratings may move.
    pub freedom: u64,
    /// Those of its variances.
    pub freedom_residual: f64,
    /// How often as much or more is left where the model is true.
    pub p: f64,
}

/// One pair, in standard errors.
struct Row {
    agents: [usize; 2],
    left: f64,
    /// Slope in the difference of both.
    slope: f64,
    /// Slope in the logarithm of ties' weight.
    by_tie: f64,
    freedom: f64,
}

/// The test for games of two; none where no pair is left over, and where there are
/// too many agents.
pub(super) fn test(evidence: &Evidence, fit: &Fit) -> Option<Goodness> {
    let agents = evidence.names.len();
    if evidence.seats != 2 || agents > AGENTS_MAX {
        return None;
    }
    let rows = rows(evidence, fit);
    let mut columns = columns(&rows, agents);
    let freedom = rows.len().checked_sub(columns.len()).filter(|of| *of > 0)?;
    columns.push(agents);
    let of = |row: &Row, column: usize| {
        let [one, other] = row.agents;
        match column {
            _ if column == one => row.slope,
            _ if column == other => -row.slope,
            _ if column == agents => row.by_tie,
            _ => 0.0,
        }
    };
    let mut gram = Matrix::zero(columns.len());
    gram.add(columns.len() - 1, columns.len() - 1, 1.0 / (TIE * TIE));
    let mut moved = vec![0.0; columns.len()];
    for row in &rows {
        let cells: Vec<f64> = columns.iter().map(|&column| of(row, column)).collect();
        for (i, one) in cells.iter().enumerate().filter(|(_, one)| **one != 0.0) {
            moved[i] += one * row.left;
            for (j, other) in cells.iter().enumerate() {
                gram.add(i, j, one * other);
            }
        }
    }
    let root = gram.inverse_root()?;
    // Squared length of the root's product with a vector.
    let square = |vector: &[f64]| -> f64 {
        let row = |i: usize| {
            root.row(i)
                .iter()
                .zip(vector)
                .map(|(a, b)| a * b)
                .sum::<f64>()
        };
        (0..columns.len()).map(|i| row(i) * row(i)).sum()
    };
    let all: f64 = rows.iter().map(|row| row.left * row.left).sum();
    let left = (all - square(&moved)).max(0.0);
    let leverage = |row: &Row| {
        let cells: Vec<f64> = columns.iter().map(|&column| of(row, column)).collect();
        (1.0 - square(&cells)).max(0.0)
    };
    let unsure: f64 = rows
        .iter()
        .map(|row| leverage(row).powi(2) / row.freedom)
        .sum();
    let k = freedom as f64;
    let statistic = left / (k + 2.0 * unsure - 6.0 * unsure / (k + 2.0));
    let residual = (k * (k + 2.0) / (3.0 * unsure)).min(FREEDOM_MAX);
    let fisher = FisherSnedecor::new(k, residual).ok()?;
    Some(Goodness {
        pairs: rows.len() as u64,
        statistic,
        freedom: freedom as u64,
        freedom_residual: residual,
        p: fisher.sf(statistic),
    })
}

fn rows(evidence: &Evidence, fit: &Fit) -> Vec<Row> {
    let tie = fit.ties[0].map(|place| libm::exp(fit.values[place]));
    let scale = Scale::new(tie.unwrap_or(0.0));
    let games = evidence.rotations as f64;
    let several = evidence
        .groups
        .iter()
        .filter(|group| group.blocks() >= BLOCKS_MIN);
    let row = |group: &crate::tally::GroupSums| {
        let &[one, other] = group.agents() else {
            return None;
        };
        let agents = [one, other].map(usize::from);
        let difference = fit.values[agents[0]] - fit.values[agents[1]];
        let expected = 1.0 / (1.0 + libm::exp(-scale.odds(difference)));
        let units = group.shares(evidence.rotations).first()?.sums.units;
        let blocks = units.blocks as f64;
        let freedom = blocks - 1.0;
        let spread = units.spread() / 4.0;
        let of_block = if spread > 0.0 {
            spread / freedom
        } else {
            // That of as many single games of the model.
            let (win, loss) = (libm::exp(difference / 2.0), libm::exp(-difference / 2.0));
            let (even, all) = (tie.unwrap_or(0.0), win + loss + tie.unwrap_or(0.0));
            games * ((win + even / 4.0) / all - expected * expected)
        };
        let error = (blocks * of_block).sqrt();
        let slopes = scale.slopes(difference);
        let slope = blocks * games * expected * (1.0 - expected) / error;
        (error > 0.0).then(|| Row {
            agents,
            left: (units.sum as f64 / 2.0 - blocks * games * expected) / error,
            slope: slope * slopes.0,
            by_tie: tie.map_or(0.0, |_| slope * slopes.1),
            freedom,
        })
    };
    several.filter_map(row).collect()
}

/// Agents whose ratings no others of them stand for.
fn columns(rows: &[Row], agents: usize) -> Vec<usize> {
    let mut gram = vec![vec![0.0; agents]; agents];
    for row in rows {
        let [one, other] = row.agents;
        let cells = [(one, row.slope), (other, -row.slope)];
        for (i, a) in cells {
            for (j, b) in cells {
                gram[i][j] += a * b;
            }
        }
    }
    let mut kept = Vec::new();
    let first: Vec<f64> = (0..agents).map(|place| gram[place][place]).collect();
    for place in 0..agents {
        let pivot = gram[place][place];
        if first[place] <= 0.0 || pivot <= DEPENDENT * first[place] {
            continue;
        }
        kept.push(place);
        let own = gram[place].clone();
        for row in gram.iter_mut().skip(place + 1) {
            let factor = row[place] / pivot;
            for (cell, own) in row.iter_mut().zip(&own) {
                *cell -= factor * own;
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;
    use crate::{
        Schedule, Tally, Wanted,
        testing::{Draws, result, tournament},
    };

    /// Games in which one beats another with these odds, and a draw has this weight.
    fn played(
        (agents, blocks): (usize, u64),
        odds: impl Fn(u16, u16) -> f64,
        tie: f64,
        of: &mut Draws,
    ) -> Evidence {
        let tournament = tournament(agents, 2, blocks);
        let schedule = Schedule::new(&tournament).expect("a schedule");
        let mut tally = Tally::new(&tournament).expect("a tally");
        for game in schedule.iter() {
            let win = odds(game.seats[0], game.seats[1]).sqrt();
            let at = of.below(1_000_000) as f64 / 1e6 * (win + 1.0 / win + tie);
            let placement = match at {
                at if at < win => [1, 2],
                at if at < win + tie => [1, 1],
                _ => [2, 1],
            };
            tally.add(&result(game, &placement, 10));
        }
        tally.evidence()
    }

    fn strengths(a: u16, b: u16) -> f64 {
        (0.5 * (f64::from(b) - f64::from(a))).exp()
    }

    #[test]
    fn a_model_that_is_true_is_rejected_as_rarely_as_the_test_says() {
        for (agents, blocks, tie) in [(3, 10, 0.0), (4, 20, 0.0), (6, 40, 1.0)] {
            let mut of = Draws(0x5eed);
            let mut rejected = 0;
            let runs = 2000;
            for _ in 0..runs {
                let evidence = played((agents, blocks), strengths, tie, &mut of);
                let ratings = evidence.ratings(None).expect("games");
                let found = ratings.goodness.expect("pairs");
                rejected += u64::from(found.p < 0.05);
            }
            let share = rejected as f64 / runs as f64;
            let promised = Binomial::new(0.05, runs).expect("a share");
            assert!(
                promised.sf(rejected.saturating_sub(1)) > 0.001,
                "{agents}: {share}"
            );
        }
    }

    #[test]
    fn a_circle_is_found_and_told() {
        let circle = |a: u16, b: u16| if (a + 1) % 3 == b { 3.0 } else { 1.0 / 3.0 };
        let evidence = played((3, 60), circle, 0.2, &mut Draws(1));
        let found = evidence.ratings(None).expect("games").goodness;
        let found = found.expect("pairs");
        assert_eq!((found.pairs, found.freedom), (3, 1));
        assert!(found.p < 1e-6, "{found:?}");
        let notes = evidence.compare(Wanted::default()).notes;
        let told = notes.iter().any(|note| note.contains("do not fit"));
        assert!(told, "{notes:?}");
        let fits = played((3, 60), strengths, 0.2, &mut Draws(1));
        let notes = fits.compare(Wanted::default()).notes;
        assert!(
            !notes.iter().any(|note| note.contains("do not fit")),
            "{notes:?}"
        );
    }

    #[test]
    fn two_agents_leave_nothing_to_test() {
        let evidence = played((2, 60), strengths, 0.0, &mut Draws(1));
        assert_eq!(evidence.ratings(None).expect("games").goodness, None);
    }
}
