//! Places by amounts.

use arena_engine::{MAX_SEATS, PerSeat};

/// Of two players, the one with more comes first; with equal amounts they share the first place.
pub(crate) fn of_two<T: Ord>([first, second]: [T; 2]) -> PerSeat<u8> {
    let mut placement = [0; MAX_SEATS];
    placement[0] = 1 + u8::from(first < second);
    placement[1] = 1 + u8::from(second < first);
    placement
}
