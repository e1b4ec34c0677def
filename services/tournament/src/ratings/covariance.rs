//! Covariance of the ratings.
//!
//! The sandwich estimator with blocks as clusters (P. J. Huber, "The behavior of maximum
//! likelihood estimates under nonstandard conditions", 1967; K.-Y. Liang and S. L. Zeger,
//! "Longitudinal data analysis using generalized linear models", Biometrika 73, 1986):
//! H⁻¹·G·H⁻¹, where H is the information and G the sum over blocks of the products of their
//! score vectors, which are sums over their games. Within groups, score vectors are
//! centred at their mean, because the choice of groups is not random; so model misfit does
//! not widen the intervals. Each group has its own correction for its number of blocks. A
//! group with a single block has no estimate of its mean, so its score vectors have the
//! model's variance.
//!
//! Blocks that are all equal show no variance. If all of some agents lost every game to
//! others ([`Sets`]), only these games determine the difference, so they get the model's
//! variance. Blocks that share dice vary less than that, which widens such an interval a
//! little.
//!
//! The prior is one more observation of each parameter, with its own variance: without
//! games, the uncertainty is that of the prior.
//!
//! Block outcomes are discrete, so a few blocks, or equal ones, underestimate the variance.
//! The same correction as for scores is added ([`Blocks::added`]), which is there a share
//! of an agent's blocks. Here it is one more block in which the agent gained what its
//! opponents lost, without a change of ties. Half is added for each agent, so that a
//! difference of two has the correction of their score difference. A quarter is added if an
//! agent met several opponents, each in separate blocks: these blocks differ in their
//! information, so that a rating has finer steps. As for scores, the maximum variance grows
//! by the same amount, which bounds the correction for an agent that hardly ever loses.

use smallvec::smallvec;

use super::{
    fit::Fit,
    matrix::{Matrix, add_scaled},
    model::{Features, feature_count},
    sets::Sets,
};
use crate::{
    interval::Blocks,
    tally::{Evidence, GroupSums, Ranking, Together, distinct},
};

/// Maximum leverage that is used.
const PULL_MAX: f64 = 0.75;

/// The amount added to the variance of each agent's score, given its blocks and the maximum
/// number of pairs of an own seat and another agent's seat in a game.
pub(super) fn added(
    evidence: &Evidence,
    (fit, precision): (&Fit, f64),
    of: &[(Blocks, u64)],
) -> Vec<f64> {
    // Range of a game's score, from first to last place. The score of a step is observed
    // minus expected, and the expected value is 1/k with k equal players left.
    let range: f64 = (1..evidence.seats).map(|behind| 1.0 / behind as f64).sum();
    let of_agent = |(agent, (blocks, pairs)): (usize, &(Blocks, u64))| {
        let seats = *pairs as f64 / (evidence.seats - 1) as f64;
        let scale = seats * evidence.rotations as f64 * range;
        let added = blocks.added();
        // The reduction of a perfect score by the prior.
        let taken = precision * fit.values[agent] / scale;
        let highest = blocks.variance_most(taken);
        let bound = highest + added;
        if bound > 0.0 {
            let all_alike = blocks.spread().0 == 0.0;
            let parts = if blocks.groups > 1 && !all_alike {
                4.0
            } else {
                2.0
            };
            scale * scale * added * highest / bound / parts
        } else {
            0.0
        }
    };
    of.iter().enumerate().map(of_agent).collect()
}

/// Information of the games on an agent's strength.
pub(super) fn information(fit: &Fit, precision: f64, agent: usize) -> f64 {
    (fit.information.at(agent, agent) - precision).max(precision / 100.0)
}

/// Adds these blocks to the sum of products of score vectors.
pub(super) fn add_blocks(meat: &mut Matrix, added: &[f64], fit: &Fit, precision: f64) {
    let agents = added.len();
    for (agent, &added) in added.iter().enumerate().filter(|(_, added)| **added > 0.0) {
        let own = information(fit, precision, agent);
        // The agent's gain and the opponents' losses, in proportion to the information of
        // the games.
        let row = &fit.information.row(agent)[..agents];
        let mut gains: Vec<f64> = row.iter().map(|cell| cell / own).collect();
        gains[agent] = 1.0;
        for (i, one) in gains.iter().enumerate().filter(|(_, one)| **one != 0.0) {
            for (j, other) in gains.iter().enumerate() {
                meat.add(i, j, added * one * other);
            }
        }
    }
}

/// Sum over all games of the products of blocks' score vectors, plus the prior; `None` with
/// fewer than two complete blocks.
pub(super) fn meat(
    evidence: &Evidence,
    (fit, precision): (&Fit, f64),
    sets: &Sets,
) -> Option<Matrix> {
    let blocks: u64 = evidence.groups.iter().map(GroupSums::blocks).sum();
    if blocks < 2 {
        return None;
    }
    let mut own = vec![0; evidence.names.len()];
    for group in &evidence.groups {
        for (agent, _) in distinct(group.agents()) {
            own[usize::from(agent)] += group.blocks();
        }
    }
    let mut meat = Matrix::zero(fit.values.len());
    for group in evidence.groups.iter().filter(|group| group.blocks() > 0) {
        if sets.between_levels(group.agents()) {
            add_as_modelled(&mut meat, group, evidence.rotations, fit);
            continue;
        }
        let (centred, free) = match group.blocks() {
            1 => (false, 1.0 - pull(group, &own)),
            own => (true, 1.0 - 1.0 / own as f64),
        };
        let rotations = evidence.rotations;
        add(&mut meat, group, rotations, fit, (centred, 1.0 / free));
    }
    let games = |group: &GroupSums| group.games().iter().map(|(_, count)| count).sum::<u64>();
    let all: u64 = evidence.groups.iter().map(games).sum();
    let more = all as f64 / (blocks * evidence.rotations) as f64;
    meat.scale(more);
    for place in 0..fit.values.len() {
        meat.add(place, place, precision);
    }
    Some(meat)
}

/// Leverage of the only block of a group: how far it pulls its expected value towards
/// itself, as if all agents had equally many blocks. `blocks` are the blocks of each agent.
fn pull(group: &GroupSums, blocks: &[u64]) -> f64 {
    let parts: f64 = distinct(group.agents())
        .map(|(agent, _)| 1.0 / blocks[usize::from(agent)] as f64)
        .sum();
    parts.min(PULL_MAX)
}

/// Adds the model's products of score vectors of a group's complete blocks.
fn add_as_modelled(meat: &mut Matrix, group: &GroupSums, rotations: u64, fit: &Fit) {
    let games: u64 = group.games().iter().map(|(_, count)| count).sum();
    let share = (group.blocks() * rotations) as f64 / games as f64;
    let cells = fit.variance(group);
    let places = fit.places(group);
    for (i, row) in places.iter().enumerate() {
        for (column, cell) in places.iter().zip(cells.row(i)) {
            if let (Some(row), Some(column)) = (*row, *column) {
                meat.add(row, column, share * cell);
            }
        }
    }
}

/// Adds the products of a group's score vectors, times a factor.
fn add(
    meat: &mut Matrix,
    group: &GroupSums,
    rotations: u64,
    fit: &Fit,
    (centred, factor): (bool, f64),
) {
    let (sum, cells) = blocks(group, rotations, fit);
    let blocks = group.blocks() as f64;
    let places = fit.places(group);
    for (i, row) in places.iter().enumerate() {
        for (j, column) in places.iter().enumerate() {
            let (Some(row), Some(column)) = (*row, *column) else {
                continue;
            };
            let known = if centred {
                sum[i] * sum[j] / blocks
            } else {
                0.0
            };
            meat.add(row, column, factor * (cells.at(i, j) - known));
        }
    }
}

/// Sums over a group's complete blocks of their score vectors, and of the products of score
/// vectors.
pub(super) fn blocks(group: &GroupSums, rotations: u64, fit: &Fit) -> (Features, Matrix) {
    let scores = fit.scores(group);
    let size = feature_count(group.agents().len());
    let find = |ranking: Ranking| {
        let place = scores.binary_search_by_key(&ranking, |(known, _)| *known);
        place.ok()
    };
    let mut cells = Matrix::zero(size);
    let mut total: Features = smallvec![0.0; size];
    let products = match group.together(rotations) {
        Together::Products(products) => products,
        Together::Blocks(blocks) => {
            // The sums do not depend on the order in which blocks were completed.
            let mut blocks: Vec<_> = blocks.chunks_exact(rotations as usize).collect();
            blocks.sort_unstable();
            for block in blocks {
                let mut sum: Features = smallvec![0.0; size];
                for place in block.iter().filter_map(|&ranking| find(ranking)) {
                    add_scaled(&mut sum, 1.0, &scores[place].1);
                }
                add_scaled(&mut total, 1.0, &sum);
                for (i, one) in sum.iter().enumerate() {
                    cells.add_to_row(i, *one, &sum);
                }
            }
            return (total, cells);
        }
    };
    // Row r: Σ_s Σ_blocks c_r·c_s · score of s.
    let mut rows: Vec<Features> = vec![smallvec![0.0; size]; scores.len()];
    let mut sums = vec![0_u64; scores.len()];
    for (r, s, product) in products {
        let (Some(r), Some(s)) = (find(r), find(s)) else {
            continue;
        };
        for (one, other) in [(r, s), (s, r)]
            .into_iter()
            .take(if r == s { 1 } else { 2 })
        {
            sums[one] += product;
            add_scaled(&mut rows[one], product as f64, &scores[other].1);
        }
    }
    for (((_, score), row), &sum) in scores.iter().zip(&rows).zip(&sums) {
        add_scaled(&mut total, sum as f64 / rotations as f64, score);
        for (i, one) in score.iter().enumerate() {
            cells.add_to_row(i, *one, row);
        }
    }
    (total, cells)
}
