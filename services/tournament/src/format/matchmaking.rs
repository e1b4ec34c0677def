//! Which agents of a ladder meet next.

use super::{rating::Ratings, sums::pairs};

/// Maximum distance in places of agents that may meet.
const REACH: usize = 4;
/// Maximum number of agents; with more, choosing would be slower than playing.
pub(super) const AGENTS_MAX: usize = 128;
/// Choices per stage. If the stage has more blocks, each choice assigns several blocks.
const CHOICES: u64 = 64;

/// Groups that may meet, by the places of their agents.
fn groups(agents: usize, seats: usize) -> Vec<Vec<usize>> {
    let reach = (seats - 1 + REACH).min(agents);
    let mut groups = Vec::new();
    for first in 0..=agents - seats {
        let behind: Vec<u16> = (first + 1..(first + reach).min(agents))
            .map(|place| place as u16)
            .collect();
        let others = super::combinations(&behind, seats - 1);
        for others in others.unwrap_or_default() {
            let others = others.into_iter().map(usize::from);
            groups.push(std::iter::once(first).chain(others).collect());
        }
    }
    groups
}

/// The `count` groups whose next `games` games are most informative on the order of these
/// agents, of which there are at least as many as seats.
pub(super) fn choose(
    mut ratings: Ratings,
    order: &[usize],
    seats: usize,
    games: f64,
    count: u64,
) -> Vec<Vec<usize>> {
    let candidates: Vec<Vec<usize>> = groups(order.len(), seats)
        .into_iter()
        .map(|group| group.into_iter().map(|place| order[place]).collect())
        .collect();
    let neighbours: Vec<(usize, usize)> = order.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let mut chosen = Vec::new();
    for _ in 0..count {
        let open: Vec<((usize, usize), f64)> = neighbours
            .iter()
            .map(|&pair| (pair, ratings.openness(pair)))
            .collect();
        let mut best: Option<(f64, &Vec<usize>)> = None;
        for group in &candidates {
            let gain: f64 = pairs(group.len())
                .map(|(a, b)| {
                    let pair = (group[a], group[b]);
                    ratings.gain(pair, games, &open)
                })
                .sum();
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, group));
            }
        }
        let Some((_, group)) = best else { break };
        for (a, b) in pairs(group.len()) {
            ratings.foresee((group[a], group[b]), games);
        }
        chosen.push(group.clone());
    }
    chosen
}

/// Blocks of each group of a stage of so many blocks.
pub(super) fn blocks_together(blocks: u64) -> u64 {
    (blocks / CHOICES).max(1)
}
