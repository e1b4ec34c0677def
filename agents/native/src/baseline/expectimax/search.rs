//! What searches for two seats and for more have in common.

use arena_engine::{ActionId, Game, Node, OutcomeId, PerSeat, Seat};

use super::Child;
use crate::{
    baseline::after,
    bot::{Pace, Stop},
};

/// So many throws in a row are looked through; what comes after is valued as
/// it stands. Rows of throws have no other end where some throws earn another.
pub(super) const CHANCES_MAX: u32 = 3;

/// The budget is used up, or the time is.
pub(super) struct Spent;

/// Room for a decision on the line that is looked at.
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
    /// True where a position was valued that is not the end of a game.
    estimated: bool,
    /// Frames that are not in use.
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

    /// Positions made so far.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Forgets what was estimated when looking less deep.
    pub(super) fn start(&mut self) {
        self.estimated = false;
    }

    /// True where no deeper look could show anything new.
    pub(super) fn is_through(&self) -> bool {
        !self.estimated
    }

    /// Room for a decision; to be given back.
    pub(super) fn frame(&mut self) -> Frame<G::State> {
        self.frames.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, frame: Frame<G::State>) {
        self.frames.push(frame);
    }

    #[inline]
    fn spend(&mut self) -> Result<(), Spent> {
        if self.used == self.budget || self.pace.is_over() {
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

    /// The values of a position as it stands.
    #[inline]
    pub(super) fn estimate(&mut self, state: &G::State) -> PerSeat<i64> {
        if !self.estimated && !matches!(self.game.node(state), Node::Over(_)) {
            self.estimated = true;
        }
        self.game.values(state)
    }

    /// Adds the positions after each action, with their values as they stand.
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
