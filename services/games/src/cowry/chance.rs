//! What a throw of cowry is worth before it is played, for luck.
//!
//! The value of a throw lies half-way between that of the position after its
//! best use and the mean over all its uses, as nobody plays what is best here
//! alone: by what squares are worth, what a hit takes from others and what it
//! opens. Doubles that block the way are heeded, steps that combine several
//! throws are not. What is left out makes luck explain less, never wrongly. The
//! numbers are in [`super::fitted`].

use arena_engine::{MAX_SEATS, PerSeat, values};

use super::{
    Cowry,
    board::Board,
    fitted::{self, Fit},
    options::{DoubleMove, Rules, VALUES},
    state::{Phase, State},
};

/// Room for each index that a value can lead to from a path, or beyond.
const REACH: usize = 129;
/// Worth of a square where nobody may go.
const NEVER: i32 = -(1 << 24);
/// Worth of bringing the last piece home, beyond what squares are worth.
const WIN: i32 = 1 << 14;

/// What squares and rights are worth, in thousandths of a logit.
#[derive(Debug)]
pub(super) struct Chances {
    /// By index, once the seat has hit.
    open: [i32; REACH],
    /// The same before that.
    closed: [i32; REACH],
    /// Of the right to enter the inner rings.
    gate: i32,
    /// Of the turn.
    turn: i32,
    /// Of another throw.
    extra: i32,
}

/// What a throw can be used for.
#[derive(Clone, Copy)]
struct Use {
    /// What the mover can expect to gain.
    gain: i32,
    /// Where its piece ends at best.
    to: usize,
}

impl Chances {
    pub(super) fn new(rules: &Rules, board: &Board, seats: usize) -> Self {
        let fit = fitted::of(rules, seats);
        let table = |outer: &[i32], limit: u8| {
            let mut table = [NEVER; REACH];
            for index in 0..=limit {
                table[usize::from(index)] = place(fit, outer, index, board);
            }
            table
        };
        let gated = rules.gate;
        Self {
            open: table(&fit.open, board.goal),
            closed: table(&fit.closed, board.outer - 1),
            gate: if gated { fit.gate } else { 0 },
            turn: fit.turn,
            extra: fit.extra,
        }
    }
}

/// Worth of an index, by that of the nearest places of the fitted board.
fn place(fit: &Fit, outer: &[i32], index: u8, board: &Board) -> i32 {
    let (table, from, span) = if index < board.outer {
        (outer, 0, i32::from(board.outer))
    } else {
        let inner = i32::from(board.goal - board.outer);
        (&fit.inner[..], i32::from(board.outer), inner)
    };
    let last = table.len() as i32 - 1;
    let reach = if index < board.outer { last + 1 } else { last };
    let scaled = (i32::from(index) - from) * reach;
    let (low, rest) = ((scaled / span).min(last), scaled % span);
    let high = (low + 1).min(last);
    let [low, high] = [low, high].map(|at| table[at as usize]);
    low + (high - low) * rest / span
}

impl Cowry {
    /// Appends the value of each outcome of the chance node that is due.
    pub(super) fn list_chances(&self, state: &State, out: &mut Vec<PerSeat<i64>>) {
        let mut strength = [0; MAX_SEATS];
        for (seat, strength) in strength.iter_mut().enumerate().take(self.seats) {
            *strength = self.strength(state, seat);
        }
        if state.phase == Phase::Start {
            for starter in 0..self.seats {
                let mut strength = strength;
                strength[starter] += self.chances.turn;
                out.push(self.shares(state, &strength));
            }
            return;
        }
        let mover = usize::from(state.to_move);
        let uses = self.uses(state, mover);
        let waiting: i32 = state
            .pool
            .iter()
            .zip(&uses)
            .map(|(&count, each)| i32::from(count) * each.gain)
            .sum();
        for (value_index, each) in uses.iter().enumerate() {
            let mut strength = strength;
            strength[mover] += waiting + each.gain;
            if self.rules.extra_on_4_8 && VALUES[value_index] >= 4 {
                strength[mover] += self.chances.extra;
            }
            self.take_hit(state, mover, each.to, &mut strength);
            out.push(self.shares(state, &strength));
        }
    }

    /// What a seat's pieces and rights are worth.
    #[inline]
    fn strength(&self, state: &State, seat: usize) -> i32 {
        let chances = &*self.chances;
        let (table, gate) = if self.has_way_in(state, seat) {
            (&chances.open, chances.gate)
        } else {
            (&chances.closed, 0)
        };
        let pieces = &state.pieces[seat][..self.rules.pieces];
        let places = pieces.iter().map(|&index| table[usize::from(index)]);
        gate + places.sum::<i32>()
    }

    #[inline]
    fn has_way_in(&self, state: &State, seat: usize) -> bool {
        !self.rules.gate || state.has_hit(seat)
    }

    /// For each value what single uses of it are worth.
    #[inline]
    fn uses(&self, state: &State, mover: usize) -> [Use; VALUES.len()] {
        let chances = &*self.chances;
        let open = self.has_way_in(state, mover);
        let here = if open { &chances.open } else { &chances.closed };
        let pieces = &state.pieces[mover][..self.rules.pieces];
        let goal = usize::from(self.board.goal);
        // Worth of having a piece at an index, with what it does there.
        let mut there = *here;
        let mut hit = self.rules.extra_on_hit as i32 * chances.extra;
        if !open {
            let opened = pieces.iter().map(|&index| {
                let index = usize::from(index);
                chances.open[index] - chances.closed[index]
            });
            hit += chances.gate + opened.sum::<i32>();
        }
        let others = self.seats as i32 - 1;
        let mut held = 0u128;
        for other in (0..self.seats).filter(|&other| other != mover) {
            let table = if self.has_way_in(state, other) {
                &chances.open
            } else {
                &chances.closed
            };
            for &index in &state.pieces[other][..self.rules.pieces] {
                let at = self.board.cross(other, mover, index);
                if !self.hits_at(at) {
                    continue;
                }
                let bit = 1u128 << at;
                let place = &mut there[usize::from(at)];
                if held & bit == 0 {
                    *place += hit;
                }
                held |= bit;
                *place += (table[usize::from(index)] - table[0]) / others;
            }
        }
        if pieces
            .iter()
            .filter(|&&index| index == self.board.goal)
            .count()
            + 1
            == pieces.len()
        {
            there[goal] += WIN;
        }
        let doubles = self.doubles(state, mover);
        if !self.rules.doubles {
            for &index in pieces {
                if !self.board.is_safe(index) {
                    there[usize::from(index)] = NEVER;
                }
            }
        }
        let pairs = self.rules.doubles && self.rules.double_move == DoubleMove::Full;
        let mut best = [Use { gain: NEVER, to: 0 }; VALUES.len()];
        // Sum and number of all that may be done.
        let mut any = [(0, 0); VALUES.len()];
        for (piece, &from) in pieces.iter().enumerate() {
            let free = doubles.blocking == 0 || state.may_pass[mover] >> piece & 1 == 1;
            let start = usize::from(from);
            let partner = pairs && self.partner(pieces, piece).is_some();
            for ((best, any), &value) in best.iter_mut().zip(&mut any).zip(&VALUES) {
                let to = start + usize::from(value);
                let gain = there[to] - here[start];
                let blocked = !free && doubles.bars(from, from + value);
                let legal = gain > NEVER / 2 && !blocked && !doubles.holds(to as u8);
                *any = (
                    any.0 + if legal { gain } else { 0 },
                    any.1 + i32::from(legal),
                );
                if gain > best.gain && legal {
                    *best = Use { gain, to };
                }
                if partner && !blocked && to < usize::from(self.board.outer) {
                    let gain = gain + here[to] - here[start];
                    if gain > best.gain {
                        *best = Use { gain, to };
                    }
                }
            }
        }
        // With nothing to be done a throw is lost.
        for (best, (sum, count)) in best.iter_mut().zip(any) {
            best.gain = match (best.gain > NEVER / 2, count) {
                (false, _) => 0,
                (true, 0) => best.gain,
                // Not everybody plays what is best here.
                (true, count) => (best.gain + sum / count) / 2,
            };
        }
        best
    }

    /// Takes from the others what a hit on the mover's index costs them.
    #[inline]
    fn take_hit(&self, state: &State, mover: usize, to: usize, strength: &mut PerSeat<i32>) {
        if to == 0 || !self.hits_at(to as u8) {
            return;
        }
        // The mover's gain has its share of this.
        let others = self.seats as i32 - 1;
        for other in (0..self.seats).filter(|&other| other != mover) {
            let there = self.board.cross(mover, other, to as u8);
            let hits = state.pieces[other][..self.rules.pieces]
                .iter()
                .filter(|&&index| index == there)
                .count() as i32;
            if hits > 0 {
                let table = if self.has_way_in(state, other) {
                    &self.chances.open
                } else {
                    &self.chances.closed
                };
                let loss = hits * (table[usize::from(there)] - table[0]);
                strength[other] -= loss;
                strength[mover] -= loss / others;
            }
        }
    }

    /// Each seat's share of a game's score, by what they are worth; who has
    /// finished is ahead of all who have not.
    #[inline]
    fn shares(&self, state: &State, strength: &PerSeat<i32>) -> PerSeat<i64> {
        values::pairwise(self.seats, |one, other| {
            let [first, second] = [one, other].map(|seat| state.finished[seat]);
            match (first, second) {
                (0, 0) => values::logistic(i64::from(strength[one] - strength[other])),
                (0, _) => 0,
                (_, 0) => values::POINT,
                _ if first < second => values::POINT,
                _ => 0,
            }
        })
    }
}
