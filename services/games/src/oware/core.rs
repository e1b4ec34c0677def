//! The common part of both games: the board, the turn, and sowing and counting many pits at a time.

use arena_engine::{ActionId, Ending, MAX_SEATS, Node, PerSeat};

use crate::placement;

/// Pits of a row.
pub const ROW: usize = 6;

/// Pits of both rows.
pub const PITS: usize = 2 * ROW;

/// Seeds of the game.
pub const SEEDS: u8 = 48;

/// Half of the seeds: a player who banks more has won.
pub(super) const HALF: u8 = SEEDS / 2;

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The starter is drawn.
    Start,
    /// The seat to move sows.
    Move,
    /// The game is over.
    Over(Ending),
}

/// A position without its history: three machine words, which a search copies for every ply.
///
/// Code that changes it directly keeps the sum of pits and scores at [`SEEDS`] or below; the rules
/// do not check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Core {
    /// Seeds, counter-clockwise, in the direction of sowing: 0 to 5 are seat 0's row (South) from
    /// its left, 6 to 11 seat 1's (North) from its left.
    pub pits: [u8; PITS],
    /// Seeds that each seat has banked.
    pub score: [u8; 2],
    /// The seat to move.
    pub to_move: u8,
    /// The next event.
    pub phase: Phase,
    /// True if the previous ply was a pass (only Anan-anan has passes).
    pub passed: bool,
    /// Plies since seeds were banked.
    pub since_capture: u16,
    /// Plies so far.
    pub plies: u16,
}

impl Core {
    pub(super) fn new(random_starter: bool) -> Self {
        Self {
            pits: [SEEDS / PITS as u8; PITS],
            score: [0; 2],
            to_move: 0,
            phase: if random_starter {
                Phase::Start
            } else {
                Phase::Move
            },
            passed: false,
            since_capture: 0,
            plies: 0,
        }
    }

    /// The seeds in a seat's row, from its left.
    #[must_use]
    #[inline]
    pub fn row(&self, seat: usize) -> &[u8] {
        &self.pits[seat * ROW..][..ROW]
    }

    /// True at the end of the game.
    #[must_use]
    #[inline]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_))
    }

    /// Seeds that are not banked.
    #[must_use]
    #[inline]
    pub fn left(&self) -> u8 {
        SEEDS.saturating_sub(self.score[0] + self.score[1])
    }

    #[inline]
    pub(super) fn node(&self) -> Node {
        match self.phase {
            Phase::Move => Node::Decision(self.to_move),
            Phase::Start => Node::Chance(None),
            Phase::Over(ending) => Node::Over(ending),
        }
    }

    /// Each player takes the seeds of the own row.
    pub(super) fn sweep(&mut self) {
        for seat in 0..2 {
            self.score[seat] += sum(self.row_lanes(seat));
        }
        self.pits = [0; PITS];
    }

    /// Ends the ply; the rules decide whether the game continues.
    #[inline]
    pub(super) fn end_ply(&mut self, banked: bool) {
        self.plies += 1;
        self.since_capture = if banked { 0 } else { self.since_capture + 1 };
        self.to_move ^= 1;
    }

    /// True if a score is above half of the seeds.
    #[inline]
    pub(super) fn is_won(&self) -> bool {
        self.score[0] > HALF || self.score[1] > HALF
    }

    pub(super) fn placement(&self) -> PerSeat<u8> {
        placement::of_two(self.score)
    }

    pub(super) fn scores(&self) -> PerSeat<i64> {
        let mut scores = [0; MAX_SEATS];
        for (score, banked) in scores.iter_mut().zip(self.score) {
            *score = i64::from(banked);
        }
        scores
    }

    /// A row as one number, a byte for each pit.
    #[inline]
    pub(super) fn row_lanes(&self, seat: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..ROW].copy_from_slice(self.row(seat));
        u64::from_le_bytes(bytes)
    }

    /// The board as one number, a byte for each pit.
    #[inline]
    pub(super) fn lanes(&self) -> u128 {
        let mut bytes = [0; 16];
        bytes[..PITS].copy_from_slice(&self.pits);
        u128::from_le_bytes(bytes)
    }

    #[inline]
    pub(super) fn set_lanes(&mut self, lanes: u128) {
        self.pits.copy_from_slice(&lanes.to_le_bytes()[..PITS]);
    }
}

/// Effect of a sowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sown {
    /// Seeds that each seat banked by it, without a sweep at the end.
    pub banked: [u8; 2],
    /// The pits that each seat banked from: bit p for pit p.
    pub pits: [u16; 2],
    /// The pit of the last seed.
    pub last: u8,
    /// Seeds in that pit with the last seed, before any capture.
    pub held: u8,
    /// Number of lifts: 1 in Abapa, 0 for a pass.
    pub lifts: u16,
    /// True if the sowing would never have ended.
    pub endless: bool,
}

impl Sown {
    /// True if a player banked anything.
    #[must_use]
    #[inline]
    pub fn banks(&self) -> bool {
        self.banked != [0; 2]
    }
}

/// Maximum seeds of one pit, plus one: lengths of the tables of sowings.
const HANDS: usize = SEEDS as usize + 1;

/// Seeds that a sowing from a pit drops, and its last pit.
pub(super) struct Laps {
    /// Dropped seeds, one byte per pit, by pit and number of seeds.
    dropped: [[u128; HANDS]; PITS],
    /// The pit of the last seed.
    last: [[u8; HANDS]; PITS],
}

/// Sowings that skip the pit they began at, and those that do not.
static SKIPPING: Laps = Laps::new(true);
static FILLING: Laps = Laps::new(false);

impl Laps {
    /// The sowings of these rules.
    #[inline]
    pub(super) fn of(skip_origin: bool) -> &'static Self {
        if skip_origin { &SKIPPING } else { &FILLING }
    }

    const fn new(skip_origin: bool) -> Self {
        let mut laps = Self {
            dropped: [[0; HANDS]; PITS],
            last: [[0; HANDS]; PITS],
        };
        let mut origin = 0;
        while origin < PITS {
            laps.last[origin][0] = origin as u8;
            let (mut hand, mut pit) = (1, origin);
            while hand < HANDS {
                pit = next_pit(pit, origin, skip_origin);
                laps.dropped[origin][hand] = laps.dropped[origin][hand - 1] + (1 << (8 * pit));
                laps.last[origin][hand] = pit as u8;
                hand += 1;
            }
            origin += 1;
        }
        laps
    }

    /// The board after sowing all seeds of a pit, and the pit of the last.
    #[inline]
    pub(super) fn sow(&self, lanes: u128, pit: usize) -> (u128, usize) {
        let hand = lane(lanes, pit);
        let seeds = usize::from(hand);
        let emptied = lanes - (u128::from(hand) << (8 * pit));
        (
            emptied + self.dropped[pit][seeds],
            usize::from(self.last[pit][seeds]),
        )
    }
}

/// The pit after this one, for seeds lifted at `origin`.
pub(super) const fn next_pit(pit: usize, origin: usize, skip_origin: bool) -> usize {
    let next = (pit + 1) % PITS;
    if skip_origin && next == origin {
        (next + 1) % PITS
    } else {
        next
    }
}

/// One pit of a board.
#[inline]
pub(super) fn lane(lanes: u128, pit: usize) -> u8 {
    (lanes >> (8 * pit)) as u8
}

/// The sum of a row.
#[inline]
pub(super) fn sum(row: u64) -> u8 {
    (row.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u8
}

/// The top bit of each pit of a row.
const TOPS: u64 = 0x8080_8080_8080;

/// Addend that brings a pit with one seed to its top bit.
pub(super) const ANY: u64 = 0x7f7f_7f7f_7f7f;

/// Addend that brings a pit that reaches the other row to its top bit: the pit at offset i needs 6
/// - i seeds.
pub(super) const REACHING: u64 = 0x7f7e_7d7c_7b7a;

/// Bit i is set if the pit at offset i has enough seeds.
#[inline]
pub(super) fn pits_with(row: u64, takes: u64) -> u8 {
    // No pit has more than 48 seeds, so nothing is carried to the next one.
    let tops = ((row + takes) & TOPS) >> 7;
    (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The actions of each set of pits, and their number.
static LISTS: [([ActionId; ROW], u8); 1 << ROW] = lists();

const fn lists() -> [([ActionId; ROW], u8); 1 << ROW] {
    let mut lists = [([0; ROW], 0); 1 << ROW];
    let mut mask = 0;
    while mask < lists.len() {
        let (mut offset, mut count) = (0, 0);
        while offset < ROW {
            if mask >> offset & 1 == 1 {
                lists[mask].0[count] = offset as ActionId;
                count += 1;
            }
            offset += 1;
        }
        lists[mask].1 = count as u8;
        mask += 1;
    }
    lists
}

/// Replaces `out` by the actions of a set of pits.
#[inline]
pub(super) fn list(mask: u8, out: &mut Vec<ActionId>) {
    let (actions, count) = &LISTS[usize::from(mask) % LISTS.len()];
    out.clear();
    // A fixed number is faster to copy than the exact one.
    out.extend_from_slice(actions);
    out.truncate(usize::from(*count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lap_sowing_equals_single_seeds() {
        for (laps, skip_origin) in [(&SKIPPING, true), (&FILLING, false)] {
            for origin in 0..PITS {
                for hand in 0..=SEEDS {
                    let mut pits = [0_u8; PITS];
                    let mut pit = origin;
                    for _ in 0..hand {
                        pit = next_pit(pit, origin, skip_origin);
                        pits[pit] += 1;
                    }
                    let before = u128::from(hand) << (8 * origin);
                    let (after, last) = laps.sow(before, origin);
                    assert_eq!(after.to_le_bytes()[..PITS], pits, "{hand} from {origin}");
                    assert_eq!(last, pit, "{hand} from {origin}");
                }
            }
        }
    }

    #[test]
    fn pit_sets_are_found_and_listed() {
        let mut out = vec![99];
        for rows in 0..7_u64.pow(6) {
            let row: Vec<u8> = (0..6)
                .map(|pit| (rows / 7_u64.pow(pit) % 7) as u8)
                .collect();
            let lanes = row
                .iter()
                .rev()
                .fold(0, |sum, &pit| sum << 8 | u64::from(pit));
            let set = |holds: &dyn Fn(usize) -> bool| {
                (0..6)
                    .filter(|&pit| holds(pit))
                    .map(|pit| 1 << pit)
                    .sum::<u8>()
            };
            assert_eq!(pits_with(lanes, ANY), set(&|pit| row[pit] > 0));
            let reaching = set(&|pit| usize::from(row[pit]) >= 6 - pit);
            assert_eq!(pits_with(lanes, REACHING), reaching, "{row:?}");
            assert_eq!(sum(lanes), row.iter().sum::<u8>());
        }
        for mask in 0..64 {
            list(mask, &mut out);
            assert_eq!(out.iter().map(|&pit| 1 << pit).sum::<u8>(), mask);
            assert!(out.is_sorted());
        }
    }
}
