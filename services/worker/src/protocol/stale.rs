//! Leases of earlier stays. The coordinator took them back when their stay ended, so only the
//! worker itself can end a game that hangs.

use std::{collections::BTreeMap, time::Duration};

use super::{LeaseNo, Progress};

/// Maximum time without a ply for a lease of an earlier stay.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// For each lease, its plies and the time since which they have not changed.
#[derive(Debug, Default)]
pub(super) struct Stale(BTreeMap<LeaseNo, (u64, Duration)>);

impl Stale {
    /// Updates the progress of the leases of earlier stays. Returns those that hang.
    pub(super) fn hung<'a>(
        &mut self,
        now: Duration,
        earlier: impl Iterator<Item = &'a Progress>,
    ) -> Vec<LeaseNo> {
        let mut hung = Vec::new();
        let mut standing = BTreeMap::new();
        for live in earlier {
            let before = self.0.get(&live.lease);
            let since = before
                .filter(|(plies, _)| *plies == live.plies)
                .map_or(now, |(_, since)| *since);
            if now.saturating_sub(since) >= STALL_TIMEOUT {
                hung.push(live.lease);
            }
            standing.insert(live.lease, (live.plies, since));
        }
        self.0 = standing;
        hung
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_lease_lives_while_plies_grow() {
        let mut stale = Stale::default();
        let mut hung = |second: u64, plies| {
            let reported = second;
            let moves = [(1, plies), (2, second)];
            let earlier = moves.map(|(lease, plies)| Progress {
                lease,
                reported,
                plies,
                waits: false,
            });
            stale.hung(Duration::from_secs(second), earlier.iter())
        };
        assert!(hung(0, 5).is_empty());
        assert!(hung(59, 5).is_empty());
        assert!(hung(60, 6).is_empty());
        assert!(hung(119, 6).is_empty());
        assert_eq!(hung(120, 6), [1]);
    }
}
