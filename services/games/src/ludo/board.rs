//! The way of a plane, and the effect of each roll, as tables.
//!
//! Squares are given by progress on a plane's own way, which is the same for both seats: the ring
//! has 52 squares, and seat 1 enters it 26 squares after seat 0.

use super::options::{Finish, Launch, LudoRules};

/// Planes of each player.
pub const PLANES: usize = 4;
/// Progress of a plane that is not launched.
pub const HANGAR: i8 = -1;
/// Progress of a plane that is launched and not on the ring yet.
pub const PAD: i8 = 0;
/// Progress on the last ring square of a plane's way, before the home column.
pub const RING_LAST: i8 = 50;
/// Progress of a plane that is home.
pub const HOME: i8 = 56;

/// Squares of the ring; a given seat's planes never visit two of them.
const RING: i8 = 52;
/// Progress between two squares of the same colour, and of a jump.
const JUMP: i8 = 4;
/// From the hangar to home.
const WAY: usize = 58;
/// Faces of the die.
pub(super) const FACES: usize = 6;

/// Effect of a roll on a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    /// Progress after it.
    pub to: i8,
    /// Bit r is set if opponents on the ring square of progress r are hit.
    pub squares: u64,
    /// The same by the progress of the hit planes on their own way.
    pub hits: u64,
}

/// The progress of a ring square on the other seat's way, from that on one's own. None off the
/// ring, and for the two squares that the other seat never visits.
#[must_use]
pub fn across(progress: i8) -> Option<i8> {
    let there = (1..=RING_LAST)
        .contains(&progress)
        .then_some((progress + RING / 2 - 1) % RING + 1);
    there.filter(|&there| there <= RING_LAST)
}

/// True for a square of one's own colour: 2, 6, …, 50.
#[must_use]
pub fn is_own_colour(progress: i8) -> bool {
    (1..=RING_LAST).contains(&progress) && progress % JUMP == 2
}

/// Tables of the rules with their options.
#[derive(Debug)]
pub(super) struct Board {
    /// By progress + 1: bit d is set if a roll of d can be played.
    playable: [u8; WAY],
    /// By progress + 1 and roll - 1.
    landings: [[Landing; FACES]; WAY],
}

impl Board {
    pub(super) fn new(rules: &LudoRules) -> Self {
        let mut board = Self {
            playable: [0; WAY],
            landings: [[Landing::default(); FACES]; WAY],
        };
        for from in HANGAR..=HOME {
            for die in 1..=FACES as i8 {
                if let Some((to, squares)) = land(rules, from, die) {
                    let row = index(from);
                    board.playable[row] |= 1 << die;
                    board.landings[row][die as usize - 1] = Landing {
                        to,
                        squares,
                        hits: seen_across(squares),
                    };
                }
            }
        }
        board
    }

    /// True if a plane can play a roll.
    #[inline]
    pub(super) fn is_playable(&self, from: i8, die: u8) -> bool {
        self.playable[index(from)] >> die & 1 == 1
    }

    /// Effect of a roll that can be played.
    #[inline]
    pub(super) fn landing(&self, from: i8, die: u8) -> &Landing {
        &self.landings[index(from)][usize::from(die) - 1]
    }
}

fn index(progress: i8) -> usize {
    (progress - HANGAR) as usize
}

/// A set of ring squares by progress on the other seat's way.
fn seen_across(squares: u64) -> u64 {
    (1..=RING_LAST)
        .filter(|&square| squares >> square & 1 == 1)
        .filter_map(across)
        .fold(0, |seen, square| seen | bit(square))
}

fn bit(square: i8) -> u64 {
    1 << square
}

/// Destination of a plane for a roll, and the squares that it hits; none if the roll cannot be
/// played. Han and Zhou, section 2 and section 3.2.1.
fn land(rules: &LudoRules, from: i8, die: i8) -> Option<(i8, u64)> {
    if from == HANGAR {
        let launches = match rules.launch {
            Launch::Six => die == 6,
            Launch::Even => die % 2 == 0,
            Launch::FiveSix => die >= 5,
        };
        return launches.then_some(if rules.launches_onto_ring {
            (1, bit(1))
        } else {
            (PAD, 0)
        });
    }
    if from == HOME {
        return None;
    }
    let reached = from + die;
    if reached > HOME {
        return match rules.finish {
            Finish::Exact => None,
            Finish::Bounce => Some((2 * HOME - reached, 0)),
            Finish::Over => Some((HOME, 0)),
        };
    }
    if reached > RING_LAST {
        return Some((reached, 0));
    }
    let (take_off, touch_down) = rules.flight;
    let own = is_own_colour(reached);
    let mut path = 0;
    // Both ways onto the dotted line combine one jump and one flight; nothing else is chained.
    let (to, between) = if reached == take_off {
        path = flown_over(take_off, touch_down);
        (touch_down + JUMP, touch_down)
    } else if own && reached + JUMP == take_off {
        path = flown_over(take_off, touch_down);
        (touch_down, take_off)
    } else if own && reached < RING_LAST {
        (reached + JUMP, reached)
    } else {
        (reached, reached)
    };
    let mut squares = bit(reached) | bit(to);
    if !rules.hits_ends_only {
        squares |= bit(between);
    }
    if rules.hits_path {
        squares |= path;
    }
    Some((to, squares))
}

/// The squares strictly between the ends of the dotted line.
fn flown_over(take_off: i8, touch_down: i8) -> u64 {
    (take_off + 1..touch_down).fold(0, |squares, square| squares | bit(square))
}
