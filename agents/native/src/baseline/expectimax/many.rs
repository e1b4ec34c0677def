//! Any number of seats: each maximizes its own value.

use arena_engine::{Game, MAX_SEATS, Node, PerSeat, Seat, values::POINT};

use super::search::{CHANCES_MAX, Frame, Search, Spent};

impl<G: Game> Search<'_, G> {
    /// The values of a position, with `depth` decisions ahead and after `chances`
    /// consecutive chance nodes. The first of equally good actions is taken.
    pub(super) fn values_of_all(
        &mut self,
        state: &G::State,
        depth: u32,
        chances: u32,
    ) -> Result<PerSeat<i64>, Spent> {
        match self.game.node(state) {
            Node::Decision(seat) if depth > 0 => {
                let mut frame = self.frame();
                let values = self.best_of_all(state, seat, depth, &mut frame);
                self.give_back(frame);
                values
            }
            Node::Chance(_) if depth > 0 && chances < CHANCES_MAX => {
                self.means_of_all(state, depth, chances)
            }
            _ => Ok(self.estimate(state)),
        }
    }

    fn best_of_all(
        &mut self,
        state: &G::State,
        seat: Seat,
        depth: u32,
        frame: &mut Frame<G::State>,
    ) -> Result<PerSeat<i64>, Spent> {
        let seat = usize::from(seat);
        let mut best = [-1; MAX_SEATS];
        self.game.legal(state, &mut frame.legal);
        for &action in &frame.legal {
            let next = self.apply(state, action)?;
            let values = self.values_of_all(&next, depth - 1, 0)?;
            if values[seat] > best[seat] {
                best = values;
            }
            if best[seat] == POINT {
                break;
            }
        }
        Ok(best)
    }

    fn means_of_all(
        &mut self,
        state: &G::State,
        depth: u32,
        chances: u32,
    ) -> Result<PerSeat<i64>, Spent> {
        let weights = self.game.weights(state);
        let total: i64 = weights.iter().map(|&weight| i64::from(weight)).sum();
        let mut sums = [0; MAX_SEATS];
        for (outcome, &weight) in weights.iter().enumerate() {
            if weight == 0 {
                continue;
            }
            let next = self.apply_outcome(state, outcome)?;
            let values = self.values_of_all(&next, depth, chances + 1)?;
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += i64::from(weight) * value;
            }
        }
        Ok(sums.map(|sum| sum.div_euclid(total)))
    }
}
