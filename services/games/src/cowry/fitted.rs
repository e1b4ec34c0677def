//! Values of cowry's squares, fitted by `agents/native/examples/fit`.
//!
//! `cargo run --release -p arena-agents --example fit -- 20000` prints these tables. They maximise
//! the likelihood of the order of finishing in games of `mixed`, `aggressive`, `move-first`,
//! `greedy` and `expectimax` (200 nodes) on a board of 5, with agents drawn for each seat; the
//! model is logistic and linear in what each seat has on the board.

use super::options::{CowryRules, ThrowMode};

/// Values of squares and rights, in thousandths of a logit, on a board of 5.
#[derive(Debug)]
pub(super) struct Fit {
    /// Of a piece on the outer ring, after its seat has hit; the start is 0.
    pub(super) open: [i32; 16],
    /// The same before.
    pub(super) closed: [i32; 16],
    /// Of a piece on the inner rings and in the centre.
    pub(super) inner: [i32; 9],
    /// Of the right to enter the inner rings.
    pub(super) gate: i32,
    /// Of the turn.
    pub(super) turn: i32,
    /// Of another throw.
    pub(super) extra: i32,
}

/// The table for the most similar rules.
pub(super) fn of(rules: &CowryRules, seats: usize) -> &'static Fit {
    match (rules.doubles, rules.throw_mode, seats) {
        (true, _, 2) if rules.gate => &DOUBLES_2,
        (true, _, 2) => &CB2012,
        (true, ..) => &DOUBLES_4,
        (false, _, 2) => &BASIC_2,
        (false, ThrowMode::Single, _) => &SINGLE_4,
        (false, _, 3) => &BASIC_3,
        (false, ..) => &BASIC_4,
    }
}

/// Without doubles, two seats: 20000 games, 1646100 pairs.
const BASIC_2: Fit = Fit {
    open: [
        0, -131, -129, -117, 33, -34, -69, -43, 132, 24, 74, 124, 309, 243, 275, 359,
    ],
    closed: [
        0, -210, -135, -122, -37, -25, -70, 6, 57, 24, -1, -41, 28, -58, -57, -93,
    ],
    inner: [440, 464, 430, 476, 461, 528, 640, 652, 1036],
    gate: 244,
    turn: 55,
    extra: 65,
};

/// Three seats: 6666 games, 2655231 pairs.
const BASIC_3: Fit = Fit {
    open: [
        0, -154, -133, -141, -19, -89, -63, -46, 101, 20, 27, 54, 213, 94, 112, 180,
    ],
    closed: [
        0, -156, -137, -115, -141, -53, -61, -29, 18, 3, 48, 57, 111, 27, 99, -47,
    ],
    inner: [322, 287, 379, 378, 416, 463, 607, 641, 1221],
    gate: 119,
    turn: 37,
    extra: 47,
};

/// Four seats: 3333 games, 3724320 pairs.
const BASIC_4: Fit = Fit {
    open: [
        0, -126, -135, -136, -22, -101, -89, -73, 86, -9, -33, 10, 200, 39, 27, 106,
    ],
    closed: [
        0, -165, -114, -95, -107, -29, 2, -46, 48, 37, 14, 93, 81, 12, 111, 73,
    ],
    inner: [293, 301, 295, 311, 411, 450, 604, 612, 1309],
    gate: 73,
    turn: 23,
    extra: 30,
};

/// Preset `basic_single`, four seats: 3333 games, 7285488 pairs.
const SINGLE_4: Fit = Fit {
    open: [
        0, -154, -94, -57, 169, -75, -81, -51, 88, 5, 7, 57, 211, 155, 172, 272,
    ],
    closed: [
        0, -224, -103, -50, -34, -182, -166, -84, 9, 34, 30, 31, 138, 100, 5, 260,
    ],
    inner: [428, 464, 466, 583, 577, 694, 797, 960, 1664],
    gate: -53,
    turn: 18,
    extra: 37,
};

/// Preset `doubles`, two seats: 20000 games, 1846309 pairs.
const DOUBLES_2: Fit = Fit {
    open: [
        0, -29, -25, -3, 57, 11, 33, 58, 137, 148, 174, 215, 302, 299, 321, 402,
    ],
    closed: [
        0, 11, 24, 72, 124, 131, 153, 160, 147, 150, 148, 114, 127, 69, 16, 4,
    ],
    inner: [474, 481, 477, 447, 484, 514, 612, 579, 1085],
    gate: 756,
    turn: 72,
    extra: 89,
};

/// With doubles, four seats: 3333 games, 5259774 pairs.
const DOUBLES_4: Fit = Fit {
    open: [
        0, -14, 2, 5, -15, 67, 85, 125, 76, 168, 197, 209, 203, 274, 314, 406,
    ],
    closed: [
        0, 146, 164, 159, 175, 258, 262, 325, 180, 281, 305, 325, 289, 376, 254, 274,
    ],
    inner: [489, 531, 562, 508, 517, 556, 694, 753, 1414],
    gate: 492,
    turn: 62,
    extra: 91,
};

/// Preset `cb2012`, two seats and no gate: 20000 games, 2615814 pairs.
const CB2012: Fit = Fit {
    open: [
        0, -60, -45, -15, 122, 49, 102, 167, 268, 197, 213, 272, 419, 350, 385, 436,
    ],
    closed: [0; 16],
    inner: [544, 543, 555, 598, 592, 642, 751, 703, 1208],
    gate: 103,
    turn: 61,
    extra: 85,
};
