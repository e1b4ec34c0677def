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
    fitted::{EXTRA, PLACES, TURN},
    options::ThreeSixes,
    state::{Phase, State},
};

/// Worth of bringing the last plane home, beyond what places are worth.
const WIN: i32 = 1 << 16;
/// Worth of all planes at home.
const ALL: i32 = PLANES as i32 * PLACES[PLACES.len() - 1];

impl ChineseLudo {
    /// Appends the value of each outcome of the chance node that is due.
    pub(super) fn list_chances(&self, state: &State, out: &mut Vec<PerSeat<i64>>) {
        let worth = state.r.map(|planes| worth(&planes));
        // 64 times the root, so that rounding it down costs little; both have
        // some way to go, or the game would be over.
        let left = (2 * ALL - worth[0] - worth[1]).max(1) as u32;
        let spread = i64::from((left << 12).isqrt());
        let mut push = |seat: usize, lead: i32| {
            // Thousandths: 64 times the root of 1000 is 2024.
            let own = logistic(2024 * i64::from(lead) / spread);
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
        let lead = worth[seat] - worth[1 - seat];
        for die in 1..=FACES as u8 {
            let six = die == SIX;
            if six && state.sixes == 2 && self.rules.three_sixes != ThreeSixes::Nothing {
                let lost = match self.rules.three_sixes {
                    ThreeSixes::Hangar => worth[seat] - grounded(&state.r[seat]),
                    _ => 0,
                };
                push(seat, lead - lost);
                continue;
            }
            let again = if six { EXTRA } else { 0 };
            push(seat, lead + self.best_use(state, seat, die) + again);
        }
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
            let mut gain = at(landing.to) - at(plane);
            if landing.hits != 0 {
                for &other in others {
                    if landing.hits & super::progress_bit(other) != 0 {
                        gain += at(other) - at(HANGAR);
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
fn at(progress: i8) -> i32 {
    PLACES[(progress - HANGAR) as usize]
}

#[inline]
fn worth(planes: &[i8; PLANES]) -> i32 {
    planes.iter().map(|&plane| at(plane)).sum()
}

/// Worth of a seat's planes where those that are not home start again.
fn grounded(planes: &[i8; PLANES]) -> i32 {
    worth(&planes.map(|plane| if plane == HOME { HOME } else { HANGAR }))
}
