//! Goodness of fit of one rating per agent to the scores of groups.
//!
//! For each group, the scores of its members over its complete blocks, minus the scores
//! expected by the ratings, are compared with the variance of its blocks. The ratings may
//! still move to the best fit: the residual is that of a weighted least squares regression,
//! with covariances estimated from each group's own blocks (S. Johansen, "The Welch–James
//! approximation to the distribution of the residual sum of squares in a weighted linear
//! regression", Biometrika 67, 1980). The logarithms of tie weights may move, too, because
//! draws need not become rarer with distance exactly as in the model. The crate's README.md
//! has the formulas.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::{
    covariance,
    fit::Fit,
    matrix::{Matrix, dot},
};
use crate::tally::{Evidence, GroupSums, distinct};

/// Minimum number of blocks of a group; fewer hardly estimate the variance.
const BLOCKS_MIN: u64 = 10;
/// Maximum number of agents and of scores; the regression would take too long for more.
const AGENTS_MAX: usize = 128;
const ROWS_MAX: usize = 10_000;
/// A column whose square the others reduce below this share is linearly dependent.
const DEPENDENT: f64 = 1e-9;
/// Approximate range in which the logarithm of a tie weight may move.
const TIE: f64 = 3.0;
/// Beyond this limit, degrees of freedom make no difference.
const DF_MAX: f64 = 1e7;
/// A block variance below this share of the model's is treated as 0.
const STILL: f64 = 1e-12;

/// A test of whether the rating model fits the scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Goodness {
    /// Groups of agents with enough blocks; pairs, if two agents play.
    pub pairs: u64,
    /// F statistic of the residual.
    pub statistic: f64,
    /// Its degrees of freedom: scores of groups minus fitted parameters.
    pub df: u64,
    /// Its denominator degrees of freedom, from the variances.
    pub df_residual: f64,
    /// The p-value: probability of at least this residual under the model.
    pub p: f64,
    /// The group with the largest deviation from the expected scores.
    pub worst: Vec<usize>,
}

/// Residuals of a group, in independent standard errors.
struct Rows {
    agents: Vec<usize>,
    rows: Vec<Row>,
    df: f64,
}

struct Row {
    left: f64,
    /// Slopes, by parameter of the fit.
    slopes: Vec<(usize, f64)>,
}

/// Runs the test; `None` if there are no residual degrees of freedom, or too many agents.
pub(super) fn test(evidence: &Evidence, fit: &Fit) -> Option<Goodness> {
    let agents = evidence.names.len();
    if !(3..=AGENTS_MAX).contains(&agents) {
        return None;
    }
    let several = evidence.groups.iter().filter(|group| {
        group.blocks() >= BLOCKS_MIN && distinct(group.agents()).count() == evidence.seats
    });
    let groups: Vec<Rows> = several
        .filter_map(|group| rows(group, evidence.rotations, fit))
        .collect();
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let count = rows().count();
    let mut columns = columns(rows(), agents);
    let df = count
        .checked_sub(columns.len())
        .filter(|of| *of > 0 && count <= ROWS_MAX)?;
    let strengths = columns.len();
    columns.extend(agents..fit.values.len());
    let dense = |row: &Row| -> Vec<f64> {
        let mut cells = vec![0.0; columns.len()];
        for &(parameter, slope) in &row.slopes {
            if let Ok(column) = columns.binary_search(&parameter) {
                cells[column] = slope;
            }
        }
        cells
    };
    let mut gram = Matrix::zero(columns.len());
    for tie in strengths..columns.len() {
        gram.add(tie, tie, 1.0 / (TIE * TIE));
    }
    let mut moved = vec![0.0; columns.len()];
    for row in rows() {
        let cells = dense(row);
        for (i, one) in cells.iter().enumerate().filter(|(_, one)| **one != 0.0) {
            moved[i] += one * row.left;
            for (j, other) in cells.iter().enumerate() {
                gram.add(i, j, one * other);
            }
        }
    }
    let root = gram.inverse_root()?;
    let turned = |vector: &[f64]| -> Vec<f64> {
        let rows = (0..columns.len()).map(|i| dot(root.row(i), vector));
        rows.collect()
    };
    let all: f64 = rows().map(|row| row.left * row.left).sum();
    let moved = turned(&moved);
    let left = (all - dot(&moved, &moved)).max(0.0);
    let unsure = |group: &Rows| {
        let turned: Vec<_> = group.rows.iter().map(|row| turned(&dense(row))).collect();
        let (mut trace, mut squares) = (0.0, 0.0);
        for (i, one) in turned.iter().enumerate() {
            for (j, other) in turned.iter().enumerate() {
                let same = f64::from(u8::from(i == j));
                let cell = same - dot(one, other);
                trace += same * cell;
                squares += cell * cell;
            }
        }
        (squares + trace * trace) / 2.0 / group.df
    };
    let unsure: f64 = groups.iter().map(unsure).sum();
    // Residual of a group at the best fit.
    let rest = |group: &Rows| -> f64 {
        let rows = group
            .rows
            .iter()
            .map(|row| row.left - dot(&turned(&dense(row)), &moved));
        rows.map(|left| left * left).sum()
    };
    let worst = groups
        .iter()
        .max_by(|one, other| rest(one).total_cmp(&rest(other)))?;
    let k = df as f64;
    let statistic = left / (k + 2.0 * unsure - 6.0 * unsure / (k + 2.0));
    let residual = (k * (k + 2.0) / (3.0 * unsure)).min(DF_MAX);
    let fisher = FisherSnedecor::new(k, residual).ok()?;
    Some(Goodness {
        pairs: groups.len() as u64,
        statistic,
        df: df as u64,
        df_residual: residual,
        p: fisher.sf(statistic),
        worst: worst.agents.clone(),
    })
}

/// The scores of a group's members except the last, whose score follows from the others.
/// `None` if its blocks contain no information.
fn rows(group: &GroupSums, rotations: u64, fit: &Fit) -> Option<Rows> {
    let size = group.agents().len() - 1;
    let blocks = group.blocks() as f64;
    let (came, products) = covariance::blocks(group, rotations, fit);
    let games: u64 = group.games().iter().map(|(_, count)| count).sum();
    let complete = blocks * rotations as f64 / games as f64;
    let mut modelled = fit.variance(group);
    modelled.scale(complete);
    // A few blocks of more than two members may lie in a plane: one block of the model's
    // variance is added. With two members it is added only if all blocks are equal.
    let own = |i: usize, j: usize| {
        (products.at(i, j) - came[i] * came[j] / blocks) * blocks / (blocks - 1.0)
    };
    let added = match size {
        1 if own(0, 0) > STILL * modelled.at(0, 0) => 0.0,
        1 => 1.0,
        _ => 1.0 / blocks,
    };
    let mut covariance = Matrix::zero(size);
    for i in 0..size {
        for j in 0..size {
            covariance.add(i, j, own(i, j) + added * modelled.at(i, j));
        }
    }
    let root = covariance.inverse_root()?;
    let places = fit.places(group);
    let row = |i: usize| {
        let weights = &root.row(i)[..size];
        let slopes = places.iter().enumerate().filter_map(|(column, place)| {
            let rows = weights.iter().enumerate();
            let slope = rows.map(|(row, weight)| weight * modelled.at(row, column));
            Some(((*place)?, slope.sum()))
        });
        Row {
            left: dot(weights, &came[..size]),
            slopes: slopes.collect(),
        }
    };
    Some(Rows {
        agents: group.agents().iter().map(|&agent| agent.into()).collect(),
        rows: (0..size).map(row).collect(),
        df: blocks - 1.0,
    })
}

/// Linearly independent columns of agents.
fn columns<'a>(rows: impl Iterator<Item = &'a Row>, agents: usize) -> Vec<usize> {
    let mut gram = vec![vec![0.0; agents]; agents];
    for row in rows {
        let of_agents = || row.slopes.iter().filter(|(place, _)| *place < agents);
        for &(i, a) in of_agents() {
            for &(j, b) in of_agents() {
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
        tests::{Draws, result, tournament},
    };

    /// Games in which one agent beats another with these odds and a draw has this weight.
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
    fn fit_test_keeps_its_level() {
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
    fn fit_test_finds_a_cycle() {
        let circle = |a: u16, b: u16| if (a + 1) % 3 == b { 3.0 } else { 1.0 / 3.0 };
        let evidence = played((3, 60), circle, 0.2, &mut Draws(1));
        let found = evidence.ratings(None).expect("games").goodness;
        let found = found.expect("pairs");
        assert_eq!((found.pairs, found.df), (3, 1));
        assert!(found.p < 1e-6, "{found:?}");
        let notes = evidence.compare(Wanted::default()).notes;
        let note = notes.iter().find(|note| note.contains("does not fit"));
        assert!(
            note.is_some_and(|note| note.contains("largest misfit")),
            "{notes:?}"
        );
        let fits = played((3, 60), strengths, 0.2, &mut Draws(1));
        let notes = fits.compare(Wanted::default()).notes;
        assert!(
            !notes.iter().any(|note| note.contains("does not fit")),
            "{notes:?}"
        );
    }

    /// Games of several seats, in which the ranks are drawn in turn by strength.
    fn several(
        (agents, seats, blocks): (usize, usize, u64),
        strength: impl Fn(u16, &[u16]) -> f64,
        of: &mut Draws,
    ) -> Evidence {
        let tournament = tournament(agents, seats, blocks);
        let schedule = Schedule::new(&tournament).expect("a schedule");
        let mut tally = Tally::new(&tournament).expect("a tally");
        for game in schedule.iter() {
            let mut placement = vec![0; seats];
            for rank in 1..=seats as u8 {
                let left = (0..seats).filter(|&seat| placement[seat] == 0);
                let left: Vec<(usize, f64)> = left
                    .map(|seat| (seat, strength(game.seats[seat], &game.seats)))
                    .collect();
                let all: f64 = left.iter().map(|(_, odds)| odds).sum();
                let mut at = of.below(1_000_000) as f64 / 1e6 * all;
                let next = left.iter().find(|(_, odds)| {
                    at -= odds;
                    at < 0.0
                });
                placement[next.or(left.last()).expect("a seat").0] = rank;
            }
            tally.add(&result(game, &placement, 10));
        }
        tally.evidence()
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "README.md quotes these rates")]
    fn fit_test_of_many_seats_keeps_level() {
        for (agents, seats, blocks) in [(4, 3, 20), (5, 4, 20), (6, 3, 40)] {
            let mut of = Draws(0x5eed);
            let mut rejected = 0;
            let runs = 2000;
            for _ in 0..runs {
                let strength = |agent: u16, _: &[u16]| (0.4 * f64::from(agent)).exp();
                let evidence = several((agents, seats, blocks), strength, &mut of);
                let ratings = evidence.ratings(None).expect("games");
                rejected += u64::from(ratings.goodness.expect("groups").p < 0.05);
            }
            let promised = Binomial::new(0.05, runs).expect("a share");
            println!("{agents} agents on {seats} seats: {rejected} of {runs} rejected");
            assert!(
                promised.sf(rejected.saturating_sub(1)) > 0.001,
                "{agents}, {seats}: {rejected} of {runs}"
            );
        }
    }

    /// Agent 0 is strong, unless agent 3 sits at the same table.
    #[test]
    fn fit_test_finds_context_effects() {
        for seats in [3, 4] {
            let strength = |agent: u16, all: &[u16]| match agent {
                0 if all.contains(&3) => 0.5,
                0 => 4.0,
                _ => 1.0,
            };
            let evidence = several((6, seats, 60), strength, &mut Draws(7));
            let found = evidence.ratings(None).expect("games").goodness;
            let found = found.expect("groups");
            assert!(found.p < 1e-6, "{found:?}");
            assert!(found.worst.starts_with(&[0]), "{found:?}");
        }
    }

    #[test]
    fn two_agents_give_no_fit_test() {
        let evidence = played((2, 60), strengths, 0.0, &mut Draws(1));
        assert_eq!(evidence.ratings(None).expect("games").goodness, None);
    }
}
