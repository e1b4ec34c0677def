//! Values of positions of Kalah.

use arena_engine::{Game, PerSeat, values};

use super::{Kalah, State};

/// Weight of each playable pit, in thousandths of a logit.
const CHOICE: i64 = 250;
/// Weight of the turn, in the same unit.
const TEMPO: i64 = 110;

impl Kalah {
    /// A logistic model of four differences between the seats: banked stones, stones in the own row,
    /// playable pits, and the turn. The weight of stones grows as fewer stones are left. Stones in
    /// the own row have a negative weight at first, because they can be captured, and a positive one
    /// at the end. The weights are fitted to games of `expectimax` against itself, with six pits of
    /// four stones.
    #[inline]
    pub(super) fn value(&self, state: &State) -> PerSeat<i64> {
        if state.over {
            return values::of_placement(2, &self.placement(state));
        }
        let banked = [0, 1].map(|seat| i64::from(state.board[self.store(seat)]));
        let half = (self.rules.pits * usize::from(self.rules.stones)) as i64;
        if let Some(winner) = banked.iter().position(|&stones| stones > half) {
            return values::pairwise(2, |_, _| if winner == 0 { values::POINT } else { 0 });
        }
        let mut rows = [0; 2];
        let mut choices = [0; 2];
        for seat in 0..2 {
            for &stones in self.row(state, seat) {
                rows[seat] += i64::from(stones);
                choices[seat] += i64::from(stones > 0);
            }
        }
        let left = rows[0] + rows[1];
        let lead = banked[0] - banked[1];
        let tempo = if state.to_move == 0 { TEMPO } else { -TEMPO };
        let advantage = lead * (60 + 6000 / (left + 12))
            + (rows[0] - rows[1]) * (2000 / (left + 10) - 56)
            + (choices[0] - choices[1]) * CHOICE
            + tempo;
        values::pairwise(2, |_, _| values::logistic(advantage))
    }
}
