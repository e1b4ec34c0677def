//! Values of throws before they are played, for luck.
//!
//! The value of a throw is half-way between that of the position after its best use and the mean
//! over all its uses, since no agent always plays the best use by this model: the values of
//! squares, what a hit takes from others, and what it opens. Doubles that block the way are
//! considered, moves that combine several throws are not. Omissions make luck explain less, but
//! never bias it. The numbers are in [`super::fitted`].

use arena_engine::{PerSeat, values};

use super::{
    Cowry,
    board::Board,
    fitted::{self, Fit},
    options::{CowryRules, DoubleMove, PIECES_MAX, SEATS_MAX, VALUES},
    state::{Phase, State},
};

/// Room for each index that a value can reach from a path, or beyond.
const REACH: usize = 129;
/// Value of a square that no piece may enter.
const NEVER: i32 = -(1 << 24);
/// Value of bringing the last piece home, beyond the values of squares.
const WIN: i32 = 1 << 14;
/// 2^32 divided by each number of pieces, rounded up: faster than a division.
const RECIPROCAL: [u64; PIECES_MAX + 1] = {
    let mut table = [0; PIECES_MAX + 1];
    let mut count = 1;
    while count < table.len() {
        table[count] = (1u64 << 32).div_ceil(count as u64);
        count += 1;
    }
    table
};
/// The furthest move of a value.
const FURTHEST: u8 = VALUES[VALUES.len() - 1];

/// Values of squares and rights, in thousandths of a logit.
#[derive(Debug)]
pub(super) struct Chances {
    /// For pieces whose seat has hit.
    open: Places,
    /// For other pieces.
    closed: Places,
    /// Where pieces can be hit.
    exposed: [bool; REACH],
    /// Where a second piece of a seat is not allowed.
    single: [bool; REACH],
    /// For the right to enter the inner rings.
    gate: i32,
    /// For the turn.
    turn: i32,
    /// For another throw.
    extra: i32,
}

/// Values of a piece by its index.
#[derive(Debug)]
struct Places {
    /// To its seat.
    worth: [i32; REACH],
    /// To one of the others, if it hits a piece there.
    stake: [i32; REACH],
}

/// Contents of each index of the mover's path.
struct Targets {
    /// Value of moving there, with what it hits.
    worth: [i32; REACH],
    /// Where it hits.
    prey: [bool; REACH],
}

/// Values of single uses of each value.
struct Singles {
    best: [i32; VALUES.len()],
    to: [u8; VALUES.len()],
    /// Sum and number of all possible uses.
    sum: [i32; VALUES.len()],
    count: [usize; VALUES.len()],
}

impl Singles {
    fn new() -> Self {
        Self {
            best: [NEVER / 2; VALUES.len()],
            to: [0; VALUES.len()],
            sum: [0; VALUES.len()],
            count: [0; VALUES.len()],
        }
    }

    /// Computes what a piece gains by each value, and whether it may move; without branches, which
    /// dice make unpredictable.
    #[inline]
    fn weigh(&mut self, from: u8, gains: &[i32; VALUES.len()], legal: &[bool; VALUES.len()]) {
        for (index, &value) in VALUES.iter().enumerate() {
            let gain = gains[index];
            let legal = legal[index] & (gain > NEVER / 2);
            let better = legal & (gain > self.best[index]);
            self.sum[index] += gain & -i32::from(legal);
            self.count[index] += usize::from(legal);
            self.best[index] = if better { gain } else { self.best[index] };
            self.to[index] = if better { from + value } else { self.to[index] };
        }
    }

    /// Expected value for an agent that does not always play the best use.
    #[inline]
    fn expected(&self) -> [i32; VALUES.len()] {
        let mut gains = [0; VALUES.len()];
        for (index, gain) in gains.iter_mut().enumerate() {
            let (best, sum) = (self.best[index], self.sum[index]);
            // Rounded towards zero, exact for 24 bits.
            let mean = (u64::from(sum.unsigned_abs()) * RECIPROCAL[self.count[index]]) >> 32;
            let mean = if sum < 0 { -(mean as i32) } else { mean as i32 };
            *gain = match self.count[index] {
                // Without any use, a throw is lost.
                0 if best <= NEVER / 2 => 0,
                0 => best,
                _ => (best + mean) / 2,
            };
        }
        gains
    }
}

impl Chances {
    pub(super) fn new(rules: &CowryRules, board: &Board, seats: usize) -> Self {
        let fit = fitted::of(rules, seats);
        let limit = if rules.inner_hits {
            board.goal
        } else {
            board.outer
        };
        let (mut exposed, mut single) = ([false; REACH], [false; REACH]);
        for index in 0..board.goal {
            let at = usize::from(index);
            exposed[at] = index < limit && !board.is_safe(index);
            single[at] = !rules.doubles && !board.is_safe(index);
        }
        let places = |outer: &[i32], limit: u8| {
            let (mut worth, mut stake) = ([NEVER; REACH], [0; REACH]);
            for index in 0..=limit {
                let at = usize::from(index);
                worth[at] = place(fit, outer, index, board);
                if exposed[at] {
                    stake[at] = share_of(worth[at] - worth[0], seats);
                }
            }
            Places { worth, stake }
        };
        Self {
            open: places(&fit.open, board.goal),
            closed: places(&fit.closed, board.outer - 1),
            exposed,
            single,
            gate: if rules.gate { fit.gate } else { 0 },
            turn: fit.turn,
            extra: fit.extra,
        }
    }
}

/// The part of a seat's loss that one of the others gains.
fn share_of(loss: i32, seats: usize) -> i32 {
    loss / (seats as i32 - 1)
}

/// Value of an index, from the nearest places of the fitted board.
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
    pub(super) fn list_chances(&self, state: &State, out: &mut Vec<i64>) {
        match (state.phase, self.seats) {
            (Phase::Start, _) => self.list_starters(state, out),
            (_, 2) => self.list_throws::<2>(state, out),
            (_, 3) => self.list_throws::<3>(state, out),
            _ => self.list_throws::<SEATS_MAX>(state, out),
        }
    }

    /// Appends the value of each throw. Compiled for each number of seats, which saves a twentieth
    /// of a game's time.
    fn list_throws<const SEATS: usize>(&self, state: &State, out: &mut Vec<i64>) {
        let mover = usize::from(state.to_move);
        let mut strength = [0; SEATS_MAX];
        let mut targets = Targets {
            worth: self.places(state, mover).worth,
            prey: [false; REACH],
        };
        self.survey(state, mover, &mut strength, &mut targets);
        let uses = self.uses(state, mover, &targets.worth);
        let gains = uses.expected();
        for (&count, gain) in state.pool.iter().zip(gains) {
            strength[mover] += i32::from(count) * gain;
        }
        let mut own = [strength[mover]; VALUES.len()];
        for (index, value) in VALUES.into_iter().enumerate() {
            own[index] += gains[index];
            if self.rules.extra_on_4_8 && value >= 4 {
                own[index] += self.chances.extra;
            }
        }
        let first = out.len();
        out.resize(first + VALUES.len() * SEATS, 0);
        let all_play = state.finished == [0; SEATS_MAX];
        let rest = rest_of::<SEATS>(mover, &strength);
        let (outcomes, _) = out[first..].as_chunks_mut::<SEATS>();
        for (index, values) in outcomes.iter_mut().enumerate() {
            strength[mover] = own[index];
            let to = uses.to[index];
            if !targets.prey[usize::from(to)] && all_play {
                share_with(mover, &strength, &rest, values);
                continue;
            }
            let mut strength = strength;
            if targets.prey[usize::from(to)] {
                self.take_hit(state, mover, to, &mut strength);
            }
            if all_play {
                let rest = rest_of::<SEATS>(mover, &strength);
                share_with(mover, &strength, &rest, values);
            } else {
                values.copy_from_slice(&self.shares(state, &strength)[..SEATS]);
            }
        }
    }

    /// Appends the value of each seat's throwing first.
    fn list_starters(&self, state: &State, out: &mut Vec<i64>) {
        let mut strength = [0; SEATS_MAX];
        for (seat, strength) in strength.iter_mut().enumerate().take(self.seats) {
            *strength = self.strength(state, seat);
        }
        for starter in 0..self.seats {
            let mut strength = strength;
            strength[starter] += self.chances.turn;
            out.extend(&self.shares(state, &strength)[..self.seats]);
        }
    }

    /// Value of a seat's pieces.
    #[inline]
    fn places(&self, state: &State, seat: usize) -> &Places {
        if self.has_way_in(state, seat) {
            &self.chances.open
        } else {
            &self.chances.closed
        }
    }

    #[inline]
    fn has_way_in(&self, state: &State, seat: usize) -> bool {
        !self.rules.gate || state.has_hit(seat)
    }

    /// Value of a seat's pieces and rights.
    fn strength(&self, state: &State, seat: usize) -> i32 {
        let worth = &self.places(state, seat).worth;
        let pieces = &state.pieces[seat][..self.rules.pieces];
        let places = pieces.iter().map(|&index| worth[usize::from(index)]);
        self.rights(state, seat) + places.sum::<i32>()
    }

    #[inline]
    fn rights(&self, state: &State, seat: usize) -> i32 {
        if self.has_way_in(state, seat) {
            self.chances.gate
        } else {
            0
        }
    }

    /// Contents of the mover's path, and the values of each seat's pieces and rights.
    #[inline]
    fn survey(
        &self,
        state: &State,
        mover: usize,
        strength: &mut [i32; SEATS_MAX],
        targets: &mut Targets,
    ) {
        let chances = &*self.chances;
        let here = &self.places(state, mover).worth;
        let pieces = &state.pieces[mover][..self.rules.pieces];
        let mut hit = if self.rules.extra_on_hit {
            chances.extra
        } else {
            0
        };
        if !self.has_way_in(state, mover) {
            hit += chances.gate;
            for &index in pieces {
                let index = usize::from(index);
                hit += chances.open.worth[index] - chances.closed.worth[index];
            }
        }
        for &seat in self.others(mover) {
            strength[seat] = self.rights(state, seat);
            let places = self.places(state, seat);
            let cross = self.board.crossing(seat, mover);
            for &index in &state.pieces[seat][..self.rules.pieces] {
                let index = usize::from(index);
                strength[seat] += places.worth[index];
                let at = usize::from(cross[index]);
                let exposed = chances.exposed[at];
                let first = exposed & !targets.prey[at];
                targets.prey[at] |= exposed;
                targets.worth[at] += places.stake[index] + (hit & -i32::from(first));
            }
        }
        strength[mover] = self.rights(state, mover);
        let mut home = 0;
        for &index in pieces {
            home += usize::from(index == self.board.goal);
            let at = usize::from(index);
            strength[mover] += here[at];
            if chances.single[at] {
                targets.worth[at] = NEVER;
            }
        }
        if home + 1 == pieces.len() {
            targets.worth[usize::from(self.board.goal)] += WIN;
        }
    }

    /// For each value, the values of its single uses.
    #[inline]
    fn uses(&self, state: &State, mover: usize, there: &[i32; REACH]) -> Singles {
        let here = &self.places(state, mover).worth;
        let pieces = &state.pieces[mover][..self.rules.pieces];
        let mut singles = Singles::new();
        if self.rules.doubles {
            self.weigh_doubles(state, mover, there, &mut singles);
            return singles;
        }
        for &from in pieces {
            let start = usize::from(from);
            let row = &there[start..][..=usize::from(FURTHEST)];
            let mut gains = [0; VALUES.len()];
            for (gain, value) in gains.iter_mut().zip(VALUES) {
                *gain = row[usize::from(value)] - here[start];
            }
            singles.weigh(from, &gains, &[true; VALUES.len()]);
        }
        singles
    }

    /// As [`Self::uses`], with doubles that block or move together.
    fn weigh_doubles(
        &self,
        state: &State,
        mover: usize,
        there: &[i32; REACH],
        singles: &mut Singles,
    ) {
        let here = &self.places(state, mover).worth;
        let pieces = &state.pieces[mover][..self.rules.pieces];
        let doubles = self.doubles(state, mover);
        let pairs = self.rules.double_move == DoubleMove::Full;
        for (piece, &from) in pieces.iter().enumerate() {
            let start = usize::from(from);
            let free = doubles.blocking == 0 || state.may_pass[mover] >> piece & 1 == 1;
            let mut gains = [0; VALUES.len()];
            let mut blocked = [false; VALUES.len()];
            let mut legal = [true; VALUES.len()];
            for (index, value) in VALUES.into_iter().enumerate() {
                let to = from + value;
                gains[index] = there[usize::from(to)] - here[start];
                blocked[index] = !free & doubles.bars(from, to);
                legal[index] = !blocked[index] & !doubles.holds(to);
            }
            singles.weigh(from, &gains, &legal);
            if !pairs || self.partner(pieces, piece).is_none() {
                continue;
            }
            for (index, value) in VALUES.into_iter().enumerate() {
                let to = from + value;
                let gain = gains[index] + here[usize::from(to)] - here[start];
                if !blocked[index] && to < self.board.outer && gain > singles.best[index] {
                    (singles.best[index], singles.to[index]) = (gain, to);
                }
            }
        }
    }

    /// Subtracts from the others what a hit on the mover's index costs them.
    fn take_hit(&self, state: &State, mover: usize, to: u8, strength: &mut [i32; SEATS_MAX]) {
        for &other in self.others(mover) {
            let there = self.board.cross(mover, other, to);
            let mut hits = 0;
            for &index in &state.pieces[other][..self.rules.pieces] {
                hits += i32::from(index == there);
            }
            let (places, there) = (self.places(state, other), usize::from(there));
            strength[other] -= hits * (places.worth[there] - places.worth[0]);
            // The mover's gain has its share of this.
            strength[mover] -= hits * places.stake[there];
        }
    }

    /// Each seat's share of a game's score, from its value; a seat that has finished is ahead of
    /// those that have not.
    pub(super) fn shares(&self, state: &State, strength: &[i32; SEATS_MAX]) -> PerSeat<i64> {
        values::pairwise(self.seats, |one, other| {
            match (state.finished[one], state.finished[other]) {
                (0, 0) => values::logistic(i64::from(strength[one] - strength[other])),
                (0, _) => 0,
                (_, 0) => values::POINT,
                (first, second) if first < second => values::POINT,
                _ => 0,
            }
        })
    }

    /// All seats but one.
    #[inline]
    fn others(&self, seat: usize) -> &'static [usize] {
        others(seat, self.seats)
    }
}

/// As [`Cowry::shares`] while no seat has finished, for the others among each other, see [`rest_of`].
#[inline]
fn share_with<const SEATS: usize>(
    mover: usize,
    strength: &[i32; SEATS_MAX],
    rest: &[i64; SEATS_MAX],
    values: &mut [i64; SEATS],
) {
    let mut sum = 0;
    for &other in others(mover, SEATS) {
        let share = values::logistic(i64::from(strength[mover] - strength[other]));
        sum += share;
        values[other] = values::mean(SEATS, rest[other] + values::POINT - share);
    }
    values[mover] = values::mean(SEATS, sum);
}

/// For each seat except the mover, the sum of its shares against the others except the mover.
#[inline]
fn rest_of<const SEATS: usize>(mover: usize, strength: &[i32; SEATS_MAX]) -> [i64; SEATS_MAX] {
    let mut rest = [0; SEATS_MAX];
    let others = others(mover, SEATS);
    for (index, &one) in others.iter().enumerate() {
        for &other in &others[index + 1..] {
            let share = values::logistic(i64::from(strength[one] - strength[other]));
            rest[one] += share;
            rest[other] += values::POINT - share;
        }
    }
    rest
}

/// All of so many seats but one.
#[inline]
fn others(seat: usize, seats: usize) -> &'static [usize] {
    const OTHERS: [[usize; SEATS_MAX - 1]; SEATS_MAX] =
        [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];
    &OTHERS[seat][..seats - 1]
}
