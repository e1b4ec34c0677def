//! The moves of a seat with its pool, and their effects.

use arena_engine::ActionId;

use super::{
    Cowry,
    options::{Block, DoubleMove, PIECES_MAX, VALUES},
    state::State,
};

/// A decoded action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Index into [`VALUES`].
    pub value_index: usize,
    /// The value played.
    pub value: u8,
    /// The mover's piece.
    pub piece: usize,
    /// True if a second piece of the same square moves along.
    pub together: bool,
}

/// Effect of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing {
    /// Path index before.
    pub from: u8,
    /// Path index after; equal to before if a double makes the move void.
    pub to: u8,
    /// Opponent pieces sent back.
    pub hits: u8,
}

/// Whether a step is possible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Illegal,
    Blocked,
    Free,
}

/// Doubles of opponents on the outer ring, one bit per index of the mover.
#[derive(Clone, Copy, Default)]
pub(super) struct Doubles {
    /// Doubles that stop pieces from passing.
    pub(super) blocking: u64,
    /// Doubles on squares where pieces can be hit.
    vulnerable: u64,
}

impl Doubles {
    /// True if a double is strictly between two indices.
    pub(super) fn bars(self, from: u8, to: u8) -> bool {
        self.blocking & between(from, to) != 0
    }

    /// True if a double is on this index and could be hit.
    pub(super) fn holds(self, index: u8) -> bool {
        index < 64 && self.vulnerable >> index & 1 == 1
    }
}

impl Cowry {
    /// The highest id: no move is possible.
    #[must_use]
    #[inline]
    pub fn pass_id(&self) -> ActionId {
        (VALUES.len() * self.rules.pieces * 2) as ActionId
    }

    /// A decoded action; none for a pass.
    #[must_use]
    #[inline]
    pub fn parse(&self, action: ActionId) -> Option<Move> {
        if action >= self.pass_id() {
            return None;
        }
        let (pair, together) = (usize::from(action / 2), action % 2 == 1);
        let value_index = pair / self.rules.pieces;
        Some(Move {
            value_index,
            value: VALUES[value_index],
            piece: pair % self.rules.pieces,
            together,
        })
    }

    /// The id of a move.
    #[must_use]
    #[inline]
    pub fn action(&self, value_index: usize, piece: usize, together: bool) -> ActionId {
        ((value_index * self.rules.pieces + piece) * 2 + usize::from(together)) as ActionId
    }

    /// Effect of a legal move of the seat to move; none for a pass.
    #[must_use]
    pub fn landing(&self, state: &State, action: ActionId) -> Option<Landing> {
        let step = self.parse(action)?;
        let seat = usize::from(state.to_move);
        let from = state.pieces[seat][step.piece];
        if self.is_void(state, step) {
            let (to, hits) = (from, 0);
            return Some(Landing { from, to, hits });
        }
        let to = from + self.reach(step.value, step.together);
        let hits = if self.hits_at(to) {
            self.opponents_at(state, seat, to)
        } else {
            0
        };
        Some(Landing { from, to, hits })
    }

    /// Distance of a value for a piece.
    #[inline]
    fn reach(&self, value: u8, together: bool) -> u8 {
        if together && self.rules.double_move == DoubleMove::Half {
            value / 2
        } else {
            value
        }
    }

    /// True if landing on this index sends opponents back.
    #[must_use]
    #[inline]
    pub fn hits_at(&self, index: u8) -> bool {
        !self.board.is_safe(index) && (self.rules.inner_hits || index < self.board.outer)
    }

    fn opponents_at(&self, state: &State, seat: usize, index: u8) -> u8 {
        (0..self.seats)
            .filter(|&other| other != seat)
            .map(|other| {
                let there = self.board.cross(seat, other, index);
                let pieces = &state.pieces[other][..self.rules.pieces];
                pieces.iter().filter(|&&piece| piece == there).count() as u8
            })
            .sum()
    }

    #[inline]
    pub(super) fn doubles(&self, state: &State, seat: usize) -> Doubles {
        if !self.rules.doubles {
            return Doubles::default();
        }
        let mut all = 0;
        for other in (0..self.seats).filter(|&other| other != seat) {
            let mut seen = 0u64;
            for &piece in &state.pieces[other][..self.rules.pieces] {
                if piece < self.board.outer {
                    let bit = 1 << self.board.cross(other, seat, piece);
                    all |= seen & bit;
                    seen |= bit;
                }
            }
        }
        let vulnerable = all & !(self.board.safe as u64);
        let blocking = if self.rules.block_on_safe {
            all
        } else {
            vulnerable
        };
        Doubles {
            blocking,
            vulnerable,
        }
    }

    /// Own pieces on squares that allow no second one.
    #[inline]
    fn own_block(&self, state: &State, seat: usize) -> u128 {
        if self.rules.doubles {
            return 0;
        }
        let mut own = 0;
        for &piece in &state.pieces[seat][..self.rules.pieces] {
            own |= 1u128 << piece;
        }
        own & !self.board.safe
    }

    /// The piece that moves along with this one, which is the lowest of its square; doubles move
    /// together on the outer ring only.
    #[inline]
    pub(super) fn partner(&self, pieces: &[u8], piece: usize) -> Option<usize> {
        let here = pieces[piece];
        if here >= self.board.outer || pieces[..piece].contains(&here) {
            return None;
        }
        let rest = &pieces[piece + 1..];
        rest.iter()
            .position(|&other| other == here)
            .map(|position| piece + 1 + position)
    }

    /// Calls `visit` with each step that a seat could make with these values, in ascending order,
    /// until it returns true. Returns whether it did.
    #[inline]
    fn any_step(
        &self,
        state: &State,
        seat: usize,
        values: [bool; VALUES.len()],
        mut visit: impl FnMut(ActionId, Step, u16) -> bool,
    ) -> bool {
        let doubles = self.doubles(state, seat);
        let own = self.own_block(state, seat);
        let outer_limit = self.outer_limit(state, seat);
        let pieces = &state.pieces[seat][..self.rules.pieces];
        let pairs = self.rules.doubles && self.rules.double_move != DoubleMove::None;
        let halves = self.rules.double_move == DoubleMove::Half;
        let judge = |from: u8, to: u8, together: bool, crew: u16| {
            let limit = if from < self.board.outer {
                outer_limit
            } else {
                self.board.goal
            };
            if to > limit || own >> to & 1 == 1 {
                return Step::Illegal;
            }
            if doubles.holds(to) && !(together && self.rules.double_hits_double) {
                return Step::Illegal;
            }
            let passes = doubles.blocking == 0 || state.may_pass[seat] & crew == crew;
            if passes || !doubles.bars(from, to) {
                Step::Free
            } else {
                Step::Blocked
            }
        };
        for (value_index, &value) in VALUES.iter().enumerate() {
            if !values[value_index] {
                continue;
            }
            for (piece, &from) in pieces.iter().enumerate() {
                let bit = 1 << piece;
                let step = judge(from, from + value, false, bit);
                if step != Step::Illegal && visit(self.action(value_index, piece, false), step, bit)
                {
                    return true;
                }
                if !pairs || halves && value % 2 == 1 {
                    continue;
                }
                if let Some(partner) = self.partner(pieces, piece) {
                    let to = from + self.reach(value, true);
                    let crew = bit | 1 << partner;
                    let step = judge(from, to, true, crew);
                    if step != Step::Illegal
                        && to < self.board.outer
                        && visit(self.action(value_index, piece, true), step, crew)
                    {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Calls `visit` with each move of the seat to move, in ascending order.
    #[inline]
    pub(super) fn each_move(&self, state: &State, mut visit: impl FnMut(ActionId)) {
        let void = self.rules.block == Block::VoidTurn;
        let values = state.pool.map(|count| count > 0);
        let seat = usize::from(state.to_move);
        self.any_step(state, seat, values, |action, step, _| {
            if step == Step::Free || void {
                visit(action);
            }
            false
        });
    }

    #[inline]
    pub(super) fn list_moves(&self, state: &State, out: &mut Vec<ActionId>) {
        out.clear();
        if self.rules.doubles {
            self.each_move(state, |action| out.push(action));
        } else {
            self.list_single_steps(state, out);
        }
        if out.is_empty() {
            out.push(self.pass_id());
        }
    }

    /// As [`Self::each_move`] without doubles, and without branches that depend on the pieces,
    /// which dice make unpredictable.
    #[inline]
    fn list_single_steps(&self, state: &State, out: &mut Vec<ActionId>) {
        let seat = usize::from(state.to_move);
        let own = self.own_block(state, seat);
        let outer_limit = self.outer_limit(state, seat);
        let mut buffer = [0; VALUES.len() * PIECES_MAX];
        let mut length = 0;
        for (value_index, &value) in VALUES.iter().enumerate() {
            if state.pool[value_index] == 0 {
                continue;
            }
            for (piece, &from) in state.pieces[seat][..self.rules.pieces].iter().enumerate() {
                let to = from + value;
                let limit = if from < self.board.outer {
                    outer_limit
                } else {
                    self.board.goal
                };
                // Beyond the limit the shift wraps, and has no effect.
                let free = own.wrapping_shr(u32::from(to)) & 1 == 0;
                buffer[length] = self.action(value_index, piece, false);
                length += usize::from((to <= limit) & free);
            }
        }
        out.extend_from_slice(&buffer[..length]);
    }

    /// A piece on the outer ring may not go beyond this index.
    #[inline]
    fn outer_limit(&self, state: &State, seat: usize) -> u8 {
        if self.rules.gate && !state.has_hit(seat) {
            self.board.outer - 1
        } else {
            self.board.goal
        }
    }

    /// True if no value moves any piece of the seat, now or, if doubles block only once, later.
    pub(super) fn is_stuck(&self, state: &State, seat: usize) -> bool {
        !self.any_step(state, seat, [true; VALUES.len()], |_, _, _| true)
    }

    /// Pieces of the seat to move that a double blocks now.
    pub(super) fn blocked_pieces(&self, state: &State) -> u16 {
        if !self.rules.doubles || self.rules.block == Block::VoidTurn {
            return 0;
        }
        let mut blocked = 0;
        let values = state.pool.map(|count| count > 0);
        self.any_step(
            state,
            usize::from(state.to_move),
            values,
            |_, step, crew| {
                if step == Step::Blocked {
                    blocked |= crew;
                }
                false
            },
        );
        blocked
    }

    /// True if a move may be chosen but has no effect, because a double blocks it.
    fn is_void(&self, state: &State, step: Move) -> bool {
        if !self.rules.doubles || self.rules.block != Block::VoidTurn {
            return false;
        }
        let seat = usize::from(state.to_move);
        let from = state.pieces[seat][step.piece];
        let to = from + self.reach(step.value, step.together);
        let crew = self.crew(state, step);
        state.may_pass[seat] & crew != crew && self.doubles(state, seat).bars(from, to)
    }

    /// The pieces that a move moves.
    fn crew(&self, state: &State, step: Move) -> u16 {
        let mut crew = 1 << step.piece;
        if step.together {
            let pieces = &state.pieces[usize::from(state.to_move)][..self.rules.pieces];
            if let Some(partner) = self.partner(pieces, step.piece) {
                crew |= 1 << partner;
            }
        }
        crew
    }

    /// Makes a step of the seat to move. Returns the final index; none if the step costs the turn
    /// instead.
    #[inline]
    pub(super) fn make(&self, state: &mut State, step: Move) -> Option<u8> {
        let seat = usize::from(state.to_move);
        if self.is_void(state, step) {
            state.may_pass[seat] |= self.crew(state, step);
            return None;
        }
        let to = state.pieces[seat][step.piece] + self.reach(step.value, step.together);
        if self.rules.doubles {
            let crew = self.crew(state, step);
            for (piece, index) in state.pieces[seat].iter_mut().enumerate() {
                if crew >> piece & 1 == 1 {
                    *index = to;
                }
            }
            if !self.rules.block_forever {
                state.may_pass[seat] &= !crew;
                state.blocked_now &= !crew;
            }
        } else {
            state.pieces[seat][step.piece] = to;
        }
        state.pool[step.value_index] -= 1;
        if self.hits_at(to) && self.send_back(state, seat, to) {
            state.hit_mask |= 1 << seat;
            if self.rules.extra_on_hit {
                state.pending_throws = state.pending_throws.saturating_add(1);
            }
        }
        Some(to)
    }

    /// Sends all opponents on a square back. Returns true if there were any.
    #[inline]
    fn send_back(&self, state: &mut State, seat: usize, index: u8) -> bool {
        let mut any = false;
        for other in 0..self.seats {
            if other == seat {
                continue;
            }
            let there = self.board.cross(seat, other, index);
            for piece in 0..self.rules.pieces {
                if state.pieces[other][piece] == there {
                    state.pieces[other][piece] = 0;
                    if !self.rules.block_forever {
                        state.may_pass[other] &= !(1 << piece);
                    }
                    any = true;
                }
            }
        }
        any
    }
}

/// Bits of the indices strictly between two, below 64.
#[inline]
fn between(from: u8, to: u8) -> u64 {
    let below = |index: u8| {
        if index >= 64 {
            u64::MAX
        } else {
            (1u64 << index) - 1
        }
    };
    below(to) & !below(from + 1)
}
