//! Two seats: one value suffices, because the other is the rest of the point.

use arena_engine::{Game, Node, Seat, values::POINT};

use super::{
    Child,
    search::{CHANCES_MAX, Frame, Search, Spent},
};

/// The range of relevant values: above the first and below the second, both from 0 to
/// [`POINT`], the first below the second. For a value that does not exceed the first, any
/// upper bound that does not exceed it is sufficient; the same applies in reverse to the
/// second.
pub(super) type Window = (i64, i64);

impl<G: Game> Search<'_, G> {
    /// The value of a position for seat 0, with `depth` decisions ahead and after `chances`
    /// consecutive chance nodes.
    pub(super) fn value_of_two(
        &mut self,
        state: &G::State,
        depth: u32,
        chances: u32,
        window: Window,
    ) -> Result<i64, Spent> {
        match self.game.node(state) {
            Node::Decision(seat) if depth > 0 => {
                let mut frame = self.frame();
                let value = self.best_of_two(state, seat, depth, window, &mut frame);
                self.give_back(frame);
                value
            }
            Node::Chance(_) if depth > 0 && chances < CHANCES_MAX => {
                self.mean_of_two(state, depth, chances, window)
            }
            _ => Ok(self.estimate(state)[0]),
        }
    }

    fn best_of_two(
        &mut self,
        state: &G::State,
        seat: Seat,
        depth: u32,
        window: Window,
        frame: &mut Frame<G::State>,
    ) -> Result<i64, Spent> {
        let mut best = Best::new(seat, window);
        self.game.legal(state, &mut frame.legal);
        if depth == 1 {
            for &action in &frame.legal {
                let next = self.apply(state, action)?;
                if best.add(self.estimate(&next)[0]) {
                    break;
                }
            }
            return Ok(best.value);
        }
        frame.children.clear();
        self.expand(state, &frame.legal, seat, &mut frame.children)?;
        Child::sort(&mut frame.children);
        for child in &frame.children {
            let value = self.value_of_two(&child.state, depth - 1, 0, best.window)?;
            if best.add(value) {
                break;
            }
        }
        Ok(best.value)
    }

    /// The mean over chance, rounded down. The value of an outcome is only needed precisely
    /// enough to show on which side of the window the mean is, for any remaining outcomes.
    fn mean_of_two(
        &mut self,
        state: &G::State,
        depth: u32,
        chances: u32,
        (low, high): Window,
    ) -> Result<i64, Spent> {
        let weights = self.game.weights(state);
        let total: i64 = weights.iter().map(|&weight| i64::from(weight)).sum();
        let (mut sum, mut rest) = (0, total);
        for (outcome, &weight) in weights.iter().enumerate() {
            if weight == 0 {
                continue;
            }
            let weight = i64::from(weight);
            rest -= weight;
            // If the value does not exceed this, the mean does not exceed `low`, even if
            // all remaining outcomes are worth a point.
            let too_low = ((low + 1) * total - 1 - sum - POINT * rest).div_euclid(weight);
            // If the value is at least this, the mean is at least `high`, even if all
            // remaining outcomes are worth nothing.
            let too_high = (high * total - sum + weight - 1).div_euclid(weight);
            let window = (too_low.max(0), too_high.min(POINT));
            let next = self.apply_outcome(state, outcome)?;
            let value = self.value_of_two(&next, depth, chances + 1, window)?;
            sum += weight * value;
            if value <= too_low {
                return Ok((sum + POINT * rest).div_euclid(total));
            }
            if value >= too_high {
                break;
            }
        }
        Ok(sum.div_euclid(total))
    }
}

/// The best value so far, and the window for the others.
struct Best {
    maximizes: bool,
    value: i64,
    window: Window,
}

impl Best {
    fn new(seat: Seat, window: Window) -> Self {
        let maximizes = seat == 0;
        Self {
            maximizes,
            value: if maximizes { -1 } else { POINT + 1 },
            window,
        }
    }

    /// Adds a value; true if no other can matter.
    #[inline]
    fn add(&mut self, value: i64) -> bool {
        let (low, high) = &mut self.window;
        if self.maximizes {
            self.value = self.value.max(value);
            *low = (*low).max(value);
        } else {
            self.value = self.value.min(value);
            *high = (*high).min(value);
        }
        low >= high
    }
}
