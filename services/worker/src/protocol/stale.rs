//! Leases of earlier stays. The coordinator took them back with the end of
//! their stay, so nobody but the worker itself can end a game that hangs.

use std::{collections::BTreeMap, time::Duration};

use super::{LeaseNo, Progress};

/// How long a lease of an earlier stay may go without a ply.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Since when which lease stands at how many plies.
#[derive(Debug, Default)]
pub(super) struct Stale(BTreeMap<LeaseNo, (u64, Duration)>);

impl Stale {
    /// Takes how far the leases of earlier stays are; tells which of them hang.
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
    fn a_lease_of_an_earlier_stay_is_kept_as_long_as_plies_are_played_in_it() {
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
