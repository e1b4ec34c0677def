//! What blocks gained over single games.
//!
//! The games of a block have the same agents, each at every seat, and where
//! they are paired the same dice. Had the same games been dealt singly, the
//! variance of a block's sum would be the sum of the variances of its games;
//! what it really is, less what it would have been, is the covariance within
//! blocks. Both are pooled over agents and groups.

use super::{
    Tally,
    group::{GroupSums, distinct},
};
use crate::standings::Pairing;

/// Below so many degrees of freedom the share is hardly known.
const FREEDOM_MIN: u64 = 30;

impl Tally {
    /// What the blocks gained; none where a block is one game, where few are
    /// complete, and where nothing varies.
    pub(super) fn pairing(&self) -> Option<Pairing> {
        let rotations = u64::from(self.schedule.rotations());
        let (mut together, mut apart) = (0.0, 0.0);
        let (mut blocks, mut freedom) = (0, 0);
        let several = |group: &&GroupSums| {
            group.blocks() > 1 && distinct(group.agents()).all(|(_, seats)| seats == 1)
        };
        for group in self.groups.values().filter(several) {
            blocks += group.blocks();
            freedom += group.blocks() - 1;
            for (member, share) in group.shares(rotations).iter().enumerate() {
                together += share.sums.units.spread();
                apart += spread_apart(group, member, rotations);
            }
        }
        if rotations < 2 || freedom < FREEDOM_MIN || apart <= 0.0 {
            return None;
        }
        let games = (blocks * rotations) as f64;
        Some(Pairing {
            blocks,
            variance_reduction: 1.0 - together / apart,
            games_saved: (together > 0.0)
                .then(|| (games * (apart / together - 1.0)).round() as i64),
        })
    }
}

/// Sum over a member's games of the squared distances from its mean at the
/// game's seat.
fn spread_apart(group: &GroupSums, member: usize, rotations: u64) -> f64 {
    let seats = 0..group.agents().len();
    let squares = group.squares(member, rotations) as f64;
    let of_means = seats.map(|seat| (group.units_at(member, seat) as f64).powi(2));
    squares - of_means.sum::<f64>() / group.blocks() as f64
}
