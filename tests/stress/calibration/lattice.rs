//! The granularity of estimates.
//!
//! Few blocks have few possible sums of units. One more or less possible sum at both ends of an
//! interval changes its coverage by 2·φ(1.96)·h/σ, where h is the step between sums and σ their
//! standard deviation. No rule can meet a coverage more precisely. If this exceeds the accepted
//! band, the cell is coarse: only the lower end of the band applies. It follows from the
//! probabilities of the games, before any simulation.

use std::collections::BTreeMap;

use super::field::{World, duel, units};

/// The normal density at its two-sided 95 % point.
const DENSITY: f64 = 0.058_445;

/// A sum over the games of a block.
#[derive(Clone, Copy)]
pub(super) enum Sum {
    /// Units of an agent.
    Units(u16),
    /// Wins of an agent.
    Wins(u16),
    /// Units of the first seat.
    Seat,
    /// Units of one agent minus those of another.
    Apart(u16, u16),
    /// Units of one agent against another in the games of both.
    Duel(u16, u16),
}

impl Sum {
    fn of(self, seats: &[u16], placement: &[u8]) -> i64 {
        let sum = |agent: u16, worth: &dyn Fn(usize) -> i64| -> i64 {
            let own = (0..seats.len()).filter(|&seat| seats[seat] == agent);
            own.map(worth).sum()
        };
        let units = |seat| units(placement, seat);
        let most = 2 * (seats.len() as i64 - 1);
        match self {
            Self::Units(agent) => sum(agent, &units),
            Self::Wins(agent) => sum(agent, &|seat| i64::from(units(seat) == most)),
            Self::Seat => units(0),
            Self::Duel(one, other) => duel(seats, placement, (one, other)).0,
            Self::Apart(one, other) => sum(one, &units) - sum(other, &units),
        }
    }
}

/// How much one more possible sum at both ends changes coverage.
pub(super) fn coarseness(world: &World, sum: Sum) -> f64 {
    let rotations = world.schedule.rotations() as usize;
    let groups = world.schedule.groups() as usize;
    let games: Vec<_> = world.schedule.iter().take(groups * rotations).collect();
    let (mut step, mut variance) = (0, 0.0);
    for block in games.chunks(rotations) {
        let mut chances: BTreeMap<i64, f64> = BTreeMap::new();
        let draws = 1 << world.field.seats;
        for dice in 0..draws {
            let mut so_far = BTreeMap::from([(0, 1.0)]);
            for game in block {
                let mut next = BTreeMap::new();
                for (placement, chance) in world.ends(&game.seats, dice) {
                    let worth = sum.of(&game.seats, placement);
                    for (&known, &share) in &so_far {
                        *next.entry(known + worth).or_default() += share * chance;
                    }
                }
                so_far = next;
            }
            for (worth, share) in so_far {
                *chances.entry(worth).or_default() += share / f64::from(draws);
            }
        }
        let mean: f64 = chances
            .iter()
            .map(|(&worth, share)| worth as f64 * share)
            .sum();
        let spread = |(&worth, share): (&i64, &f64)| (worth as f64 - mean).powi(2) * share;
        variance += chances.iter().map(spread).sum::<f64>() * world.field.blocks as f64;
        let worths: Vec<i64> = chances.into_keys().collect();
        for pair in worths.windows(2) {
            step = common(step, pair[1] - pair[0]);
        }
    }
    if variance > 0.0 {
        2.0 * DENSITY * step as f64 / variance.sqrt()
    } else {
        1.0
    }
}

/// The greatest common divisor.
fn common(one: i64, other: i64) -> i64 {
    if other == 0 {
        one
    } else {
        common(other, one % other)
    }
}
