//! Values of rolls of Chinese Ludo before they are played, for luck.
//!
//! The value of a roll is that of the position after its best use: the plane that comes nearest to
//! home, with what it hits. Omissions make luck explain less, but never bias it.

use arena_engine::values::{POINT, logistic};

use super::{
    ChineseLudo,
    board::{Board, FACES, HANGAR, HOME, PLANES},
    fitted::{EXTRA, PLACES, TURN},
    options::ThreeSixes,
    state::{Phase, State},
};

/// Value of bringing the last plane home, beyond the values of squares.
const WIN: i32 = 1 << 16;
/// Value of all planes at home.
const ALL: i32 = PLANES as i32 * PLACES[PLACES.len() - 1];
/// Value of a roll that cannot be played.
const NEVER: i32 = i32::MIN;

/// Bits of the remaining distance that [`Chances::scales`] ignores.
const COARSE: u32 = 8;
/// Value of all planes of both seats at home, in those steps.
const STEPS: usize = ((2 * ALL) >> COARSE) as usize + 1;

/// Values of rolls, as tables.
#[derive(Debug)]
pub(super) struct Chances {
    /// To a plane, by its place.
    rolls: [Rolls; PLACES.len()],
    /// Effect of a lead, in thousandths of a logit times 2^16, by the distance that both seats
    /// together have left, in steps.
    scales: [i64; STEPS],
}

#[derive(Clone, Copy, Debug)]
struct Rolls {
    /// Gain of the plane for each roll, without hits.
    gains: [i32; FACES],
    /// Bit r is set if some roll hits a plane of progress r.
    hits: u64,
}

impl Chances {
    pub(super) fn new(board: &Board) -> Self {
        let mut rolls = [Rolls {
            gains: [NEVER; FACES],
            hits: 0,
        }; PLACES.len()];
        for (rolls, plane) in rolls.iter_mut().zip(HANGAR..) {
            for (gain, die) in rolls.gains.iter_mut().zip(1..) {
                if board.is_playable(plane, die) {
                    let landing = board.landing(plane, die);
                    *gain = at(landing.to) - at(plane);
                    rolls.hits |= landing.hits;
                }
            }
        }
        let mut scales = [0; STEPS];
        for (step, scale) in scales.iter_mut().enumerate() {
            let middle = (step << COARSE) + (1 << COARSE) / 2;
            // 64 times the root, so that rounding it down costs little; 64 times the root of 1000
            // is 2024.
            *scale = (2024 << 16) / (middle << 12).isqrt() as i64;
        }
        Self { rolls, scales }
    }
}

impl ChineseLudo {
    /// Appends the value of each outcome of the chance node that is due.
    pub(super) fn list_chances(&self, state: &State, out: &mut Vec<i64>) {
        let worth = [worth(&state.r[0]), worth(&state.r[1])];
        // Both have some distance left, or the game would be over.
        let left = (2 * ALL - worth[0] - worth[1]).max(0) as usize;
        let scale = self.chances.scales[left >> COARSE];
        let mut push = |seat: usize, lead: i32| {
            let own = logistic((i64::from(lead) * scale) >> 16);
            let (first, second) = if seat == 0 {
                (own, POINT - own)
            } else {
                (POINT - own, own)
            };
            out.extend([first, second]);
        };
        if state.phase == Phase::Start {
            for starter in 0..2 {
                push(starter, TURN);
            }
            return;
        }
        let seat = usize::from(state.to_move & 1);
        let lead = worth[seat] - worth[1 - seat];
        let mut gains = self.best_uses(state, seat);
        gains[FACES - 1] += EXTRA;
        if state.sixes == 2 {
            match self.rules.three_sixes {
                ThreeSixes::None => {}
                ThreeSixes::EndTurn => gains[FACES - 1] = 0,
                ThreeSixes::Hangar => {
                    gains[FACES - 1] = grounded(&state.r[seat]) - worth[seat];
                }
            }
        }
        for gain in gains {
            push(seat, lead + gain);
        }
    }

    /// Gain of the best use of each roll over the other seat.
    #[inline]
    fn best_uses(&self, state: &State, seat: usize) -> [i32; FACES] {
        let (own, others) = (&state.r[seat], &state.r[1 - seat]);
        let (mut home, mut seen) = (0, 0);
        for plane in 0..PLANES {
            home += usize::from(own[plane] == HOME);
            seen |= super::progress_bit(others[plane]);
        }
        let mut best = [NEVER; FACES];
        for &plane in own {
            let rolls = &self.chances.rolls[(plane - HANGAR) as usize];
            let mut gains = rolls.gains;
            if rolls.hits & seen != 0 || home + 1 == PLANES {
                self.add_ends(plane, others, home + 1 == PLANES, &mut gains);
            }
            for (best, gain) in best.iter_mut().zip(gains) {
                *best = gain.max(*best);
            }
        }
        for gain in &mut best {
            *gain = if *gain == NEVER { 0 } else { *gain };
        }
        best
    }

    /// Adds the value of a plane's hits, and of bringing home the last plane.
    fn add_ends(&self, plane: i8, others: &[i8; PLANES], last: bool, gains: &mut [i32; FACES]) {
        for (gain, die) in gains.iter_mut().zip(1..) {
            if *gain == NEVER {
                continue;
            }
            let landing = self.board.landing(plane, die);
            for &other in others {
                if landing.hits & super::progress_bit(other) != 0 {
                    *gain += at(other) - at(HANGAR);
                }
            }
            if last && landing.to == HOME {
                *gain += WIN;
            }
        }
    }
}

#[inline]
fn at(progress: i8) -> i32 {
    PLACES[(progress - HANGAR) as usize]
}

#[inline]
fn worth(planes: &[i8; PLANES]) -> i32 {
    planes.iter().map(|&plane| at(plane)).sum()
}

/// Value of a seat's planes if those that are not home start again.
fn grounded(planes: &[i8; PLANES]) -> i32 {
    worth(&planes.map(|plane| if plane == HOME { HOME } else { HANGAR }))
}
