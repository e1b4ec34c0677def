//! Values of positions of cowry.

use arena_engine::{Game, PerSeat, values};

use super::{
    Cowry,
    board::Board,
    options::{CowryRules, SEATS_MAX},
    state::{Phase, State},
};

/// Values of squares and rights, in thousandths of a logit.
#[derive(Debug)]
pub(super) struct Worth {
    /// Of a piece by its index.
    places: Vec<i32>,
    /// Of the right to enter the inner rings.
    gate: i32,
}

/// Of the turn.
const TEMPO: i32 = 50;

impl Worth {
    pub(super) fn new(rules: &CowryRules, board: &Board) -> Self {
        let (outer, goal) = (i32::from(board.outer), i32::from(board.goal));
        let place = |index: i32| {
            if index == goal {
                880
            } else if index < outer {
                80 * index / outer
            } else {
                350 + 280 * (index - outer) / (goal - outer)
            }
        };
        Self {
            places: (0..=goal).map(place).collect(),
            gate: if rules.gate { 790 } else { 0 },
        }
    }
}

impl Cowry {
    /// A logistic model of the pieces, the gate and the turn. A seat that has finished is ahead of
    /// those that have not. Its numbers are fitted to games of `expectimax` against itself in
    /// preset `doubles`.
    #[inline]
    pub(super) fn value(&self, state: &State) -> PerSeat<i64> {
        if let Phase::Over(_) = state.phase {
            return values::of_placement(self.seats, &self.placement(state));
        }
        let mut strength = [0; SEATS_MAX];
        for (seat, strength) in strength.iter_mut().enumerate().take(self.seats) {
            let pieces = &state.pieces[seat][..self.rules.pieces];
            *strength = pieces
                .iter()
                .map(|&index| self.worth.places[usize::from(index)])
                .sum();
            if state.has_hit(seat) {
                *strength += self.worth.gate;
            }
        }
        if state.phase != Phase::Start {
            strength[usize::from(state.to_move)] += TEMPO;
        }
        self.shares(state, &strength)
    }
}
