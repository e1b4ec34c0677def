//! Places by what players have.

use arena_engine::{MAX_SEATS, PerSeat};

/// Of two players, the one who has more comes first; as much shares the first
/// place.
pub(crate) fn of_two<T: Ord>([first, second]: [T; 2]) -> PerSeat<u8> {
    let mut placement = [0; MAX_SEATS];
    placement[0] = 1 + u8::from(first < second);
    placement[1] = 1 + u8::from(second < first);
    placement
}
