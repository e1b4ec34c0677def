//! The features of a move and the values of the four heuristics.
//!
//! A value is an integer number of parts, so that sums and comparisons are exact and equal
//! values stay equal on any machine.

use arena_games::Cowry;

/// Parts of a value of 1: a common multiple of the heuristics' denominators. Only H4 of the
/// text has other denominators and is rounded.
pub(super) const PARTS: i64 = 80_313_433_200;

/// Path index of the centre on the board of 5.
pub(super) const GOAL: u8 = 24;

/// Length of the outer ring on the board of 5.
pub(super) const OUTER: u8 = 16;

/// Beyond this distance an opponent does not count. It is half of the outer ring, the
/// offset of the two players' paths.
const FAR: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heuristic {
    H1,
    H2,
    H3,
    H4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Code,
    Text,
}

/// The heuristic to compute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Formula {
    pub(super) heuristic: Heuristic,
    pub(super) reading: Reading,
    pub(super) h1_div: bool,
}

/// The destination of a move, and the parts of the position that determine its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landing {
    /// Path index after the move, above 0.
    pub(super) to: u8,
    /// Feature 1: the move hits.
    pub(super) hits: bool,
    /// Feature 4: an own piece is on the same square, on the outer ring.
    pub(super) doubles: bool,
    /// Distance of the nearest opponent behind, 1 to [`FAR`].
    pub(super) distance: u8,
}

impl Landing {
    /// Distance from `to` back to the nearest opponent, where `others` has a bit for each
    /// path index q with an opponent: the minimum of 8 - (q - to) that is above 0, and at
    /// most 8.
    ///
    /// Pieces at home do not count, although the formula alone would treat them as
    /// opponents up to 7 behind. They are off the board, of which the paper counts the
    /// "remaining pawns" (feature 7), and no piece is in their reach (feature 3). Table IV
    /// confirms it: with them H2 against H4 takes 117 turns, without them 111. An
    /// independent model of the rules also gives 111, and the paper has nearly that value
    /// (112).
    #[inline]
    pub(super) fn distance(to: u8, others: u32) -> u8 {
        // The nearest is the foremost of those with q < to + 8.
        let behind = others & !(1 << GOAL) & u32::MAX >> (GOAL - to);
        let foremost = 31 - (behind | 1).leading_zeros() as u8;
        (to + FAR - foremost).min(FAR)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.to) << 5
            | usize::from(self.hits) << 4
            | usize::from(self.doubles) << 3
            | usize::from(self.distance - 1)
    }
}

/// The paper's features of a move. The seventh, the number of own pieces not at home,
/// belongs to the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features {
    pub(super) hits: i64,
    pub(super) safe: i64,
    /// Feature 3 times its weight: how well the destination is out of reach, 1 to 5.
    pub(super) reach: i64,
    pub(super) doubles: i64,
    /// Feature 5: number of squares to the goal, plus one.
    pub(super) to_goal: i64,
    /// Feature 6: number of squares to the next safe square on the outer ring; from the
    /// ring's last side on, the number of squares to the goal, as in feature 5.
    pub(super) to_safety: i64,
    /// Distance of the nearest opponent behind.
    pub(super) distance: i64,
}

impl Features {
    pub(super) fn of(landing: Landing, safe: bool) -> Self {
        let to = i64::from(landing.to);
        Self {
            hits: i64::from(landing.hits),
            safe: i64::from(safe),
            reach: match landing.distance {
                5.. => 5,
                distance @ 2..=4 => i64::from(distance),
                _ => 1,
            },
            doubles: i64::from(landing.doubles),
            to_goal: 25 - to,
            to_safety: match to {
                ..4 => 4 - to,
                4..8 => 8 - to,
                8..12 => 12 - to,
                _ => 25 - to,
            },
            distance: i64::from(landing.distance),
        }
    }
}

impl Formula {
    /// Numerator and denominator of a move's value. H2 must be multiplied by the number of
    /// own pieces not at home.
    pub(super) fn fraction(self, of: Features) -> (i64, i64) {
        match (self.heuristic, self.reading) {
            (Heuristic::H1, Reading::Code) => {
                let divisor = if self.h1_div { of.to_goal } else { 1 };
                (1 + 10 * of.hits + 8 * of.safe, divisor)
            }
            (Heuristic::H1, Reading::Text) => (10 * of.hits + 8 * of.safe, 1),
            (Heuristic::H2, Reading::Code) => (1 + 10 * of.hits + of.reach, of.to_goal),
            (Heuristic::H2, Reading::Text) => (10 * of.hits + of.distance, of.to_goal),
            (Heuristic::H3, Reading::Code) => (1 + 10 * of.hits, of.to_safety),
            (Heuristic::H3, Reading::Text) => (of.hits, of.to_safety),
            (Heuristic::H4, Reading::Code) => (
                1 + 10 * of.hits + 7 * of.doubles + 8 * of.safe + of.reach,
                of.to_goal + of.to_safety,
            ),
            (Heuristic::H4, Reading::Text) => (
                10 * of.hits + 8 * of.safe + of.reach,
                of.to_goal.pow(2) + of.to_safety.pow(2),
            ),
        }
    }
}

/// The values of all landings.
#[derive(Debug)]
pub(super) struct Worths {
    /// By [`Landing::index`].
    table: Box<[i64; 25 << 5]>,
    /// True if a value counts once for each own piece not at home.
    by_pieces_left: bool,
}

impl Worths {
    pub(super) fn new(formula: Formula, game: &Cowry) -> Self {
        let mut table = Box::new([0; 25 << 5]);
        for to in 1..=GOAL {
            for distance in 1..=FAR {
                for (hits, doubles) in [(false, false), (false, true), (true, false), (true, true)]
                {
                    let landing = Landing {
                        to,
                        hits,
                        doubles,
                        distance,
                    };
                    let features = Features::of(landing, game.is_safe(to));
                    let (numerator, denominator) = formula.fraction(features);
                    let parts = numerator * PARTS;
                    table[landing.index()] = (parts + denominator / 2) / denominator;
                }
            }
        }
        Self {
            table,
            by_pieces_left: formula.heuristic == Heuristic::H2,
        }
    }

    /// The factor of a value with this many own pieces not at home.
    #[inline]
    pub(super) fn factor(&self, pieces_left: u8) -> i64 {
        if self.by_pieces_left {
            i64::from(pieces_left)
        } else {
            1
        }
    }

    /// The value of a move in parts, before [`Self::factor`].
    #[inline]
    pub(super) fn of(&self, landing: Landing) -> i64 {
        self.table[landing.index()]
    }
}
