//! What a roll of Chinese Ludo is worth before it is played, for luck.
//!
//! The value of a roll is that of the position after its best use: the plane
//! that comes nearest to home by it, with what it hits. What is left out makes
//! luck explain less, never wrongly.

use arena_engine::{
    PerSeat,
    values::{POINT, logistic},
};

use super::{
    ChineseLudo, SIX,
    board::{FACES, HANGAR, HOME, PLANES},
    options::ThreeSixes,
    state::{Phase, State},
    values::{DISTANCES, SCALE, TURN, distance},
};

/// Worth of bringing the last plane home, in tenths of a square.
const WIN: i32 = 1 << 14;
/// Worth of another roll, in tenths of a square.
const EXTRA: i32 = 60;

impl ChineseLudo {
    /// Appends the value of each outcome of the chance node that is due.
    pub(super) fn list_chances(&self, state: &State, out: &mut Vec<PerSeat<i64>>) {
        let left = state.r.map(|planes| distance(&planes));
        // Ten times the root, so that rounding it down costs little.
        let spread = (100 * (left[0] + left[1])).isqrt().max(1);
        let mut push = |seat: usize, lead: i32| {
            let own = logistic(i64::from(10 * SCALE * lead / spread));
            let mut values = [0; arena_engine::MAX_SEATS];
            values[seat] = own;
            values[1 - seat] = POINT - own;
            out.push(values);
        };
        if state.phase == Phase::Start {
            for starter in 0..2 {
                push(starter, TURN);
            }
            return;
        }
        let seat = usize::from(state.to_move & 1);
        let lead = left[1 - seat] - left[seat];
        for die in 1..=FACES as u8 {
            let six = die == SIX;
            if six && state.sixes == 2 && self.rules.three_sixes != ThreeSixes::Nothing {
                let lost = match self.rules.three_sixes {
                    ThreeSixes::Hangar => self.grounded(state, seat) - left[seat],
                    _ => 0,
                };
                push(seat, lead - lost);
                continue;
            }
            let again = if six { EXTRA } else { 0 };
            push(seat, lead + self.best_use(state, seat, die) + again);
        }
    }

    /// What is left to go where all planes that are not home have to start
    /// again.
    fn grounded(&self, state: &State, seat: usize) -> i32 {
        let planes = state.r[seat].map(|plane| if plane == HOME { HOME } else { HANGAR });
        distance(&planes)
    }

    /// What the best use of a roll gains on the other seat.
    #[inline]
    fn best_use(&self, state: &State, seat: usize, die: u8) -> i32 {
        let (own, others) = (&state.r[seat], &state.r[1 - seat]);
        let home = own.iter().filter(|&&plane| plane == HOME).count();
        let mut best = None;
        for &plane in own {
            if !self.board.is_playable(plane, die) {
                continue;
            }
            let landing = self.board.landing(plane, die);
            let mut gain = i32::from(at(plane) - at(landing.to));
            if landing.hits != 0 {
                for &other in others {
                    if landing.hits & super::progress_bit(other) != 0 {
                        gain += i32::from(at(HANGAR) - at(other));
                    }
                }
            }
            if landing.to == HOME && home + 1 == PLANES {
                gain += WIN;
            }
            best = best.max(Some(gain));
        }
        best.unwrap_or(0)
    }
}

#[inline]
fn at(progress: i8) -> i16 {
    DISTANCES[usize::from(progress as u8) % 64]
}
