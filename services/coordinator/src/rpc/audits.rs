//! What callers see of audits.

use arena_wire::v1;

/// Leaves only audits that are done, for callers who must not see which games are drawn.
pub(super) fn hide_open(audits: &mut Option<v1::Audits>) {
    let done = audits.take().map(|audits| v1::Audits {
        due: audits.agreed + audits.differing + audits.sampled + audits.given_up,
        waiting: 0,
        claims: 0,
        pending: 0,
        ..audits
    });
    *audits = done.filter(|done| *done != v1::Audits::default());
}
