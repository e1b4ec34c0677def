//! A game small enough for exhaustive search.

use std::fmt::Write;

use arena_engine::{ActionId, Ending, Game, MAX_SEATS, Node, OutcomeId, PerSeat, PositionError};

/// Seats take one to three stones from a heap in turn. The seat that takes the last stone
/// is first, and the others are ranked by the stones they took. With a die, a throw before
/// each turn determines the maximum to take, and a 4 is thrown again.
#[derive(Clone, Debug)]
pub(in crate::baseline) struct Heap {
    pub(in crate::baseline) seats: usize,
    pub(in crate::baseline) stones: u8,
    pub(in crate::baseline) die: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::baseline) struct State {
    pub(in crate::baseline) left: u8,
    pub(in crate::baseline) taken: PerSeat<u8>,
    pub(in crate::baseline) to_move: u8,
    /// Maximum to take now; 0 if the die is to be thrown.
    pub(in crate::baseline) most: u8,
    /// Stones that a 4 adds to the seat's total.
    pub(in crate::baseline) again: u8,
}

/// 1, 2, nothing, 3, or again.
const DIE: [u32; 5] = [3, 2, 0, 2, 1];

impl Heap {
    fn turn(&self, to_move: u8) -> (u8, u8) {
        let most = if self.die { 0 } else { 3 };
        (to_move % self.seats as u8, most)
    }
}

impl Game for Heap {
    type State = State;

    fn name(&self) -> &'static str {
        "heap"
    }

    fn version(&self) -> u32 {
        1
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn has_chance(&self) -> bool {
        self.die
    }

    fn initial(&self) -> State {
        let (to_move, most) = self.turn(0);
        State {
            left: self.stones,
            taken: [0; MAX_SEATS],
            to_move,
            most,
            again: 0,
        }
    }

    fn node(&self, state: &State) -> Node {
        if state.left == 0 {
            Node::Over(Ending::Normal)
        } else if state.most == 0 {
            Node::Chance(Some(state.to_move))
        } else {
            Node::Decision(state.to_move)
        }
    }

    fn weights(&self, _: &State) -> &[u32] {
        &DIE
    }

    fn legal(&self, state: &State, out: &mut Vec<ActionId>) {
        out.clear();
        out.extend(1..=u16::from(state.most.min(state.left)));
    }

    fn apply(&self, state: &mut State, action: ActionId) {
        state.left -= action as u8;
        state.taken[usize::from(state.to_move)] += action as u8 + state.again;
        state.again = 0;
        if state.left > 0 {
            (state.to_move, state.most) = self.turn(state.to_move + 1);
        }
    }

    fn apply_outcome(&self, state: &mut State, outcome: OutcomeId) {
        match outcome {
            0 | 1 => state.most = outcome as u8 + 1,
            3 => state.most = 3,
            _ => state.again += 2,
        }
    }

    fn placement(&self, state: &State) -> PerSeat<u8> {
        let first = usize::from(state.to_move);
        let mut placement = [0; MAX_SEATS];
        for (seat, place) in placement.iter_mut().enumerate().take(self.seats) {
            let ahead = (0..self.seats).filter(|&other| {
                seat != first && (other == first || state.taken[other] > state.taken[seat])
            });
            *place = 1 + ahead.count() as u8;
        }
        placement
    }

    fn scores(&self, state: &State) -> PerSeat<i64> {
        state.taken.map(i64::from)
    }

    fn write_action(&self, _: &State, action: ActionId, out: &mut dyn Write) {
        write!(out, "{action}").expect("a string takes all");
    }

    fn write_outcome(&self, _: &State, outcome: OutcomeId, out: &mut dyn Write) {
        write!(out, "{outcome}").expect("a string takes all");
    }

    fn encode(&self, _: &State, _: bool, _: &mut Vec<u8>) {}

    fn decode(&self, _: &[u8]) -> Result<State, PositionError> {
        Err(PositionError {
            ruleset: self.name(),
            reason: "it keeps no positions".to_owned(),
        })
    }

    fn draw(&self, state: &State, out: &mut dyn Write) {
        writeln!(out, "{state:?}").expect("a string takes all");
    }
}
