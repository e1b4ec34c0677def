//! The rules once more, seed by seed and without tables, after the rule files.

use std::collections::BTreeSet;

use arena_games::oware::Core;

/// What a player of Abapa may play, by the default rules.
pub(super) fn abapa_legal(core: &Core, must_feed: bool) -> Vec<u16> {
    let mover = usize::from(core.to_move);
    let starves = core.pits[6 * (1 - mover)..][..6]
        .iter()
        .all(|&pit| pit == 0);
    (0..6)
        .filter(|&offset| {
            let seeds = usize::from(core.pits[6 * mover + offset]);
            seeds > 0 && !(must_feed && starves && seeds < 6 - offset)
        })
        .map(|offset| offset as u16)
        .collect()
}

/// Sows in Abapa and captures, grand slams capturing nothing.
pub(super) fn abapa_sow(core: &mut Core, offset: usize, skip_origin: bool, allow_slam: bool) {
    let mover = usize::from(core.to_move);
    let origin = 6 * mover + offset;
    let mut hand = std::mem::take(&mut core.pits[origin]);
    let mut pit = origin;
    while hand > 0 {
        pit = (pit + 1) % 12;
        if pit != origin || !skip_origin {
            core.pits[pit] += 1;
            hand -= 1;
        }
    }
    let before = *core;
    while pit / 6 != mover && (core.pits[pit] == 2 || core.pits[pit] == 3) {
        core.score[mover] += core.pits[pit];
        core.pits[pit] = 0;
        pit = (pit + 11) % 12;
    }
    let emptied = core.pits[6 * (1 - mover)..][..6]
        .iter()
        .all(|&pit| pit == 0);
    if emptied && *core != before && !allow_slam {
        *core = before;
    }
}

/// How a relay of Anan-anan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relay {
    Stopped,
    Endless,
    Won,
    RanOut,
}

/// Options of a relay.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelayRules {
    pub(super) skip_origin: bool,
    pub(super) last_four_to_mover: bool,
    pub(super) checks_at_once: bool,
    pub(super) last_eight: bool,
}

/// Sows in Anan-anan, remembering every position at a lift.
pub(super) fn anan_anan_sow(core: &mut Core, offset: usize, rules: RelayRules) -> Relay {
    let mover = usize::from(core.to_move);
    let mut pit = 6 * mover + offset;
    let mut seen = BTreeSet::new();
    loop {
        if !seen.insert((core.pits, pit)) {
            return Relay::Endless;
        }
        let origin = pit;
        let mut hand = std::mem::take(&mut core.pits[origin]);
        while hand > 0 {
            pit = (pit + 1) % 12;
            if pit == origin && rules.skip_origin {
                continue;
            }
            core.pits[pit] += 1;
            hand -= 1;
            if core.pits[pit] != 4 {
                continue;
            }
            let last = hand == 0;
            let heir = if last && rules.last_four_to_mover {
                mover
            } else {
                pit / 6
            };
            core.pits[pit] = 0;
            core.score[heir] += 4;
            seen.clear();
            let left = 48 - core.score[0] - core.score[1];
            if rules.last_eight && left <= 8 {
                core.score[heir] += left;
                core.pits = [0; 12];
                return Relay::RanOut;
            }
            if rules.checks_at_once && core.score[heir] > 24 {
                core.pits[pit] = hand;
                return Relay::Won;
            }
            if last {
                return Relay::Stopped;
            }
        }
        if core.pits[pit] == 1 {
            return Relay::Stopped;
        }
    }
}
