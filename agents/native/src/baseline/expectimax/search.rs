//! The common parts of the searches for two seats and for more.

use arena_engine::{ActionId, Game, Node, OutcomeId, PerSeat, Seat};

use super::Child;
use crate::{
    baseline::after,
    bot::{Pace, Stop},
};

/// Maximum number of consecutive chance nodes to search; later positions are evaluated
/// statically. Sequences of throws have no other limit if some throws earn another.
pub(super) const CHANCES_MAX: u32 = 3;

/// The budget or the time is used up.
pub(super) struct Spent;

/// Buffers for a decision on the current line.
pub(super) struct Frame<S> {
    pub(super) legal: Vec<ActionId>,
    pub(super) children: Vec<Child<S>>,
}

impl<S> Default for Frame<S> {
    fn default() -> Self {
        Self {
            legal: Vec::new(),
            children: Vec::new(),
        }
    }
}

/// A search in progress.
pub(super) struct Search<'a, G: Game> {
    pub(super) game: &'a G,
    budget: u64,
    used: u64,
    pace: Pace<'a>,
    /// True if a non-terminal position was evaluated.
    estimated: bool,
    /// Frames not in use.
    frames: &'a mut Vec<Frame<G::State>>,
}

impl<'a, G: Game> Search<'a, G> {
    pub(super) fn new(
        game: &'a G,
        budget: u64,
        stop: Stop<'a>,
        frames: &'a mut Vec<Frame<G::State>>,
    ) -> Self {
        Self {
            game,
            budget,
            used: 0,
            pace: Pace::new(stop),
            estimated: false,
            frames,
        }
    }

    /// Number of positions created so far.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Resets the estimate flag of the previous, shallower search.
    pub(super) fn start(&mut self) {
        self.estimated = false;
    }

    /// True if a deeper search cannot change the result.
    pub(super) fn is_through(&self) -> bool {
        !self.estimated
    }

    /// Takes buffers for a decision; the caller returns them.
    pub(super) fn frame(&mut self) -> Frame<G::State> {
        self.frames.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, frame: Frame<G::State>) {
        self.frames.push(frame);
    }

    #[inline]
    fn spend(&mut self) -> Result<(), Spent> {
        if self.used == self.budget || self.pace.count() {
            return Err(Spent);
        }
        self.used += 1;
        Ok(())
    }

    /// The position after an action, charged to the budget.
    #[inline]
    pub(super) fn apply(&mut self, state: &G::State, action: ActionId) -> Result<G::State, Spent> {
        self.spend()?;
        Ok(after(self.game, state, action))
    }

    /// The position after a chance outcome, charged to the budget.
    #[inline]
    pub(super) fn apply_outcome(
        &mut self,
        state: &G::State,
        outcome: usize,
    ) -> Result<G::State, Spent> {
        self.spend()?;
        let mut next = state.clone();
        self.game.apply_outcome(&mut next, outcome as OutcomeId);
        Ok(next)
    }

    /// The static values of a position.
    #[inline]
    pub(super) fn estimate(&mut self, state: &G::State) -> PerSeat<i64> {
        if !self.estimated && !matches!(self.game.node(state), Node::Over(_)) {
            self.estimated = true;
        }
        self.game.values(state)
    }

    /// Adds the positions after each action, with their static values.
    pub(super) fn expand(
        &mut self,
        state: &G::State,
        legal: &[ActionId],
        seat: Seat,
        children: &mut Vec<Child<G::State>>,
    ) -> Result<(), Spent> {
        for &action in legal {
            let state = self.apply(state, action)?;
            let value = self.estimate(&state)[usize::from(seat)];
            children.push(Child {
                state,
                action,
                value,
            });
        }
        Ok(())
    }
}
