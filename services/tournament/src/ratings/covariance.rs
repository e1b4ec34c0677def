//! How far ratings may be off.
//!
//! The sandwich estimator with blocks as clusters (P. J. Huber, "The behavior
//! of maximum likelihood estimates under nonstandard conditions", 1967; K.-Y.
//! Liang and S. L. Zeger, "Longitudinal data analysis using generalized linear
//! models", Biometrika 73, 1986): H⁻¹·G·H⁻¹, where H is the information and G
//! the sum over blocks of the products of their scores, which are sums over
//! their games. Within groups scores are taken from their mean, since which
//! groups play is not drawn; so a model that does not fit widens nothing.
//!
//! Where few blocks came, or all came out alike, G says too little. Something is
//! added for each agent, at most what the information is: an eighth, half the
//! variance of one even game, times the share by which its games told less than
//! even ones, which is near to 1 for an agent that hardly ever loses or hardly
//! does anything but draw; at least half of it. It keeps a perfect score's
//! interval about as wide as that of its share, and is nothing beside a dozen
//! blocks that vary.

use super::{
    fit::Fit,
    matrix::Matrix,
    model::{FEATURES, Features},
};
use crate::tally::{Evidence, GroupSums, Ranking};

/// Added to the variance of each agent's score.
const ADDED: f64 = 0.125;
/// The variance of one even game.
const EVEN: f64 = 0.25;

/// Sum over all games of the products of blocks' scores; none without two
/// complete blocks.
pub(super) fn meat(evidence: &Evidence, fit: &Fit) -> Option<Matrix> {
    let blocks: u64 = evidence.groups.iter().map(GroupSums::blocks).sum();
    let groups = evidence.groups.iter().filter(|group| group.blocks() > 0);
    let strata = groups.clone().count() as u64;
    if blocks < 2 {
        return None;
    }
    // As for means: with fewer than two blocks in a group on average, what the
    // blocks of a group differ from their own mean says nothing.
    let centred = blocks >= 2 * strata;
    let freedom = blocks - if centred { strata } else { 1 };
    let mut meat = Matrix::zero(fit.values.len());
    for group in groups {
        add(&mut meat, group, evidence.rotations, fit, centred);
    }
    let games = |group: &GroupSums| group.games().iter().map(|(_, count)| count).sum::<u64>();
    let all: u64 = evidence.groups.iter().map(games).sum();
    let more = all as f64 / (blocks * evidence.rotations) as f64;
    meat.scale(more * blocks as f64 / freedom as f64);
    let mut played = vec![0; evidence.names.len()];
    for group in &evidence.groups {
        let count = games(group);
        for &agent in group.agents() {
            played[usize::from(agent)] += count;
        }
    }
    for (agent, played) in played.into_iter().enumerate() {
        let told = fit.information.at(agent, agent);
        let less = 1.0 - told / (EVEN * played.max(1) as f64);
        meat.add(agent, agent, (ADDED * less.max(0.5)).min(told));
    }
    Some(meat)
}

fn add(meat: &mut Matrix, group: &GroupSums, rotations: u64, fit: &Fit, centred: bool) {
    let score = fit.scores(group);
    let mut scores: Vec<(Ranking, Features)> = Vec::new();
    for (ranking, _) in group.games() {
        scores.push((ranking, score(ranking)));
    }
    let find = |ranking: Ranking| {
        let place = scores.binary_search_by(|(known, _)| known.cmp(&ranking));
        place.ok()
    };
    // Row r: Σ_s Σ_blocks c_r·c_s · score of s.
    let mut rows = vec![[0.0; FEATURES]; scores.len()];
    let mut sums = vec![0_u64; scores.len()];
    for (r, s, product) in group.products(rotations) {
        let (Some(r), Some(s)) = (find(r), find(s)) else {
            continue;
        };
        for (one, other) in [(r, s), (s, r)]
            .into_iter()
            .take(if r == s { 1 } else { 2 })
        {
            sums[one] += product;
            for (sum, score) in rows[one].iter_mut().zip(scores[other].1) {
                *sum += product as f64 * score;
            }
        }
    }
    let mut cells = [[0.0; FEATURES]; FEATURES];
    let mut mean = [0.0; FEATURES];
    for (((_, score), row), &sum) in scores.iter().zip(&rows).zip(&sums) {
        for i in 0..FEATURES {
            mean[i] += sum as f64 / rotations as f64 * score[i];
            for j in 0..FEATURES {
                cells[i][j] += score[i] * row[j];
            }
        }
    }
    let blocks = group.blocks() as f64;
    let places = fit.places(group);
    for (i, row) in places.iter().enumerate() {
        for (j, column) in places.iter().enumerate() {
            let (Some(row), Some(column)) = (*row, *column) else {
                continue;
            };
            let known = if centred {
                mean[i] * mean[j] / blocks
            } else {
                0.0
            };
            meat.add(row, column, cells[i][j] - known);
        }
    }
}
