//! Kalah: two players sow stones around two rows of pits.
//!
//! The rules follow paper 004. Where the paper defines no rule, they follow common practice; see
//! `docs/kalah.md`.

mod lanes;
mod options;
mod text;
mod value;
mod wire;

use std::fmt::Write;

use arena_engine::{
    ActionId, Ending, Game, MAX_SEATS, Node, OutcomeId, PerSeat, PositionError,
    options::{OptionError, Options},
};

use self::{
    lanes::Lanes,
    options::{EmptyCapture, KalahRules, Remaining},
};
use crate::{
    placement,
    ruleset::{Ruleset, RulesetInfo},
};

/// Maximum number of pits per side.
pub const PITS_MAX: usize = 8;

/// Cells of the largest board: both rows and both stores.
pub const CELLS_MAX: usize = 2 * PITS_MAX + 2;

/// The rules with their options.
#[derive(Clone, Debug)]
pub struct Kalah {
    rules: KalahRules,
    /// The table for fast sowing; none if the board is too large.
    lanes: Option<Lanes>,
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Stones in each cell, counter-clockwise: the pits of seat 0, its store, the pits of seat 1, its
    /// store. Unused cells are 0.
    pub board: [u8; CELLS_MAX],
    /// The seat to move.
    pub to_move: u8,
    /// True if the game is over.
    pub over: bool,
    /// Number of sowings so far.
    pub plies: u32,
}

/// Effect of a sowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sowing {
    /// Stones that sowing and capture bring into the mover's store, without those of the last
    /// sweep.
    pub banked: u8,
    /// True if the last stone fell into the mover's store.
    pub again: bool,
}

impl Kalah {
    /// Pits of a side.
    #[must_use]
    pub fn pits(&self) -> usize {
        self.rules.pits
    }

    /// The cell of a seat's pit.
    #[must_use]
    #[inline]
    pub fn pit(&self, seat: usize, offset: usize) -> usize {
        seat * (self.rules.pits + 1) + offset
    }

    /// The cell of a seat's store.
    #[must_use]
    #[inline]
    pub fn store(&self, seat: usize) -> usize {
        self.pit(seat, self.rules.pits)
    }

    /// The pits of a seat, from its left.
    #[must_use]
    #[inline]
    pub fn row<'a>(&self, state: &'a State, seat: usize) -> &'a [u8] {
        &state.board[self.pit(seat, 0)..self.store(seat)]
    }

    /// Sows a pit of the seat to move and captures. Does not change the turn or end the game.
    #[inline]
    pub fn sow(&self, state: &mut State, offset: usize) -> Sowing {
        let (seat, pits) = (usize::from(state.to_move), self.rules.pits);
        let (store, their_store) = (self.store(seat), self.store(1 - seat));
        let board = &mut state.board;
        let before = board[store];
        let from = self.pit(seat, offset);
        let looked_up = self
            .lanes
            .as_ref()
            .and_then(|it| it.sowing(from, board[from]));
        let cell = if let Some(added) = looked_up {
            // No byte can overflow, because the number of all stones fits a byte.
            board[from] = 0;
            lanes::store(lanes::load(board) + added.cells, board);
            usize::from(added.last)
        } else {
            sow_singly(board, from, 2 * pits + 2, their_store)
        };
        let own = self.pit(seat, 0)..store;
        if own.contains(&cell) && board[cell] == 1 {
            let opposite = 2 * pits - cell;
            let captures = match self.rules.empty_capture {
                EmptyCapture::OppositeNonempty => board[opposite] > 0,
                EmptyCapture::Always => true,
                EmptyCapture::Never => false,
            };
            if captures {
                board[store] += board[opposite] + 1;
                board[opposite] = 0;
                board[cell] = 0;
            }
        }
        Sowing {
            banked: board[store] - before,
            again: cell == store,
        }
    }

    /// Ends the game if one of its conditions holds. If a row is empty, sweeps the remaining stones.
    #[inline]
    fn check_end(&self, state: &mut State) {
        let both_have_stones = match &self.lanes {
            Some(lanes) => lanes.both_rows_have_stones(&state.board),
            None => (0..2).all(|seat| self.row(state, seat).iter().any(|&pit| pit > 0)),
        };
        if both_have_stones {
            let half = (self.rules.pits * usize::from(self.rules.stones)) as u8;
            let majority = [0, 1].map(|seat| state.board[self.store(seat)] > half);
            state.over = self.rules.early_stop && majority.contains(&true)
                || state.plies >= self.rules.plies_max;
            return;
        }
        state.over = true;
        let sums: [u8; 2] = [0, 1].map(|seat| self.row(state, seat).iter().sum());
        let emptier = usize::from(sums[0] > 0);
        for (seat, stones) in sums.into_iter().enumerate() {
            let heir = match self.rules.remaining {
                Remaining::Owner => seat,
                Remaining::Emptier => emptier,
                Remaining::None => continue,
            };
            let heir = self.store(heir);
            state.board[heir] += stones;
            let (first, store) = (self.pit(seat, 0), self.store(seat));
            state.board[first..store].fill(0);
        }
    }

    /// True if the game reached its length limit.
    fn is_capped(&self, state: &State) -> bool {
        let rows_left = (0..2).all(|seat| self.row(state, seat).iter().any(|&pit| pit > 0));
        let half = (self.rules.pits * usize::from(self.rules.stones)) as u8;
        let majority = (0..2).any(|seat| state.board[self.store(seat)] > half);
        state.over && rows_left && !(self.rules.early_stop && majority)
    }
}

/// Sows the stones of a cell one by one. Returns the cell of the last stone.
fn sow_singly(board: &mut [u8; CELLS_MAX], from: usize, cells: usize, their_store: usize) -> usize {
    let mut cell = from;
    for _ in 0..std::mem::take(&mut board[from]) {
        cell += 1;
        if cell == their_store {
            cell += 1;
        }
        if cell >= cells {
            // The first pit of seat 0 follows the store of seat 1.
            cell = 0;
        }
        board[cell] += 1;
    }
    cell
}

impl Game for Kalah {
    type State = State;

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> u32 {
        Self::VERSION
    }

    fn seats(&self) -> usize {
        2
    }

    fn has_chance(&self) -> bool {
        false
    }

    fn initial(&self) -> State {
        let mut board = [0; CELLS_MAX];
        for seat in 0..2 {
            let (first, store) = (self.pit(seat, 0), self.store(seat));
            board[first..store].fill(self.rules.stones);
        }
        State {
            board,
            to_move: 0,
            over: false,
            plies: 0,
        }
    }

    #[inline]
    fn node(&self, state: &State) -> Node {
        if !state.over {
            Node::Decision(state.to_move)
        } else if self.is_capped(state) {
            Node::Over(Ending::Cap)
        } else {
            Node::Over(Ending::Normal)
        }
    }

    fn weights(&self, _: &State) -> &[u32] {
        &[]
    }

    #[inline]
    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        out.clear();
        let row = self.row(state, usize::from(state.to_move));
        for (offset, &stones) in row.iter().enumerate() {
            if stones > 0 {
                out.push(offset as ActionId);
            }
        }
    }

    #[inline]
    fn apply(&self, state: &mut State, action: ActionId) {
        let sowing = self.sow(state, usize::from(action));
        state.plies += 1;
        self.check_end(state);
        if !sowing.again && !state.over {
            state.to_move = 1 - state.to_move;
        }
    }

    fn apply_outcome(&self, _: &mut State, _: OutcomeId) {}

    fn placement(&self, state: &State) -> PerSeat<u8> {
        placement::of_two([0, 1].map(|seat| state.board[self.store(seat)]))
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        let mut scores = [0; MAX_SEATS];
        for (seat, score) in scores.iter_mut().enumerate().take(2) {
            *score = i64::from(state.board[self.store(seat)]);
        }
        scores
    }

    fn values(&self, state: &State) -> PerSeat<i64> {
        self.value(state)
    }

    fn write_action(&self, _: &State, action: ActionId, out: &mut dyn Write) {
        // The error of a failed write belongs to the caller's buffer.
        let _ = write!(out, "{action}");
    }

    fn write_outcome(&self, _: &State, _: OutcomeId, _: &mut dyn Write) {}

    fn encode(&self, state: &State, moves: bool, out: &mut Vec<u8>) {
        self.write_position(state, moves, out);
    }

    fn decode(&self, bytes: &[u8]) -> Result<State, PositionError> {
        self.read_position(bytes)
            .map_err(|reason| PositionError::of(self, reason))
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        // The error of a failed write belongs to the caller's buffer.
        let _ = self.draw_board(state, out);
    }
}

impl Ruleset for Kalah {
    const NAME: &'static str = "kalah";
    const VERSION: u32 = 1;

    fn info() -> RulesetInfo {
        RulesetInfo {
            name: Self::NAME,
            version: Self::VERSION,
            summary: "sowing stones in two rows of pits, for two players",
            seats: (2, 2),
            options: options::specs(),
            presets: Vec::new(),
            settle: |_, _| {},
        }
    }

    fn with_options(options: &Options, _: usize) -> Result<Self, OptionError> {
        let rules = KalahRules::new(options)?;
        Ok(Self {
            rules,
            lanes: Lanes::new(rules.pits),
        })
    }
}
