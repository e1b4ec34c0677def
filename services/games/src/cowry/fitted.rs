//! What places of cowry are worth.

use super::options::Rules;

/// Worth of places and rights, in thousandths of a logit, for a board of 5.
#[derive(Debug)]
pub(super) struct Fit {
    /// Of a piece on the outer ring, once the seat has hit.
    pub(super) open: [i32; 16],
    /// The same before that.
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

/// The numbers that are nearest to the rules.
pub(super) fn of(_rules: &Rules, _seats: usize) -> &'static Fit {
    &DOUBLES
}

const DOUBLES: Fit = Fit {
    open: [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75],
    closed: [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75],
    inner: [350, 385, 420, 455, 490, 525, 560, 595, 880],
    gate: 790,
    turn: 50,
    extra: 100,
};
