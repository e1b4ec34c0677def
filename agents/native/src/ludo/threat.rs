//! p(X, Y): the probability that a plane hits another within one turn, as a matrix and
//! computed on demand (Han and Zhou, section 3.3).
//!
//! Positions are progress on the attacker's own path, so that one matrix serves both seats.

use arena_games::{
    ChineseLudo,
    ludo::{HANGAR, PAD, RING_LAST, is_own_colour},
};

/// The integer for probability 1. All probabilities are multiples of 6^-9, since no turn
/// takes more than nine rolls from the pad to the end of the ring.
pub const CERTAIN: u32 = 6u32.pow(9);

/// The roll that earns another roll.
const SIX: u8 = 6;

/// Columns and rows of the matrix: a power of two, so that no index is out of range.
const SIDE: usize = 64;

/// The reading of the paper's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Rolls follow the rules, as in the printed matrix.
    Exact,
    /// Equations 12 to 15, corrected: a jump onto the target adds the probability of its
    /// start square. Flights are omitted.
    Formula,
}

/// The source of probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Computed once for all pairs of squares.
    Matrix,
    /// Computed on each request.
    Realtime,
}

/// The probabilities under the rules of one game.
#[derive(Debug)]
pub struct Threats {
    game: ChineseLudo,
    reading: Reading,
    matrix: Option<Box<[[u32; SIDE]; SIDE]>>,
}

impl Threats {
    /// Probabilities from a source, which changes only their cost.
    #[must_use]
    pub fn new(game: &ChineseLudo, reading: Reading, source: Source) -> Self {
        let mut threats = Self {
            game: game.clone(),
            reading,
            matrix: None,
        };
        if source == Source::Matrix {
            let mut matrix = Box::new([[0; SIDE]; SIDE]);
            for attacker in PAD..=RING_LAST {
                for target in 1..=RING_LAST {
                    matrix[slot(attacker)][slot(target)] = threats.compute(attacker, target, || {});
                }
            }
            threats.matrix = Some(matrix);
        }
        threats
    }

    /// The probability that a plane at `attacker` hits one at `target`, out of [`CERTAIN`].
    /// It is 0 unless the attacker is on its pad or on the ring, and the target is on the
    /// ring and not behind it.
    #[must_use]
    #[inline]
    pub fn chance(&self, attacker: i8, target: i8) -> u32 {
        match &self.matrix {
            Some(matrix) => matrix[slot(attacker)][slot(target)],
            None => self.compute(attacker, target, || {}),
        }
    }

    /// [`Self::chance`] as a number from 0 to 1.
    #[must_use]
    pub fn probability(&self, attacker: i8, target: i8) -> f64 {
        f64::from(self.chance(attacker, target)) / f64::from(CERTAIN)
    }

    /// A cell of the paper's Table 2. Squares are given by their numbers on the board: 1 to
    /// 52 on the ring, 53 to 58 and 59 to 64 in the home columns. The attacker is red,
    /// which never enters 51 and 52.
    #[must_use]
    pub fn cell(&self, x: u8, y: u8) -> f64 {
        // The numbers of red's ring squares equal its progress.
        let progress = |number: u8| match i8::try_from(number) {
            Ok(number) if (1..=RING_LAST).contains(&number) => number,
            _ => HANGAR,
        };
        self.probability(progress(x), progress(y))
    }

    /// Number of steps to compute a probability: landings of the die, or for
    /// [`Reading::Formula`] terms of the sum.
    #[must_use]
    pub fn steps(&self, attacker: i8, target: i8) -> u64 {
        let mut steps = 0;
        self.compute(attacker, target, || steps += 1);
        steps
    }

    /// The probability without a matrix; `step` is called at each of its steps.
    #[inline]
    fn compute(&self, attacker: i8, target: i8, step: impl FnMut()) -> u32 {
        let reachable = (PAD..=RING_LAST).contains(&attacker)
            && (1..=RING_LAST).contains(&target)
            && attacker <= target;
        if !reachable {
            0
        } else if attacker == target {
            CERTAIN
        } else {
            match self.reading {
                Reading::Exact => self.rolled_out(attacker, target, step),
                Reading::Formula => by_formula(attacker, target, step),
            }
        }
    }

    /// Follows the rolls of a turn: each face that hits counts, and a six that does not hit
    /// continues from its landing square.
    fn rolled_out(&self, attacker: i8, target: i8, mut step: impl FnMut()) -> u32 {
        let (mut at, mut weight, mut sum) = (attacker, CERTAIN / 6, 0);
        for roll in 1u8.. {
            let mut next = None;
            for die in 1..=SIX {
                if die == SIX && roll == 3 && self.game.punishes_third_six() {
                    break;
                }
                step();
                let Some(landing) = self.game.landing(at, die) else {
                    continue;
                };
                if landing.squares >> target & 1 == 1 {
                    sum += weight;
                } else if die == SIX && landing.to < target {
                    next = Some(landing.to);
                }
            }
            let Some(next) = next else { break };
            at = next;
            weight /= 6;
        }
        sum
    }
}

/// The probability of moving exactly this many squares by sixes and a last roll, as in
/// equation 13.
fn of_distance(distance: i8) -> u32 {
    (0..(distance + 5) / 6).fold(CERTAIN, |chance, _| chance / 6)
}

/// Equations 12 to 15 with the start square of a jump at its own distance, so that no
/// probability exceeds 1.
fn by_formula(attacker: i8, target: i8, mut step: impl FnMut()) -> u32 {
    step();
    let direct = of_distance(target - attacker);
    let start = target - 4;
    // There is no own square before 2, so that no jump lands on it.
    if is_own_colour(target) && target >= 6 && start > attacker {
        step();
        direct + of_distance(start - attacker)
    } else {
        direct
    }
}

/// Row or column of a progress; the hangar's index is beyond the ring and the home column,
/// where all cells are 0.
#[inline]
fn slot(progress: i8) -> usize {
    (progress as u8) as usize % SIDE
}

/// Number of comparisons of one decision without a matrix, as the paper counts them
/// (equation 17): `alpha` squares of a color, `beta` planes of a player.
#[must_use]
pub fn realtime_operations(alpha: u64, beta: u64) -> u64 {
    9 * alpha * beta * beta + 9 * beta * beta + 2 * alpha * beta
}

/// Number of operations of one decision with a matrix, as the paper counts them (equation
/// 18).
#[must_use]
pub fn matrix_operations(alpha: u64, beta: u64) -> u64 {
    4 * beta * beta + 2 * alpha * beta
}
